"""What each name in a setter comment means in a use case: a setter, a substitution or a constant.

Definitions come from the Krmfiles of libraries, of the catalogue, of bases, of overlays and of the package, an inner
one before an outer one: libraries < catalogue < base < overlays < package. `setters` of package.yaml give values. A use
case gets what its comments reach. Three things are folded away, so that its readers see what they come to:

    STORAGE_PATH: /nfs               a constant, a pattern without ${}: fields get the text and lose the comment
    STORAGE_PATH: ${PVC_PATH}        another name for PVC_PATH: comments say that instead; but a substitution is text,
                                     and so remains one where the setter is a number or a boolean
    IMAGE: ${REGISTRY}/x:${VERSION}  a value with ${} in it: IMAGE follows from others, nobody sets it
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from packyard.core.errors import InputError, Problem, suggest
from packyard.core.work.memo import Memo
from packyard.core.yaml import make
from packyard.core.yaml.document import source_of
from packyard.core.yaml.edit import PLAIN_TYPES
from packyard.core.yaml.node import Collection, Comment, Entry, Node, Scalar
from packyard.core.yaml.values import is_plain_text, to_value
from packyard.using.kustomize.part import KrmfileData
from packyard.using.setters import comment as comments
from packyard.using.setters.definition import Setter, Substitution, full_type
from packyard.using.setters.krmfile import parse_krmfile
from packyard.writing.source.package import SetterValue

_Collection = TypeVar("_Collection", bound=Collection)

MARKER = re.compile(r"\$\{([^{}]+)\}")
Meaning = str | Setter | Substitution
_UNDEFINED = "no Krmfile defines it"
_DEFINE = "define it in the Krmfile of a part of the use case, such as its storage: a setter, or a substitution"


class UndefinedError(InputError):
    """The pattern of the first of ``names`` names the second one, which no Krmfile defines."""

    def __init__(self, problem: Problem, *names: str) -> None:
        super().__init__(problem)
        self.names = names


@dataclass(frozen=True, slots=True)
class Word:
    """One definition as its part wrote it; ``section`` is the comment above it, or above those before it."""

    name: str
    entry: Entry
    section: str
    definition: Setter | Substitution

    @property
    def place(self) -> str:
        """File and line."""
        return self.entry.key.place

    @property
    def pattern(self) -> str:
        """The pattern of a substitution; of a setter there is none."""
        return self.definition.pattern if isinstance(self.definition, Substitution) else ""

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the definition."""
        return self.entry.key.problem(f"{self.name}: {message}", hint)


class Words:
    """What each name means in one use case; ``sections`` are those of the shared definitions, in their order.

    ``layers`` are the numbers of those that define the names: 0 of the workspace's own, less of its libraries. Those
    that are defined, or given a value, are ``known``.
    """

    def __init__(
        self,
        shared: Sequence[KrmfileData | None],
        layers: Sequence[Sequence[KrmfileData]],
        values: Mapping[str, SetterValue],
        memo: Memo,
    ) -> None:
        """Gather definitions; each of ``layers`` wins over those before it, within one of them they must agree."""
        self.values = values
        self.memo = memo
        self.defined: dict[str, Word] = {}
        self.layers: dict[str, int] = {}
        self.sections: list[str] = []
        for number, layer in enumerate([*([krmfile] for krmfile in shared), *layers], 1 - len(shared)):
            by_name: dict[str, Word] = {}
            for krmfile in dict.fromkeys(filter(None, layer)):
                for name, word in read(krmfile, memo).items():
                    earlier = by_name.setdefault(name, word)
                    if earlier is not word and to_value(earlier.entry.value) != to_value(word.entry.value):
                        raise InputError(word.problem(f"has another definition in {earlier.place}"))
            self.defined |= by_name
            self.layers |= dict.fromkeys(by_name, number)
            if number == 0:
                self.sections = list(dict.fromkeys(word.section for word in self.defined.values()))
        self.known = dict.fromkeys((*self.defined, *values))
        self._meanings: dict[str, Meaning] = {}

    def pattern(self, name: str) -> str:
        """Return what is written of a name that follows from others: by package.yaml, or by its definition."""
        word, value = self.defined.get(name), self.values.get(name)
        return value.text if value else word.pattern if word else ""

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

    def meaning(self, name: str, above: tuple[str, ...] = ()) -> Meaning:
        """Return what a name means: a setter, a substitution of setters and substitutions, or a constant's text."""
        if name in above:
            raise InputError(self._problem(name, f"refers to itself: {' -> '.join((*above, name))}"))
        if name not in self._meanings:
            self._meanings[name] = self._find(name, (*above, name))
        return self._meanings[name]

    def meaning_at(self, node: Node, name: str) -> Meaning:
        """Return what the comment of a node means by a name; an unknown one is told where the node is."""
        if name not in self.known:
            hint = suggest(name, self.known) or "define it in a Krmfile beside this file, or in that of the package"
            raise InputError(node.problem(f"{name}: {_UNDEFINED}", hint))
        return self.meaning(name)

    def _find(self, name: str, above: tuple[str, ...]) -> Meaning:
        word, value = self.defined.get(name), self.values.get(name)
        follows = value is not None and "${" in value.text
        if word is not None and isinstance(word.definition, Setter) and not follows:
            return word.definition
        if word is None and not follows:
            raise InputError(self._problem(name, _UNDEFINED, suggest(name, self.known)))
        folded = MARKER.sub(lambda match: self._piece(name, match.group(1), above), self.pattern(name))
        alone = MARKER.fullmatch(folded)
        meaning = self.meaning(alone.group(1), above) if alone else None
        if meaning is not None and not (isinstance(meaning, Setter) and full_type(meaning.type) in PLAIN_TYPES):
            return meaning
        return Substitution(name, folded) if MARKER.search(folded) else folded

    def _piece(self, name: str, inner: str, above: tuple[str, ...]) -> str:
        if inner not in self.known:
            message, hint = (
                f"its pattern names {inner}, which no Krmfile defines",
                suggest(inner, self.known) or _DEFINE,
            )
            raise UndefinedError(self._problem(name, message, hint), name, inner)
        meaning = self.meaning(inner, above)
        return meaning if isinstance(meaning, str) else f"${{{meaning.name}}}"

    def _problem(self, name: str, message: str, hint: str = "") -> Problem:
        """Describe something wrong with a name, by the place where it is given or defined."""
        value, word = self.values.get(name), self.defined.get(name)
        if value is not None:
            return Problem(f"setters.{name}: {message}", file=value.file, line=value.line, hint=hint)
        if word and (pattern := word.entry.value.find("x-k8s-cli", "substitution", "pattern")):
            return pattern.problem(f"{name}: {message}", hint)
        return word.problem(message, hint) if word else Problem(f"{name}: {message}", hint=hint)

    def _bound(self, value: Node, behind: Comment | None) -> tuple[Node, Comment | None]:
        """Return a value and the comment behind its key, each folded."""
        if isinstance(value, Collection):
            return self.fold(value), self._renamed(behind, value)
        if not isinstance(value, Scalar) or value.comment is None:
            return value, behind
        reference = comments.parse(value.comment.text)
        meaning = self.meaning_at(value, reference.name) if reference else None
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
        meaning = self.meaning_at(node, reference.name)
        if isinstance(meaning, str):
            raise InputError(node.problem(f"{reference.name} is a constant, which a list cannot be bound to"))
        if meaning.name == reference.name:
            return comment
        return Comment(comments.write(meaning.name), comment.start, comment.column, comment.own_line)


def named(names: Iterable[str], pattern: Callable[[str], str]) -> set[str]:
    """Return names, and those in the patterns that they stand for."""
    reached, todo = set[str](), [*names]
    while todo:
        if (name := todo.pop()) not in reached:
            reached.add(name)
            todo += MARKER.findall(pattern(name))
    return reached


def _constant(text: str, old: Scalar) -> Scalar:
    """Return a scalar that says a constant where another stood; a text stays text."""
    number = old.style == "plain" and not is_plain_text(old.value)
    return make.scalar(text, old.source.name, text if number else None)


def read(krmfile: KrmfileData, memo: Memo) -> dict[str, Word]:
    """Return the definitions of a Krmfile by their names, read once in a run."""
    return memo.once(("words of", *krmfile), lambda: _parse(*krmfile, memo))


def _parse(name: str, data: bytes, memo: Memo) -> dict[str, Word]:
    parsed = parse_krmfile(source_of(data, name), memo)
    by_name: dict[str, Word] = {}
    section = ""
    for entry in parsed.entries:
        section = "\n".join(comment.text for comment in entry.head) or section
        key = comments.parse_key(entry.name)
        definition = parsed.definitions.resolve(key) if key else None
        if key is None or definition is None:
            raise InputError(entry.key.problem(f"{entry.name} is neither a setter nor a substitution"))
        if isinstance(definition, Substitution) and definition.markers:
            hint = "leave `values` out: they follow from the pattern"
            raise InputError(entry.key.problem(f"{key.name} has `values` of its own, which its pattern gives", hint))
        if key.name in by_name:
            raise InputError(entry.key.problem(f"{key.name} is both a setter and a substitution"))
        by_name[key.name] = Word(key.name, entry, section, definition)
    return by_name
