"""What packyard's own build reads of a kustomization: what packyard ships, and the Components that a user adds to it.

    resources: [config-map.yaml, mpi-job.yaml]     local files
    components: [../../options/queue]              folders of the package
    configMapGenerator: [{name: …, files: […]}]    and literals, with a hash behind the name or without
    configurations: [references.yaml]              where objects name ConfigMaps
    patches:                                       strategic merge or RFC 6902, in a file or in place
    - {path: job.json6902, target: {kind: Job}}
    namespace: ml                                  as `kustomize edit set namespace` writes it

Any other field is refused by name and line: whoever uses one has, or can install, the real program.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path

from packyard.core.errors import BeyondError, InputError, Problem, every, refuse, suggest
from packyard.core.files import regular
from packyard.core.files.paths import outside
from packyard.core.kubernetes import kustomization
from packyard.core.work.memo import Memo
from packyard.core.yaml import aliases, strict
from packyard.core.yaml.document import decode, entries, items, only, parse_one, parse_shared, scalars
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Document, MappingNode, Node, Scalar, Source
from packyard.core.yaml.span import embedded
from packyard.core.yaml.values import is_null, is_plain_text, listed
from packyard.using.kustomize import generator, objects, references, selector
from packyard.using.kustomize.generator import Generated
from packyard.using.kustomize.part import Part, Patch, filled, only_document
from packyard.using.kustomize.references import FieldSpec
from packyard.using.options.options import package_of

HINT = "install kustomize or kubectl, which packyard then builds with"

#: What is read for one directory at most.
MAX_FILES, MAX_BYTES = 1000, 8 * 1024 * 1024
#: How deep components may name components.
_DEEPEST = 32

_TRIED = ("apiVersion", "kind", "resources", "components")
_COMPONENT_FIELDS = (*_TRIED, "configMapGenerator", "configurations", "patches")
_FIELDS = (*_COMPONENT_FIELDS, "namespace")
_PATCH_FIELDS, _CONFIGURATION = ("path", "patch", "target"), ("nameReference",)
_MOST = 100  # names that are looked at for a hint


class Budget:
    """Reads files for one directory as text, each once, up to a number of them and of bytes; more is refused."""

    def __init__(self, directory: Path, hint: str = HINT) -> None:
        self.directory = directory
        self._hint = hint
        self._read: dict[Path, bytes] = {}
        self.memo = Memo()  # of what was parsed, for one build after the other
        self.begin()

    def begin(self) -> None:
        """Read for another build, of which each mention of a file counts."""
        self._files, self._bytes = MAX_FILES, MAX_BYTES

    @cached_property
    def package(self) -> str:
        """The real folder that the directory's components must be in."""
        return package_of(self.directory)

    def read(self, file: Path, *, whole: bool = False) -> str:
        """Return the text of a file; ``whole`` with its byte order mark."""
        if file not in self._read:
            self._read[file] = regular.read(file, limit=MAX_BYTES)
        data = self._read[file]
        self._files -= 1
        self._bytes -= len(data)
        if self._files < 0 or self._bytes < 0:
            most = f"more than {MAX_FILES} files, or {MAX_BYTES} bytes"
            raise InputError(Problem(f"is built from {most}", file=str(self.directory), hint=self._hint))
        return "".join(decode(data, str(file))[not whole :])


def find(directory: Path) -> Path:
    """Return the directory's kustomization file."""
    if not regular.is_folder(directory):
        raise InputError(Problem("is not a directory", file=str(directory)))
    hint = "name the directory of one use case"
    return directory / kustomization.find(directory, lambda name: regular.is_file(directory / name), hint=hint)


def read(budget: Budget, data: bytes | None = None) -> Part:
    """Read a directory and the components that it names; every fault in one kustomization is named at once.

    With ``data`` that is taken for its kustomization, of which fields that act after the components, for example
    images, are passed over. Raises `BeyondError` where only kustomize can say.
    """
    budget.begin()
    return _Reader(budget).part(budget.directory, "Kustomization", data)


class _Reader:
    """Reads the files of a directory within a budget; knows the components that it is in."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._open: list[str] = []

    def part(self, folder: Path, kind: str, data: bytes | None = None) -> Part:
        """Read the kustomization of a folder."""
        file = find(folder)
        if leads := outside(folder, file):
            message = f"leads to {leads}, outside of the directory"
            raise InputError(Problem(message, file=str(file), hint="kustomize refuses it as well"))
        memo = self.budget.memo
        text, kept = (self.budget.read(file).encode(), memo) if data is None else (data, None)
        root = parse_one(text, str(file), kept).root
        if not isinstance(root, MappingNode):
            raise InputError(Problem("must be a mapping", file=str(file), line=1))
        is_empty = kustomization.is_empty(root)
        if data is None:
            _refuse_others(root, _FIELDS if kind == "Kustomization" else _COMPONENT_FIELDS, kind)
        else:
            root.children = [entry for entry in root.entries if entry.name in _TRIED]
        refuse(_wrong(root, kind))
        if is_empty:
            raise InputError(Problem("is empty, and kustomize refuses it", file=str(file), line=1))
        sources = _sources(file, scalars(root.get("resources")), self.budget)
        return Part(
            folder=os.path.realpath(folder),
            objects=tuple(("", node) for source in sources for node in objects.read(source, memo)),
            components=tuple(self._components(file.parent, scalars(root.get("components")))),
            generated=tuple(_generated(root, file, self.budget)),
            references=tuple(_references(root, file, self.budget)),
            patches=tuple(_patches(root, file, self.budget)),
            namespace="" if is_null(root.get("namespace")) else root.text("namespace"),
        )

    def _components(self, folder: Path, nodes: Sequence[Scalar]) -> Iterator[Part]:
        taken: dict[str, Scalar] = {}
        for node in nodes:
            real = self._component(folder, node)
            first = taken.setdefault(real, node)
            if first is not node:
                line = first.source.locate(first.start)[0]
                message = f"component {node.value!r} is listed twice, first in line {line}"
                raise InputError(node.problem(message, "take one of the lines out"))
            short = Path(os.path.normpath(folder / node.value))
            self._open.append(real)
            yield self.part(short if os.path.realpath(short) == real else folder / node.value, "Component")
            self._open.pop()

    def _component(self, folder: Path, node: Scalar) -> str:
        """Return the real folder of a component, which lies in the package."""
        path = folder / node.value
        if node.value.startswith("/") or not regular.is_folder(path):
            message = f"component {node.value!r} is not a folder here"
            raise (BeyondError if "//" in node.value or "?" in node.value else InputError)(node.problem(message))
        if leads := outside(self.budget.package, path):
            message = f"component {node.value!r} leads to {leads}, outside of the package {self.budget.package}"
            raise BeyondError(node.problem(f"{message}, which packyard's own build does not follow", HINT))
        real = os.path.realpath(path)
        if real in self._open or len(self._open) >= _DEEPEST:
            raise InputError(node.problem(f"component {node.value!r} is one of its own components"))
        return real


def _sources(file: Path, resources: Sequence[Scalar], budget: Budget) -> list[Source]:
    """Return the files that are listed; all have to lie in the directory, as for kustomize."""
    message = "is a directory or an address, which packyard's own build does not follow"
    paths = [(node, file.parent / node.value) for node in resources]
    followed = [
        node for node, path in paths if regular.is_folder(path) or ("//" in node.value and not regular.is_file(path))
    ]
    refuse((node.problem(f"resource {node.value!r} {message}", HINT) for node in followed), BeyondError)
    return every(lambda node: _read_beside(node, file, budget, "resource"), resources)


def _wrong(root: MappingNode, kind: str) -> Iterator[Problem]:
    for name, expected in (("apiVersion", kustomization.VERSIONS[kind]), ("kind", kind)):
        value = root.get(name)
        if value is not None and root.text(name) not in ("", expected):
            yield value.problem(f"{name} is {root.text(name)!r}, not {expected!r}", HINT)
    if kind == "Component" and root.text("kind") != kind and root.get("kind") is None:
        yield root.problem("a component is of kind Component", "kind: Component")
    namespace = root.get("namespace")
    if namespace is not None and not _is_text(namespace) and not is_null(namespace):
        yield namespace.problem("namespace must be text", "put it in quotes")
    for field, what in (("resources", "file"), ("components", "folder")):
        nodes = items(listed(root, field))
        yield from (
            node.problem(f"one of {field} must be the path of a {what}") for node in nodes if not _is_text(node)
        )


def _generated(root: MappingNode, file: Path, budget: Budget) -> Iterator[Generated]:
    def find(_: Fields, node: Scalar, path: str) -> Source:
        return _read_beside(node, file, budget, "file", path)

    fields = Fields(root, str(file), "")
    for item in items(listed(root, "configMapGenerator")):
        _refuse_others(item, generator.KEYS, "configMapGenerator")
        _refuse_others(item.get("options"), generator.OPTIONS, "generator")
        generated = generator.read(fields, item, find)
        if fields.problems or generated is None:
            raise InputError(*fields.problems)
        yield generated


def _refuse_others(node: Node | None, known: Sequence[str], what: str) -> None:
    """Refuse what a part of a kustomization says and only kustomize knows."""
    others = [entry for entry in entries(node) if entry.name not in known]
    message = f"of a {what} is not supported by packyard's own build"
    problems = [
        entry.key.problem(f"field {entry.name!r} {message}", suggest(entry.name, known) or HINT) for entry in others
    ]
    refuse(problems, BeyondError)


def _references(root: MappingNode, file: Path, budget: Budget) -> Iterator[FieldSpec]:
    for node in scalars(root.get("configurations")):
        source = _read_beside(node, file, budget, "configuration")
        configuration = only(parse_shared(source, budget.memo), source.name).root
        _refuse_others(configuration, _CONFIGURATION, "configuration")
        yield from references.read(configuration) if configuration else ()


def _patches(root: MappingNode, file: Path, budget: Budget) -> Iterator[Patch]:
    for entry in items(listed(root, "patches")):
        if not isinstance(entry, MappingNode):
            raise InputError(entry.problem("a patch must be a mapping with path or patch"))
        _refuse_others(entry, _PATCH_FIELDS, "patch")
        fields = Fields(entry, str(file), "patches")
        target, path, text = selector.read(fields, "target"), fields.text("path", ""), fields.text("patch", "")
        fields.done()
        if bool(path) == bool(text):
            raise InputError(entry.problem("a patch has either a path or a patch"))
        node = entry.get("path" if path else "patch")
        assert isinstance(node, Scalar)
        source = _read_beside(node, file, budget, "patch") if path else embedded(node)
        yield Patch(_document(node, source, source.text if path else text.lstrip(), budget.memo), target, entry)


def _document(node: Scalar, source: Source, text: str, memo: Memo) -> Document:
    """Return what a patch does, which stands in a source; ``node`` is its place in the kustomization."""
    if text.startswith("[") and not is_json(text):
        raise InputError(node.problem("a patch that begins with [ must be JSON", "write an operation a line"))
    documents = aliases.read(source, memo)
    if len(filled(documents)) > 1:
        message = "several patches in one entry are not supported by packyard's own build"
        raise BeyondError(node.problem(message, HINT))
    document = only_document(documents, source.name)
    assert document.root is not None
    strict.to_value(document.root)  # which refuses what kustomize would read otherwise
    return document


def is_json(text: str) -> bool:
    """Say whether a text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _read_beside(node: Scalar, file: Path, budget: Budget, what: str, name: str = "") -> Source:
    name = name or node.value
    path = file.parent / name
    if not regular.is_file(path):
        beside = path.parent.glob("*.y*ml") if regular.is_folder(path.parent) else iter(())
        names = sorted(entry.name for entry in islice(beside, _MOST))
        raise InputError(node.problem(f"{what} {name!r} is not a file here", suggest(name, names)))
    if outside(file.parent, path):
        message = f"{what} {name!r} lies outside of the directory"
        raise InputError(node.problem(message, "kustomize refuses it as well"))
    return Source(str(path), budget.read(path, whole=what == "file"))


def _is_text(node: Node) -> bool:
    return isinstance(node, Scalar) and (node.style != "plain" or is_plain_text(node.value))
