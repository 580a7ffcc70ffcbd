"""What kustomize refuses in a kustomization whose fields and files are there: words inside of its entries.

literals: [EPOCHS]                          a literal is KEY=VALUE
components: [../base]                       base is a Kustomization, which stands in resources
patch: |-                                   a patch with an operation that nobody knows
  - {op: update, path: /spec/replicas, value: 2}
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping

from packyard.core.errors import InputError, suggest
from packyard.core.kubernetes.kinds import called
from packyard.core.kubernetes.kustomization import GROUP
from packyard.core.kubernetes.name_forms import LABEL
from packyard.core.yaml.document import mappings, parse_text, scalars
from packyard.core.yaml.node import Document, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.span import embedded
from packyard.using.kustomize.supported import is_json
from packyard.using.setters import regexp
from packyard.writing.checks import generated
from packyard.writing.checks.builds import RENAMING, Build
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.variables import is_filled_in

_WORDS = ("group", "version", "kind", "name", "namespace")
_OPERATIONS = ("add", "remove", "replace", "test", "move", "copy")
_ADDING = ("merge", "replace")
_PART_OF_NAME = re.compile(r"[a-z0-9.-]*\Z")


def check(root: MappingNode, roots: Mapping[str, MappingNode], files: Mapping[str, Document]) -> Iterator[Finding]:
    """Find what kustomize refuses; ``roots`` are kustomizations by folder, ``files`` documents by file."""
    namespace = root.scalar("namespace")
    text = namespace.value if namespace else ""
    if namespace and text and not (LABEL.admits(text) or is_filled_in(text)):
        message = f"{text!r} is no name of a namespace"
        yield breach("no-name", namespace, message, "lower-case letters, digits and dashes")
    for field in RENAMING:
        part = root.scalar(field)
        if part and not _PART_OF_NAME.match(part.value):
            message = f"{field} is {part.value!r}: Kubernetes allows no such names"
            yield breach("no-name", part, message, "lower-case letters, digits and dashes")
    yield from _generated(generated.generators(root))
    yield from _listed(root, roots, files)
    yield from _twice(root)
    for field in ("patches", "patchesJson6902"):
        for entry in mappings(root.get(field)):
            yield from _patch(entry, files, posixpath.dirname(root.source.name))


def check_build(build: Build) -> Iterator[Finding]:
    """Find what a generator adds to that nothing makes."""
    made = {(root.text("kind"), called(root)) for root in build.objects}
    every = [each for root in build.kustomizations for each in generated.generators(root)]
    made |= {(kind, each.text("name")) for kind, each in every if each.text("behavior") not in _ADDING}
    for kind, each in every if build.is_whole else ():
        behavior, name = each.text("behavior"), each.text("name")
        if behavior in _ADDING and (kind, name) not in made:
            message = f"behavior is {behavior}, and no {kind} {name!r} is there: kustomize fails"
            names = (there for of, there in made if of == kind)
            yield breach("kustomize-refuses", each.get("name") or each, message, suggest(name, names))


def _generated(generators: Iterable[tuple[str, MappingNode]]) -> Iterator[Finding]:
    seen: set[tuple[str, str, str]] = set()
    for kind, each in generators:
        identity = (kind, each.text("namespace"), each.text("name"))
        if identity in seen and each.text("behavior") not in _ADDING:
            message = f"{kind} {identity[2]!r} is generated twice, and kustomize fails"
            yield breach("kustomize-refuses", each.get("name") or each, message, "put them together")
        seen.add(identity)
        if not any(entry.name.casefold() == "name" and entry.text for entry in each.entries):
            yield breach("kustomize-refuses", each, f"a {kind} without a name, and kustomize fails", "name: NAME")
        yield from _keys(each)
        for literal in scalars(each.get("literals")):
            if "=" not in literal.value:
                message = f"the literal {literal.value!r} has no =, and kustomize fails"
                yield breach("kustomize-refuses", literal, message, "KEY=VALUE")


def _keys(root: MappingNode) -> Iterator[Finding]:
    """Find a key that a generator makes twice."""
    seen: set[str] = set()
    for field, node, key in generated.keys(root):
        if key in seen and (field == "files" or "=" in node.value):
            message = f"the key {key} is made twice, and kustomize fails"
            yield breach("kustomize-refuses", node, message, "remove one")
        seen.add(key)


def _twice(root: MappingNode) -> Iterator[Finding]:
    seen: set[str] = set()
    for node in (*scalars(root.get("resources")), *scalars(root.get("bases"))):
        path = node.value if "//" in node.value else posixpath.normpath(node.value)
        if path in seen:
            yield breach("kustomize-refuses", node, f"{path} is listed twice, and kustomize fails", "remove one")
        seen.add(path)


def _listed(root: MappingNode, roots: Mapping[str, MappingNode], files: Mapping[str, Document]) -> Iterator[Finding]:
    """Find a Component among the resources, a Kustomization among the components, and a file of another folder."""
    folder = posixpath.dirname(root.source.name)
    for field, kind, other in (("resources", "Kustomization", "components"), ("components", "Component", "resources")):
        for node in scalars(root.get(field)):
            path = posixpath.normpath(posixpath.join(folder, node.value))
            there = roots.get(path)
            if there and there.text("kind", "Kustomization") != kind:
                message = f"{node.value} is a {there.text('kind', 'Kustomization')}, which kustomize refuses in {field}"
                yield breach("kustomize-refuses", node, message, f"list it in {other}")
            elif path in files and node.value.startswith("../"):
                message = f"{node.value} lies outside of its kustomization's folder, where kustomize reads no files"
                hint = "list the folder that it is in, which needs a kustomization"
                yield breach("kustomize-refuses", node, message, hint, severity="warning")


def _patch(entry: MappingNode, files: Mapping[str, Document], folder: str) -> Iterator[Finding]:
    """Find a patch that kustomize cannot read, or not without a target."""
    inline, path = entry.scalar("patch"), entry.text("path")
    target = entry.mapping("target")
    for pattern in filter(None, (target.scalar(word) for word in _WORDS)) if target else ():
        if regexp.fault(pattern.value):
            message = f"{pattern.value!r} is no regular expression, and kustomize fails"
            yield breach("kustomize-refuses", pattern, message, "close its brackets")
    there: Document | None = files.get(posixpath.normpath(posixpath.join(folder, path))) if path else None
    if inline and inline.value:
        try:
            there = next(iter(parse_text(embedded(inline))), None)
        except InputError:
            yield breach(
                "kustomize-refuses", inline, "kustomize cannot read this patch", "operations in a list, or an object"
            )
    root = there.root if there else None
    text = inline.value if inline else there.source.text if there else ""
    if root and text.lstrip().startswith("[") and not is_json(text):
        message = "kustomize reads what begins with [ as JSON, which this is not, and fails"
        yield breach("kustomize-refuses", inline or root, message, "begin each operation with a dash")
    if there and root is None:
        has_target = entry.get("target") is not None
        message = f"{path or 'this patch'} is empty, and kustomize {'4 ' if has_target else ''}fails"
        yield breach(
            "kustomize-refuses",
            entry,
            message,
            "say what it changes, or remove the line",
            severity="warning" if has_target else "error",
        )
    if isinstance(root, SequenceNode):
        if entry.get("target") is None:
            yield breach(
                "kustomize-refuses",
                entry,
                "operations say no object, and kustomize fails",
                "target: {kind: Deployment}",
            )
        yield from _operations(root)
    elif isinstance(root, MappingNode) and (missing := _unnamed(root)):
        yield breach(
            "kustomize-refuses", root, f"this patch has no {missing}, and kustomize fails", "the object that it is for"
        )


def _operations(root: Node) -> Iterator[Finding]:
    for operation in mappings(root):
        word = operation.scalar("op")
        for field in ("op", "path"):
            if not operation.text(field):
                message = f"this operation has no {field}, and kustomize fails"
                yield breach("kustomize-refuses", operation, message, "op, path and value")
        path = operation.scalar("path")
        if path and path.value and not path.value.startswith("/"):
            message = (
                f"the path {path.value} does not begin with /: kustomize changes the object itself, not what is there"
            )
            yield breach("entry-without-target", path, message, f"/{path.value}", severity="error")
        if word and word.value not in _OPERATIONS:
            hint = suggest(word.value, _OPERATIONS) or ", ".join(_OPERATIONS)
            yield breach(
                "kustomize-refuses", word, f"a patch has no operation {word.value!r}, and kustomize fails", hint
            )


def _unnamed(root: MappingNode) -> str:
    """Return what a strategic merge lacks to say which object it is for."""
    is_kustomization = root.text("apiVersion").startswith(f"{GROUP}/")
    missing = [field for field in ("apiVersion", "kind") if not root.text(field)]
    name = root.scalar("metadata", "name")
    missing += [] if isinstance(name, Scalar) and name.value else ["metadata.name"]
    return missing[0] if missing and not is_kustomization else ""
