"""The Krmfile of a use case: the definitions of its parts that its comments reach, each as its part wrote it.

Two things need not be written, as they follow: the ``values`` of a substitution (each ``${NAME}`` of its pattern is
the setter of that name, else the substitution), and ``NAME_VALUE``, the text of a setter NAME that is a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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
from packyard.source.rules import is_here
from packyard.text import layout
from packyard.text.document import decode, parse_shared, parse_text
from packyard.text.node import Entry, Source
from packyard.text.node import Mapping as MappingNode
from packyard.text.plain import to_value
from packyard.text.scalar import double_quoted, is_plain_text

_MARKER = re.compile(r"\$\{([^{}]+)\}")


def compose_krmfile(
    part: Part, documents: Mapping[str, bytes], values: Mapping[str, str], rules: Sequence[Rule] = ()
) -> bytes:
    """Write the Krmfile of a use case: what its comments reach, each definition as its part wrote it.

    ``values`` are those that the package gives; they, or else the definition's own, become the definition's default.
    Those of ``rules`` stand below of which every setter is reached.
    """
    entries = _definitions(part)
    krmfile = parse_krmfile(Source("Krmfile", _write(list(entries.values()), {}).decode()))
    reached = _reached(krmfile.definitions, documents)
    kept = [entry for key, entry in entries.items() if key in reached]
    defaults = {
        name: values.get(name, setter.value)
        for name, setter in krmfile.definitions.setters.items()
        if not setter.is_list
    }
    required = [name for name, setter in krmfile.definitions.setters.items() if setter.required]
    applying = [rule for rule in rules if is_here(rule, [key.removeprefix(SETTER_PREFIX) for key in reached])]
    return _write(kept, {name: text for name, text in defaults.items() if text or name not in required}, applying)


def without(krmfile: bytes, other: bytes, rules: Sequence[Rule] = ()) -> bytes:
    """Return a Krmfile with the definitions that another does not have, and rules; empty where nothing is left."""
    entries = [_entries(parse_krmfile(Source("Krmfile", data.decode()))) for data in (krmfile, other)]
    known = {entry.name for entry in entries[1]}
    left = [entry for entry in entries[0] if entry.name not in known]
    return _write(left, {}, rules) if left or rules else b""


def _entries(krmfile: Krmfile) -> list[Entry]:
    section = krmfile.root.mapping("openAPI", "definitions")
    return section.entries if section else []


def _definitions(part: Part) -> dict[str, Entry]:
    """Gather the definitions of all parts; one name with two meanings is refused."""
    found: dict[str, Entry] = {}
    problems = []
    for path in dict.fromkeys(part.krmfiles()):
        krmfile = parse_krmfile(Source(str(path), decode(path.read_bytes(), str(path))[1]))
        for entry in _entries(krmfile):
            other = found.setdefault(entry.name, entry)
            if other is not entry and to_value(other.value) != to_value(entry.value):
                line, _ = entry.key.source.locate(entry.start)
                there = f"{other.key.source.name}:{other.key.source.locate(other.start)[0]}"
                name = entry.name.removeprefix(SETTER_PREFIX).removeprefix(SUBSTITUTION_PREFIX)
                problems.append(Problem(f"{name} is defined otherwise in {there}", file=str(path), line=line))
    refuse(problems)
    return _with_implied(found)


def _with_implied(entries: dict[str, Entry]) -> dict[str, Entry]:
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
    for key, entry in found.items():
        definition = entry.value
        substitution = definition.mapping("x-k8s-cli", "substitution") if isinstance(definition, MappingNode) else None
        if substitution is not None and substitution.get("values") is None:
            found[key] = patch.clone_entry(entry)
            _substitution(found[key]).entries.append(_values(substitution.text("pattern"), entries))
    return found


def _substitution(entry: Entry) -> MappingNode:
    assert isinstance(entry.value, MappingNode)
    found = entry.value.mapping("x-k8s-cli", "substitution")
    assert found is not None
    return found


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


def _values(pattern: str, entries: Mapping[str, Entry]) -> Entry:
    """Write the ``values`` of a substitution that names what it needs as ``${NAME}``."""
    lines = ["values:"]
    for name in dict.fromkeys(_MARKER.findall(pattern)):
        prefix = SETTER_PREFIX if SETTER_PREFIX + name in entries else SUBSTITUTION_PREFIX
        lines += [f"- marker: ${{{name}}}", f"  ref: '{REF_PREFIX}{prefix}{name}'"]
    return _mapping("\n".join(lines if len(lines) > 1 else ["values: []"]) + "\n").entries[0]


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


def _write(entries: list[Entry], defaults: Mapping[str, str], rules: Sequence[Rule] = ()) -> bytes:
    root = _mapping("apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions: {}\n")
    definitions = root.mapping("openAPI", "definitions")
    assert definitions is not None
    for entry in entries:
        added = patch.clone_entry(entry)
        name = entry.name.removeprefix(SETTER_PREFIX)
        if name in defaults and entry.name != name and isinstance(added.value, MappingNode):
            _add_default(added.value, defaults[name])
        definitions.entries.append(added)
    if rules:
        root.entries.append(rules_entry(rules))
    return layout.write(root)


def _add_default(definition: MappingNode, text: str) -> None:
    """Record the value as shipped, so that it can be gone back to, in the spelling of the definition's type."""
    plain = definition.text("type") in PLAIN_TYPES or is_plain_text(text)
    root = _mapping(f"default: {text if plain else double_quoted(text)}\n")
    if definition.get("default") is None:
        position = next((i for i, entry in enumerate(definition.entries) if entry.name == "x-k8s-cli"), 0)
        definition.entries.insert(position, root.entries[0])


def _mapping(text: str) -> MappingNode:
    root = parse_text(Source("Krmfile", text))[0].root
    assert isinstance(root, MappingNode)
    return root
