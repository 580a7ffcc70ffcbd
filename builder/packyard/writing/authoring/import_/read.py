"""The use cases of a folder: each directory with a kustomization that no other one builds on.

One that lists files, and perhaps sets a namespace, is read as it is written, with its comments. Any other one is built,
by what the caller gives for that: kustomize keeps no comments, so its setters are lost, and listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from posixpath import dirname, join, normpath, relpath

from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes import kustomization
from packyard.core.kubernetes.kinds import LOCAL, is_local
from packyard.core.yaml.document import find_comments, has_aliases, parse_shared, walk
from packyard.core.yaml.node import Comment, Document, MappingNode, Node, Scalar, Source
from packyard.core.yaml.sources import Sources
from packyard.core.yaml.span import header_comment
from packyard.using.setters import comment
from packyard.using.setters.kpt.kptpackage import KptPackage
from packyard.using.setters.krmfile import EMPTY, Krmfile, parse_krmfile
from packyard.using.setters.krmfile import NAME as KRMFILE
from packyard.using.setters.packages import DEFINITIONS, KPTFILE, PackageFiles
from packyard.writing.authoring.import_ import bind, kpt, use_cases
from packyard.writing.authoring.import_.meaning import Word
from packyard.writing.authoring.import_.note import LOST, Note
from packyard.writing.source.package import MAX_USE_CASES

#: Builds a folder, given below the root, as kustomize does: YAML.
Build = Callable[[str], bytes]

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


def read(sources: Sources, prefix: str, build: Build, notes: list[Note]) -> list[Variant]:
    """Read all use cases; ``prefix`` is where they stand in packages."""
    folders = use_cases.leaves(sources)
    if not folders:
        hint = "it needs a kustomization.yaml for each use case, or a Kptfile"
        raise InputError(Problem("holds no use case", file=sources.shown(""), hint=hint))
    if len(folders) > MAX_USE_CASES:
        raise InputError(Problem(f"holds more than {MAX_USE_CASES} use cases", file=sources.shown("")))
    paths = use_cases.paths(folders, prefix, sources.shown(""), sources.root_dir.resolve().name)
    notes += _beside(sources, folders)
    return [_variant(sources, folder, paths[folder], build, notes) for folder in folders]


def _beside(sources: Sources, folders: Iterable[str]) -> Iterator[Note]:
    """Find files that are in no use case, nor in what one builds on."""
    known = {each for folder in folders for each in _below(sources, folder)}
    whole = [f"{folder}/" if folder else "" for folder in folders if not _kustomizations(sources, folder)]
    for path in sources.list("", "**/*"):
        if dirname(path) in known or path.startswith((*whole, ".git/")) or not _is_file(sources, path):
            continue
        todo = "write fragments of the README from what it said, and put what users need below files/ of the package"
        yield Note(LOST, "files beside the use cases", todo, (sources.shown(path),))


def _is_file(sources: Sources, path: str) -> bool:
    try:
        return sources.is_file(path)
    except InputError:  # a link that leads out
        return True


def _variant(sources: Sources, folder: str, path: str, build: Build, notes: list[Note]) -> Variant:
    if not _kustomizations(sources, folder):
        return _of_kpt(sources, folder, path, notes)
    file = join(folder, kustomization.find(sources.shown(folder), lambda name: sources.is_file(join(folder, name))))
    root = use_cases.root(sources, file)
    files = [normpath(join(folder, text)) for text in kustomization.referred(root)]
    is_flat = isinstance(root, MappingNode) and {entry.name for entry in root.entries} <= _FLAT
    if not is_flat or not all("://" not in each and sources.is_file(each) for each in files):
        return _built(sources, folder, path, build, notes)
    documents = [document for each in files for document in sources.documents(each)]
    if any(isinstance(each.root, MappingNode) and each.root.get("items") for each in documents):  # a list of objects
        return _built(sources, folder, path, build, notes)
    assert isinstance(root, MappingNode)
    notes += _left(sources, folder, {*files, *(join(folder, name) for name in _USED)})
    objects, words = bind.bind(documents, _krmfile(sources, folder), notes)
    said = prose(sources, files)
    notes += [_anchors(sources.shown(file)) for file in files if has_aliases(sources.text(file))]
    return Variant(path=path, objects=objects, words=words, namespace=root.text("namespace"), prose=said)


def _krmfile(sources: Sources, folder: str) -> Krmfile | None:
    """Read the definitions of a folder; kpt 0.x has them in its Kptfile."""
    for name in (KRMFILE, KPTFILE):
        path = join(folder, name)
        if sources.is_file(path) and (name == KRMFILE or DEFINITIONS in sources.read(path)):
            return parse_krmfile(sources.text(path))
    return None


def _of_kpt(sources: Sources, folder: str, path: str, notes: list[Note]) -> Variant:
    """Read a package of kpt: all objects that are not for functions alone."""
    names = [file for suffix in ("yaml", "yml") for file in _visible_below(sources, folder, suffix)]
    documents = [each for file in names for each in sources.documents(file) if not _is_local(each.root)]
    objects, words = bind.bind(documents, _krmfile(sources, folder), notes)
    files = {relpath(file, folder or "."): sources.read(file) for file in names}
    file = join(folder, KPTFILE)
    package = KptPackage(PackageFiles(EMPTY, files, kptfile=sources.read(file)))
    notes += kpt.review(package, use_cases.root(sources, file), words, sources.shown(file))
    return Variant(path=path, objects=objects, words=words, prose=prose(sources, names))


def _visible_below(sources: Sources, folder: str, suffix: str) -> list[str]:
    files = sources.list(folder, f"**/*.{suffix}")
    return [each for each in files if "/." not in f"/{each}" and sources.is_file(each)]


def _is_local(root: Node | None) -> bool:
    value = root.find("metadata", "annotations", LOCAL) if isinstance(root, MappingNode) else None
    return is_local(value.value if isinstance(value, Scalar) else None)


def _built(sources: Sources, folder: str, path: str, build: Build, notes: list[Note]) -> Variant:
    shown = sources.shown(folder)
    folders = list(_below(sources, folder))
    files = [file for each in folders for file in sources.list(each) if sources.is_file(file)]
    has_setters = any(comment.is_marked(sources.read(file)) for file in files if file.endswith(".yaml"))
    what = f"the {'setters' if has_setters else 'comments'} of use cases that kustomize had to build"
    notes.append(Note(LOST, what, "bind the fields again that users set", (shown,)))
    what = "fields of kustomizations, which have done their work"
    for file, name in (pair for each in folders for pair in _fields(sources, each)):
        notes.append(Note(LOST, what, "write as patches what should go on", (f"{sources.shown(file)}: {name}",)))
    text = Source(f"{shown} as built", build(folder).decode())
    objects, _ = bind.bind(bind.documents(text), None, notes)
    return Variant(path=path, objects=objects, words={})


def _below(sources: Sources, folder: str) -> Iterator[str]:
    """Yield the folder of a kustomization, and those of all that it builds on."""
    todo, seen = [folder], set[str]()
    while todo:
        each = todo.pop()
        if each in seen or each.startswith("..") or not sources.is_folder(each):
            continue
        seen.add(each)
        yield each
        for file in _kustomizations(sources, each):
            named = kustomization.referred(use_cases.root(sources, file))
            todo += [normpath(join(each, text)) for text in named if "://" not in text]


def _fields(sources: Sources, folder: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a kustomization that do more than to list and to patch."""
    for file in _kustomizations(sources, folder):
        root = use_cases.root(sources, file)
        for entry in root.entries if isinstance(root, MappingNode) else ():
            if entry.name not in _WRITTEN:
                yield file, entry.name


def _kustomizations(sources: Sources, folder: str) -> list[str]:
    return [path for name in kustomization.NAMES if sources.is_file(path := join(folder, name))]


def _left(sources: Sources, folder: str, used: set[str]) -> Iterable[Note]:
    for path in sources.list(folder):
        if path not in used and sources.is_file(path):
            todo = "put those that users need below files/ of the package"
            yield Note(LOST, "files that a kustomization does not list", todo, (sources.shown(path),))


def prose(sources: Sources, files: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the comments of files that bind nothing, by their places."""
    return tuple(
        (f"{sources.shown(file)}:{document.source.locate(each.start)[0]}", each.text)
        for file in files
        for document in parse_shared(sources.text(file), sources.memo)
        for each in (*document.head, *document.tail, *find_comments(document), *_headers(document))
        if not bind.is_reference(each.text) and each.text.strip("# ")
    )


def _headers(document: Document) -> Iterator[Comment]:
    """Yield the comments behind the headers of block scalars."""
    for node in walk(document.root):
        found = header_comment(node) if isinstance(node, Scalar) and node.style in "|>" else None
        if found:
            yield found


def _anchors(file: str) -> Note:
    todo = "mark what should be one in the file of the base, with & and *"
    return Note(LOST, "anchors: what repeats has new ones, if it takes several lines", todo, (file,))
