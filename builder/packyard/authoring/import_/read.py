"""The use cases of a folder: each directory with a kustomization that no other one builds on.

One that lists files, and perhaps sets a namespace, is read as it is written, with its comments. Any other one is built,
by what the caller gives for that: kustomize keeps no comments, so its setters are lost, and listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import commonpath, dirname, join, normpath, relpath

from packyard.authoring.import_ import kpt, normal, word
from packyard.authoring.import_.note import DOUBTFUL, LOST, Note
from packyard.authoring.import_.word import Word
from packyard.errors import InputError, Problem
from packyard.kubernetes import kustomization
from packyard.kubernetes.kinds import LOCAL, is_local
from packyard.setters import comment, fields
from packyard.setters.definition import Definitions, Setter, Substitution
from packyard.setters.fields import Binding
from packyard.setters.kpt import tagged
from packyard.setters.kpt.kptpackage import KptPackage
from packyard.setters.krmfile import EMPTY, Krmfile, parse_krmfile
from packyard.setters.krmfile import NAME as KRMFILE
from packyard.setters.packages import DEFINITIONS, KPTFILE, PackageFiles
from packyard.source.package import MAX_USE_CASES
from packyard.source.package import NAME as PART
from packyard.source.sources import Sources
from packyard.yaml import aliases
from packyard.yaml.document import find_comments, has_aliases, parse_shared
from packyard.yaml.node import Document, MappingNode, Node, Scalar, SequenceNode, Source

#: Builds a folder, given below the root, as kustomize does: YAML.
Build = Callable[[str], bytes]

#: A use case has a group and its own step; a folder of this name is no group.
_GROUPED, _OVERLAYS = 2, "overlays"
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
    folders = _leaves(sources)
    if not folders:
        hint = "it needs a kustomization.yaml for each use case, or a Kptfile"
        raise InputError(Problem("holds no use case", file=sources.shown(""), hint=hint))
    if len(folders) > MAX_USE_CASES:
        raise InputError(Problem(f"holds more than {MAX_USE_CASES} use cases", file=sources.shown("")))
    paths = _paths(folders, prefix, sources.root_dir.resolve().name)
    return [_variant(sources, folder, paths[folder], build, notes) for folder in folders]


def _leaves(sources: Sources) -> list[str]:
    """Return the folders with a kustomization that no other one builds on, and packages of kpt without any."""
    found: dict[str, Node | None] = {}
    for name in kustomization.NAMES:
        for path in _visible(sources, name):
            found[dirname(path)] = _root(sources, path)
    below = {normpath(join(folder, text)) for folder, root in found.items() for text in kustomization.referred(root)}
    kinds = {folder: root.text("kind") for folder, root in found.items() if isinstance(root, MappingNode)}
    leaves = [folder for folder in found if (folder or ".") not in below and kinds.get(folder) != "Component"]
    for folder in map(dirname, _visible(sources, KPTFILE)):
        if not any(_holds(folder, other) for other in found) and not any(_holds(other, folder) for other in leaves):
            leaves.append(folder)
    return sorted(leaves)


def _visible(sources: Sources, name: str) -> list[str]:
    """Return the files of a name, those of outer folders first, without what is hidden."""
    files = [path for path in sources.list("", f"**/{name}") if sources.is_file(path)]
    visible = [path for path in files if not any(part.startswith(".") for part in path.split("/"))]
    return sorted(visible, key=lambda path: path.count("/"))


def _holds(folder: str, other: str) -> bool:
    return not folder or f"{other}/".startswith(f"{folder}/")


def _paths(folders: Sequence[str], prefix: str, name: str) -> dict[str, str]:
    """Name use cases by their folders: below the prefix, or else below what all have in common but for two steps."""
    marked = {folder: f"/{folder}".rpartition(f"/{prefix}/")[2] for folder in folders}
    if not all(f"/{prefix}/" in f"/{folder}" for folder in folders):
        common = commonpath(folders).split("/") if len(folders) > 1 else []
        least = _GROUPED if common != [_OVERLAYS] else 1
        skipped = max(0, min(len(common), *(len(folder.split("/")) - least for folder in folders)))
        marked = {folder: "/".join(folder.split("/")[skipped:]) or name for folder in folders}
    named = {folder: re.sub(r"[^a-z0-9/]+", "-", path.lower()) for folder, path in marked.items()}
    for folder, path in named.items():
        others = [other for other in folders if other != folder and f"{named[other]}/".startswith(f"{path}/")]
        if others or not all(map(PART.fullmatch, path.split("/"))):
            what = f"would be one use case with {others[0]}" if others else "is no name for a use case"
            hint = "rename the folder: lower case letters, digits and dashes"
            raise InputError(Problem(f"{path!r} {what}", file=folder, hint=hint))
    return named


def _variant(sources: Sources, folder: str, path: str, build: Build, notes: list[Note]) -> Variant:
    if not any(sources.is_file(join(folder, name)) for name in kustomization.NAMES):
        return _of_kpt(sources, folder, path, notes)
    file = join(folder, kustomization.find(sources.shown(folder), lambda name: sources.is_file(join(folder, name))))
    root = _root(sources, file)
    files = [normpath(join(folder, text)) for text in kustomization.referred(root)]
    is_flat = isinstance(root, MappingNode) and {entry.name for entry in root.entries} <= _FLAT
    if not is_flat or not all("://" not in each and sources.is_file(each) for each in files):
        return _built(sources, folder, path, build, notes)
    assert isinstance(root, MappingNode)
    notes += _left(sources, folder, {*files, *(join(folder, name) for name in _USED)})
    documents = [document for each in files for document in sources.documents(each)]
    objects, words = bind(documents, _krmfile(sources, folder), notes)
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
    objects, words = bind(documents, _krmfile(sources, folder), notes)
    files = {relpath(file, folder or "."): sources.read(file) for file in names}
    file = join(folder, KPTFILE)
    package = KptPackage(PackageFiles(EMPTY, files, kptfile=sources.read(file)))
    notes += kpt.review(package, _root(sources, file), words, sources.shown(file))
    return Variant(path=path, objects=objects, words=words, prose=prose(sources, names))


def _visible_below(sources: Sources, folder: str, suffix: str) -> list[str]:
    files = sources.list(folder, f"**/*.{suffix}")
    return [each for each in files if "/." not in f"/{each}" and sources.is_file(each)]


def _is_local(root: Node | None) -> bool:
    annotations = root.mapping("metadata", "annotations") if isinstance(root, MappingNode) else None
    value = annotations.get(LOCAL) if annotations else None
    return is_local(value.value if isinstance(value, Scalar) else None)


def _built(sources: Sources, folder: str, path: str, build: Build, notes: list[Note]) -> Variant:
    shown = sources.shown(folder)
    marked = [file for file in sources.list(folder, "**/*.yaml") if comment.is_marked(sources.read(file))]
    has_setters = bool(marked) or sources.is_file(join(folder, KRMFILE))
    what = f"the {'setters' if has_setters else 'comments'} of use cases that kustomize had to build"
    notes.append(Note(LOST, what, "bind the fields again that users set", (shown,)))
    what, todo = (
        "fields of kustomizations, which have done their work",
        "write patches, where they should go on working",
    )
    notes += [Note(LOST, what, todo, (f"{sources.shown(file)}: {name}",)) for file, name in _fields(sources, folder)]
    text = Source(f"{shown} as built", build(folder).decode())
    objects, _ = bind(documents(text), None, notes)
    return Variant(path=path, objects=objects, words={})


def _fields(sources: Sources, folder: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a kustomization, and of those that it builds on, that do more than to list and to patch."""
    todo, seen = [folder], set[str]()
    while todo:
        folder = todo.pop()
        named = [join(folder, name) for name in kustomization.NAMES if sources.is_file(join(folder, name))]
        if folder in seen or not named:
            continue
        seen.add(folder)
        root = _root(sources, named[0])
        for entry in root.entries if isinstance(root, MappingNode) else ():
            if entry.name not in _WRITTEN:
                yield named[0], entry.name
        below = (normpath(join(folder, text)) for text in kustomization.referred(root) if "://" not in text)
        todo += [each for each in below if not each.startswith("..") and sources.is_folder(each)]


def _left(sources: Sources, folder: str, used: set[str]) -> Iterable[Note]:
    for path in sources.list(folder):
        if path not in used and sources.is_file(path):
            todo = "put those that users need below files/ of the package"
            yield Note(LOST, "files that a kustomization does not list", todo, (sources.shown(path),))


def bind(
    documents: Sequence[Document], krmfile: Krmfile | None, notes: list[Note]
) -> tuple[tuple[MappingNode, ...], dict[str, Word]]:
    """Return objects as we write them, and the words that their comments reach; what binds nothing is left out."""
    words = word.read(krmfile, notes) if krmfile else {}
    definitions = krmfile.definitions if krmfile else Definitions()
    bound: dict[int, str] = {}
    for document in documents:
        for binding in fields.find(document):
            fault = _fault(binding, definitions, words)
            if fault:
                notes.append(fault)
            else:
                bound[id(binding.node)] = binding.reference.name
    of_kpt = kpt.read(documents, notes)
    bound |= of_kpt.bound
    needed = {**of_kpt.words, **word.reached(bound.values(), words)}
    if krmfile:
        notes += _unused(krmfile, words.keys() - needed.keys())
        notes += [
            each for name in needed if name in definitions.setters for each in word.review(definitions.setters[name])
        ]
    return tuple(objects(documents, bound)), needed


def _unused(krmfile: Krmfile, names: Iterable[str]) -> Iterable[Note]:
    file = krmfile.source.name
    for name in sorted(names):
        yield Note(
            LOST, "definitions that no field uses", "bind the fields that they were meant for", (f"{file}: {name}",)
        )
    if krmfile.root.get("rules") is not None:
        yield Note(LOST, "rules between setters", "write them into the Krmfile of the package", (file,))


def prose(sources: Sources, files: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the comments of files that bind nothing, by their places."""
    return tuple(
        (f"{sources.shown(file)}:{document.source.locate(each.start)[0]}", each.text)
        for file in files
        for document in parse_shared(sources.text(file), sources.memo)
        for each in (*document.head, *document.tail, *find_comments(document))
        if not _is_reference(each.text) and each.text.strip("# ")
    )


def _anchors(file: str) -> Note:
    todo = "mark what repeats in the file of the base once more, with & and *"
    return Note(LOST, "anchors, which are written out", todo, (file,))


def documents(source: Source) -> list[Document]:
    """Return the documents of a text that are not empty, with aliases followed."""
    return [each for each in aliases.read(source) if each.root is not None]


def objects(documents: Iterable[Document], bound: Mapping[int, str]) -> Iterable[MappingNode]:
    """Yield the objects of documents as we write them, with comments that bind the fields of ``bound``."""
    for document in documents:
        root = document.root
        metadata = root.mapping("metadata") if isinstance(root, MappingNode) else None
        if not isinstance(root, MappingNode) or not (root.text("apiVersion") and root.text("kind") and metadata):
            place = root.source.locate(root.start)[0] if root else 1
            message = "is not a Kubernetes object: apiVersion, kind and metadata.name are needed"
            raise InputError(Problem(message, file=document.source.name, line=place))
        written = normal.write(root, bound, _is_reference)
        assert isinstance(written, MappingNode)
        yield written


def _is_reference(text: str) -> bool:
    return comment.parse(text) is not None or tagged.parse(text) is not None


def _fault(binding: Binding, definitions: Definitions, words: Mapping[str, Word]) -> Note | None:
    """Say why a comment cannot bind its field; None where it can."""
    name, node = binding.reference.name, binding.node
    place = f"{node.source.name}:{node.source.locate(node.start)[0]}: {fields.path_text(binding.path)}: {name}"
    definition = definitions.resolve(binding.reference)
    if definition is None:
        return Note(
            LOST, "setter comments with names that nothing defines", "define the name, and bind the field", (place,)
        )
    if not fields.sets(definition, node):
        return Note(LOST, "setter comments where they bind nothing", "nothing, unless a whole list was meant", (place,))
    missing = [each for found in word.reached([name], words).values() for each in found.names if each not in words]
    if name not in words or missing:
        return Note(LOST, "substitutions that lead to nothing", "write the pattern anew, and bind the field", (place,))
    shown, stands = _texts(definition, definitions), _stands(node)
    if shown != stands:
        what = "setter comments that yield another text than their field has: setting them changed more than a value"
        todo = "decide which of the two is right, and bind the field again"
        return Note(DOUBTFUL, what, todo, (f"{place} yields {', '.join(shown)!r}, not {', '.join(stands)!r}",))
    return None


def _texts(definition: Setter | Substitution, definitions: Definitions) -> list[str]:
    """Return what a definition yields."""
    if isinstance(definition, Setter):
        return list(definition.values or ()) if definition.is_list or definition.values else [definition.text]
    return [definitions.expand(definition)]


def _stands(node: Scalar | SequenceNode) -> list[str]:
    """Return the texts of a field."""
    if isinstance(node, Scalar):
        return [node.value]
    return [item.value.value for item in node.items if isinstance(item.value, Scalar)]


def _root(sources: Sources, path: str) -> Node | None:
    documents = sources.documents(path)
    return documents[0].root if documents else None
