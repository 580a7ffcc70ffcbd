"""Files and folders that become options: what they say of objects that use cases have are patches, others are added.

istio/options/tracing.yaml        overlays/options/tracing/kustomization.yaml
  kind: IstioOperator       ->      patches: [{path: tracing.yaml, target: {kind: IstioOperator}}]
  spec: {…}                       overlays/options/tracing/tracing.yaml
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.kubernetes import kustomization
from packyard.core.yaml import layout, make
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import Comment, Document, Item, MappingNode, Node
from packyard.core.yaml.sources import Sources
from packyard.using.kustomize import selector
from packyard.using.kustomize.accumulate import SourceObject, file_names
from packyard.writing.authoring.import_ import bind, meaning, normal, read, write
from packyard.writing.authoring.import_.bind import Binder
from packyard.writing.authoring.import_.structure import krmfile_of

#: Where options lie in a workspace.
FOLDER = "overlays/options"


def files(sources: Sources, paths: Sequence[str], objects: Sequence[MappingNode], binder: Binder) -> dict[str, bytes]:
    """Return the files of options by their paths in a workspace; ``objects`` are those of the use cases."""
    by_path = {path: _documents(sources, path) for path in paths}
    refuse(problem for some in by_path.values() for each in some if (problem := bind.fault_of(each, is_named=False)))
    binder.placeholders.gather(each for some in by_path.values() for each in some)
    bound, words = binder.find([each for some in by_path.values() for each in some], krmfile_of(sources, ""))
    contents: dict[str, bytes] = {}
    for path, some in by_path.items():
        name = re.sub(r"[^a-z0-9]+", "-", PurePosixPath(path).stem.lower()).strip("-")
        roots = [normal.write(each.root, bound, bind.is_reference) for each in some if each.root]
        option = _option(name, [root for root in roots if isinstance(root, MappingNode)], objects)
        nodes = [node for each in some for node in walk(each.root)]
        reached = meaning.reached((bound.names[id(node)] for node in nodes if id(node) in bound.names), words)
        option |= {"Krmfile": write.krmfile(reached)} if reached else {}
        contents |= {f"{FOLDER}/{name}/{file}": data for file, data in option.items()}
    return contents


def _documents(sources: Sources, path: str) -> list[Document]:
    if not sources.exists(path):
        raise InputError(Problem("no such file or folder", file=sources.shown(path)))
    names = read.manifests(sources, path) if sources.is_folder(path) else [path]
    if any(PurePosixPath(name).name in kustomization.NAMES for name in names):
        hint = "name the files in it, which become options each"
        message = "has a kustomization, which no option can be made of"
        raise InputError(Problem(message, file=sources.shown(path), hint=hint))
    return read.documents(sources, names)


def _option(name: str, roots: Sequence[MappingNode], objects: Sequence[MappingNode]) -> dict[str, bytes]:
    """Return the files of one option."""
    identities = [selector.identity(each) for each in objects]
    patches: list[tuple[MappingNode, dict[str, str]]] = []
    for root in roots:
        version, kind, _, own = selector.identity(root)
        names = {each[3] for each in identities if each[:2] == (version, kind)}
        if names and (not own or own in names):
            named = {"name": re.escape(own)} if own and len(names) > 1 else {}
            patches.append((root, {"kind": re.escape(kind), **named}))
        if not own:
            bind.call(root, next(iter(sorted(names)), name))
    titles = file_names([SourceObject(root, "") for root in roots])
    targets = {id(root): target for root, target in patches}
    top = make.mapping("", {"apiVersion": kustomization.VERSIONS["Component"], "kind": "Component"})
    listed = [title for title, root in zip(titles, roots, strict=True) if id(root) not in targets]
    top.entries += [make.entry("resources", _list(make.scalar(each, "") for each in listed))] if listed else []
    entries = [
        make.mapping("", {"path": title, "target": make.mapping("", targets[id(root)])})
        for title, root in zip(titles, roots, strict=True)
        if id(root) in targets
    ]
    top.entries += [make.entry("patches", _list(entries))] if entries else []
    text = layout.write(top, head=[Comment(f"# {name}.", 0, 0, own_line=True)])
    return {kustomization.FILE: text, **{title: layout.write(root) for title, root in zip(titles, roots, strict=True)}}


def _list(nodes: Iterable[Node]) -> Node:
    return make.sequence("", [Item(node, 0) for node in nodes])
