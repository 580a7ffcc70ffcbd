"""`packyard test` says what lint says: its warnings, and of a whole workspace what all packages together can tell."""

from pathlib import Path

import tiny
from tiny import packyard

IDLE = """\
# Is bigger.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches: [{target: {kind: Job}, patch: '- {op: add, path: /spec/completions, value: 2}'}]
"""
PODS = """\
# Is small.
apiVersion: packyard/v1
kind: PodPatch
spec: {containers: [{name: main, resources: {limits: {cpu: 1}}}]}
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: odds.example.com}
spec:
  group: example.com
  names: {kind: Odd, plural: odds}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
"""


def test_warnings_of_lint_are_told_once_and_pass(workspace: Path) -> None:
    tiny.replace(workspace / "bases/one/cm.yaml", "  labels: {app.kubernetes.io/name: x}\n", "")
    for words in (["p"], []):
        done = packyard("test", *words, cwd=workspace, PATH="")
        assert done.returncode == 0, done.stderr
        (warning,) = (line for line in done.stderr.splitlines() if line.startswith("warning: "))
        assert warning == f"warning: lint has 1 warning; {' '.join(['packyard', 'lint', *words])} shows them"


def test_a_whole_workspace_fails_on_what_lint_refuses_of_it(workspace: Path) -> None:
    assert packyard("test", cwd=workspace, PATH="").returncode == 0
    tiny.write(workspace / "overlays/options/big/kustomization.yaml", IDLE)
    (error,) = (line for line in packyard("lint", cwd=workspace).stdout.splitlines() if ": error: " in line)
    done = packyard("test", cwd=workspace, PATH="")
    assert done.returncode == 1
    assert f" workspace: {error}\n" in done.stderr
    tiny.replace(workspace / "bases/one/cm.yaml", "data:\n  a", "dta:\n  a")
    says = [line for line in packyard("test", cwd=workspace, PATH="").stderr.splitlines() if "'dta'" in line]
    assert len(says) == 1, "what is said of a package is not said again"
    tiny.replace(workspace / "packages/p/package.yaml", "base: one", "base: two")
    assert packyard("test", cwd=workspace, PATH="").stdout.split()[4:] == ["p", "build", "failed"]


def test_a_required_setter_without_an_example_is_named_once_at_its_authors_line(workspace: Path) -> None:
    tiny.replace(workspace / "bases/one/Krmfile", '      example: "3"\n', "")
    tiny.write(
        workspace / "packages/p/tests/p.yaml", "tests: [{it: has it, expect: [{kind: ConfigMap, exists: true}]}]\n"
    )
    done = packyard("test", "p", cwd=workspace, PATH="")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("skipped") == 2
    (said,) = (line for line in done.stderr.splitlines() if line.startswith("not checked: "))
    assert said.startswith("not checked: bases/one/Krmfile:6: SIZE is required and has no example")
    tiny.replace(workspace / "packages/p/tests/p.yaml", "has it,", "has it, set: {SIZE: 4},")
    assert "tests/p.yaml:1 one  passed" in packyard("test", "p", cwd=workspace, PATH="").stdout


def test_a_use_case_that_does_not_render_is_refused_once_at_its_authors_line(workspace: Path) -> None:
    tiny.write(workspace / "packages/p/tests/p.yaml", "tests: [{it: is, expect: [{kind: ConfigMap, exists: true}]}]\n")
    tiny.replace(workspace / "bases/one/cm.yaml", '""', "[{b: 1}]")
    done = packyard("test", "p", cwd=workspace, PATH="")
    assert done.stderr.count("SIZE would set no field") == 1
    assert "p render one: bases/one/cm.yaml:" in done.stderr
    assert "tests/p.yaml:1 one  skipped" in done.stdout


def test_an_option_that_does_not_fit_is_named_with_the_reason(workspace: Path) -> None:
    tiny.write(workspace / "overlays/options/big/kustomization.yaml", IDLE)
    tiny.write(workspace / "overlays/options/pod/pods.yaml", PODS)
    assert "; -v says which options do not fit, and why\n" in packyard("test", "p", cwd=workspace, PATH="").stderr
    said = packyard("test", "p", "-v", cwd=workspace, PATH="").stderr
    assert "p: option big: it is for kind 'Job', and there is none (one)\n" in said
    assert "p: option pod: it is for container 'main', and there is none (one)\n" in said


def test_a_kind_without_a_schema_is_named_once_with_how_to_hand_it(workspace: Path) -> None:
    odd = "apiVersion: example.com/v1\nkind: Odd\nmetadata: {name: x, labels: {app.kubernetes.io/name: x}}\n"
    tiny.write(workspace / "bases/one/odd.yaml", odd)
    tiny.replace(workspace / "bases/one/kustomization.yaml", "[cm.yaml]", "[cm.yaml, odd.yaml]")
    says = "to have them checked: mkdir -p crds && kubectl get crd odds.example.com -o yaml >crds/odds.exam"
    for verb in ("lint", "test"):
        assert packyard(verb, cwd=workspace, PATH="").stderr.count(says) == 1
    tiny.write(workspace / "crds/odds.yaml", CRD)
    assert says not in packyard("lint", cwd=workspace).stderr
