"""Parts as files: bases and storages with their patches and Krmfiles, and the package's own.

A patch is a strategic merge where only mappings get something, otherwise a list of operations, as our authors write.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from posixpath import basename, relpath

from packyard.core.kubernetes import kustomization
from packyard.core.yaml import layout, make
from packyard.core.yaml import node as yaml
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import Child, Item, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.pointer import pointer
from packyard.core.yaml.values import YAML11_BOOLEANS, double_quoted, is_null, quoted
from packyard.using.kustomize import selector
from packyard.using.kustomize.accumulate import SourceObject, file_names
from packyard.using.kustomize.selector import Identity
from packyard.writing.authoring.import_ import copied as copied_parts
from packyard.writing.authoring.import_.copied import CopiedPart, Copy
from packyard.writing.authoring.import_.layers import STORAGE, Part
from packyard.writing.authoring.import_.meaning import GIVEN, Word
from packyard.writing.authoring.import_.repeat import once
from packyard.writing.authoring.import_.share import END, Addition, is_name
from packyard.writing.authoring.import_.split import Split, UseCaseEntry

_KRMFILE = ["apiVersion: config.k8s.io/v1alpha1", "kind: Krmfile", "openAPI:", "  definitions:"]
_WIDTH = 120


def write(split: Split, name: str, model: Mapping[str, str], copies: Sequence[Copy] = ()) -> dict[str, bytes]:
    """Return the files of a workspace by their paths."""
    files: dict[str, bytes] = {}
    split, below = _with_copies(split, name, copies)
    renamed = {change.to for part in split.parts for change in part.own.changes if change.is_renaming}
    for part in split.parts:
        files |= {f"{part.folder}/{file}": data for file, data in _part(part, split.several, renamed).items()}
    for copied, words in below:
        part_files = copied.write(f"{basename(copied.folder)} of {name}.")
        part_files |= {"Krmfile": krmfile(words)} if words else {}
        files |= {f"{copied.folder}/{file}": data for file, data in part_files.items()}
    folder = f"packages/{name}"
    files[f"{folder}/package.yaml"] = _package(split, name, model)
    if split.words:
        files[f"{folder}/Krmfile"] = krmfile(split.words)
    return files


def _with_copies(
    split: Split, name: str, copies: Sequence[Copy]
) -> tuple[Split, list[tuple[CopiedPart, dict[str, Word]]]]:
    """Return what package.yaml says with copies, and their parts with the words that stand beside them."""
    parts = list({id(part): part for copy in copies for part in copy.part.all()}.values())
    copied_parts.name(parts, name.removesuffix("-k8s"))
    texts: dict[str, set[str]] = {}
    for words in (split.words, *(part.words for part in split.parts), *(part.words for part in parts)):
        for word in words.values():
            texts.setdefault(word.name, set()).add(word.text())
    below = [(part, {key: word for key, word in part.words.items() if len(texts[key]) > 1}) for part in parts]
    shared = {key: word for part in parts for key, word in part.words.items() if len(texts[key]) == 1}
    values = {key: shared[key].value for key in GIVEN if key in shared}
    entries = {copy.path: UseCaseEntry(copy.part, namespace=copy.namespace) for copy in copies}
    for entry in split.entries.values():
        entry.namespace = entry.namespace or split.namespace if copies else entry.namespace
    return replace(
        split,
        entries={**split.entries, **entries},
        words={**split.words, **shared},
        setters={**split.setters, **values},
        namespace="" if copies else split.namespace,
    ), below


def krmfile(words: Mapping[str, Word]) -> bytes:
    """Write definitions: setters, then what follows from them."""
    ordered = sorted(words.values(), key=lambda word: (not word.is_setter, word.name))
    return _joined([*_KRMFILE, *(word.text() for word in ordered)])


def _joined(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _part(part: Part, several: Collection[str], renamed: Collection[MappingNode]) -> dict[str, bytes]:
    """Write the files of a part; patches name objects of ``several`` kinds, and select what is ``renamed``."""
    is_storage = part.folder.startswith(STORAGE)
    changed: dict[Identity, tuple[MappingNode, list[Addition]]] = {}
    for change in part.own.changes:
        changed.setdefault(selector.identity(change.to), (change.to, []))[1].extend(change.additions)
    roots = [*part.own.objects, *(to for to, _ in changed.values())]
    names = file_names([SourceObject(root, "") for root in roots])
    files = {name: layout.write(once(root)) for name, root in zip(names, part.own.objects, strict=False)}
    listed = [relpath(part.on.used.folder, part.folder)] if part.on and not part.on.used.is_empty else []
    listed += [relpath(each.folder, part.folder) for each in part.beside]
    listed += sorted(files)
    entries: list[str] = []
    for name, (to, additions) in zip(names[len(files) :], changed.values(), strict=True):
        merged = _merge(to, additions)
        bare = merged is not None and not is_storage and to not in renamed
        entries.append(f"- path: {name}" if bare else f"- {{path: {name}, target: {_target(to, several)}}}")
        files[name] = layout.write(merged or _operations(additions))
    kind = "Component" if is_storage else "Kustomization"
    lines = [f"# {part.says}", f"apiVersion: {kustomization.VERSIONS[kind]}", f"kind: {kind}"]
    lines += ["resources:", *(f"- {each}" for each in listed)] if listed else []
    lines += ["components:", f"- {relpath(part.storage.folder, part.folder)}"] if part.storage else []
    lines += ["patches:", *entries] if entries else []
    if part.words:
        files["Krmfile"] = krmfile(part.words)
    return {kustomization.FILE: _joined(lines), **files}


def _target(to: MappingNode, several: Collection[str]) -> str:
    """Select an object by its kind, and where there are several by its name."""
    _, kind, _, name = selector.identity(to)
    selected = {"kind": re.escape(kind), **({"name": re.escape(name)} if kind in several else {})}
    return f"{{{', '.join(f'{key}: {quoted(text, flow=True)}' for key, text in selected.items())}}}"


def _merge(to: MappingNode, additions: Sequence[Addition]) -> MappingNode | None:
    """Return a strategic merge, where that can say what is added: entries of mappings, without null or directives."""
    texts = [step for each in additions for step in each.path]
    if any(map(is_name, additions)) or any(isinstance(step, int) or step == END for step in texts):
        return None
    values = [node for each in additions for node in walk(each.child.value)]
    keys = [entry.name for node in values if isinstance(node, MappingNode) for entry in node.entries]
    if any(map(is_null, values)) or any(str(key).startswith("$") for key in (*texts, *keys)):
        return None
    version, kind, namespace, name = selector.identity(to)
    metadata = make.mapping("", {"name": name, **({"namespace": namespace} if namespace else {})})
    root = make.mapping("", {"apiVersion": version, "kind": kind, "metadata": metadata})
    for addition in additions:
        *above, last = addition.path
        parent = root
        for step in above:
            inner = parent.mapping(str(step))
            if inner is None:
                inner = make.mapping("", {})
                parent.entries.append(make.entry(str(step), inner))
            parent = inner
        parent.entries.append(_entry(str(last), addition.child, addition.child.value))
        parent.entries[-1].head = list(addition.child.head)
    return root


def _operations(additions: Sequence[Addition]) -> SequenceNode:
    operations = []
    for each in additions:
        operation = make.mapping("", {"op": "add" if each.is_new else "replace", "path": pointer(each.path)})
        operation.entries.append(_entry("value", each.child, _for_operation(each.child.value)))
        operations.append(Item(operation, 0))
    return make.sequence("", operations)


def _entry(key: str, child: Child, value: Node) -> yaml.Entry:
    entry = make.entry(key, value)
    entry.comment = child.comment
    return entry


def _for_operation(node: Node) -> Node:
    """Quote what YAML 1.1 takes for a boolean: kustomize reads operations so."""
    if isinstance(node, Scalar):
        if node.style == "plain" and node.value in YAML11_BOOLEANS:
            scalar = make.scalar(node.value, "", double_quoted(node.value))
            scalar.comment = node.comment
            return scalar
        return node
    return make.copy(node, _for_operation)


def _package(split: Split, name: str, model: Mapping[str, str]) -> bytes:
    head = ", ".join(f"{key}: {quoted(text, flow=True)}" for key, text in model.items())
    lines = ["apiVersion: packyard/v1", "kind: Package", f"model: {{{head}}}"]
    lines += [f"namespace: {quoted(split.namespace)}"] if split.namespace else []
    own = "MODEL_NAME", name.removesuffix("-k8s")
    values = {key: text for key, text in split.setters.items() if (key, text) != own}
    lines += ["setters:", *(f"  {key}: {double_quoted(text)}" for key, text in values.items())] if values else []
    lines.append("useCases:")
    for path, entry in split.entries.items():
        lines += _use_case(path, entry)
    return _joined(lines)


def _use_case(path: str, entry: UseCaseEntry) -> list[str]:
    parts = {"base": basename(entry.base.folder)}
    parts |= {"storage": f"[{', '.join(entry.storage)}]"} if entry.storage else {}
    parts |= {"namespace": quoted(entry.namespace, flow=True)} if entry.namespace else {}
    texts = [f"{key}: {double_quoted(text)}" for key, text in entry.setters.items()]
    parts |= {"setters": f"{{{', '.join(texts)}}}"} if texts else {}
    short = f"  {path}: {{{', '.join(f'{key}: {text}' for key, text in parts.items())}}}"
    return [short] if len(short) <= _WIDTH else [f"  {path}:", *(f"    {key}: {text}" for key, text in parts.items())]
