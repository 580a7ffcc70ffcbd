"""Enabling and disabling are all or nothing too: on a disk that is full, killed at work, several at once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from faults import KILLS, at_once, content, failures, kills, leftovers, recover
from krmfiles import one_setter
from packyard.errors import UnavailableError
from packyard.source.enabling.change import Outcome, disable, enable

KRMFILE = one_setter("NAME", "a")
JOB = """\
apiVersion: batch/v1
kind: Job
spec:
  completions: 3
  list: []
  name: a # {"$openapi":"NAME"}
"""
FILES = {
    "Krmfile": KRMFILE,
    "kustomization.yaml": "kind: Kustomization\nresources:\n- job.yaml\n",
    "job.yaml": JOB,
}
COMPONENT = """\
kind: Component
resources:
- {name}.yaml
patches:
- path: job.json6902
  target: {{group: batch, kind: Job}}
"""
PATCHES = {
    "one": "- {op: replace, path: /spec/completions, value: 4}\n",
    "two": '- op: add\n  path: /spec/list/-\n  value: b # {"$openapi":"TWO"}\n',
}


def make(root: Path) -> Path:
    """Make a use case with two options: each adds a file, a definition, and changes one that is there."""
    root.mkdir(parents=True)
    for name, text in FILES.items():
        (root / name).write_text(text, "utf-8")
    for name, text in PATCHES.items():
        option = root / "options" / name
        option.mkdir(parents=True)
        (option / "kustomization.yaml").write_text(COMPONENT.format(name=name), "utf-8")
        (option / "job.json6902").write_text(text, "utf-8")
        (option / f"{name}.yaml").write_text('kind: A\nname: a # {"$openapi":"NAME"}\n', "utf-8")
        (option / "Krmfile.option").write_text(KRMFILE.replace("NAME", name.upper()), "utf-8")
    return root


def states(root: Path) -> list[dict[str, bytes]]:
    """Return what a use case holds as `make` made it, and after each of ``enable one, enable two, disable one``."""
    make(root)
    found = [content(root)]
    for act, name in ((enable, "one"), (enable, "two"), (disable, "one")):
        act(root, name)
        found.append(content(root))
    disable(root, "two")
    assert content(root) == found[0]
    assert len({str(state) for state in found}) == len(found)
    return found


@pytest.mark.parametrize("act", [enable, disable])
def test_a_disk_that_is_full_at_any_moment_leaves_all_of_an_option_or_nothing(
    act: Callable[[Path, str], Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = make(tmp_path / "start")
    if act is disable:
        enable(start, "one")
    before = content(start)
    act(Path(shutil.copytree(start, tmp_path / "end")), "one")
    after = content(tmp_path / "end")
    refused, outcomes = set(), []

    def command(at: int) -> None:
        root = Path(shutil.copytree(start, tmp_path / str(at)))
        try:
            act(root, "one")
        except UnavailableError:
            refused.add(at)

    for at in failures(monkeypatch, command):
        root = tmp_path / str(at)
        assert content(root) == (before if at in refused else after), at
        outcomes.append(content(root) == after)
        act(root, "one")  # changes nothing where it is done already
        assert content(root) == after
        assert not leftovers(root)
    assert set(outcomes) == {False, True}


LOOP = """
import sys
from pathlib import Path
from packyard.source.enabling.change import disable, enable
def run(root):
    for act, name in ((enable, "one"), (enable, "two"), (disable, "one"), (disable, "two")):
        act(root, name)
run(Path(sys.argv[1] + "-before"))  # everything is imported
print("ready", flush=True)
while True:
    run(Path(sys.argv[1]))
"""


def test_a_kill_at_a_random_moment_leaves_what_was_there_before_an_option_came_or_went_or_after_it(
    tmp_path: Path,
) -> None:
    known = states(tmp_path / "package-before")
    root = make(tmp_path / "package")
    reached = set()
    for kill in kills(LOOP, root, count=KILLS // 2):
        recover(root)
        assert content(root) in known, kill
        reached.add(known.index(content(root)))
        for name in PATCHES:
            enable(root, name)
            disable(root, name)
        assert content(root) == known[0], kill
        assert not leftovers(root), kill
    assert len(reached) > 1


TOGGLE = """
import sys
from pathlib import Path
from packyard.setters.change import change_setters
from packyard.source.enabling.change import disable, enable
root, name = Path(sys.argv[1]), sys.argv[2]
for number in range(10):
    if name == "set":
        change_setters(root, {"NAME": [f"v{number}"]})
    else:
        assert enable(root, name).after
        assert disable(root, name).after
"""


def test_options_and_values_at_the_same_time_lose_no_edit(tmp_path: Path) -> None:
    root, alone = make(tmp_path / "package"), make(tmp_path / "alone")
    at_once(TOGGLE, *((str(root), name) for name in (*PATCHES, "set")))
    at_once(TOGGLE, (str(alone), "set"))
    assert content(root) == content(alone)
    assert not leftovers(root)
