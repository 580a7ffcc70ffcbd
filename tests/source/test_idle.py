"""A patch that reaches nothing is an error at its line: of a package in each use case, of a part in the whole."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import real
import tiny
from packyard.source import idle, workspace

PACKAGE = "packages/p/package.yaml"
JOB = "bases/job/kustomization.yaml"
ADD = "- {op: add, path: PATH, value: {name: a, value: b}}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with two bases, a ConfigMap and a Job, and a use case of each."""
    root = tiny.workspace(tmp_path / "ws")
    tiny.write(root / JOB, tiny.FILES["bases/one/kustomization.yaml"].replace("cm.yaml", "job.yaml"))
    tiny.write(root / "bases/job/job.yaml", tiny.POD.replace("name: x", "name: y"))
    tiny.replace(root / PACKAGE, "base: one}]", "base: one}, {path: job, base: job}]")
    return root


def judged(root: Path, *names: str) -> str:
    """Return what `build`, `publish` and `lint` say, made anew and as it was kept, which has to be the same."""
    words = [*names, "--workspace", root]
    folder = root.parent
    said = {
        tiny.run(*verb, *words)[2]
        for verb in (
            ["build", "--version", "1", "--out", folder / "out"],
            ["build", "--version", "1", "--out", folder / "out"],
            ["publish", "--version", "1", "--to", folder / "channel"],
            ["lint"],
            ["lint"],
        )
    }
    errors = {text for text in said if " error" not in text}  # what lint counts
    if errors - {""}:
        assert not (folder / "out").exists()
        assert not (folder / "channel").exists()
    assert len(errors) == 1 or "" in errors, said
    return max(errors).replace(f"{root}/", "")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def of_package(root: Path, patches: str, file: str, base: str = "one") -> None:
    tiny.write(root / "packages/p/b.yaml", file)
    tiny.replace(root / PACKAGE, f"base: {base}}}", f"base: {base}, {patches}}}")


MISSES = {
    "a kind": ("patches: [{path: b.yaml, target: {kind: ConfgMap}}]", ADD.replace("PATH", "/data/b"), 1),
    "a name": ("patches: [{path: b.yaml, target: {kind: ConfigMap, name: y}}]", ADD.replace("PATH", "/data/b"), 1),
    "a merge": ("patches: [{path: b.yaml, target: {group: apps}}]", tiny.POD, 1),
    "pods of no kind": ("podPatches: [b.yaml]", ADD.replace("PATH", "/spec/containers/*/env/-"), 1),
    "the second operation": (
        "podPatches: [b.yaml]",
        "- {op: replace, path: '/spec/containers/*/image', value: 'a:1'}\n" + ADD.replace("PATH", "'/spec/side/*/x'"),
        2,
    ),
    "a label": (
        "podPatches: [{path: b.yaml, target: {labelSelector: a=b}}]",
        ADD.replace("PATH", "/spec/volumes"),
        1,
    ),
    "a field of an element": ("podPatches: [b.yaml]", ADD.replace("PATH", "'/spec/containers/[name=mein]/env'"), 1),
}  # fmt: skip


@pytest.mark.parametrize("what", MISSES)
def test_a_patch_of_a_package_that_misses_is_refused_at_its_line(what: str, root: Path) -> None:
    patches, file, line = MISSES[what]
    of_package(root, patches, file, "one" if what in ("a kind", "a name", "a merge", "pods of no kind") else "job")
    assert judged(root).startswith(f"packages/p/b.yaml:{line}:")
    assert " reaches nothing in " in judged(root)


def test_a_patch_of_a_package_has_to_reach_something_in_each_use_case_that_lists_it(root: Path) -> None:
    of_package(root, "patches: [{path: b.yaml, target: {kind: ConfigMap}}]", "- {op: add, path: /data/b, value: '2'}\n")
    assert judged(root) == ""
    tiny.replace(root / PACKAGE, "base: job}", "base: job, patches: [{path: b.yaml, target: {kind: ConfigMap}}]}")
    shutil.rmtree(root.parent / "out")
    shutil.rmtree(root.parent / "channel")
    assert judged(root).startswith("packages/p/b.yaml:1: for kind 'ConfigMap' reaches nothing in the use case job (")


def test_an_operation_of_a_package_has_to_reach_something_in_one_of_them(root: Path) -> None:
    secure = "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}"
    first = f"initContainers: [{{name: a, image: 'a:1', {secure}}}]"
    tiny.write(root / "bases/one/cm.yaml", tiny.POD.replace("containers:", f"{first}\n      containers:"))
    of_package(root, "podPatches: [b.yaml]", "- {op: add, path: '/spec/initContainers/*/tty', value: true}\n"
               "- {op: add, path: '/spec/containers/*/tty', value: true}\n")  # fmt: skip
    tiny.replace(root / PACKAGE, "base: job}", "base: job, podPatches: [b.yaml]}")
    assert judged(root) == ""


@pytest.mark.parametrize(
    "path",
    [
        *("/spec/containers/*/envv/-", "/spec/containers/*/env/-", "/spec/containers/[name=main]/env/-"),
        *("/spec/containers/*/resources/limits/cpu", "/spec/volumes/-"),
    ],
)
def test_what_follows_an_element_that_was_chosen_has_to_be_there(path: str, root: Path) -> None:
    of_package(root, "podPatches: [b.yaml]", ADD.replace("PATH", f"'{path}'"), "job")
    said = judged(root)
    assert said.startswith("packages/p/b.yaml:1:3: path /spec/template/spec/")
    assert " does not exist: there is no list or mapping at " in said


@pytest.mark.parametrize("key", ["patches", "podPatches"])
def test_a_patch_of_a_part_has_to_reach_something_in_one_use_case_of_the_workspace(key: str, root: Path) -> None:
    head = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    patched = f"{key}:\n- path: b.yaml\n  target: {{kind: Job, name: z}}\n"
    tiny.write(root / "overlays/o/kustomization.yaml", head + patched)
    path = "/spec/suspend" if key == "patches" else "/spec/hostNetwork"
    tiny.write(root / "overlays/o/b.yaml", f"- {{op: add, path: {path}, value: false}}\n")
    tiny.write(root / "overlays/n/kustomization.yaml", f"{head}resources: [z.yaml]\n")
    tiny.write(root / "overlays/n/z.yaml", tiny.POD.replace("name: x", "name: z"))
    tiny.replace(root / PACKAGE, "base: one}", "base: one, overlays: [o]}")
    shutil.copytree(root / "packages/p", root / "packages/q")
    expected = "overlays/o/b.yaml:1: for kind 'Job', name 'z' reaches nothing in any use case of the workspace ("
    assert judged(root).startswith(expected)
    assert judged(root, "p", "q").startswith(expected)
    assert judged(root, "p") == "", "one package alone cannot tell"
    tiny.replace(root / "packages/q/package.yaml", "overlays: [o]", "overlays: [n, o]")
    shutil.rmtree(root.parent / "out")
    shutil.rmtree(root.parent / "channel")
    assert judged(root) == ""


def test_a_patch_may_wait_for_the_first_package_of_a_base_that_has_what_it_is_for(root: Path) -> None:
    tiny.write(root / "overlays/o/kustomization.yaml",
               "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- path: b.yaml\n"
               "  target: {kind: CronJob}\n")  # fmt: skip
    tiny.write(root / "overlays/o/b.yaml", "- {op: add, path: /spec/suspend, value: true}\n")
    tiny.replace(root / PACKAGE, "base: one}", "base: one, overlays: [o]}")
    assert judged(root).startswith(
        "overlays/o/b.yaml:1: for kind 'CronJob' reaches nothing in any use case of the work"
    )
    tiny.write(root / "bases/cron/kustomization.yaml", tiny.FILES["bases/one/kustomization.yaml"])
    tiny.write(root / "bases/cron/cm.yaml", "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: x}\nspec: {a: b}\n")
    assert judged(root) == ""


def test_each_entry_counts_also_where_two_have_one_file(root: Path) -> None:
    tiny.write(root / "bases/job/b.yaml", "- {op: add, path: /spec/hostNetwork, value: false}\n")
    with (root / JOB).open("a") as file:
        file.write("podPatches: [{path: b.yaml}, {path: b.yaml, target: {labelSelector: a=b}}]\n")
    assert judged(root).startswith("bases/job/b.yaml:1: for labelSelector 'a=b' reaches nothing in ")


def test_a_patch_that_stands_in_its_kustomization_is_named_by_that(root: Path) -> None:
    with (root / JOB).open("a") as file:
        file.write("patches:\n- target: {kind: Pod}\n  patch: |\n    - {op: remove, path: /spec}\n")
    assert judged(root).startswith("bases/job/kustomization.yaml (patch in line 6):1: for kind 'Pod' reaches nothing")


def test_a_patch_of_an_option_has_to_reach_something_where_it_is_offered(root: Path) -> None:
    tiny.write(root / "overlays/o/kustomization.yaml",
               "# Does something.\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n"
               "- {path: a.yaml, target: {kind: ConfigMap}}\n- {path: b.yaml, target: {kind: Pod}}\n")  # fmt: skip
    for name in "ab":
        tiny.write(root / f"overlays/o/{name}.yaml", "- {op: add, path: /metadata/labels, value: {a: b}}\n")
    with (root / "packyard.yaml").open("a") as file:
        file.write("options: [o]\n")
    assert judged(root).startswith(
        "overlays/o/b.yaml:1: for kind 'Pod' reaches nothing in any use case of the workspac"
    )


def test_every_patch_of_the_catalogue_reaches_something() -> None:
    here = workspace.read(real.REPOSITORY)
    assert tiny.run("lint", "--workspace", here.root_dir)[0] == 0


def test_what_is_idle_survives_being_kept() -> None:
    found = {("a.yaml", "kind 'A'"): frozenset({(1, 0), (2, 3)}), ("b.yaml", ""): frozenset[tuple[int, int]]()}
    assert idle.parse(idle.document(found)) == found
    assert idle.join([found, {("a.yaml", "kind 'A'"): frozenset({(2, 3)})}])["a.yaml", "kind 'A'"] == {(2, 3)}
