"""Options as they are used: a mistake that only a use case with the option shows stands at the option's own line.

It is found in the workspace, and once.
"""

from pathlib import Path

import pytest

import tiny

HEAD = "# A cache.\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
SOUND = tiny.text("checks/option.yaml")
PATH = "options/cache/kustomization.yaml"
REMOVAL = """\
patches:
- target: {kind: Job}
  patch: |-
    - {op: test, path: /spec/template/spec/volumes/0/name, value: d}
    - {op: remove, path: /spec/template/spec/volumes/0}
"""
#: What is changed, the line that is wrong then, and the rule.
MISTAKES = {
    "a mount of no volume": ("cache\n              mount", "cach\n              mount", 19, "mount-without-volume"),
    "a probe of a port that is not declared": ("port: http", "port: web", 33, "probe-port"),
}


def workspace(root: Path, mistake: str = "") -> Path:
    """Write a workspace of two use cases that an option fits, with one mistake in it."""
    tiny.workspace(root)
    (root / "packages/p/files/run.txt").unlink()
    tiny.write(root / "bases/one/cm.yaml", tiny.POD)
    tiny.write(root / "bases/two/kustomization.yaml", tiny.FILES["bases/one/kustomization.yaml"])
    tiny.write(root / "bases/two/cm.yaml", tiny.POD.replace("name: x", "name: y"))
    tiny.replace(root / "packages/p/package.yaml", "one: {base: one}", "one: {base: one}\n  two: {base: two}")
    old, new, *_ = MISTAKES.get(mistake, ("", ""))
    assert old in SOUND
    tiny.write(root / "overlays" / PATH, HEAD + SOUND.replace(old, new, 1))
    return root


def errors(*words: object, below: Path) -> list[str]:
    """Return the places and rules of what lint calls an error."""
    found = tiny.run("lint", *words)[1].replace(f"{below}/", "").splitlines()
    return [f"{line.split(':')[0]}:{line.split(':')[1]} {line.rpartition('[')[2].partition(']')[0]}"
            for line in found if " error: " in line]  # fmt: skip


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_of_an_option_is_found_in_the_workspace_once_and_stops_build(mistake: str, tmp_path: Path) -> None:
    root = workspace(tmp_path, mistake)
    *_, line, rule = MISTAKES[mistake]
    assert errors("--workspace", root, below=root) == [f"overlays/{PATH}:{line} {rule}"]
    said = tiny.refused("build", "--workspace", root, "--version", "1", "--to", root / "out")
    assert said.startswith(f"error: {root}/overlays/{PATH}:{line}:")
    assert said.count("error: ") == 1


def test_what_an_option_takes_from_a_use_case_is_told_at_its_patch(tmp_path: Path) -> None:
    root = workspace(tmp_path)
    mounts = "        volumeMounts: [{name: d, mountPath: /d}]\n      volumes: [{name: d, emptyDir: {}}]\n"
    for base in ("one", "two"):
        tiny.write(root / f"bases/{base}/cm.yaml", (root / f"bases/{base}/cm.yaml").read_text() + mounts)
    tiny.write(root / "overlays" / PATH, HEAD + REMOVAL)
    assert errors("--workspace", root, below=root) == [f"overlays/{PATH}:5 mount-without-volume"]


def test_an_exception_in_an_option_holds_for_what_is_found_where_it_is_used(tmp_path: Path) -> None:
    root = workspace(tmp_path, "a probe of a port that is not declared")
    tiny.replace(root / "overlays" / PATH, "port: web", "port: web # packyard: allow probe-port: a sidecar has it")
    assert errors("--workspace", root, below=root) == []
    tiny.done("build", "--workspace", root, "--version", "1", "--to", root / "out")
    assert errors(root / "out", below=root) == []
    tiny.replace(root / "overlays" / PATH, "port: web", "port: http")
    assert errors("--workspace", root, below=root) == [f"overlays/{PATH}:33 exception-not-needed"]
