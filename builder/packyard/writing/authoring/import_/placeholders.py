"""What envsubst, and the postBuild of Flux, put into manifests: each ``${NAME}`` becomes a setter, or part of one text.

    replicas: ${REPLICAS:-2}     ->    replicas: 2 # {"$openapi":"REPLICAS"}         REPLICAS: "2", an integer
    args:                              args:
    - --model=${MODEL}           ->    - --model= # {"$openapi":"MODEL_ARG"}         MODEL_ARG: --model=${MODEL}
                                                                                     MODEL: "", required
    name: ${APP}-config          ->    name: app-config # {"$openapi":"APP_CONFIG"}  APP: app, as no name can be empty

Whether a text is envsubst's is judged by its place: what a shell reads, or the program by a variable of its container,
stays, and so do definitions of custom resources. A text of several lines can have no setter: it stays, and is listed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from packyard.core.errors import InputError
from packyard.core.kubernetes.fieldtypes import Step, field_type
from packyard.core.yaml import make
from packyard.core.yaml.document import mappings, scalars
from packyard.core.yaml.edit import PLAIN_TYPES, Edit, set_text
from packyard.core.yaml.node import Child, Document, Item, MappingNode, Node, Scalar
from packyard.core.yaml.node import Collection as Nodes
from packyard.core.yaml.values import implicit_type
from packyard.using.setters import comment
from packyard.using.setters.fields import path_text
from packyard.using.setters.kpt import tagged
from packyard.writing.authoring import place
from packyard.writing.authoring.import_.meaning import GIVEN, Word, named_for, typed
from packyard.writing.authoring.import_.note import DOUBTFUL, Note

PLACEHOLDER = re.compile(r"(?<!\$)\$\{(?P<name>[A-Za-z_]\w*)(?::?[-=](?P<default>[^{}]*))?\}")
_FLAG = re.compile(r"--?([\w-]+)=")
_SHELL = re.compile(r"-[a-z]*c|(.*/)?(ba|da|z)?sh")
_LONGEST = 40  # characters of a name that a text gives
_NAMES = (("metadata", "name"), ("metadata", "namespace"))


@dataclass(frozen=True, slots=True)
class Site:
    """A scalar with placeholders, which is the value of ``part``: its object, and its path in that."""

    part: Child
    node: Scalar
    root: Node
    path: tuple[Step, ...]
    flow: bool

    @property
    def place(self) -> str:
        """File, line and path."""
        return f"{self.node.place}: {path_text(self.path)}"

    @property
    def names(self) -> list[str]:
        """The names of its placeholders."""
        return names(self.node.value)

    @property
    def sole(self) -> str:
        """The name of the placeholder that is the whole text, or an empty text."""
        match = PLACEHOLDER.fullmatch(self.node.value)
        return match["name"] if match else ""

    @property
    def declared(self) -> str | None:
        """The type that Kubernetes gives the field."""
        if not isinstance(self.root, MappingNode):
            return None
        return field_type(self.root.text("apiVersion"), self.root.text("kind"), self.path)

    @property
    def type(self) -> str:
        """The type of the field: as Kubernetes says, or what a plain default is."""
        declared = self.declared
        match = PLACEHOLDER.fullmatch(self.node.value)
        if declared == "int-or-string" or (declared is None and self.node.style == "plain"):
            return implicit_type((match["default"] if match else "") or "text")
        return declared or "string"

    @property
    def is_open(self) -> bool:
        """Whether nobody says which type the field has."""
        unknown = self.node.style == "plain" and isinstance(self.root, MappingNode) and self.declared is None
        return bool(self.sole) and unknown and self.type == "string"


@dataclass(slots=True)
class _Use:
    """What is known of a name."""

    defaults: dict[str, str] = field(default_factory=dict)  # with the place of each
    types: set[str] = field(default_factory=set)
    is_name: bool = False
    first: str = ""


class Placeholders:
    """All placeholders of an import: setters by their names, and substitutions by their patterns."""

    def __init__(self) -> None:
        self._uses: dict[str, _Use] = {}
        self._patterns: dict[str, str] = {}
        self._substitutions: dict[str, Word] = {}
        self._notes: list[Note] = []

    def gather(self, documents: Iterable[Document]) -> None:
        """Note what documents say of names, before any of them is bound."""
        for site in (each for document in documents for each in sites(document, self._notes)):
            for match in PLACEHOLDER.finditer(site.node.value):
                use = self._uses.setdefault(match["name"], _Use(first=site.place))
                if match["default"]:
                    use.defaults.setdefault(match["default"], site.place)
                use.is_name = use.is_name or site.path in _NAMES or match["name"] in GIVEN
            if site.sole:
                self._uses[site.sole].types.add(site.type)

    def review(self, used: Collection[str]) -> Iterator[Note]:
        """Say what became of the placeholders that are used."""
        yield from self._notes
        for name, use in ((name, use) for name, use in self._uses.items() if name in used):
            text = f"{use.first}: {name}"
            if not use.defaults and use.is_name:
                what, todo = "setters made of ${NAME} that cannot be empty", "choose the value that most users want"
                yield Note(DOUBTFUL, what, todo, (f"{text}: {self._value(name)!r}",))
            elif not use.defaults:
                todo = "give those an example and a description, or a value where most users want one"
                yield Note(DOUBTFUL, "required setters, made of ${NAME} without a value", todo, (text,))
            elif len(use.defaults) > 1:
                todo = "choose one: it is that of the first place"
                cases = tuple(f"{at}: {name}: {default!r}" for default, at in use.defaults.items())
                yield Note(DOUBTFUL, "placeholders with several values", todo, cases)

    def edits(self, document: Document, taken: Collection[str]) -> Iterator[tuple[Edit, str]]:
        """Yield the edits that fill in placeholders and bind their fields, each with the name that it binds."""
        for site in sites(document, []):
            name = self._name(site, taken)
            try:
                bound = place.bind(site.part, comment.write(name))
            except InputError as error:
                todo = "write them on lines of their own"
                self._notes.append(Note(DOUBTFUL, "${NAME} where no setter comment can stand", todo, (str(error),)))
                continue
            kind = site.type if site.type in PLAIN_TYPES else "string"
            filled = set_text(site.node, self.fill(site.node.value), kind, flow=site.flow, forced='"')
            yield from ((edit, name) for edit in (*filled, *bound))

    def fill(self, text: str) -> str:
        """Return a text with what its placeholders are worth."""
        return PLACEHOLDER.sub(
            lambda match: self._value(match["name"]) if match["name"] in self._uses else match[0], text
        )

    @property
    def words(self) -> dict[str, Word]:
        """All setters, and the substitutions that were asked for."""
        return {**{name: self._setter(name) for name in self._uses}, **self._substitutions}

    def _name(self, site: Site, taken: Collection[str]) -> str:
        sole, kind = site.sole, self._type(site.sole)
        if sole and (kind not in PLAIN_TYPES or site.type == kind or site.is_open):
            return sole
        pattern = PLACEHOLDER.sub(r"${\g<name>}", site.node.value)
        if pattern not in self._patterns:
            name = self._patterns[pattern] = _named(pattern, site.path, {*self.words, *taken})
            self._substitutions[name] = Word(name, pattern, is_setter=False)
        return self._patterns[pattern]

    def _type(self, name: str) -> str:
        """Return the type of a setter: a number's or boolean's, if a field has it."""
        types = self._uses[name].types.intersection(PLAIN_TYPES) if name in self._uses else set()
        return next(iter(types)) if len(types) == 1 else ""

    def _value(self, name: str) -> str:
        use = self._uses[name]
        if use.defaults:
            return next(iter(use.defaults))
        return name.lower().replace("_", "-").strip("-") if use.is_name else ""

    def _setter(self, name: str) -> Word:
        value, kind = self._value(name), self._type(name)
        schema = [make.entry("description", make.scalar(f"What envsubst put for {name}.", "")), *typed({kind})]
        schema += [make.entry("nullable", make.scalar("true", "", "true"))] if kind and not value else []
        return Word(name, value, is_setter=True, schema=tuple(schema), required=not value)


def names(text: str) -> list[str]:
    """Return the names of the placeholders in a text."""
    return [match["name"] for match in PLACEHOLDER.finditer(text)]


def sites(document: Document, notes: list[Note]) -> Iterator[Site]:
    """Yield the scalars of a document with placeholders that a setter can stand for; others are noted."""
    root = document.root
    if root is None or "${" not in root.source.text:
        return
    if isinstance(root, MappingNode) and root.text("kind") in ("CustomResourceDefinition", "Kustomization"):
        return
    for site in _sites(root, root, (), (), flow=False):
        if "\n" in site.node.value or site.node.style in "|>":
            case = f"{site.place}: {', '.join(dict.fromkeys(f'${{{name}}}' for name in site.names))}"
            what = "${NAME} in texts of several lines, which stay"
            todo = "leave what a shell or a program fills in; write one line, or a file of the package, for the others"
            notes.append(Note(DOUBTFUL, what, todo, (case,)))
        elif "${" not in PLACEHOLDER.sub("", site.node.value):
            yield site


def _sites(node: Node, root: Node, path: tuple[Step, ...], own: Sequence[str], *, flow: bool) -> Iterator[Site]:
    """Yield scalars with placeholders; ``own`` are the variables of the container that they are in."""
    if not isinstance(node, Nodes):
        return
    is_shell = False
    if isinstance(node, MappingNode):
        own = [*own, *(each.text("name") for each in mappings(node.get("env")))]
        is_shell = any(_SHELL.fullmatch(each.value) for key in ("command", "args") for each in scalars(node.get(key)))
    for index, child in enumerate(node.children):
        step = index if isinstance(child, Item) else child.name
        if is_shell and step in ("command", "args"):
            continue
        below, value = (*path, step), child.value
        yield from _sites(value, root, below, own, flow=flow or node.flow)
        if isinstance(value, Scalar) and (found := names(value.value)) and not _is_bound(value):
            is_value = step == "value"  # of a variable, which cannot name itself
            if is_value or not all(name in own for name in found):
                yield Site(child, value, root, below, flow or node.flow)


def _is_bound(node: Scalar) -> bool:
    """Say whether a field is another tool's to fill in."""
    text = node.comment.text if node.comment else ""
    return comment.parse(text) is not None or tagged.parse(text) is not None


def _named(pattern: str, path: Sequence[Step], taken: Collection[str]) -> str:
    """Name a pattern for the flag that it is the value of, or for its own words, or for its field."""
    flag = _FLAG.match(pattern)
    text = f"{flag[1]}_ARG" if flag else pattern
    name = re.sub(r"[^A-Z0-9]+", "_", text.upper()).strip("_")
    if re.fullmatch(r"\$\{\w+\}", pattern):
        name += "_TEXT"
    if len(name) > _LONGEST or name[:1].isdigit():
        return named_for(path, taken)
    names = (name, *(f"{name}_{number}" for number in range(2, len(taken) + 2)))
    return next(each for each in names if each not in taken)
