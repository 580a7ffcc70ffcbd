"""Bases and overlays on disk: their kustomization.yaml, its resources, components and patches, and their Krmfile.

The composer understands ``resources``, ``components``, ``configMapGenerator``, ``configurations``, ``patches``,
``replacements``, in a base ``labels`` and ``images``, and what `pod_patch` reads beside it. Every other field is
refused by name and line, rather than to compose something else than kustomize would build.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from posixpath import basename, dirname, join, normpath

from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes import kustomization
from packyard.core.yaml import aliases
from packyard.core.yaml.document import decode, only
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import MappingNode, Node, Scalar, Source
from packyard.core.yaml.sources import LIBRARIES, Sources
from packyard.core.yaml.span import embedded
from packyard.using.kustomize import generator, references, replacement, selector
from packyard.using.kustomize.part import KrmfileData, Part, Patch, only_document
from packyard.using.kustomize.references import FieldSpec
from packyard.using.setters.krmfile import KRMFILE
from packyard.writing.source import pod_patch, transformers
from packyard.writing.source.pod_operations import PodPatch
from packyard.writing.source.workspace import BASE, FOLDERS, PODS, Workspace

#: How many kustomizations a use case may be made of, and how deep they may build on each other.
MAX_PARTS, MAX_DEPTH = 500, 32


def of(workspace: Workspace, path: str) -> Part:
    """Read a base or an overlay of a workspace, such as ``bases/job``."""
    kind = "Kustomization" if path.startswith(f"{FOLDERS[BASE]}/") else "Component"
    return read(workspace.sources, workspace.part_dir(path), kind)


def read(sources: Sources, folder: str, kind: str, within: tuple[str, ...] = ()) -> Part:
    """Read a part and all that it builds on, once in a run; ``kind`` is Kustomization or Component."""
    return sources.once(("part", folder, kind), lambda: _read(sources, folder, kind, within))


def _read(sources: Sources, folder: str, kind: str, within: tuple[str, ...]) -> Part:
    folder = sources.resolve(folder)
    within = (*within, folder)
    pods = pod_patch.read_beside(sources, folder) if kind == "Component" else ()
    if pods and not has_kustomization(sources, folder):
        krmfile = read_krmfile(sources, folder)
        return Part(folder, pods=pods, krmfile=krmfile, head=pods[0].head)
    file = file_of(sources, folder)
    fields = Fields.of_file(sources, file)
    if kind == "Component" or (fields.node and (fields.node.get("apiVersion") or fields.node.get("kind"))):
        fields.expect_header(kustomization.VERSIONS[kind], kind)
    paths = _paths(sources, fields, "resources", within)
    own = [path for path in paths if not sources.is_folder(path)]
    resources = [read(sources, path, "Kustomization", within) for path in paths if sources.is_folder(path)]
    folders = _paths(sources, fields, "components", within)
    components = [read(sources, path, "Component", within) for path in folders]
    size = 1 + sum(part.size for part in (*resources, *components))
    if size > MAX_PARTS:
        fields.fault(fields.node, "", f"is made of more than {MAX_PARTS} kustomizations")
    finder = _finder(sources, folder)
    made = [generator.read(fields, node, finder) for node in fields.items("configMapGenerator")]
    named = [fields.find_file(node, "configurations", folder, sources) for node in fields.items("configurations")]
    configurations = [sources.resolve(path) for path in named if path]
    patches, _ = read_patches(sources, fields, file)
    listed = fields.items("replacements")
    replacements = [item for node in listed for item in replacement.read(fields, node, file, sources)]
    changes = transformers.read(fields, file) if kind == "Kustomization" else []
    for key in kustomization.FIELDS:
        hint = "bind metadata.name to a setter, such as RUN_NAME" if key in ("namePrefix", "nameSuffix") else ""
        fields.elsewhere(key, hint, "packyard does not compose it")
    fields.done()
    return Part(
        folder=folder,
        files=tuple(own),
        objects=tuple((PurePosixPath(path).stem, root) for path in own for root in read_objects(sources, path)),
        resources=tuple(resources),
        components=tuple(components),
        generated=tuple(filter(None, made)),
        configurations=tuple(configurations),
        references=tuple(spec for path in configurations for spec in _references(sources, path)),
        patches=tuple(patches),
        pods=(*pods, *changes),
        replacements=tuple(replacements),
        krmfile=read_krmfile(sources, folder),
        head=tuple(fields.node.entries[0].head) if fields.node else (),
        size=size,
    )


def read_shared(workspace: Workspace) -> tuple[KrmfileData | None, ...]:
    """Return the Krmfile at the root of a workspace, which all of its parts share, behind those of its libraries.

    Of two libraries the first one counts, as with parts: it is the last. A tree without a Krmfile has None.
    """
    roots = (*reversed([*workspace.libraries]), "")
    return tuple(read_krmfile(workspace.sources, root) for root in roots)


def read_krmfile(sources: Sources, folder: str) -> KrmfileData | None:
    """Read the Krmfile of a folder, if there is one."""
    path = join(folder, KRMFILE)
    return (sources.shown(path), sources.read(path)) if sources.is_file(path) else None


def file_of(sources: Sources, folder: str) -> str:
    """Return the kustomization of a folder; of one that is nothing but patches of pods these."""
    if not has_kustomization(sources, folder) and sources.is_file(join(folder, PODS)):
        return join(folder, PODS)
    hint = "write one that lists its files under resources:, or remove the folder"
    name = kustomization.find(sources.shown(folder), lambda name: sources.is_file(join(folder, name)), hint=hint)
    return join(folder, name)


def has_kustomization(sources: Sources, folder: str) -> bool:
    """Say whether a folder has a kustomization; an overlay that is nothing but patches of pods needs none."""
    return bool(kustomization.names(lambda name: sources.is_file(join(folder, name))))


def read_objects(sources: Sources, path: str) -> list[MappingNode]:
    """Read the Kubernetes objects of a resource file; all of them is shared."""
    objects = []
    for document in sources.documents(path):
        if isinstance(document.root, Scalar) and not document.root.lexeme:
            continue
        if not isinstance(document.root, MappingNode):
            raise InputError(Problem("holds a document that is not a Kubernetes object", file=sources.shown(path)))
        objects.append(document.root)
    return objects


def read_patches(
    sources: Sources, parent: Fields, path: str, *, are_pods: bool = False
) -> tuple[list[Patch], list[PodPatch]]:
    """Read the patches that a kustomization, or a use case of a package, lists: by path or inline, with a target.

    A plain text is a path, from the folder of the listing file ``path``; there may be patches of pods if ``are_pods``.
    """
    nodes = parent.items("patches")
    read = [item for node in nodes for item in _patch(sources, parent, node, path, are_pods=are_pods)]
    return [item for item in read if isinstance(item, Patch)], [item for item in read if isinstance(item, PodPatch)]


def _patch(
    sources: Sources, parent: Fields, entry: Node, listing: str, *, are_pods: bool
) -> Iterator[Patch | PodPatch]:
    fields, node, target, key = parent, entry, None, "patches"
    if not isinstance(entry, Scalar):
        fields = Fields(entry, parent.file, f"{parent.path}.{key}" if parent.path else key, parent.problems)
        inline, path = fields.text("patch", ""), fields.anything("path")
        target = selector.read(fields, "target")
        fields.done()
        if bool(inline) == bool(path):
            fields.fault(entry, "", "needs either path or patch")
            return
        if path is None:
            text = fields.node.get("patch") if fields.node else None
            assert isinstance(text, Scalar)
            document = only_document(aliases.read(embedded(text), sources.memo), fields.file)
            yield Patch(document, target, entry, listing, entry.source.locate(entry.start)[0])
            return
        node, key = path, "path"
    file = fields.find_file(node, key, dirname(listing), sources)
    documents = sources.documents(file) if file else []
    if file and are_pods and node is entry and pod_patch.is_one(documents):
        yield from pod_patch.read(sources, normpath(file))
    elif file and pod_patch.is_one(documents):
        hint = f"name the file {PODS}, and take it out of this list"
        fields.fault(node, key, f"{basename(file)!r} patches pods, which kustomize cannot", hint)
    elif file:
        document = only_document(documents, sources.shown(file))
        yield Patch(document, target, entry, normpath(file), file=sources.resolve(file))


def _finder(sources: Sources, folder: str) -> generator.Find:
    """Return what finds a file of a generator, which stands in this folder."""

    def find(fields: Fields, node: Scalar, name: str) -> Source | None:
        file = join(folder, name)
        if name != basename(name) or (fields.reach(node, "files", name, file, sources) and not sources.is_file(file)):
            fields.fault(node, "files", f"no file {basename(name)!r} here")
            return None
        shown = sources.shown(file)
        return None if fields.problems else Source(shown, "".join(decode(sources.read(file), shown)))

    return find


def _references(sources: Sources, file: str) -> Iterator[FieldSpec]:
    root = only(sources.documents(file), sources.shown(file)).root
    yield from references.read(root) if isinstance(root, MappingNode) else ()


def _paths(sources: Sources, fields: Fields, key: str, within: tuple[str, ...]) -> list[str]:
    """Return the files and folders that a kustomization lists, and note what it cannot be made of."""
    paths = []
    for node in fields.items(key):
        text = node.value if isinstance(node, Scalar) else ""
        path = join(within[-1], text)
        if text and not fields.reach(node, key, text, path, sources):
            continue
        if not text or not sources.exists(path):
            is_library = normpath(path).startswith(f"{LIBRARIES}/") and text
            hint = f"{LIBRARIES} of packyard.yaml names no such library, or it has no such part" if is_library else ""
            fields.fault(node, key, f"{repr(text) if text else 'this'} is neither a file nor a folder here", hint)
        elif (real := sources.resolve(path)) in within:
            circle = " -> ".join(basename(folder) for folder in (*within[within.index(real) :], real))
            fields.fault(node, key, f"kustomizations build on each other in a circle: {circle}")
        elif len(within) >= MAX_DEPTH:
            fields.fault(node, key, f"kustomizations build on each other more than {MAX_DEPTH} deep")
        else:
            paths.append(real)
    return paths
