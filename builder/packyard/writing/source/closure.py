"""The definitions that the comments of some files reach, as a Krmfile has them: those of setters, then what follows.

`values` of a substitution are written here: each ``${NAME}`` of its pattern is the setter or substitution of that name.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.errors import Problem, refuse
from packyard.core.yaml import layout, make
from packyard.core.yaml.document import parse_shared
from packyard.core.yaml.node import Entry, MappingNode, Source
from packyard.core.yaml.values import double_quoted, quoted
from packyard.using.setters import comment as comments
from packyard.using.setters import fields
from packyard.using.setters.comment import REF_PREFIX, SETTER_PREFIX, SUBSTITUTION_PREFIX
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.krmfile import KRMFILE, parse_krmfile
from packyard.using.setters.refusal import refusal, review
from packyard.using.setters.rules.rule import Rule
from packyard.writing.source.words import MARKER, Words

#: Behind the words of all layers.
_LAST = 1000
_FOLLOWS = "# What follows from them. Nothing to set from here on."


@dataclass(frozen=True, slots=True)
class Reach:
    """Definitions with the values that are shipped; ``sections`` have their texts below the comments above them."""

    definitions: Definitions
    sections: Mapping[str, Mapping[str, str]]


def write(head: str, sections: Mapping[str, Mapping[str, str]], rules: Sequence[Rule] = ()) -> bytes:
    """Write a Krmfile, with a comment behind its kind: definitions in sections below their comments, and rules."""
    kind = f"kind: Krmfile{head and f' {head}'}"
    lines = ["apiVersion: config.k8s.io/v1alpha1", kind, "openAPI:", "  definitions:"]
    if not any(sections.values()):
        lines[-1] += " {}"
    for section, texts in sections.items():
        lines += [f"    {line}" for line in section.splitlines()] if texts else []
        lines += [line for text in texts.values() for line in text.splitlines()]
    listed = make.sequence(KRMFILE, [make.like(rule.item, make.clone) for rule in rules])
    lines += layout.lines([make.entry("rules", listed)]) if rules else []
    return "".join(f"{line}\n" for line in lines if line).encode()


def reach(words: Words, files: Mapping[str, bytes]) -> Reach:
    """Find what the comments of files reach, and write it."""
    meanings: dict[str, Setter | Substitution] = {}
    texts = (Source(path, data.decode()) for path, data in files.items() if comments.is_marked(data))
    documents = (document for source in texts for document in parse_shared(source, words.memo))
    nodes = {item.reference.name: item.node for document in documents for item in fields.find(document.root)}
    todo = list(nodes)
    while todo:
        name = todo.pop()
        meaning = words.meaning_at(nodes[name], name) if name in nodes else words.meaning(name)
        if name not in meanings and not isinstance(meaning, str):
            meanings[name] = meaning
            todo += MARKER.findall(meaning.pattern) if isinstance(meaning, Substitution) else []
    ordered = sorted(meanings, key=lambda name: _position(words, name))
    setters = {name: meaning for name in ordered if isinstance(meaning := meanings[name], Setter)}
    refuse(problem for name, setter in setters.items() for problem in _review(words, name, setter))
    sections: dict[str, dict[str, str]] = {section: {} for section in _order_of_sections(words, setters)}
    for name in setters:
        value = words.values.get(name)
        text = _setter(words.defined[name].entry, value.text if value else None)
        sections[words.defined[name].section][name] = text
    follows = {name: meaning for name in ordered if isinstance(meaning := meanings[name], Substitution)}
    sections[_FOLLOWS] = {name: _substitution(words, name, meaning.pattern) for name, meaning in follows.items()}
    data = write("", sections)
    return Reach(parse_krmfile(Source(KRMFILE, data.decode()), words.memo).definitions, sections)


def _review(words: Words, name: str, setter: Setter) -> Iterator[Problem]:
    yield from (problem for _, problem in review(words.defined[name].entry, setter, shipped=True))
    value = words.values.get(name)
    fault = refusal(setter, [value.text]) if value and not setter.is_list else ""
    if value and fault:
        hint = f"call the use case otherwise, or give it setters: {{{name}: …}}" if value.named else ""
        yield Problem(f"setters.{name}: {fault}", file=value.file, line=value.line or value.named, hint=hint)


def _position(words: Words, name: str) -> tuple[int, int]:
    """Return what definitions are sorted by: the catalogue's, those of bases, of overlays, of the package."""
    word = words.defined.get(name)
    if word is None:
        return _LAST, 0  # a value of package.yaml that follows from others
    follows = isinstance(word.definition, Setter) and isinstance(words.meaning(name), Substitution)
    return _LAST if follows else words.layers[name], word.entry.start


def _order_of_sections(words: Words, setters: Collection[str]) -> list[str]:
    """Return the sections of setters: first those with something required, then in the order of the catalogue's."""
    sections = list(dict.fromkeys(words.defined[name].section for name in setters))
    required = {words.defined[name].section for name in setters if _is_required(words, name)}
    order = list(dict.fromkeys([*words.sections, *sections]))
    return sorted(sections, key=lambda section: (section not in required, not section, order.index(section)))


def _is_required(words: Words, name: str) -> bool:
    setter, value = words.defined[name].definition, words.values.get(name)
    return isinstance(setter, Setter) and setter.required and not (value and value.text)


def _setter(entry: Entry, text: str | None) -> str:
    """Write a setter's definition with the value that it is given, which is not required any more."""
    copied = make.like(entry, make.clone)
    copied.head = ()
    definition = copied.value
    setter = definition.mapping("x-k8s-cli", "setter")
    value = setter.entry("value") if setter else None
    if text is not None and value is not None and setter is not None and isinstance(definition, MappingNode):
        value.value = make.scalar(text, entry.key.source.name, double_quoted(text))
        if text and setter.get("required") is not None:
            setter.children = [entry for entry in setter.entries if entry.name != "required"]
            definition.children = [entry for entry in definition.entries if entry.name not in ("example", "nullable")]
    return "".join(f"{line}\n" for line in layout.lines([copied], "    "))


def _substitution(words: Words, name: str, pattern: str) -> str:
    """Write the definition of a substitution; kustomize wants to know what each marker of its pattern is."""
    kinds = {
        inner: SETTER_PREFIX if isinstance(words.meaning(inner), Setter) else SUBSTITUTION_PREFIX
        for inner in dict.fromkeys(MARKER.findall(pattern))
    }
    values = [f'{{marker: "${{{inner}}}", ref: "{REF_PREFIX}{prefix}{inner}"}}' for inner, prefix in kinds.items()]
    lines = [f"    {SUBSTITUTION_PREFIX}{name}:", "      x-k8s-cli:", "        substitution:"]
    lines += [f"          name: {name}", f"          pattern: {quoted(pattern)}"]
    below = [f"          - {value}" for value in values]
    lines += [f"          values: [{values[0]}]"] if len(values) == 1 else ["          values:", *below]
    return "".join(f"{line}\n" for line in lines)
