"""The Krmfile of a use case: the definitions of its parts that its comments reach, each as its part wrote it.

Two things need not be written, as they follow: the ``values`` of a substitution (each ``${NAME}`` of its pattern is
the setter of that name, else the substitution), and ``NAME_VALUE``, the text of a setter NAME that is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from packyard.errors import Problem, refuse
from packyard.setters import binding as bindings
from packyard.setters.comment import REF_PREFIX, SETTER_PREFIX, SUBSTITUTION_PREFIX, Reference
from packyard.setters.definition import Definitions, Setter, Substitution
from packyard.setters.krmfile import Krmfile, parse_krmfile
from packyard.setters.review import review
from packyard.setters.rules.rule import Rule
from packyard.setters.value import PLAIN_TYPES
from packyard.source import patch
from packyard.source.parts import Part
from packyard.source.rules import entry as rules_entry
from packyard.text import edit, layout
from packyard.text.document import decode, parse_shared
from packyard.text.node import Entry, Source
from packyard.text.node import Mapping as MappingNode
from packyard.text.plain import to_value
from packyard.text.scalar import double_quoted, is_plain_text
from packyard.text.sharing import once

_MARKER = re.compile(r"\$\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Reached:
    """The definitions that the comments of some documents reach, with the values that are shipped.

    ``texts`` are their entries as a Krmfile has them, by key: the name with the prefix of its kind.
    """

    definitions: Definitions
    texts: Mapping[str, str]

    def krmfile(self, rules: Sequence[Rule]) -> bytes:
        """Write the Krmfile of them, and of rules below."""
        return _krmfile(self.texts.values(), rules).encode()

    def beside(self, other: Reached, rules: Sequence[Rule]) -> bytes:
        """Write a Krmfile of those that another one does not have, and of rules; empty where nothing is left."""
        left = [text for key, text in self.texts.items() if key not in other.texts]
        return _krmfile(left, rules).encode() if left or rules else b""


def reach(part: Part, documents: Mapping[str, bytes], values: Mapping[str, str]) -> Reached:
    """Find the definitions that comments reach, each as its part wrote it.

    A value that is given becomes the definition's value and its default; else its own value is its default.
    """
    gathered = _gather(part)
    reached = sorted(_reached(gathered, documents), key=gathered.position)
    refuse(problem for key in reached for problem in gathered.review(key))
    texts: dict[str, str] = {}
    setters: dict[str, Setter] = {}
    substitutions: dict[str, Substitution] = {}
    for key in reached:
        written = gathered.written(key)
        name = key.removeprefix(SETTER_PREFIX).removeprefix(SUBSTITUTION_PREFIX)
        if key.startswith(SETTER_PREFIX):
            texts[key], setters[name] = _shipped(written, gathered.setters[name], values.get(name))
        else:
            texts[key], substitutions[name] = written.text(None), gathered.substitution(name)
    return Reached(Definitions(setters, substitutions), texts)


@dataclass(frozen=True, slots=True)
class _Written:
    """A definition as its part wrote it; ``key`` is equal for equal ones."""

    entry: Entry
    key: tuple[str, str, int, str]

    def text(self, default: str | None) -> str:
        """Return its lines in a Krmfile, with a default."""
        return once(("definition", self.key, default), lambda: self._text(default))

    def _text(self, default: str | None) -> str:
        added = patch.clone_entry(self.entry)
        if default is not None and isinstance(added.value, MappingNode):
            _add_default(added.value, default)
        return "".join(f"{line}\n" for line in layout.lines([added], "    "))


@dataclass(frozen=True, slots=True)
class _Gathered:
    """The definitions of all parts of something by key, in the order of the parts; what they leave out is written here.

    ``implied`` are the names of setters by the keys of the substitutions that follow from them, unless written.
    """

    entries: Mapping[str, Entry]
    places: Mapping[str, int]
    setters: Mapping[str, Setter]
    substitutions: Mapping[str, Substitution]
    implied: Mapping[str, str]
    problems: tuple[Problem, ...] = ()

    def position(self, key: str) -> tuple[int, bool]:
        """Return what definitions are sorted by: what is implied follows its setter."""
        if key in self.entries:
            return self.places[key], False
        return self.places[SETTER_PREFIX + self.implied[key]], True

    def written(self, key: str) -> _Written:
        """Return a definition with what its part left to be understood."""
        return _with_markers(self.entries[key] if key in self.entries else _as_text(key, self.implied[key]), self)

    def review(self, key: str) -> list[Problem]:
        """Return what is wrong with a setter's definition."""
        setter = self.setters.get(key.removeprefix(SETTER_PREFIX)) if key.startswith(SETTER_PREFIX) else None
        if setter is None:
            return []
        entry = self.entries[key]
        place = ("review", entry.key.source.name, entry.key.source.text, entry.start)
        return once(place, lambda: [problem for _, problem in review(entry, setter, shipped=True)])

    def resolve(self, reference: Reference) -> Setter | Substitution | None:
        """Find what a comment refers to, as `Definitions.resolve` does."""
        if reference.kind != "substitution" and reference.name in self.setters:
            return self.setters[reference.name]
        key = SUBSTITUTION_PREFIX + reference.name
        has = reference.name in self.substitutions or (key in self.implied and key not in self.entries)
        return self.substitution(reference.name) if reference.kind != "setter" and has else None

    def substitution(self, name: str) -> Substitution:
        """Return a substitution that there is, or that is implied."""
        written = self.written(SUBSTITUTION_PREFIX + name)
        return _read(written.text(None)).substitutions[name] if written.key[-1] else self.substitutions[name]

    def with_file(self, path: str, data: bytes) -> _Gathered:
        """Return these definitions and those of one more Krmfile."""
        krmfile = parse_krmfile(Source(path, decode(data, path)[1]))
        entries, places, implied = dict(self.entries), dict(self.places), dict(self.implied)
        problems = list(self.problems)
        for entry in krmfile.entries:
            other = entries.setdefault(entry.name, entry)
            places.setdefault(entry.name, len(places))
            if other is not entry and to_value(other.value) != to_value(entry.value):
                line, _ = entry.key.source.locate(entry.start)
                there = f"{other.key.source.name}:{other.key.source.locate(other.start)[0]}"
                name = entry.name.removeprefix(SETTER_PREFIX).removeprefix(SUBSTITUTION_PREFIX)
                problems.append(Problem(f"{name} is defined otherwise in {there}", file=path, line=line))
            if other is entry and _is_number(entry):
                name = entry.name.removeprefix(SETTER_PREFIX)
                implied[f"{SUBSTITUTION_PREFIX}{name}_VALUE"] = name
        return _Gathered(
            entries,
            places,
            {**krmfile.definitions.setters, **self.setters},
            {**krmfile.definitions.substitutions, **self.substitutions},
            implied,
            tuple(problems),
        )


def _gather(part: Part) -> _Gathered:
    """Gather the definitions of all parts; one name with two meanings is refused."""
    gathered = _join(tuple(dict.fromkeys(part.krmfiles())))
    refuse(gathered.problems)
    return gathered


def _join(files: tuple[tuple[str, bytes], ...]) -> _Gathered:
    """Join the definitions of Krmfiles; what the first of them come to is known from others that begin with them."""
    if not files:
        return _Gathered({}, {}, {}, {}, {})
    return once(("definitions", *files), lambda: _join(files[:-1]).with_file(*files[-1]))


def _is_number(entry: Entry) -> bool:
    """Say whether a definition is that of a setter whose value is no text."""
    definition = entry.value
    return (
        entry.name.startswith(SETTER_PREFIX)
        and isinstance(definition, MappingNode)
        and definition.text("type") in PLAIN_TYPES
    )


def _shipped(written: _Written, setter: Setter, given: str | None) -> tuple[str, Setter]:
    """Return a setter's text in the Krmfile, and the setter, with the value that it is given, if any."""
    return once(("shipped", written.key, given), lambda: _ship(written, setter, given))


def _ship(written: _Written, setter: Setter, given: str | None) -> tuple[str, Setter]:
    value = setter.value if given is None else given
    text = written.text(None if setter.is_list or (setter.required and not value) else value)
    if given is not None:
        text = _with_value(text, setter.name, given)
    found = _read(text).setters[setter.name]
    return text, found.replaced(file=setter.file, line=setter.line)


def _with_value(text: str, name: str, given: str) -> str:
    """Record a value in a setter's text as `set` does, not marked as set."""
    krmfile = Krmfile(Source("Krmfile", _krmfile([text])))
    setter = krmfile.definitions.setters[name]
    setter = setter.replaced(values=(given,)) if setter.is_list else setter.replaced(value=given)
    return edit.apply(krmfile.source.text, krmfile.record(setter)).removeprefix(_krmfile([""]))


def _read(text: str) -> Definitions:
    """Read a definition's text."""
    return once(("read", text), lambda: Krmfile(Source("Krmfile", _krmfile([text]))).definitions)


def _krmfile(texts: Iterable[str], rules: Sequence[Rule] = ()) -> str:
    head = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:"
    listed = list(texts)
    below = "".join(f"{line}\n" for line in layout.lines([rules_entry(rules)])) if rules else ""
    return "".join([head, "\n", *listed, below]) if listed else f"{head} {{}}\n{below}"


def _with_markers(entry: Entry, gathered: _Gathered) -> _Written:
    """Write the ``values`` of a substitution that names what it needs as ``${NAME}``."""
    source = entry.key.source
    place = (source.name, source.text, entry.start)
    names = once(("markers", place), lambda: _find_markers(entry))
    kinds = tuple(SETTER_PREFIX + name in gathered.entries for name in names)
    return once(("written", place, kinds), lambda: _write(entry, place, dict(zip(names, kinds, strict=True))))


def _find_markers(entry: Entry) -> tuple[str, ...]:
    """Return what a substitution that leaves its ``values`` out needs."""
    substitution = _implicit(entry)
    return tuple(dict.fromkeys(_MARKER.findall(substitution.text("pattern")))) if substitution else ()


def _implicit(entry: Entry) -> MappingNode | None:
    definition = entry.value
    substitution = definition.mapping("x-k8s-cli", "substitution") if isinstance(definition, MappingNode) else None
    return substitution if substitution is not None and substitution.get("values") is None else None


def _write(entry: Entry, place: tuple[str, str, int], markers: Mapping[str, bool]) -> _Written:
    """Write a definition; ``markers`` say of what a substitution needs whether it is a setter."""
    if _implicit(entry) is None:
        return _Written(entry, (*place, ""))
    lines = ["values:"]
    for name, is_setter in markers.items():
        prefix = SETTER_PREFIX if is_setter else SUBSTITUTION_PREFIX
        lines += [f"- marker: ${{{name}}}", f"  ref: '{REF_PREFIX}{prefix}{name}'"]
    text = "\n".join(lines if len(lines) > 1 else ["values: []"]) + "\n"
    key = (*place, text)
    return _Written(once(("values", key), lambda: _with_entries(entry, text)), key)


def _with_entries(entry: Entry, text: str) -> Entry:
    copied = patch.clone_entry(entry)
    assert isinstance(copied.value, MappingNode)
    inside = copied.value.mapping("x-k8s-cli", "substitution")
    assert inside is not None
    inside.entries += _mapping(text).entries
    return copied


def _as_text(key: str, name: str) -> Entry:
    root = _mapping(f"""\
{key}:
  description: {name} as text.
  x-k8s-cli:
    substitution:
      name: {name}_VALUE
      pattern: ${{{name}}}
""")
    return root.entries[0]


def _reached(gathered: _Gathered, documents: Mapping[str, bytes]) -> set[str]:
    """Return the keys of the definitions that comments refer to, directly or through substitutions."""
    reached: set[str] = set()
    references = [item for name, data in documents.items() for item in _references(name, data.decode())]
    todo = [found for reference in references if (found := gathered.resolve(reference))]
    while todo:
        definition = todo.pop()
        prefix = SETTER_PREFIX if isinstance(definition, Setter) else SUBSTITUTION_PREFIX
        if prefix + definition.name in reached:
            continue
        reached.add(prefix + definition.name)
        if isinstance(definition, Substitution):
            references = [reference for _, reference in definition.markers if reference]
            todo += [found for reference in references if (found := gathered.resolve(reference))]
    return reached


def _references(name: str, text: str) -> Iterable[Reference]:
    """Return what the comments of a file refer to, each once."""
    return once(("references", name, text), lambda: _find_references(Source(name, text)))


def _find_references(source: Source) -> Iterable[Reference]:
    bound = [item.reference for document in parse_shared(source) for item in bindings.find(document)]
    return list({(reference.kind, reference.name): reference for reference in bound}.values())


def _add_default(definition: MappingNode, text: str) -> None:
    """Record the value as shipped, so that it can be gone back to, in the spelling of the definition's type."""
    plain = definition.text("type") in PLAIN_TYPES or is_plain_text(text)
    root = _mapping(f"default: {text if plain else double_quoted(text)}\n")
    if definition.get("default") is None:
        position = next((i for i, entry in enumerate(definition.entries) if entry.name == "x-k8s-cli"), 0)
        definition.entries.insert(position, root.entries[0])


def _mapping(text: str) -> MappingNode:
    """Read a few lines of ours; their nodes are not for changing."""
    root = parse_shared(Source("Krmfile", text))[0].root
    assert isinstance(root, MappingNode)
    return root
