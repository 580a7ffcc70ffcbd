"""YAML of every form, with setters of every kind, given all kinds of values: what is read afterwards is what was set.

The cases and the parser that judges are `odd_yaml`. `make fuzz` runs many more of them (PACKYARD_FUZZ=N).
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

import reading
from amount import tries
from odd_yaml import Case, Maker, comments, leaves
from packyard.core.errors import InputError, NotHereError
from packyard.core.files.history import History
from packyard.using.setters import inline
from packyard.using.setters import resourcefiles as resource_files
from packyard.using.setters.change import PackageSetters, change_setters
from packyard.using.setters.packages import KPTFILE, PackageFiles
from packyard.using.setters.plan import Assignment

Leaves = dict[tuple[Any, ...], tuple[Any, ...]]

CASES = tries(400)
BATCH = 100


def planned(case: Case) -> dict[str, bytes]:
    """Return the files that a set changes."""
    if case.kind == "version 1":
        new = inline.InlineChange("V", case.values["V"][0])(case.data, "r.yaml")
        return {"r.yaml": new} if new != case.data else {}
    definitions = case.definitions.encode()
    if case.kind == "kpt":
        package = PackageFiles(definitions, {"r.yaml": case.data}, name=KPTFILE, kptfile=definitions)
    else:
        package = PackageFiles(definitions, {"r.yaml": case.data})
    plan = PackageSetters(package).plan(Assignment(case.values))
    if 0 in plan.counts.values():
        raise NotHereError("no field has the setter: a set of it is refused, where it is written")
    return dict(plan.files)


def judge(case: Case, made: dict[str, bytes]) -> None:
    """Compare what is read before and after with what the case says is set."""
    name = KPTFILE if case.kind == "kpt" else "Krmfile"
    data = made.get("r.yaml", case.data)
    assert data.startswith(b"\xef\xbb\xbf") == case.mark
    text = data.decode("utf-8-sig")
    if case.kind == "lists":
        judge_lists(case, text)
    else:
        judge_fields(case, text)
    if case.kind != "version 1":
        judge_definitions(case, made.get(name, case.definitions.encode()).decode())


def judge_fields(case: Case, text: str) -> None:
    before, after = leaves(case.text), leaves(text)
    assert before.keys() == after.keys()
    read: dict[str | None, set[object]] = {}
    for path, old in before.items():
        new = after[path]
        if path in case.fields and old[:2] != new[:2]:
            assert new[1] == case.fields[path], path
            assert (old[0], *old[2:4]) == (new[0], *new[2:4]), path
            read.setdefault(str(old[1]), set()).add(new[1])
            is_plain = new[4] and new[2] is None and case.kind != "version 1" and old[1]
            assert not is_plain or isinstance(yaml.safe_load(new[1]), str), new  # every reader takes it for text
        else:
            assert old == new, path
            assert path not in case.fields or old[1] == case.fields[path] or case.may_refuse, path
    texts = [(recorded(case, one.text, before=False), one.behind, one.below) for one in comments(text)]
    expected = [(recorded(case, one.text, before=True), one.behind, one.below) for one in comments(case.text)]
    assert [found for found, _, _ in texts] == [found for found, _, _ in expected]
    for (_, behind, below), (_, old_behind, old_below) in zip(texts, expected, strict=True):
        if old_behind in ("block", "ValueToken", "BlockEntryToken"):
            assert behind == old_behind or any(behind in found for found in read.values())
        else:
            assert behind == old_behind or behind in read.get(old_behind, ()), (behind, old_behind)
        assert below == old_below or any(below in read.get(one, ()) for one in (old_below, "")), (below, old_below)


def recorded(case: Case, comment: str, *, before: bool) -> object:
    """Return what a comment of version 1 says, or has to say after the set; any other as it is."""
    if case.kind != "version 1" or "x-kustomize" not in comment:
        return comment
    members = json.loads(comment.removeprefix("#"))
    own = members["x-kustomize"]
    for setter in [*own.get("partialSetters", []), *([own["setter"]] if "setter" in own else [])]:
        if before:
            setter["value"] = case.values["V"][0]
    return members


def judge_lists(case: Case, text: str) -> None:
    before, after = leaves(case.text), leaves(text)

    def outside(found: Leaves) -> Leaves:
        return {path: leaf for path, leaf in found.items() if not any(path[: len(one)] == one for one in case.lists)}

    assert outside(before) == outside(after)
    for path in case.lists:
        assert after[path] == before[path]
        if case.may_refuse and below(before, path) == below(after, path):
            continue
        items = [after[(*path, place)][1] for place in range(len(case.values["L"]))]
        assert items == case.values["L"]
        assert (*path, len(items)) not in after
    old, new = ({one.text: one for one in found} for found in (comments(case.text), comments(text)))
    assert new.keys() <= old.keys()
    for name, remark in old.items():
        own = " ".join(name.split()[:2]) in case.own
        assert own or name in new, name
        if name in new and "openapi" not in name:
            assert remark.behind == new[name].behind, name
            assert own or remark.below == new[name].below, name


def below(found: Leaves, path: tuple[Any, ...]) -> Leaves:
    return {one: leaf for one, leaf in found.items() if one[: len(path)] == path}


def judge_definitions(case: Case, text: str) -> None:
    before, after = leaves(case.definitions), leaves(text)
    if case.kind == "kpt":
        path = next(one for one in before if one[-1] == "v")
        assert after.pop(path)[1] == case.values["v"][0]
        before.pop(path)
        assert before == after
        return
    (name,) = case.values
    path = (0, "openAPI", "definitions", f"io.k8s.cli.setters.{name}", "x-k8s-cli", "setter")
    if name == "V":
        assert after.pop((*path, "value"))[1] == case.values["V"][0]
        before.pop((*path, "value"))
    else:
        listed = (*path, "listValues")
        assert [after[(*listed, place)][1] for place in range(len(case.values["L"]))] == case.values["L"]
        assert after[listed] == before[listed]
        for found in (before, after):
            for one in [one for one in found if one[: len(listed)] == listed]:
                del found[one]
    assert after.pop((*path, "isSet"))[1] == "true"
    before.pop((*path, "isSet"), None)
    before.pop((*path, "setBy"), None)
    assert before == after
    lost = {one.text for one in comments(case.definitions)} - {one.text for one in comments(text)}
    for one in comments(case.definitions):
        if one.text in lost:
            assert name == "L" or one.behind == "me" or one.below == "setBy", one


def write(folder: Path, case: Case) -> Path:
    folder.mkdir(parents=True)
    (folder / "r.yaml").write_bytes(case.data)
    if case.kind != "version 1":
        (folder / (KPTFILE if case.kind == "kpt" else "Krmfile")).write_bytes(case.definitions.encode())
    return folder


def set_all(folder: Path, cases: list[tuple[Case, dict[str, bytes]]], history: History) -> None:
    """Set cases of one kind and values by one command on disk, and take it back."""
    before: dict[str, bytes] = {}
    expected: dict[str, bytes] = {}
    for number, (case, made) in enumerate(cases):
        write(folder / str(number), case)
        before |= {f"{number}/{path}": data for path, data in reading.files(folder / str(number)).items()}
        expected |= {f"{number}/{path}": data for path, data in made.items()}
    case = cases[0][0]

    def keep(old: object, new: object) -> None:
        history.record(folder, "set", old, new)  # type: ignore[arg-type]

    if case.kind == "version 1":
        setting = inline.InlineChange("V", case.values["V"][0])
        resource_files.rewrite(folder, [""], setting, keep=keep, below_too=True)
    else:
        change_setters(folder, case.values, recursive=True, keep=keep)
    assert reading.files(folder) == before | expected
    if any(before[path] != data for path, data in expected.items()):
        history.undo(folder)
    assert reading.files(folder) == before


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_a_set_changes_what_it_says_and_undo_restores_the_bytes(first: int, tmp_path: Path) -> None:
    alike: dict[tuple[object, ...], list[tuple[Case, dict[str, bytes]]]] = {}
    outcomes: Counter[str] = Counter()
    for seed in range(first, min(first + BATCH, CASES)):
        case = Maker(seed).make()
        try:
            made = planned(case)
        except InputError as error:
            if not case.may_refuse and not isinstance(error, NotHereError):
                raise AssertionError(f"seed {seed}: {error}\n{case.text}\n{case.definitions}") from error
            outcomes["refused"] += 1
            continue
        try:
            judge(case, made)
        except (AssertionError, KeyError, yaml.YAMLError) as error:
            text = made.get("r.yaml", b"").decode()
            raise AssertionError(
                f"seed {seed}: {error!r}\n{case.values}\n{case.text}\n{case.definitions}\n{text}"
            ) from error
        outcomes["set" if made else "nothing to set"] += 1
        alike.setdefault((case.kind, *((name, *texts) for name, texts in case.values.items())), []).append((case, made))
    for number, cases in enumerate(alike.values()):
        set_all(tmp_path / str(number), cases, History(tmp_path / "history"))
    assert outcomes["set"] > outcomes.total() / 2
