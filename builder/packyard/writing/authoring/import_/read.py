"""The use cases of a folder: each directory with a kustomization that no other one builds on.

One that lists files, and perhaps sets a namespace, is read as it is written, with its comments. Any other one is built,
by what the caller gives for that: kustomize keeps no comments, so its setters are lost, and listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from shlex import quote

from packyard.core.errors import InputError, Problem, every, refuse
from packyard.core.kubernetes import kustomization
from packyard.core.kubernetes.kinds import LOCAL, is_local
from packyard.core.yaml.document import all_comments, entries, has_aliases, parse_shared, walk
from packyard.core.yaml.node import Comment, Document, MappingNode, Node, Scalar, Source
from packyard.core.yaml.sources import Sources
from packyard.core.yaml.span import header_comment
from packyard.using.setters import comment
from packyard.using.setters.kpt.kptpackage import KptPackage
from packyard.using.setters.krmfile import EMPTY
from packyard.using.setters.krmfile import NAME as KRMFILE
from packyard.using.setters.packages import KPTFILE, PackageFiles
from packyard.writing.authoring.import_ import bind, kpt, licenses, structure, use_cases
from packyard.writing.authoring.import_.bind import Binder
from packyard.writing.authoring.import_.copied import Copy
from packyard.writing.authoring.import_.meaning import Word
from packyard.writing.authoring.import_.note import LOST, Note
from packyard.writing.authoring.import_.placeholders import PLACEHOLDER
from packyard.writing.authoring.import_.structure import Build, Structure, krmfile_of
from packyard.writing.authoring.import_.use_cases import holds, kustomizations
from packyard.writing.source.package import MAX_USE_CASES

_FLAT = {"apiVersion", "kind", "resources", "namespace"}
_WRITTEN = {*_FLAT, "bases", "components", "patches", "patchesStrategicMerge", "patchesJson6902"}
_USED = (*kustomization.NAMES, KRMFILE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One use case of what is imported: its objects with bindings to the words that they reach."""

    path: str
    objects: tuple[MappingNode, ...]
    words: Mapping[str, Word]
    namespace: str = ""
    prose: tuple[tuple[str, str], ...] = ()  # places and texts of comments for people


class Reader:
    """Reads the use cases of a folder; ``sources`` is that, ``wide`` what holds all that its kustomizations build on.

    ``only`` are files and folders below it, or nothing for all; what is in ``beyond`` belongs to no use case.
    """

    def __init__(
        self, folder: Path, binder: Binder, build: Build, only: Sequence[str], beyond: Sequence[str], *, is_alone: bool
    ) -> None:
        self.sources, self.binder, self._build = Sources(folder), binder, build
        self.only, self.beyond = only, beyond
        unknown = [path for path in (*only, *beyond) if not self.sources.exists(path)]
        refuse(Problem("no such file or folder", file=self.sources.shown(path)) for path in unknown)
        self.folders = self._leaves()
        root, self.below = (folder, "") if is_alone else structure.root_of(folder, self.folders)
        self.wide = Sources(root)
        self.structure = Structure(self.wide, self.below, binder, build)

    def paths(self, prefix: str) -> dict[str, str]:
        """Return the folders of use cases with their paths; ``prefix`` is where they stand in packages."""
        sources = self.sources
        if not self.folders:
            hint = "it needs manifests, a kustomization.yaml for each use case, or a Kptfile"
            if self.only:
                place = quote(sources.shown(self.only[0]))
                hint = f"--only names none, or what others build on: packyard import {place}"
            raise InputError(Problem("holds no use case", file=sources.shown(""), hint=hint))
        if len(self.folders) > MAX_USE_CASES:
            raise InputError(Problem(f"holds more than {MAX_USE_CASES} use cases", file=sources.shown("")))
        paths = use_cases.paths(self.folders, prefix, sources.shown(""), sources.root_dir.resolve().name)
        self.binder.notes += self._beside()
        for folder in self.folders:
            self.binder.placeholders.gather(self._documents(folder))
        return paths

    def variant(self, folder: str, path: str) -> Variant:
        """Read a use case as it is written, or else as it is built."""
        if not kustomizations(self.sources, folder):
            return self._of_files(folder, path)
        place = self._wide(folder)
        name = kustomization.find(self.wide.shown(place), lambda name: self.wide.is_file(join(place, name)))
        file = join(place, name)
        root = use_cases.root(self.wide, file)
        files = [normpath(join(place, text)) for text in kustomization.referred(root)]
        is_flat = isinstance(root, MappingNode) and {entry.name for entry in root.entries} <= _FLAT
        if not is_flat or not all("://" not in each and self.wide.is_file(each) for each in files):
            return self.built(folder, path)
        listed = documents(self.wide, files)
        if any(isinstance(each.root, MappingNode) and each.root.get("items") for each in listed):
            return self.built(folder, path)  # a list of objects
        assert isinstance(root, MappingNode)
        self.binder.notes += _left(self.wide, place, {*files, *(join(place, name) for name in _USED)})
        objects, words = self.binder.bind(listed, krmfile_of(self.wide, place), can_name=True)
        comments = prose(self.wide, files)
        self.binder.notes += [_anchors(self.wide.shown(file)) for file in files if has_aliases(self.wide.text(file))]
        return Variant(path=path, objects=objects, words=words, namespace=root.text("namespace"), prose=comments)

    def copy(self, folder: str, path: str) -> Copy | None:
        """Take a use case with the parts that it is made of; None where that cannot be."""
        leaf = self.structure.leaf(folder) if kustomizations(self.sources, folder) else None
        if leaf is None:
            return None
        part, namespace = leaf
        documents = self._as_built(folder, namespace)
        bound, _ = replace(self.binder, notes=[], defined={}).find(documents, None)
        own = "" if PLACEHOLDER.search(namespace) else namespace
        return Copy(path, part, own, tuple(bind.objects(documents, bound)))

    def _as_built(self, folder: str, namespace: str) -> list[Document]:
        """Return what kustomize builds; a namespace that envsubst gave is left out, as users name theirs."""
        shown, text = self.sources.shown(folder), self._build(folder).decode()
        if PLACEHOLDER.search(namespace):
            todo = "nothing: users name theirs, by kustomize edit set namespace or kubectl apply -n"
            self.binder.notes.append(Note(LOST, "namespaces that envsubst gave", todo, (f"{shown}: {namespace}",)))
            text = re.sub(rf"(?m)^ *namespace: {re.escape(namespace)}\n", "", text)
        try:
            return bind.documents(Source(f"{shown} as built", text))
        except InputError as error:  # it is more than an import can hold
            raise error.hinted(self._smaller(folder)) from error

    def _smaller(self, folder: str) -> str:
        """Say which file of a use case is the largest, and what to import without it."""
        files = [file for place in _below(self.wide, self._wide(folder)) for file in _referred(self.wide, place)]
        largest = max(files, key=lambda file: len(self.wide.read(file)), default="")
        reason = f"{self.wide.shown(largest)} is its largest file: " if largest else ""
        return f"{reason}import a folder that builds on less, or name other use cases by --only"

    def built(self, folder: str, path: str) -> Variant:
        """Read a use case as kustomize builds it."""
        shown, place = self.sources.shown(folder), self._wide(folder)
        folders = list(_below(self.wide, place))
        files = [file for each in folders for file in self.wide.list(each) if self.wide.is_file(file)]
        has_setters = any(comment.is_marked(self.wide.read(file)) for file in files if file.endswith(".yaml"))
        what = f"the {'setters' if has_setters else 'comments'} of use cases that kustomize had to build"
        self.binder.notes.append(Note(LOST, what, "bind the fields again that users set", (shown,)))
        what = "fields of kustomizations, which have done their work"
        for file, name in (pair for each in folders for pair in _fields(self.wide, each)):
            todo = "write as patches what should go on"
            self.binder.notes.append(Note(LOST, what, todo, (f"{self.wide.shown(file)}: {name}",)))
        root = use_cases.root(self.wide, kustomizations(self.wide, place)[0])
        namespace = root.text("namespace") if root else ""
        objects, words = self.binder.bind(self._as_built(folder, namespace), None)
        return Variant(path=path, objects=objects, words=words)

    def _leaves(self) -> list[str]:
        """Return the folders of use cases, or of manifests without any kustomization."""
        folders = use_cases.leaves(self.sources)
        if not folders and manifests(self.sources, ""):
            folders = [""]
        return [each for each in folders if self._is_wanted(each, has_files=not kustomizations(self.sources, each))]

    def _is_wanted(self, path: str, *, has_files: bool = False) -> bool:
        """Say whether a folder or file is asked for; one that ``has_files`` may hold what is."""
        is_named = any(holds(each, path) or (has_files and holds(path, each)) for each in self.only)
        return (is_named or not self.only) and not any(holds(each, path) for each in self.beyond)

    def _wide(self, folder: str) -> str:
        return normpath(join(self.below, folder)).removeprefix(".")

    def _documents(self, folder: str) -> Iterator[Document]:
        """Yield all that a use case is made of."""
        if kustomizations(self.sources, folder):
            for each in _below(self.wide, self._wide(folder)):
                yield from self.structure.documents(each)
            return
        for file in self._files(folder):
            with suppress(InputError):  # it is told where it is needed
                yield from self.sources.documents(file)

    def _beside(self) -> Iterator[Note]:
        """Find files that are in no use case, nor in what one builds on."""
        folders = {each for folder in self.folders for each in _below(self.sources, folder)}
        whole = [f"{each}/" if each else "" for each in self.folders if not kustomizations(self.sources, each)]
        for path in self.sources.list("", "**/*"):
            if dirname(path) in folders or path.startswith((*whole, ".git/")) or not _is_file(self.sources, path):
                continue
            what = "files beside the use cases"
            todo = (
                "write fragments of the README from what it said, and put what users need below files/ of the package"
            )
            yield Note(LOST, what, todo, (self.sources.shown(path),))

    def _files(self, folder: str) -> list[str]:
        """Return the manifests below a folder that are asked for."""
        return list(filter(self._is_wanted, manifests(self.sources, folder)))

    def _of_files(self, folder: str, path: str) -> Variant:
        """Read all objects below a folder that are not for functions of kpt alone."""
        names = self._files(folder)
        local = [each for each in documents(self.sources, names) if not _is_local(each.root)]
        objects, words = self.binder.bind(local, krmfile_of(self.sources, folder), can_name=True)
        file = join(folder, KPTFILE)
        if self.sources.is_file(file):
            files = {relpath(name, folder or "."): self.sources.read(name) for name in names}
            package = KptPackage(PackageFiles(EMPTY, files, kptfile=self.sources.read(file)))
            root = use_cases.root(self.sources, file)
            self.binder.notes += kpt.review(package, root, words, self.sources.shown(file))
        return Variant(path=path, objects=objects, words=words, prose=prose(self.sources, names))


def documents(sources: Sources, files: Iterable[str]) -> list[Document]:
    """Read documents, or refuse all files that cannot be read."""
    return [document for documents in every(sources.documents, files) for document in documents]


def manifests(sources: Sources, folder: str) -> list[str]:
    """Return the YAML files below a folder that are not hidden."""
    return [file for suffix in ("yaml", "yml") for file in _visible_below(sources, folder, suffix)]


def _is_file(sources: Sources, path: str) -> bool:
    try:
        return sources.is_file(path)
    except InputError:  # a link that leads out
        return True


def _visible_below(sources: Sources, folder: str, suffix: str) -> list[str]:
    files = sources.list(folder, f"**/*.{suffix}")
    return [each for each in files if "/." not in f"/{each}" and sources.is_file(each)]


def _is_local(root: Node | None) -> bool:
    value = root.scalar("metadata", "annotations", LOCAL) if root else None
    return is_local(value.value if value else None)


def _below(sources: Sources, folder: str) -> Iterator[str]:
    """Yield the folder of a kustomization, and those of all that it builds on, single files as well."""
    todo, seen, of_files = [folder], set[str](), dict[str, None]()
    while todo:
        place = todo.pop()
        if place in seen or place.startswith("..") or not sources.is_folder(place):
            continue
        seen.add(place)
        yield place
        for file in kustomizations(sources, place):
            paths = _named(sources, file)
            todo += paths
            of_files.update((dirname(path), None) for path in paths if _is_file(sources, path))
    yield from (place for place in of_files if place not in seen and not place.startswith(".."))


def _referred(sources: Sources, folder: str) -> Iterator[str]:
    """Yield the files that the kustomization of a folder names."""
    for file in kustomizations(sources, folder):
        yield from (path for path in _named(sources, file) if not path.startswith("..") and sources.is_file(path))


def _named(sources: Sources, file: str) -> list[str]:
    """Return the local paths that a kustomization names."""
    named = kustomization.referred(use_cases.root(sources, file))
    return [normpath(join(dirname(file), text)) for text in named if "://" not in text]


def _fields(sources: Sources, folder: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a kustomization that do more than to list and to patch."""
    for file in kustomizations(sources, folder):
        for entry in entries(use_cases.root(sources, file)):
            if entry.name not in _WRITTEN:
                yield file, entry.name


def _left(sources: Sources, folder: str, used: set[str]) -> Iterable[Note]:
    for path in sources.list(folder):
        if path not in used and sources.is_file(path):
            todo = "put those that users need below files/ of the package"
            yield Note(LOST, "files that a kustomization does not list", todo, (sources.shown(path),))


def prose(sources: Sources, files: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the comments of files that bind nothing, by their places; notices of licences aside."""
    return tuple(
        (f"{sources.shown(file)}:{document.source.locate(each.start)[0]}", each.text)
        for file in files
        for document in parse_shared(sources.text(file), sources.memo)
        for each in licenses.split(_comments(document))[1]
        if not bind.is_reference(each.text) and each.text.strip("# ")
    )


def _comments(document: Document) -> list[Comment]:
    """Return the comments of a document in the order of its text."""
    return sorted((*all_comments(document), *_headers(document)), key=lambda each: each.start)


def _headers(document: Document) -> Iterator[Comment]:
    """Yield the comments behind the headers of block scalars."""
    for node in walk(document.root):
        header = header_comment(node) if isinstance(node, Scalar) and node.style in "|>" else None
        if header:
            yield header


def _anchors(file: str) -> Note:
    todo = "mark what should be one in the file of the base, with & and *"
    return Note(LOST, "anchors: what repeats has new ones, if it takes several lines", todo, (file,))
