"""A patch that reaches nothing is an error at its line: of a package in each use case, of a part in the whole."""

from pathlib import Path

import pytest

import tiny

PACKAGE = "packages/p/package.yaml"
JOB = "bases/job/kustomization.yaml"
IDLE = "the patch changes nothing in any use case of the workspace"
ADD = "- {op: add, path: /data/b, value: c}\n"
HEAD = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with two bases, a ConfigMap and a Job, and a use case of each."""
    root = tiny.workspace(tmp_path / "ws")
    tiny.write(root / JOB, tiny.FILES["bases/one/kustomization.yaml"].replace("cm.yaml", "job.yaml"))
    tiny.write(root / "bases/job/job.yaml", tiny.POD.replace("name: x", "name: y"))
    tiny.replace(root / PACKAGE, "  one: {base: one}", "  one: {base: one}\n  job: {base: job}")
    return root


def judged(root: Path, *names: str) -> str:
    """Return what `lint` says of composing; nothing where all is composed."""
    _, out, _ = tiny.run("lint", *names, "--workspace", root)
    return tiny.composing(out).replace(f"{root}/", "") if "[does-not-compose]" in out else ""


def of_package(root: Path, patches: str, file: str) -> None:
    tiny.write(root / "packages/p/b.yaml", file)
    tiny.replace(root / PACKAGE, "base: one}", f"base: one, {patches}}}")


@pytest.mark.parametrize(
    ("target", "file", "hint"),
    [
        ("kind: ConfgMap", ADD, "did you mean 'ConfigMap'?"),
        ("group: apps", tiny.POD, "correct it, or remove the patch"),
    ],
)
def test_a_patch_of_a_package_that_misses_is_told_where_its_target_is(
    target: str, file: str, hint: str, root: Path
) -> None:
    of_package(root, f"patches: [{{path: b.yaml, target: {{{target}}}}}]", file)
    said = judged(root)
    assert said.startswith(f"error: {PACKAGE}:4:53: the patch changes nothing in the use case one: it is for ")
    assert hint in said


def test_a_patch_of_a_package_has_to_reach_something_in_each_use_case_that_lists_it(root: Path) -> None:
    of_package(root, "patches: [{path: b.yaml, target: {kind: ConfigMap}}]", ADD)
    assert judged(root) == ""
    tiny.replace(root / PACKAGE, "base: job}", "base: job, patches: [{path: b.yaml, target: {kind: ConfigMap}}]}")
    assert judged(root).startswith(
        f"error: {PACKAGE}:5:53: the patch changes nothing in the use case job: it is for kind 'ConfigMap' (there is"
    )


PARTS = {
    "patches": "patches:\n- path: b.yaml\n  target: {kind: Job, name: z}\n",
    "replacements": (
        "replacements:\n- source: {kind: ConfigMap}\n  targets:\n"
        "  - select: {kind: Job, name: z}\n    fieldPaths: [metadata.labels.a]\n"
    ),
}


@pytest.mark.parametrize("key", PARTS)
def test_a_patch_of_a_part_has_to_reach_something_in_one_use_case_of_the_workspace(key: str, root: Path) -> None:
    tiny.write(root / "overlays/programs/o/kustomization.yaml", HEAD + PARTS[key])
    tiny.write(root / "overlays/programs/o/b.yaml", "- {op: add, path: /spec/suspend, value: false}\n")
    tiny.write(root / "overlays/programs/n/kustomization.yaml", f"{HEAD}resources: [z.yaml]\n")
    tiny.write(root / "overlays/programs/n/z.yaml", tiny.POD.replace("name: x", "name: z\n  labels: {a: b}"))
    tiny.replace(root / PACKAGE, "base: one}", "base: one, programs: [o]}")
    tiny.another(root, "q")
    tiny.replace(root / "packages/q/package.yaml", "  job: {base: job}\n", "")
    file = "b.yaml" if key == "patches" else "kustomization.yaml"
    start = f"overlays/programs/o/{file}:1: {IDLE}: it is for kind 'Job', name 'z' ("
    assert judged(root).startswith(f"error: {start}")
    assert judged(root, "p", "q").startswith(f"error: {start}")
    assert judged(root, "p") == "", "one package alone cannot tell"
    tiny.replace(root / "packages/q/package.yaml", "programs: [o]", "programs: [n, o]")
    assert judged(root) == ""


def test_a_storage_that_changes_nothing_in_a_use_case_is_refused_there(root: Path) -> None:
    patches = "patches:\n- path: b.yaml\n  target: {kind: ConfigMap}\n"
    tiny.write(root / "overlays/storage/s/kustomization.yaml", HEAD + patches)
    tiny.write(root / "overlays/storage/s/b.yaml", ADD)
    tiny.replace(root / PACKAGE, "one: {base: one}", "one: {base: one, storage: [s]}")
    assert judged(root) == ""
    tiny.replace(root / PACKAGE, "{base: job}", "{base: job, storage: [s]}")
    expected = f"error: {PACKAGE}:5: storage s changes nothing in job (have it patch "
    assert judged(root).startswith(expected)


def test_an_option_that_changes_nothing_in_any_use_case_is_refused(root: Path) -> None:
    option = root / "overlays/options/o/kustomization.yaml"
    patch = "- target: {kind: KIND}\n  patch: |-\n    - {op: add, path: /data/a, value: VALUE}\n"
    for kind in ("Deployment", "ConfigMap"):  # which fits none, and which is so already
        tiny.write(option, f"{HEAD}patches:\n{patch}".replace("KIND", kind).replace("VALUE", '"1"'))
        said = judged(root)
        assert said.startswith("error: overlays/options/o/kustomization.yaml:1: changes nothing in any use case of the")
        assert said.count("error: ") == 1
    tiny.replace(option, '"1"', '"2"')
    assert judged(root) == ""


def test_a_patch_of_an_option_that_fits_nowhere_is_refused(root: Path) -> None:
    option = root / "overlays/options/o/kustomization.yaml"
    patch = "  patch: |-\n    - {op: add, path: /metadata/annotations, value: {a: b}}\n"
    both = [f"- target: {{kind: {kind}}}\n{patch}" for kind in ("ConfigMap", "Deployment")]
    tiny.write(option, f"{HEAD}patches:\n{''.join(both)}")
    assert f"overlays/options/o/kustomization.yaml:7: {IDLE}: it is for kind 'Deployment'" in judged(root)
