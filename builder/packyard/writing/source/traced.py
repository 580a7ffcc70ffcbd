"""The origins of a package's composed files: which use case, option or definition each is from."""

from __future__ import annotations

from collections.abc import Sequence

from packyard.core.kubernetes import kustomization
from packyard.core.yaml.document import entries, parse_one
from packyard.core.yaml.node import MappingNode
from packyard.using.options.folder import NAME as OPTIONS
from packyard.using.options.folder import PROGRAMS
from packyard.using.setters import comment as comments
from packyard.using.setters.comment import SETTER_PREFIX, SUBSTITUTION_PREFIX
from packyard.using.setters.krmfile import NAME as KRMFILE
from packyard.writing.source import origin, parts, program
from packyard.writing.source.compose import Unfolded, compose, make
from packyard.writing.source.origin import Origins, Place
from packyard.writing.source.package import Package
from packyard.writing.source.words import Words, named
from packyard.writing.source.workspace import OPTIONS as KIND
from packyard.writing.source.workspace import PODS, Workspace


class Traced:
    """One package; what is asked of it is composed when somebody asks. Paths are below the workspace's prefix."""

    def __init__(self, workspace: Workspace, package: Package) -> None:
        self._workspace = workspace
        self._package = package
        self._made: dict[str, Unfolded] = {}
        self._origins: dict[str, Origins] = {}

    def at(self, path: str, line: int, column: int = 0) -> Place | None:
        """Return the origin of a place; None of a file that is not composed."""
        top, _, below = path.partition("/")
        if top in (OPTIONS, PROGRAMS) and below != KRMFILE:
            return self._of_copy(path, line)
        if path not in self._origins:
            self._origins[path] = self._find(path)
        return self._origins[path].at(line, column)

    def value_place(self, path: str, line: int) -> Place | None:
        """Return where package.yaml gives the value that a line has from its setters, if it gives one alone."""
        unfolded, name = self._use_case(path)
        data = unfolded.composed.files.get(name) if unfolded else None
        reference = comments.parse("#" + data.decode().split("\n")[line - 1].rpartition(" #")[2]) if data else None
        if unfolded is None or reference is None:
            return None
        places = {_value(unfolded.words, name) for name in named([reference.name], unfolded.words.pattern)} - {None}
        return places.pop() if len(places) == 1 else None

    def _use_case(self, path: str) -> tuple[Unfolded | None, str]:
        use_case = next((each for each in self._package.use_cases if path.startswith(f"{each.path}/")), None)
        if use_case is None:
            return None, path
        if use_case.path not in self._made:
            self._made[use_case.path] = make(self._workspace, self._package, use_case)
        return self._made[use_case.path], path.removeprefix(f"{use_case.path}/")

    def _find(self, path: str) -> Origins:
        if path == f"{OPTIONS}/{KRMFILE}":
            return self._of_definitions()
        unfolded, name = self._use_case(path)
        data = unfolded.composed.files.get(name) if unfolded else None
        root = parse_one(data, path).root if data else None
        origins = Origins()
        if unfolded is None or not isinstance(root, MappingNode):
            return origins
        if name == KRMFILE:
            _add_definitions(origins, root, [unfolded.words])
            origin.follow_items(origins, root.get("rules"), [rule.item for rule in unfolded.composed.rules])
        elif name == kustomization.FILE:
            origins.add_line(1, Place(self._package.file, unfolded.composed.use_case.line))
        else:
            place = origin.place_of(unfolded.named[name].root)
            if place and program.is_shared(unfolded.named[name]):  # whose first line no source has
                origins.add_line(1, place)
            origins.add(root.source, root.start, place)
            origin.follow(origins, root, unfolded.named[name].root)
        return origins

    def _option(self, name: str) -> str:
        return self._workspace.overlay_dir(KIND, name)

    def _program(self, name: str) -> str:
        """Return the folder of the sources that a program is from."""
        used = (self._use_case(f"{use_case.path}/")[0] for use_case in self._package.use_cases)
        return next(each.folder for made in used if made for each in program.find(made.objects) if each.name == name)

    def _of_copy(self, path: str, line: int) -> Place:
        """Return the place in a file that is shipped as a folder has it, or the beginning of what it is made of."""
        top, name, file = path.split("/", 2)
        sources, folder = self._workspace.sources, self._option(name) if top == OPTIONS else self._program(name)
        if file not in (kustomization.FILE, PODS) and sources.is_file(f"{folder}/{file}"):
            return Place(sources.shown(f"{folder}/{file}"), line)
        made_of = f"{folder}/{PODS}" if file == PODS else parts.file_of(sources, folder)
        return Place(sources.shown(made_of), 1)

    def _of_definitions(self) -> Origins:
        """Return the origins of the Krmfile of the options."""
        sources, origins, options = self._workspace.sources, Origins(), compose(self._workspace, self._package).options
        shared = parts.read_shared(sources, self._workspace.libraries)
        krmfiles = (parts.read_krmfile(sources, self._option(option.name)) for option in options.all)
        root = parse_one(options.files[KRMFILE], KRMFILE).root
        assert isinstance(root, MappingNode)
        _add_definitions(origins, root, [Words(shared, [[each]], {}, sources.memo) for each in krmfiles if each])
        return origins


def _add_definitions(origins: Origins, root: MappingNode, words: Sequence[Words]) -> None:
    """Note for each definition of a Krmfile where it was written, and who gave it its value."""
    for entry in entries(root.find("openAPI", "definitions")):
        name = entry.name.removeprefix(SETTER_PREFIX).removeprefix(SUBSTITUTION_PREFIX)
        word = next((each.defined[name] for each in words if name in each.defined), None)
        value = next((place for each in words if (place := _value(each, name))), None)
        defined = origin.place_of(word.entry.key) if word else None
        follows = value if entry.name.startswith(SUBSTITUTION_PREFIX) else None
        origins.add(root.source, entry.start, follows, defined)
        for comment in entry.head:
            origins.add(root.source, comment.start, follows, defined)
        body = entry.value.mapping("x-k8s-cli", "setter")
        if (value_entry := body.entry("value") if body else None) and value:
            origins.add(root.source, value_entry.start, value, defined)
            origins.add(root.source, value_entry.value.start, value, defined)
        origin.follow_names(origins, entry.value, word.entry.value if word else root, follows, defined)


def _value(words: Words, name: str) -> Place | None:
    """Return where package.yaml gives a name its value."""
    value = words.values.get(name)
    return Place(value.file, value.line) if value and value.line else None
