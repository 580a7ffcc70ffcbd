"""Tests that authors write for their packages: each expectation is met and missed, and faults name their line."""

import json
from pathlib import Path

import pytest

import tiny
from tiny import packyard

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: work
  labels: {app.kubernetes.io/name: x}
  annotations: {example.com/size: "5"}
spec:
  completions: 1
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: "busybox:1.36", args: [a, --size=$(SIZE)], env: [{name: SIZE, value: "3"}]}
      - {name: beside, image: "busybox:1.37"}
"""
OPTION = """\
# Says more.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- {target: {kind: ConfigMap}, patch: '- {op: add, path: /data/more, value: said}'}
"""
CONTAINERS = "spec.template.spec.containers"

#: Expectations that are met, each with one that is not, and what is said of it.
EXPECTED = [
    ("{kind: ConfigMap, name: x, path: data.a, equal: '3'}", "{kind: ConfigMap, path: data.a, equal: 3}",
     "ConfigMap x: data.a is '3', which is not 3"),
    ("{kind: Job, path: spec.completions, equal: 1}", "{kind: Job, path: spec.completions, equal: true}",
     "Job work: spec.completions is 1, which is not true"),
    (f"{{kind: Job, path: '{CONTAINERS}[0].args', contains: a}}",
     f"{{kind: Job, path: '{CONTAINERS}[0].args', contains: b}}", "which does not contain 'b'"),
    (f"{{kind: Job, path: '{CONTAINERS}[0].args[1]', contains: --size}}",
     f"{{kind: Job, path: '{CONTAINERS}[0].args[2]', contains: --size}}", "args has 2 items, and none is [2]"),
    (f"{{kind: Job, path: '{CONTAINERS}[name=beside].image', equal: 'busybox:1.37'}}",
     f"{{kind: Job, path: '{CONTAINERS}[*].image', equal: 'busybox:1.37'}}", "is 'busybox:1.36', which is not"),
    ("{kind: Job, path: \"metadata.annotations['example.com/size']\", equal: '5'}",
     "{kind: Job, path: metadata.anotations, exists: true}", "metadata has no field 'anotations' (did you mean"),
    ("{kind: Job, path: metadata, contains: {annotations: {example.com/size: '5'}}}",
     "{kind: Job, path: metadata, contains: {annotations: {example.com/size: '6'}}}", "which does not contain {"),
    ("{kind: Deployment, exists: false}", "{kind: Job, exists: false}", "Job work: it is there"),
    ("{kind: Job, path: spec.parallelism, exists: false}", "{kind: Job, path: spec.completions, exists: false}",
     "spec.completions is there, 1"),
    ("{kind: CronJob, exists: false}", "{kind: Jbo, exists: false}", "there is no kind 'Jbo' (did you mean 'Job'?)"),
    ("{kind: Job, name: w*, exists: true}", "{kind: Job, name: v*, exists: true}",
     "there is no Job v*; there are ConfigMap x, Job work"),
]  # fmt: skip


@pytest.fixture
def workspace(workspace: Path) -> Path:
    tiny.replace(workspace / "bases/one/kustomization.yaml", "[cm.yaml]", "[cm.yaml, job.yaml]")
    tiny.write(workspace / "bases/one/job.yaml", JOB)
    tiny.write(workspace / "overlays/options/more/kustomization.yaml", OPTION)
    tiny.write(workspace / "packages/p/files/presets/large.yaml", "# Large.\nSIZE: 77\n")
    return workspace


def tried(workspace: Path, text: str) -> tuple[list[tuple[str, str]], str]:
    """Return where there is a test and what came of it, and what is said."""
    tiny.write(workspace / "packages/p/tests/p.yaml", text)
    done = packyard("test", "p", "-o", "json", cwd=workspace, PATH="")
    rows = [(each["where"], each["state"]) for each in json.loads(done.stdout) if each["check"] == "tests"]
    assert done.returncode == int(any(state == "failed" for _, state in rows)), done.stderr
    return rows, "".join(line for line in done.stderr.splitlines(keepends=True) if "error: p tests" in line)


def test_what_is_expected_is_met_or_told_at_its_line(workspace: Path) -> None:
    met = "tests:\n- it: works\n  expect:\n" + "".join(f"  - {each}\n" for each, _, _ in EXPECTED)
    assert tried(workspace, met) == ([("tests/p.yaml:2 one", "passed")], "")
    missed = "tests:\n- it: works\n  expect:\n" + "".join(f"  - {each}\n" for _, each, _ in EXPECTED)
    rows, said = tried(workspace, missed)
    assert rows == [("tests/p.yaml:2 one", "failed")]
    lines = said.splitlines()
    assert len(lines) == len(EXPECTED)
    for number, (line, (_, _, message)) in enumerate(zip(lines, EXPECTED, strict=True)):
        assert f": packages/p/tests/p.yaml:{number + 4}: works: " in line
        assert message in line


def test_values_presets_and_options_are_given_as_users_give_them(workspace: Path) -> None:
    given = """\
tests:
- {it: sets, set: {SIZE: 8}, expect: [{kind: ConfigMap, path: data.a, equal: "8"}]}
- {it: has no option, expect: [{kind: ConfigMap, path: data.more, exists: false}]}
- {it: takes a preset, preset: large, expect: [{kind: ConfigMap, path: data.a, equal: "77"}]}
- {it: sets over a preset, preset: large, set: {SIZE: 9}, expect: [{kind: ConfigMap, path: data.a, equal: "9"}]}
- {it: has an option, enable: [more], expect: [{kind: ConfigMap, path: data.more, equal: said}]}
"""
    assert tried(workspace, given)[1] == ""
    said = tried(workspace, "tests:\n- {it: refuses, set: {SIZE: 1}, refused: SIZE}\n")[1]
    assert "packages/p/tests/p.yaml:2: refuses: is not refused, where 'SIZE' is expected" in said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("set: {SIZE: many}", "SIZE"),
        ("set: {SIZES: 1}", "did you mean 'SIZE'"),
        ("preset: larg", "there is no preset 'larg'"),
        ("enable: [les]", "there is no option 'les'"),
    ],
)
def test_a_refusal_is_expected_by_a_part_of_its_message(given: str, said: str, workspace: Path) -> None:
    assert tried(workspace, f'tests:\n- it: refuses\n  {given}\n  refused: "{said}"\n')[1] == ""
    otherwise = tried(workspace, f"tests:\n- it: refuses\n  {given}\n  refused: something else\n")[1]
    assert "packages/p/tests/p.yaml:2: refuses: is refused otherwise than by 'something else': " in otherwise
    assert said in otherwise
    assert "packyard-" not in otherwise, "no folder that nobody knows"
    expected = tried(workspace, f"tests:\n- it: works\n  {given}\n  expect: [{{kind: Job, exists: true}}]\n")[1]
    line = 3 if given.startswith("set") else 2
    assert f"packages/p/tests/p.yaml:{line}: works: is refused: " in expected


def test_all_faults_of_all_files_are_told_at_once(workspace: Path) -> None:
    tiny.write(workspace / "packages/p/tests/other.yaml", "test: []\n")
    faults = """\
tests:
- {it: a, expects: []}
- {it: b, useCases: [on], refused: x}
- {it: c, expect: [{kind: Job, path: "a[", equal: 1}]}
- {it: d, expect: [{kind: Job, path: a}]}
- {it: e, expect: [{kind: Job, path: a, exists: }]}
- {it: f, expect: [{kind: Job, path: a, equal: 1, contains: 1}]}
- {it: g, expect: [{kind: Job, path: a, matches: "("}]}
- {it: h, set: {SIZE: }, refused: x}
"""
    rows, said = tried(workspace, faults)
    assert rows == [("", "failed")]
    for line, message in [
        (2, "tests.expects: is not a known key (did you mean 'expect'?)"),
        (3, "tests.useCases: p has no use case 'on' (did you mean 'one'?)"),
        (4, "tests.expect.path: 'a[' is not a path of fields"),
        (5, "tests.expect: needs one of equal, contains, matches, exists"),
        (6, "tests.expect.exists: must be true or false"),
        (7, "tests.expect: needs one of equal, contains, matches, exists, and has 2"),
        (8, "tests.expect.matches: missing )"),
    ]:
        assert f"packages/p/tests/p.yaml:{line}:" in said
        assert message in said
    assert "packages/p/tests/p.yaml:9: SIZE has no value" in said
    assert "packages/p/tests/other.yaml:1:1: test: is not a known key (did you mean 'tests'?)" in said


def test_a_quiet_test_has_a_row_for_what_did_not_pass_alone(workspace: Path) -> None:
    tiny.write(workspace / "packages/p/tests/p.yaml", "tests: [{it: a, expect: [{kind: Job, exists: true}]}]\n")
    skipped = ["p", "kustomize", "one", "skipped"]
    assert packyard("test", "p", "--quiet", cwd=workspace, PATH="").stdout.split()[4:] == skipped
    tiny.replace(workspace / "packages/p/tests/p.yaml", "true", "false")
    failed = ["p", "tests", "tests/p.yaml:1", "one", "failed"]
    assert packyard("test", "p", "--quiet", cwd=workspace, PATH="").stdout.split()[4:] == skipped + failed


def test_tests_are_not_shipped(workspace: Path, tmp_path: Path) -> None:
    tiny.write(workspace / "packages/p/tests/p.yaml", "tests: [{it: a, refused: b}]\n")
    assert packyard("build", "--version", "1", "--to", tmp_path / "out", cwd=workspace).returncode == 0
    assert not [path for path in (tmp_path / "out").rglob("*") if "tests" in path.parts]
