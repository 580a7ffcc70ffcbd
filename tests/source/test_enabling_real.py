"""Every option of the catalogue, alone and in pairs, folded in and out: judged by real kustomize, and by the bytes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from itertools import combinations, permutations
from pathlib import Path

import pytest

import reading
from cfg import Cfg
from packyard.checks import options
from packyard.errors import ConflictError
from packyard.files.tree import Tree
from packyard.setters.change import change_setters
from packyard.setters.definition import Setter
from packyard.setters.krmfile import Krmfile
from packyard.source import option
from packyard.source.enabling import component
from packyard.source.enabling.change import disable, enable
from packyard.text.node import Source
from packyard.text.sharing import Sharing
from usecases import CASES, are_rivals, deeds, option_pairs, pairs_together

#: Those with the fewest pairs of options; all of them where PACKYARD_FUZZ asks, as these take minutes.
IN_PAIRS = sorted(option_pairs(), key=lambda use_case: len(option_pairs()[use_case]))
if "PACKYARD_FUZZ" not in os.environ:
    del IN_PAIRS[len(IN_PAIRS) // 2 :]


def distinct() -> list[Path]:
    """Return a use case for each set of options that does what no other does, whatever its setters and names are."""
    found: dict[tuple[object, ...], Path] = {}
    for folder in sorted(CASES.rglob(option.DIRECTORY)):
        found.setdefault(tuple((each.name, deeds(each)) for each in sorted(folder.iterdir())), folder.parent)
    return list(found.values())


def names_of(use_case: Path, among: Iterable[str] = ()) -> list[str]:
    """Return the options of a use case, or some of them, that can be enabled together."""
    found: list[str] = []
    for name in among or component.names(Tree(use_case)):
        if not any(are_rivals(use_case, (name, other)) for other in found):
            found.append(name)
    return found


def with_setters() -> list[tuple[Path, list[str]]]:
    """Return every option that brings setters, in the first use case where it does what it does.

    Beside the use case stand those of its options that go together.
    """
    firsts: dict[tuple[object, ...], tuple[Path, str]] = {}
    for folder in sorted(CASES.rglob(option.DEFINITIONS)):
        firsts.setdefault((folder.parent.name, deeds(folder.parent)), (folder.parents[2], folder.parent.name))
    found: list[tuple[Path, list[str]]] = []
    for use_case in dict.fromkeys(use_case for use_case, _ in firsts.values()):
        left = [name for other, name in firsts.values() if other == use_case]
        while left:
            together = names_of(use_case, left)
            found.append((use_case, together))
            left = [name for name in left if name not in together]
    return found


def test_these_options_and_no_others_exclude_each_other() -> None:
    found = {
        pair
        for folder in CASES.rglob(option.DIRECTORY)
        for pair in combinations(component.names(Tree(folder.parent)), 2)
        if are_rivals(folder.parent, pair)
    }
    datasets = ("dataset-bucket", "dataset-claim", "dataset-host-path")
    assert found == {("argument", "debug"), ("debug", "gpu-tuning"), *combinations(datasets, 2)}


@pytest.mark.parametrize("use_case", distinct(), ids=lambda folder: folder.relative_to(CASES).as_posix())
def test_lint_names_those_among_the_components_that_exclude_each_other(use_case: Path, tmp_path: Path) -> None:
    file = copied(use_case, tmp_path / "use-case") / "kustomization.yaml"
    text = file.read_text("utf-8")
    names = component.names(Tree(use_case))
    file.write_text("\n".join([text + "components:", *(f"- options/{name}" for name in names), ""]), "utf-8")
    found = [(finding.rule, finding.line - text.count("\n") - 2) for finding in options.check(file.parent)]
    pairs = [(first, second) for second in range(len(names)) for first in range(second)]
    expected = [pair for pair in pairs if are_rivals(use_case, [names[number] for number in pair])]
    assert found == [("contradicting-options", second) for _, second in expected]


def copied(use_case: Path, folder: Path) -> Path:
    shutil.copytree(use_case, folder)
    return folder


def setters_of(file: Path) -> dict[str, Setter]:
    return dict(Krmfile(Source(str(file), file.read_text("utf-8"))).definitions.setters) if file.exists() else {}


def another_value(setter: Setter) -> str | None:
    """Return a value that the setter's definition admits, from its example; None where it says nothing new."""
    return setter.example if setter.example not in (None, "", setter.value) else None


@pytest.mark.parametrize("use_case", distinct(), ids=lambda folder: folder.relative_to(CASES).as_posix())
def test_the_build_is_that_with_the_component(use_case: Path, kustomize5: Path, tmp_path: Path) -> None:
    """All in two runs of kustomize: each combination is built in a namespace of its own, which keeps them apart."""
    chosen: list[tuple[str, ...]] = [(name,) for name in component.names(Tree(use_case))]
    chosen += pairs_together(use_case)
    with Sharing():
        for number, (*before, name) in enumerate(chosen):
            start = tmp_path / f"ours/n{chosen.index(tuple(before))}" if before else use_case
            enabled(copied(start, tmp_path / f"ours/n{number}"), [name])
    for number, these in enumerate(chosen):
        ours = tmp_path / f"ours/n{number}/kustomization.yaml"
        theirs = copied(use_case, tmp_path / f"theirs/n{number}") / "kustomization.yaml"
        components = "".join(f"- options/{name}\n" for name in these)
        ours.write_text(ours.read_text("utf-8") + f"namespace: n{number}\n", "utf-8")
        theirs.write_text(theirs.read_text("utf-8") + f"namespace: n{number}\ncomponents:\n{components}", "utf-8")
    for side in ("ours", "theirs"):
        lines = ["resources:", *(f"- n{number}" for number in range(len(chosen)))]
        (tmp_path / side / "kustomization.yaml").write_text("\n".join(lines) + "\n", "utf-8")
    assert reading.built(kustomize5, tmp_path / "ours") == reading.built(kustomize5, tmp_path / "theirs")


@pytest.mark.parametrize("use_case", IN_PAIRS, ids=lambda folder: folder.relative_to(CASES).as_posix())
def test_every_pair_in_any_order_in_and_out_restores_the_bytes(use_case: Path, tmp_path: Path) -> None:
    """Either of a pair leaves what the other one alone made of the files, and each alone leaves them as they were."""
    folder = copied(use_case, tmp_path / "use-case")
    before = reading.files(folder)
    pairs = option_pairs()[use_case]
    alone: dict[str, dict[str, bytes]] = {}
    with Sharing():
        for name in {name for pair in pairs for name in pair}:
            enabled(folder, [name])
            alone[name] = reading.files(folder)
            disable(folder, name)
            assert reading.files(folder) == before, name
        for first, second in (order for pair in pairs for order in permutations(pair)):
            put(folder, alone[first])
            if are_rivals(use_case, (first, second)):
                with pytest.raises(ConflictError, match="could not be taken out without the other"):
                    enable(folder, second)
                continue
            enabled(folder, [second])
            both = reading.files(folder)
            for name, left in ((first, second), (second, first)):
                put(folder, both)
                disable(folder, name)
                assert reading.files(folder) == alone[left], (first, second, name)


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Let a folder hold these files and no others."""
    there = reading.files(folder)
    for path in there.keys() - files.keys():
        (folder / path).unlink()
    for path, data in files.items():
        if there.get(path) != data:
            (folder / path).write_bytes(data)


def enabled(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        assert enable(folder, name).after


@pytest.mark.parametrize("use_case", distinct(), ids=lambda folder: folder.relative_to(CASES).as_posix())
def test_values_set_meanwhile_stay_and_nothing_else_does(use_case: Path, tmp_path: Path) -> None:
    ours, theirs = copied(use_case, tmp_path / "ours"), copied(use_case, tmp_path / "theirs")
    names = names_of(ours)
    values = {
        name: [text]
        for name, setter in setters_of(ours / "Krmfile").items()
        if not setter.is_list and (text := another_value(setter))
    }
    enabled(ours, names)
    own = setters_of(ours / "Krmfile").keys() - setters_of(theirs / "Krmfile").keys()
    setters = setters_of(ours / "Krmfile")
    folded = {name: [text] for name in own if (text := another_value(setters[name]))}
    changes = change_setters(ours, {**values, **folded})
    assert all(changes[0].plan.counts[name] for name in folded)
    change_setters(theirs, values)
    for name in names:
        disable(ours, name)
    assert reading.files(ours) == reading.files(theirs)


@pytest.mark.parametrize(
    ("use_case", "names"),
    [
        pytest.param(use_case, names, id=f"{use_case.relative_to(CASES).as_posix()} {' '.join(names)}")
        for use_case, names in with_setters()
    ],
)
def test_kustomize_3_sets_what_is_folded_in(use_case: Path, names: list[str], cfg3: Cfg, tmp_path: Path) -> None:
    ours, theirs = copied(use_case, tmp_path / "ours"), copied(use_case, tmp_path / "theirs")
    shipped = reading.files(ours)
    for folder in (ours, theirs):
        enabled(folder, names)
    own = setters_of(ours / "Krmfile").keys() - setters_of(use_case / "Krmfile").keys()
    setters = setters_of(ours / "Krmfile")
    values = {name: text for name in sorted(own) if (text := another_value(setters[name]))}
    assert values
    for name, text in values.items():
        cfg3.done("set", "--", ".", name, text, cwd=theirs)
        change_setters(ours, {name: [text]})
    assert reading.objects(theirs) == reading.objects(ours)
    assert reading.objects(ours) != reading.objects(use_case)
    for name in names:
        disable(theirs, name)
    ends = reading.files(theirs)
    left = setters_of(theirs / "Krmfile")
    assert left == {
        name: setter.replaced(file=str(theirs / "Krmfile"), line=left[name].line)
        for name, setter in setters_of(use_case / "Krmfile").items()
    }
    assert reading.objects(theirs) == reading.objects(use_case)
    assert reading.setter_comments(theirs) == reading.setter_comments(use_case)
    whole = {path: data for path, data in shipped.items() if not is_folded(data)}
    assert {path: data for path, data in ends.items() if path in whole} == whole
    assert ends.keys() == shipped.keys()


def is_folded(data: bytes) -> bool:
    """Say whether kustomize 3.8.7 folds a line of a file when it writes it."""
    return max(map(len, data.splitlines())) > 80
