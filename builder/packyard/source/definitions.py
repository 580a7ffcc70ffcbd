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
from packyard.setters.comment import REF_PREFIX, SETTER_PREFIX, SUBSTITUTION_PREFIX
from packyard.setters.definition import Definitions, Setter, Substitution
from packyard.setters.krmfile import Krmfile, parse_krmfile
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
    keys = _reached(gathered.definitions, documents)
    texts: dict[str, str] = {}
    setters: dict[str, Setter] = {}
    for key, written in gathered.written.items():
        if key in keys and key.startswith(SETTER_PREFIX):
            setter = gathered.definitions.setters[key.removeprefix(SETTER_PREFIX)]
            texts[key], setters[setter.name] = _shipped(written, setter, values.get(setter.name))
        elif key in keys:
            texts[key] = written.text(None)
    substitutions = gathered.definitions.substitutions
    kept = {name: found for name, found in substitutions.items() if SUBSTITUTION_PREFIX + name in keys}
    return Reached(Definitions(setters, kept), texts)


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
    """The definitions of all parts of something, by name and by key."""

    definitions: Definitions
    written: Mapping[str, _Written]


def _gather(part: Part) -> _Gathered:
    """Gather the definitions of all parts; one name with two meanings is refused."""
    files = [(str(path), path.read_bytes()) for path in dict.fromkeys(part.krmfiles())]
    return once(("definitions", *files), lambda: _join(files))


def _join(files: Iterable[tuple[str, bytes]]) -> _Gathered:
    entries: dict[str, Entry] = {}
    setters: dict[str, Setter] = {}
    substitutions: dict[str, Substitution] = {}
    problems = []
    for path, data in files:
        krmfile = parse_krmfile(Source(path, decode(data, path)[1]))
        for entry in _entries(krmfile):
            other = entries.setdefault(entry.name, entry)
            if other is not entry and to_value(other.value) != to_value(entry.value):
                line, _ = entry.key.source.locate(entry.start)
                there = f"{other.key.source.name}:{other.key.source.locate(other.start)[0]}"
                name = entry.name.removeprefix(SETTER_PREFIX).removeprefix(SUBSTITUTION_PREFIX)
                problems.append(Problem(f"{name} is defined otherwise in {there}", file=path, line=line))
        setters = {**krmfile.definitions.setters, **setters}
        substitutions = {**krmfile.definitions.substitutions, **substitutions}
    refuse(problems)
    written = _with_implied(entries)
    for key, item in written.items():
        if item.key[-1]:
            name = key.removeprefix(SUBSTITUTION_PREFIX)
            substitutions[name] = _read(item.text(None)).substitutions[name]
    return _Gathered(Definitions(setters, substitutions), written)


def _shipped(written: _Written, setter: Setter, given: str | None) -> tuple[str, Setter]:
    """Return a setter's text in the Krmfile, and the setter, with the value that it is given, if any."""
    value = setter.value if given is None else given
    text = written.text(None if setter.is_list or (setter.required and not value) else value)
    if given is not None:
        text = once(("shipped", text, given), lambda: _with_value(text, setter.name, given))
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


def _entries(krmfile: Krmfile) -> list[Entry]:
    section = krmfile.root.mapping("openAPI", "definitions")
    return section.entries if section else []


def _with_implied(entries: Mapping[str, Entry]) -> dict[str, _Written]:
    """Write out what the parts left to be understood."""
    found: dict[str, Entry] = {}
    for key, entry in entries.items():
        found[key] = entry
        definition = entry.value
        if not isinstance(definition, MappingNode):
            continue
        if key.startswith(SETTER_PREFIX) and definition.text("type") in PLAIN_TYPES:
            name = key.removeprefix(SETTER_PREFIX)
            implied = f"{SUBSTITUTION_PREFIX}{name}_VALUE"
            if implied not in entries:
                found[implied] = _as_text(implied, name)
    return {key: _with_markers(entry, entries) for key, entry in found.items()}


def _with_markers(entry: Entry, entries: Mapping[str, Entry]) -> _Written:
    """Write the ``values`` of a substitution that names what it needs as ``${NAME}``."""
    source, definition = entry.key.source, entry.value
    substitution = definition.mapping("x-k8s-cli", "substitution") if isinstance(definition, MappingNode) else None
    if substitution is None or substitution.get("values") is not None:
        return _Written(entry, (source.name, source.text, entry.start, ""))
    lines = ["values:"]
    for name in dict.fromkeys(_MARKER.findall(substitution.text("pattern"))):
        prefix = SETTER_PREFIX if SETTER_PREFIX + name in entries else SUBSTITUTION_PREFIX
        lines += [f"- marker: ${{{name}}}", f"  ref: '{REF_PREFIX}{prefix}{name}'"]
    text = "\n".join(lines if len(lines) > 1 else ["values: []"]) + "\n"
    key = (source.name, source.text, entry.start, text)
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


def _reached(definitions: Definitions, documents: Mapping[str, bytes]) -> set[str]:
    """Return the keys of the definitions that comments refer to, directly or through substitutions."""
    reached: set[str] = set()
    todo: list[Setter | Substitution] = []
    for name, data in documents.items():
        for document in parse_shared(Source(name, data.decode())):
            todo += [found for bound in bindings.find(document) if (found := definitions.resolve(bound.reference))]
    while todo:
        definition = todo.pop()
        prefix = SETTER_PREFIX if isinstance(definition, Setter) else SUBSTITUTION_PREFIX
        if prefix + definition.name in reached:
            continue
        reached.add(prefix + definition.name)
        if isinstance(definition, Substitution):
            references = [reference for _, reference in definition.markers if reference]
            todo += [found for reference in references if (found := definitions.resolve(reference))]
    return reached


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
