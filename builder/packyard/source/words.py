"""Resolves each name in a setter comment to a setter, a substitution or a constant; writes the use case's Krmfile.

Definitions come from the Krmfiles of the catalogue, of bases, of overlays and of the package, an inner one before an
outer one: catalogue < base < overlays < package. `setters` of package.yaml give values. A use case gets what its
comments reach. Three things are folded away, so that its readers see what they come to:

    STORAGE_PATH: /nfs               a constant, a pattern without ${}: fields get the text and lose the comment
    STORAGE_PATH: ${PVC_PATH}        another name for PVC_PATH: comments say that instead
    IMAGE: ${REGISTRY}/x:${VERSION}  a value with ${} in it: IMAGE follows from others, nobody sets it

`values` of a substitution are written here: each ``${NAME}`` of its pattern is the setter or substitution of that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from packyard.errors import InputError, Problem, refuse, suggest
from packyard.setters import binding as bindings
from packyard.setters import comment as comments
from packyard.setters.comment import REF_PREFIX, SETTER_PREFIX, SUBSTITUTION_PREFIX
from packyard.setters.definition import Definitions, Setter, Substitution
from packyard.setters.keywords import review
from packyard.setters.krmfile import NAME as KRMFILE
from packyard.setters.krmfile import parse_krmfile
from packyard.setters.refusal import refusal
from packyard.setters.rules.rule import Rule
from packyard.source import rules
from packyard.source.package import SetterValue
from packyard.source.parts import KrmfileData
from packyard.work.memo import Memo
from packyard.yaml import layout, make
from packyard.yaml.document import parse_shared, source_of
from packyard.yaml.node import Collection, Comment, Entry, MappingNode, Node, Scalar, Source
from packyard.yaml.scalar import double_quoted, is_plain_text, quoted
from packyard.yaml.values import to_value

_Collection = TypeVar("_Collection", bound=Collection)

#: Behind the words of all layers.
_LAST = 1000
_MARKER = re.compile(r"\$\{([^{}]+)\}")
#: What stands above the substitutions of a Krmfile.
FOLLOWS = "# What follows from them. Nothing to set from here on."


@dataclass(frozen=True, slots=True)
class Word:
    """One definition as its part wrote it; ``section`` is the comment above it, or above those before it."""

    name: str
    entry: Entry
    section: str
    definition: Setter | Substitution
    layer: int = 0

    @property
    def place(self) -> str:
        """File and line."""
        source = self.entry.key.source
        return f"{source.name}:{source.locate(self.entry.start)[0]}"

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the definition."""
        return self.entry.key.problem(f"{self.name}: {message}", hint)


@dataclass(frozen=True, slots=True)
class Reached:
    """The words that the comments of some files reach, with the values that are shipped.

    ``sections`` are the definitions as a Krmfile has them, below the comments that stand above them.
    """

    definitions: Definitions
    sections: Mapping[str, Mapping[str, str]]

    def krmfile(self, head: str, found: Sequence[Rule] = ()) -> bytes:
        """Write the Krmfile, begun by a comment, with rules below."""
        return write(head, self.sections, found)


def write(head: str, sections: Mapping[str, Mapping[str, str]], found: Sequence[Rule] = ()) -> bytes:
    """Write a Krmfile: definitions by their names, in sections below their comments, and rules."""
    lines = [head, "apiVersion: config.k8s.io/v1alpha1", "kind: Krmfile", "openAPI:", "  definitions:"]
    if not any(sections.values()):
        lines[-1] += " {}"
    for section, texts in sections.items():
        lines += [f"    {line}" for line in section.splitlines()] if texts else []
        lines += [line for text in texts.values() for line in text.splitlines()]
    lines += layout.lines([rules.entry(found)]) if found else []
    return "".join(f"{line}\n" for line in lines if line).encode()


class Words:
    """What each name means in one use case."""

    def __init__(
        self,
        catalogue: KrmfileData | None,
        layers: Sequence[Sequence[KrmfileData]],
        values: Mapping[str, SetterValue],
        memo: Memo,
    ) -> None:
        """Gather definitions; each of ``layers`` wins over those before it, within one of them they must agree."""
        self.values = values
        self.memo = memo
        self._words = dict(_read(catalogue, memo)) if catalogue else {}
        self._sections = list(dict.fromkeys(word.section for word in self._words.values()))
        for number, layer in enumerate(layers, 1):
            found: dict[str, Word] = {}
            for krmfile in dict.fromkeys(layer):
                for name, word in _read(krmfile, memo).items():
                    other = found.setdefault(name, replace(word, layer=number))
                    if to_value(other.entry.value) != to_value(word.entry.value):
                        raise InputError(word.problem(f"has another definition in {other.place}"))
            self._words.update(found)
        self._meanings: dict[str, str | Setter | Substitution] = {}

    @property
    def known(self) -> list[str]:
        """The names that are defined, or given a value."""
        return [*self._words, *self.values]

    def is_used(self, name: str) -> bool:
        """Say whether a name was asked for: by a comment, or by the pattern of one that was."""
        return name in self._meanings

    def fold(self, node: _Collection) -> _Collection:
        """Return a node with constants in their fields, and with comments that say the names that users know.

        It is the node itself where there is nothing to change.
        """
        changed = {}
        for number, child in enumerate(node.children):
            value, comment = self._bound(child.value, child.comment)
            if value is not child.value or comment is not child.comment:
                changed[number] = value, comment
        if not changed:
            return node
        copied = make.copy(node)
        for number, (value, comment) in changed.items():
            copied.children[number].value, copied.children[number].comment = value, comment
        return copied

    def reach(self, documents: Mapping[str, bytes]) -> Reached:
        """Find what the comments of files reach, and write it."""
        reached: dict[str, Setter | Substitution] = {}
        texts = (Source(path, data.decode()) for path, data in documents.items() if comments.is_marked(data))
        todo = [name for source in texts for name in _references(source, self.memo)]
        while todo:
            name = todo.pop()
            meaning = self._meaning(name)
            if name not in reached and not isinstance(meaning, str):
                reached[name] = meaning
                todo += _MARKER.findall(meaning.pattern) if isinstance(meaning, Substitution) else []
        refuse(problem for name in reached for problem in self._review(name, reached[name]))
        written = {name: self._write(name, meaning) for name, meaning in reached.items()}
        ordered = sorted(reached, key=self._position)
        substitutions = [name for name in ordered if isinstance(reached[name], Substitution)]
        sections: dict[str, dict[str, str]] = {}
        for section in self._order_of_sections(ordered, reached):
            names = [name for name in ordered if name not in substitutions and self._words[name].section == section]
            sections[section] = {name: written[name] for name in names}
        sections[FOLLOWS] = {name: written[name] for name in substitutions}
        data = write("", sections)
        return Reached(parse_krmfile(Source(KRMFILE, data.decode()), self.memo).definitions, sections)

    def _order_of_sections(self, names: Sequence[str], reached: Mapping[str, Setter | Substitution]) -> list[str]:
        """Return the sections of setters: first those with something required, then in the order of the catalogue's."""
        setters = [name for name in names if isinstance(reached[name], Setter)]
        required = {self._words[name].section for name in setters if self._is_required(name)}
        found = list(dict.fromkeys(self._words[name].section for name in setters))
        known = [*self._sections, *(section for section in found if section not in self._sections)]
        return sorted(found, key=lambda section: (section not in required, not section, known.index(section)))

    def _position(self, name: str) -> tuple[int, int]:
        """Return what words are sorted by: the catalogue's, those of bases, of overlays, of the package."""
        word = self._words.get(name)
        if word is None:
            return _LAST, 0  # a value of package.yaml that follows from others
        follows = isinstance(word.definition, Setter) and isinstance(self._meaning(name), Substitution)
        return _LAST if follows else word.layer, word.entry.start

    def _meaning(self, name: str, above: tuple[str, ...] = ()) -> str | Setter | Substitution:
        """Return what a name means: a setter, a substitution of setters and substitutions, or a constant's text."""
        if name in above:
            raise InputError(self._problem(name, f"refers to itself: {' -> '.join((*above, name))}"))
        if name not in self._meanings:
            self._meanings[name] = self._find(name, (*above, name))
        return self._meanings[name]

    def _find(self, name: str, above: tuple[str, ...]) -> str | Setter | Substitution:
        word, value = self._words.get(name), self.values.get(name)
        follows = value is not None and "${" in value.text
        if word is not None and isinstance(word.definition, Setter) and not follows:
            return word.definition
        if value is not None and (follows or word is not None):
            pattern = value.text
        elif word is not None and isinstance(word.definition, Substitution):
            pattern = word.definition.pattern
        else:
            raise InputError(self._problem(name, "no part defines it", suggest(name, self.known)))
        folded = _MARKER.sub(lambda found: self._piece(name, found.group(1), above), pattern)
        alone = _MARKER.fullmatch(folded)
        if alone:
            return self._meaning(alone.group(1), above)
        return Substitution(name, folded) if _MARKER.search(folded) else folded

    def _piece(self, name: str, inner: str, above: tuple[str, ...]) -> str:
        if inner not in self._words and inner not in self.values:
            raise InputError(self._problem(name, f"its pattern names {inner}, which no part defines",
                                           suggest(inner, self.known)))  # fmt: skip
        meaning = self._meaning(inner, above)
        return meaning if isinstance(meaning, str) else f"${{{meaning.name}}}"

    def _problem(self, name: str, message: str, hint: str = "") -> Problem:
        """Describe something wrong with a name, by the place where it is given or defined."""
        value, word = self.values.get(name), self._words.get(name)
        if value is not None:
            return Problem(f"setters.{name}: {message}", file=value.file, line=value.line, hint=hint)
        return word.problem(message, hint) if word else Problem(f"{name}: {message}", hint=hint)

    def _is_required(self, name: str) -> bool:
        setter = self._words[name].definition
        value = self.values.get(name)
        return isinstance(setter, Setter) and setter.required and not (value and value.text)

    def _review(self, name: str, meaning: Setter | Substitution) -> Iterator[Problem]:
        if not isinstance(meaning, Setter):
            return
        word = self._words[name]
        yield from (problem for _, problem in review(word.entry, meaning, shipped=True))
        value = self.values.get(name)
        fault = refusal(meaning, [value.text]) if value and not meaning.is_list else ""
        if value and fault:
            yield Problem(f"setters.{name}: {fault}", file=value.file, line=value.line)

    def _write(self, name: str, meaning: Setter | Substitution) -> str:
        if isinstance(meaning, Setter):
            value = self.values.get(name)
            return _setter(self._words[name].entry, value.text if value else None)
        kinds = {
            inner: SETTER_PREFIX if isinstance(self._meaning(inner), Setter) else SUBSTITUTION_PREFIX
            for inner in dict.fromkeys(_MARKER.findall(meaning.pattern))
        }
        pattern = quoted(meaning.pattern)
        lines = [f"    {SUBSTITUTION_PREFIX}{name}:", "      x-k8s-cli:", "        substitution:"]
        lines += [f"          name: {name}", f"          pattern: {pattern}", "          values:"]
        for inner, prefix in kinds.items():
            lines.append(f'          - {{marker: "${{{inner}}}", ref: "{REF_PREFIX}{prefix}{inner}"}}')
        return "".join(f"{line}\n" for line in lines)

    def _bound(self, value: Node, behind: Comment | None) -> tuple[Node, Comment | None]:
        """Return a value and the comment behind its key, each folded."""
        if isinstance(value, Collection):
            return self.fold(value), self._renamed(behind, value)
        if not isinstance(value, Scalar) or value.comment is None:
            return value, behind
        reference = comments.parse(value.comment.text)
        meaning = self._meaning(reference.name) if reference else None
        if isinstance(meaning, str):
            return _constant(meaning, value), behind
        renamed = self._renamed(value.comment, value)
        if renamed is value.comment:
            return value, behind
        copied = make.clone(value)
        copied.comment = renamed
        return copied, behind

    def _renamed(self, comment: Comment | None, node: Node) -> Comment | None:
        reference = comments.parse(comment.text) if comment else None
        if comment is None or reference is None:
            return comment
        meaning = self._meaning(reference.name)
        if isinstance(meaning, str):
            raise InputError(node.problem(f"{reference.name} is a constant, which a list cannot be bound to"))
        if meaning.name == reference.name:
            return comment
        return Comment(comments.write(meaning.name), comment.start, comment.column, comment.own_line)


def _constant(text: str, old: Scalar) -> Scalar:
    """Return a scalar that says a constant where another stood; a text stays text."""
    number = old.style == "plain" and not is_plain_text(old.value)
    return make.scalar(text, old.source.name, text if number else None)


def _setter(entry: Entry, given: str | None) -> str:
    """Write a setter's definition with the value that it is given, which is not required any more."""
    copied = make.clone_entry(entry)
    copied.head = []
    definition = copied.value
    setter = definition.mapping("x-k8s-cli", "setter") if isinstance(definition, MappingNode) else None
    value = setter.entry("value") if setter else None
    if given is not None and value is not None and setter is not None and isinstance(definition, MappingNode):
        value.value = make.scalar(given, entry.key.source.name, double_quoted(given))
        if given and setter.get("required") is not None:
            setter.entries = [each for each in setter.entries if each.name != "required"]
            definition.entries = [each for each in definition.entries if each.name not in ("example", "nullable")]
    return "".join(f"{line}\n" for line in layout.lines([copied], "    "))


def _read(krmfile: KrmfileData, memo: Memo) -> dict[str, Word]:
    return memo.once(("words of", *krmfile), lambda: _parse(*krmfile, memo))


def _parse(name: str, data: bytes, memo: Memo) -> dict[str, Word]:
    parsed = parse_krmfile(source_of(data, name), memo)
    found: dict[str, Word] = {}
    section = ""
    for entry in parsed.entries:
        section = "\n".join(comment.text for comment in entry.head) or section
        kind, known = (
            (SETTER_PREFIX, parsed.definitions.setters)
            if entry.name.startswith(SETTER_PREFIX)
            else (SUBSTITUTION_PREFIX, parsed.definitions.substitutions)
        )
        short = entry.name.removeprefix(kind)
        definition: Setter | Substitution | None = known.get(short)
        if definition is None:
            raise InputError(entry.key.problem(f"{entry.name} is neither a setter nor a substitution"))
        if isinstance(definition, Substitution) and definition.markers:
            hint = "leave `values` out: they follow from the pattern"
            raise InputError(entry.key.problem(f"{short} has `values` of its own, which its pattern gives", hint))
        if short in found:
            raise InputError(entry.key.problem(f"{short} is both a setter and a substitution"))
        found[short] = Word(short, entry, section, definition)
    return found


def _references(source: Source, memo: Memo) -> Iterable[str]:
    """Return what the comments of a file refer to, each once."""
    found = [item.reference.name for document in parse_shared(source, memo) for item in bindings.find(document)]
    return list(dict.fromkeys(found))
