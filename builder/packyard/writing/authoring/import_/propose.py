"""Constants that most users of a package want to set, and the setters that they could be.

    bases/web/deployment.yaml:6        replicas: 3                       REPLICAS  3
    bases/web/deployment.yaml:12       image: nginx:1.25                 IMAGE     nginx:1.25

Only what authors of other packages set is looked for: images, replicas, resources, hosts and claims. Fields with equal
values are one setter. What is chosen is bound by a comment in its place, and defined in the Krmfile of the part that it
is in, or where several parts have it in that of the workspace.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import dirname, join

from packyard.core.errors import ConflictError, Problem, refuse, suggest
from packyard.core.files import tree
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.content import Text, Tree
from packyard.core.yaml.document import mappings, parse_text, source_of
from packyard.core.yaml.edit import PLAIN_TYPES, Edit
from packyard.core.yaml.node import Child, Document, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.proof import rewrite
from packyard.core.yaml.sources import LIBRARIES, Sources
from packyard.core.yaml.splice import add
from packyard.core.yaml.values import type_of
from packyard.using.kustomize.part import Part
from packyard.using.setters import comment
from packyard.using.setters.comment import SETTER_PREFIX
from packyard.using.setters.krmfile import EMPTY, parse_krmfile
from packyard.using.setters.krmfile import NAME as KRMFILE
from packyard.writing.authoring import place
from packyard.writing.authoring.import_ import read
from packyard.writing.source import parts
from packyard.writing.source.package import Package
from packyard.writing.source.pod_conditions import is_bound
from packyard.writing.source.workspace import Workspace

#: What the last key of a field says that it is.
_KINDS = {
    "image": "IMAGE",
    "replicas": "REPLICAS",
    "parallelism": "PARALLELISM",
    "claimName": "CLAIM_NAME",
    "storageClassName": "STORAGE_CLASS",
    "host": "HOST",
    "hosts": "HOST",
    "hostnames": "HOST",
    "server": "SERVER",
}
_RESOURCES = ("limits", "requests")
_REQUEST = "_REQUEST"  # unless the limit is the same
_OWNED = ("REPLICAS", "PARALLELISM")  # two that are equal by chance are not one


@dataclass(slots=True)
class Proposal:
    """A setter that could be: its name and value, and the fields that it would bind, each by file and line."""

    name: str
    value: str
    what: str
    type: str
    places: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Constant:
    """A field that could be bound: what it is, whose it is, and what tells it from others."""

    child: Child
    value: Scalar
    kind: str
    owner: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        is_own = self.kind in _OWNED or self.kind not in _KINDS.values()
        return self.kind.removesuffix(_REQUEST), self.owner if is_own else "", self.value.value, type_of(self.value)


def of_package(here: Workspace, package: Package) -> dict[str, Proposal]:
    """Find what a package of a workspace could have setters for; libraries are their authors' own."""
    files: set[str] = set()
    for use_case in package.use_cases:
        below = [parts.read(here.sources, here.base_dir(use_case.base), "Kustomization")]
        below += [parts.read(here.sources, here.overlay_dir(*each), "Component") for each in use_case.overlays]
        files |= {file for part in below for file in _files(part)}
        files |= {patch.file for patch in use_case.patches if patch.file}
    own = sorted(file for file in files if not file.startswith(f"{LIBRARIES}/"))
    return find(here.sources, own, here.setter_names())


def of_folder(sources: Sources) -> dict[str, Proposal]:
    """Find what the manifests of a folder could have setters for."""
    names = [each for each in read.manifests(sources, "") if each.rpartition("/")[2] not in kustomization.NAMES]
    return find(sources, names, ())


def find(sources: Sources, files: Sequence[str], taken: Collection[str]) -> dict[str, Proposal]:
    """Find the constants of files, by the names that they could have."""
    by_key: dict[tuple[str, str, str, str], tuple[_Constant, list[tuple[str, str]]]] = {}
    for file in files:
        for document in parse_text(sources.text(file)):
            for constant in _constants(document):
                by_key.setdefault(constant.key, (constant, []))[1].append((file, constant.value.place))
    names = _names([first for first, _ in by_key.values()], taken)
    proposals: dict[str, Proposal] = {}
    for name, (first, places) in zip(names, by_key.values(), strict=True):
        kind = first.kind.replace("_", " ") if first.owner else first.kind
        what = f"{kind.capitalize()} of {first.owner}" if first.owner else kind.capitalize()
        files, lines = [file for file, _ in places], [at for _, at in places]
        proposals[name] = Proposal(name, first.value.value, what, type_of(first.value), lines, files)
    return proposals


def bind(here: Workspace, proposals: Mapping[str, Proposal], names: Sequence[str]) -> dict[str, bytes]:
    """Return the files of a workspace with the fields of some proposals bound, and their setters defined."""
    refuse(
        Problem(f"no setter {name!r} is proposed", hint=suggest(name, proposals) or "--propose alone lists them")
        for name in names
        if name not in proposals
    )
    chosen = [proposals[name] for name in dict.fromkeys(names)]
    contents: dict[str, bytes] = {}
    for file in dict.fromkeys(file for each in chosen for file in each.files):
        by_place = {(each.value, each.type, at): each.name for each in chosen for at in each.places}
        contents[file] = rewrite(here.sources.read(file), here.sources.shown(file), _binder(by_place))
    words: dict[str, list[Proposal]] = {}
    for each in chosen:
        folders = {dirname(file) for file in each.files}
        words.setdefault(join(folders.pop() if len(folders) == 1 else "", KRMFILE), []).append(each)
    return contents | {file: _define(here.sources, file, some) for file, some in words.items()}


def write_to(here: Workspace, files: Mapping[str, bytes]) -> None:
    """Write files of a workspace, all or none."""
    own = tree.Tree(here.root_dir)
    with own.locked(below=False):
        for path in filter(own.has_file, files):
            if own.read(path) != here.sources.read(path):
                raise ConflictError(Problem("was changed in the meantime", file=here.sources.shown(path)))
        own.write(files)


def _binder(names: Mapping[tuple[str, str, str], str]) -> Callable[[Document], Iterable[Edit]]:
    """Return what binds the constants of a document that are known by value, type and place."""

    def change(document: Document) -> Iterator[Edit]:
        for constant in _constants(document):
            name = names.get((constant.value.value, type_of(constant.value), constant.value.place))
            yield from place.bind(constant.child, comment.write(name)) if name else ()

    return change


def _define(sources: Sources, file: str, some: Sequence[Proposal]) -> bytes:
    """Return a Krmfile with more setters."""
    is_there = sources.is_file(file)
    data = sources.read(file) if is_there else EMPTY + b"\n"
    krmfile = parse_krmfile(source_of(data, sources.shown(file)))
    entries: dict[str, Tree] = {}
    for proposal in some:
        kind: dict[str, Tree] = {"type": Text(proposal.type)} if proposal.type in PLAIN_TYPES else {}
        setter: Tree = {"name": Text(proposal.name), "value": Text(proposal.value)}
        described: dict[str, Tree] = {"description": Text(f"{proposal.what}."), **kind}
        entries[SETTER_PREFIX + proposal.name] = {**described, "x-k8s-cli": {"setter": setter}}
    return krmfile.edited(data, add(krmfile.root, ("openAPI", "definitions"), entries)) or data


def _files(part: Part) -> Iterator[str]:
    """Yield the files of a part, and of all that it builds on."""
    for each in (*part.resources, *part.components):
        yield from _files(each)
    yield from part.files
    yield from (patch.file for patch in part.patches if patch.file)


def _constants(document: Document) -> Iterator[_Constant]:
    """Yield the fields of a document that could be bound, in the order of the text."""
    root = document.root
    name = root.scalar("metadata", "name") if root else None
    if root is None or root.text("kind") != "CustomResourceDefinition":
        yield from _below(root, name.value if name else "", ())


def _below(node: Node | None, owner: str, path: tuple[str, ...]) -> Iterator[_Constant]:
    if isinstance(node, MappingNode):
        for entry in node.entries:
            yield from _of(entry, entry.name, owner, path)
    elif isinstance(node, SequenceNode):
        names = [each.text("name") for each in mappings(node) if each.get("image") is not None]
        for item in node.items:
            own = item.value.text("name") if len(names) > 1 else ""
            whose = f"{owner} {own}".strip() if own in names else owner
            yield from _of(item, path[-1] if path else "", whose, path[:-1])


def _of(child: Child, key: str, owner: str, path: tuple[str, ...]) -> Iterator[_Constant]:
    value = child.value
    if not isinstance(value, Scalar):
        yield from _below(value, owner, (*path, key))
    elif (kind := _kind(key, path)) and not is_bound(child) and _is_constant(value):
        yield _Constant(child, value, kind, owner)


def _kind(key: str, path: tuple[str, ...]) -> str:
    """Say what a field is, by its key and those that it is below."""
    if path[-2:-1] == ("resources",) and path[-1] in _RESOURCES:
        last = key.rpartition("/")[2].replace("-", "_").upper()
        return f"{'GPUS' if last == 'GPU' else last}{_REQUEST if path[-1] == 'requests' else ''}"
    return _KINDS.get(key, "")


def _is_constant(value: Scalar) -> bool:
    return bool(value.value) and value.style not in "|>" and not re.search(r"\$[({]|\{\{", value.value)


def _names(constants: Sequence[_Constant], taken: Collection[str]) -> Iterator[str]:
    """Name setters for what they are, and where there are several of that for whose they are as well."""
    counts = Counter(constant.kind for constant in constants)
    names = set(taken)
    for constant in constants:
        owner = re.sub(r"[^A-Z0-9]+", "_", constant.owner.upper()).strip("_")
        owned = f"{owner}_{constant.kind}" if owner else constant.kind
        first = [constant.kind] if counts[constant.kind] == 1 else []
        numbered = (f"{owned}_{number}" for number in range(2, len(constants) + len(names) + 3))
        name = next(name for name in (*first, owned, *numbered) if name not in names)
        names.add(name)
        yield name
