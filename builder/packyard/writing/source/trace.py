"""The origins of a package's composed files: which use case, option or definition each is from."""

from collections.abc import Sequence

from packyard.core.kubernetes import kustomization
from packyard.core.yaml.document import entries, parse_shared
from packyard.core.yaml.node import MappingNode, Node, SequenceNode, Source
from packyard.using.options.folder import OPTIONS, PROGRAMS
from packyard.using.setters import comment as comments
from packyard.using.setters.comment import SETTER_PREFIX, SUBSTITUTION_PREFIX
from packyard.using.setters.krmfile import KRMFILE
from packyard.writing.source import origin, parts, program
from packyard.writing.source.compose import Composed, ComposedPackage
from packyard.writing.source.origin import Place
from packyard.writing.source.words import Words, named
from packyard.writing.source.workspace import FOLDERS, PODS, Workspace
from packyard.writing.source.workspace import OPTIONS as KIND


class Traced:
    """One package as it was composed. Paths are below the workspace's prefix."""

    def __init__(self, workspace: Workspace, package: ComposedPackage) -> None:
        self._workspace = workspace
        self._package = package
        self._files = package.files

    def at(self, path: str, line: int, column: int = 0) -> Place | None:
        """Return the origin of a place, by default of the last thing that begins in a line; None of a foreign file."""
        top, _, below = path.partition("/")
        if path not in self._files:
            return None
        if top in (OPTIONS, PROGRAMS) and below != KRMFILE:
            return self._of_copy(path, line)
        root = parse_shared(Source(path, self._files[path].decode()), self._workspace.sources.memo)[0].root
        assert isinstance(root, MappingNode)
        position = origin.position(root.source.text, line, column)
        made, name = self.use_case(path)
        if made is None:
            return _of_definition(root, position, [option.words for option in self._package.options.all])
        if name == kustomization.FILE:
            return Place(self._package.package.file, made.use_case.line)
        if name != KRMFILE:
            return origin.follow(root, made.named[name].root, position)
        rules = root.entry("rules")
        if rules is None or position < rules.start:
            return _of_definition(root, position, [made.words])
        assert isinstance(rules.value, SequenceNode)
        written = (rule.item for rule in made.rules)
        return origin.follow_children(zip(rules.value.items, written, strict=True), position, None)

    def value_place(self, path: str, line: int) -> Place | None:
        """Return where package.yaml gives the value that a line has from its setters, if it gives one alone."""
        made, _ = self.use_case(path)
        if made is None or path not in self._files:
            return None
        reference = comments.parse("#" + self._files[path].decode().split("\n")[line - 1].rpartition(" #")[2])
        names = named([reference.name], made.words.pattern) if reference else ()
        places = {_value(made.words, name) for name in names} - {None}
        return places.pop() if len(places) == 1 else None

    def use_case(self, path: str) -> tuple[Composed | None, str]:
        """Return the use case that has a file, and its name there."""
        made = next((item for item in self._package.use_cases if path.startswith(f"{item.use_case.path}/")), None)
        return made, path.removeprefix(f"{made.use_case.path}/" if made else "")

    def _of_copy(self, path: str, line: int) -> Place:
        """Return the place in a file that is shipped as a folder has it, or the beginning of what it is made of."""
        top, name, file = path.split("/", 2)
        sources, folder = self._workspace.sources, self._workspace.part_dir(f"{FOLDERS[KIND]}/{name}")
        if top == PROGRAMS:
            used = (each for made in self._package.use_cases for each in program.find(made.sources))
            folder = next(candidate.folder for candidate in used if candidate.name == name)
        if file not in (kustomization.FILE, PODS) and sources.is_file(f"{folder}/{file}"):
            return Place(sources.shown(f"{folder}/{file}"), line)
        made_of = f"{folder}/{PODS}" if file == PODS else parts.file_of(sources, folder)
        return Place(sources.shown(made_of), 1)


def _of_definition(root: Node, position: int, words: Sequence[Words]) -> Place | None:
    """Return where what stands at a position among definitions was written, or who gave it its value."""
    begun = [entry for entry in entries(root.find("openAPI", "definitions")) if origin.begin(entry) <= position]
    if not begun:
        return None
    entry, way = begun[-1], list[str]()
    name = entry.name.removeprefix(SETTER_PREFIX).removeprefix(SUBSTITUTION_PREFIX)
    word = next((vocabulary.defined[name] for vocabulary in words if name in vocabulary.defined), None)
    value = next((place for vocabulary in words if (place := _value(vocabulary, name))), None)
    follows = value if entry.name.startswith(SUBSTITUTION_PREFIX) else None
    place = above = follows or (origin.place_of(word.entry.key) if word else None)
    node, inner = word.entry.value if word else root, entry.value
    while below := [entry for entry in entries(inner) if entry.start <= position]:
        way.append(below[-1].name)
        own = node.entry(below[-1].name)
        place = (origin.key_place(own) if own else None) or above
        node, inner = own.value if own else node, below[-1].value
    return value if value and way == ["x-k8s-cli", "setter", "value"] else place


def _value(words: Words, name: str) -> Place | None:
    """Return where package.yaml gives a name its value."""
    value = words.values.get(name)
    return Place(value.file, value.line) if value and value.line else None
