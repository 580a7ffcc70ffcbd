"""Use cases to what package.yaml says of them: parts, entries of `useCases`, values, and words where they belong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.core.errors import Problem, refuse
from packyard.writing.authoring.import_.copied import CopiedPart
from packyard.writing.authoring.import_.layers import Part, PartTree, Place
from packyard.writing.authoring.import_.meaning import GIVEN, Word
from packyard.writing.authoring.import_.note import DOUBTFUL, Note
from packyard.writing.authoring.import_.read import Variant


@dataclass(slots=True)
class UseCaseEntry:
    """An entry of `useCases`."""

    base: Part | CopiedPart
    storage: list[str] = field(default_factory=list)
    setters: dict[str, str] = field(default_factory=dict)
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Split:
    """What becomes of use cases: parts, entries of `useCases`, and what the whole package has."""

    parts: Sequence[Part]
    entries: Mapping[str, UseCaseEntry]
    words: Mapping[str, Word]
    setters: Mapping[str, str]
    namespace: str
    several: Collection[str]  # kinds of which a use case has more than one object, which patches have to name
    notes: Sequence[Note]


def split(variants: Sequence[Variant], name: str, is_free: Callable[[str], bool]) -> Split:
    """Split use cases into parts; ``is_free`` says whether nothing has a folder's name yet."""
    if not variants:
        return Split((), {}, {}, {}, "", (), ())
    _check_types(variants)
    tree = PartTree(name, variants)
    tree.place_storages(is_free)
    return _done(tree, _Words(tree))


def _check_types(variants: Sequence[Variant]) -> None:
    """Refuse a setter that takes one type of value in one use case and another type in another: `set -R` sets both."""
    first_by_name: dict[str, tuple[str, Word]] = {}
    problems = []
    for variant in variants:
        for name, word in variant.words.items():
            path, other = first_by_name.setdefault(name, (variant.path, word))
            if word.is_setter and other.is_setter and word.type != other.type:
                types = [each.type or "no type" for each in (other, word)]
                message = f"{name} contradicts {path}: it has {types[0]} there, and {types[1]} here"
                hint = "make the Krmfiles agree, or import the use cases as two packages"
                problems.append(Problem(message, file=variant.path, hint=hint))
    refuse(problems)


class _Words:
    """The words of use cases: each defined once where all agree, otherwise in the parts where they differ."""

    def __init__(self, tree: PartTree) -> None:
        self.tree = tree
        self.notes: list[Note] = []
        self.words: dict[str, Word] = {}
        self.values: dict[Place, dict[str, str]] = {place: {} for place in tree.places}
        names = dict.fromkeys(name for variant in tree.places.values() for name in variant.words)
        for name in names:
            self._place(name, {place: each.words[name] for place, each in tree.places.items() if name in each.words})

    def _place(self, name: str, places: Mapping[Place, Word]) -> None:
        texts = {place: word.text() for place, word in places.items()}
        in_group, in_last = _gathered(texts, 0), _gathered(texts, 1)
        most, _ = Counter(texts.values()).most_common(1)[0]
        usual = next(word for place, word in places.items() if texts[place] == most)
        by_group = all(len(some) == 1 for some in in_group.values())
        different = [place for place in places if texts[place] != most]
        if not different or (by_group and all(usual.is_but_for_value(places[place]) for place in different)):
            self.words[name] = usual
            self._give(name, {place: places[place] for place in different}, in_group)
            return
        if any(word.is_setter for word in places.values()):
            where = (f"{name}: {'/'.join(filter(None, place))}: {word.summary}" for place, word in places.items())
            todo = "make them one, in the package's Krmfile, or rename one"
            self.notes.append(Note(DOUBTFUL, "setters that use cases define differently", todo, tuple(where)))
        if name in GIVEN:
            self._give(name, places, in_group)
        for (group, last), word in places.items():
            part = self.tree.bases[group]
            if len(in_group[group]) > 1:
                shared = self.tree.storages.get(last) if len(in_last[last]) == 1 else None
                part = shared or self.tree.leaf((group, last))
            part.words[name] = word

    def _give(self, name: str, by_place: Mapping[Place, Word], in_group: Mapping[str, set[str]]) -> None:
        """Give use cases values; a group that does not get one value falls apart."""
        for place, word in by_place.items():
            self.values[place][name] = word.value
            if len(in_group[place[0]]) > 1:
                self.tree.leaf(place)


def _gathered(texts: Mapping[Place, str], step: int) -> dict[str, set[str]]:
    """Return what a word is by groups, or by last steps."""
    groups: dict[str, set[str]] = {}
    for place, text in texts.items():
        groups.setdefault(place[step], set()).add(text)
    return groups


def _done(tree: PartTree, placed: _Words) -> Split:
    """Return the parts that add something, and what the use cases are made of."""
    spaces = Counter(each.namespace for each in tree.places.values())
    entries: dict[str, UseCaseEntry] = {}
    for (group, last), variant in tree.places.items():
        leaf = tree.leaves.get((group, last))
        path = variant.path if leaf else group
        entry = entries.setdefault(path, UseCaseEntry((leaf or tree.bases[group]).used))
        entry.setters |= placed.values[group, last]
        entry.storage += [last] if last and not leaf else []
        entry.namespace = variant.namespace if len(spaces) > 1 else ""
    used = [*tree.share(), tree.root, *tree.bases.values(), *tree.leaves.values(), *tree.storages.values()]
    values = {name: placed.words[name].value for name in GIVEN if name in placed.words}
    shared = next(iter(spaces)) if len(spaces) == 1 else ""
    parts = [part for part in used if not part.is_empty]
    return Split(parts, entries, placed.words, values, shared, tree.several, placed.notes)
