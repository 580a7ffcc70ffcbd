"""Faults of kustomization files: fields that kustomize does not know, files that are missing, entries without effect.

resources: [deployment.yml]                     the file is called deployment.yaml
images: [{name: server, newTag: "2"}]           no container has the image server
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator

from packyard.core.errors import suggest
from packyard.core.kubernetes import images, kustomization, pods
from packyard.core.kubernetes.kinds import RBAC, called, is_kind
from packyard.core.kubernetes.kustomization import GROUP, NAMES
from packyard.core.yaml.document import mappings, scalars
from packyard.core.yaml.node import Document, MappingNode, Scalar, Source
from packyard.core.yaml.values import is_null
from packyard.writing.checks import decoded, refused
from packyard.writing.checks.builds import Build
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

#: Says whether the tree has a file or a folder of this path; None where the path leads out of it.
Exists = Callable[[str], "bool | None"]

_LISTS = ("resources", "components", "bases", "crds", "configurations", "generators", "transformers", "validators")
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*::?/?/|git@|[^/]*\.[a-z]{2,}/.|.*(\?|\.git\b)", re.IGNORECASE)


def check(parsed: Parsed, exists: Exists) -> Iterator[Finding]:
    """Find what kustomize refuses or passes over; ``exists`` says which files are there."""
    roots = {posixpath.dirname(root.source.name) or ".": root for root in _kustomizations(parsed)}
    files = {parsed.where + path: Document(Source(parsed.where + path, ""), 0) for path in parsed.files}
    files |= {document.source.name: document for document in parsed.documents if document.root}
    for root in _kustomizations(parsed):
        yield from decoded.check(root)
        yield from refused.check(root, roots, files)
        yield from _header(root)
        yield from _fields(root)
        yield from _paths(root, exists)
        yield from _without_objects(root, parsed)
    yield from _files(parsed, exists)
    yield from _unlisted(parsed)
    for build in parsed.builds:
        yield from build.refused
        if build.kustomizations:
            yield from _unreached(build, parsed)
        if not parsed.programs:  # which generate more
            yield from refused.check_build(build)
        yield from _subjects(build)


def _files(parsed: Parsed, exists: Exists) -> Iterator[Finding]:
    """Find kustomizations that say nothing, and several in one folder: kustomize refuses both."""
    for path, documents in parsed.files.items():
        folder, name = posixpath.split(parsed.where + path)
        if name not in NAMES:
            continue
        roots = [each.root for each in documents if each.root and not is_null(each.root)]
        place = roots[0] if roots else (documents[0].source if documents else Source(parsed.where + path, ""), 0)
        if all(isinstance(each, MappingNode) and kustomization.is_empty(each) for each in roots):
            message = "this kustomization is empty, and kustomize fails"
            yield breach("kustomize-refuses", place, message, "list its files in resources")
        _, *others = [each for each in NAMES if exists(posixpath.join(folder, each))]
        if others and name not in others:
            message = f"{' and '.join(others)} is here, too, and kustomize fails"
            yield breach("kustomize-refuses", place, message, "leave one kustomization in this folder")


def _kustomizations(parsed: Parsed) -> list[MappingNode]:
    roots = (document.root for document in parsed.documents)
    return [root for root in roots if isinstance(root, MappingNode) and _is_kustomization(root)]


def _is_kustomization(root: MappingNode) -> bool:
    return root.text("apiVersion").startswith(f"{GROUP}/") or posixpath.basename(root.source.name) in NAMES


def _header(root: MappingNode) -> Iterator[Finding]:
    """Find an apiVersion or a kind that kustomize refuses; it takes a file without both."""
    version, kind = root.scalar("apiVersion"), root.scalar("kind")
    wanted = kustomization.VERSIONS.get(root.text("kind", "Kustomization"))
    for node, right in ((kind, tuple(kustomization.VERSIONS)), (version, (wanted,) if wanted else ())):
        if node and right and node.value not in right:
            message = f"{node.value} is no kustomization that kustomize reads"
            yield breach("no-kustomization", node, message, " or ".join(right))


def _without_objects(root: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    """Find files of manifests in which something is no object: kustomize refuses the build."""
    listed = {item.value for item in scalars(root.get("resources"))}
    folder = posixpath.dirname(root.source.name)
    names = {posixpath.normpath(posixpath.join(folder, each)) for each in listed}
    for document in parsed.documents:
        node = document.root
        if isinstance(node, MappingNode) and node.entries and document.source.name in names:
            named = node.mapping("metadata") or node.text("kind").endswith("List")
            missing = [field for field in ("apiVersion", "kind") if not node.text(field)]
            missing += [] if named else ["metadata"]
            if missing:
                message = f"this is no object: it has no {missing[0]}, and kustomize fails"
                yield breach("no-object", node, message, "correct its first lines")


def _fields(root: MappingNode) -> Iterator[Finding]:
    for entry in root.entries:
        if entry.name in decoded.REPLACED:
            message = f"{entry.name} is deprecated"
            hint = f"use {decoded.REPLACED[entry.name]}; kustomize edit fix rewrites it"
            yield breach("deprecated-field", entry, message, hint)
    namespace = root.entry("namespace")
    if namespace and namespace.text == "default":
        message = "everything goes into the namespace default, whatever namespace kubectl is told"
        yield breach("namespace-default", namespace, message, "leave it to the user")


def _paths(root: MappingNode, exists: Exists) -> Iterator[Finding]:
    folder = posixpath.dirname(root.source.name)
    for node, text in _named(root):
        if not text or "\n" in text or _REMOTE.match(text) or text.startswith("/"):
            continue
        path = posixpath.normpath(posixpath.join(folder, text))
        if exists(path) is False:
            message = f"there is no {text} here, and kustomize fails"
            yield breach("missing-file", node, message, "correct the path, or remove the line")


def _named(root: MappingNode) -> Iterator[tuple[Scalar, str]]:
    """Yield the places where a kustomization names files and folders, with what they name."""
    for field in (*_LISTS, "patchesStrategicMerge"):
        yield from ((item, item.value) for item in scalars(root.get(field)))
    for field in ("patches", "patchesJson6902", "replacements"):
        for entry in mappings(root.get(field)):
            if path := entry.scalar("path"):
                yield path, path.value
    for generator in ("configMapGenerator", "secretGenerator"):
        for each in mappings(root.get(generator)):
            for field in ("files", "envs"):
                for item in scalars(each.get(field)):
                    yield item, item.value.partition("=")[2] or item.value


def _unlisted(parsed: Parsed) -> Iterator[Finding]:
    """Find manifests beside a kustomization that none takes in, neither as objects nor as patches."""
    roots = _kustomizations(parsed)
    folders = {posixpath.dirname(root.source.name) for root in roots}
    folders -= {posixpath.dirname(root.source.name) for root in roots if not kustomization.has_lists(root)}
    listed = {
        posixpath.normpath(posixpath.join(posixpath.dirname(root.source.name), text))
        for root in roots
        for _, text in _named(root)
    }
    objects = (root for each in parsed.documents if isinstance(root := each.root, MappingNode))
    first = {root.source.name: root for root in reversed([*objects]) if root.mapping("metadata") and root.get("kind")}
    for file, root in first.items():
        is_beside = posixpath.dirname(file) in folders and not _is_kustomization(root)
        if is_beside and posixpath.normpath(file) not in listed:
            message = "no kustomization takes this file in, so nothing of it is applied"
            yield breach("unlisted-file", root, message, "list it in resources, or remove it")


def _unreached(build: Build, parsed: Parsed) -> Iterator[Finding]:
    """Find entries that reach no object, where all objects are known."""
    if not build.is_whole:
        return
    containers = [each for root in build.objects for each in parsed.containers_of(root)]
    containers += [each for pod in pods.find_all(build.removed) for each in pod.containers]
    used = {images.parse(each.text("image")).name for each in containers}
    names = {called(root) for root in (*build.objects, *build.removed, *build.generated)} - {""}
    elsewhere = any(root.get("configurations") for root in build.kustomizations)  # say where more images stand
    elsewhere = elsewhere or any("image" in path.value for path in _replaced(build))
    for root in build.kustomizations:
        for image in mappings(root.get("images")) if not elsewhere else ():
            old = image.scalar("name")
            if old and used and old.value not in used | _renamed(build):
                message = f"no container has the image {old.value}"
                yield breach("entry-without-target", old, message, suggest(old.value, used))
        for replica in mappings(root.get("replicas")):
            name = replica.scalar("name")
            if name and not any(kustomization.may_call(name.value, each, build.kustomizations) for each in names):
                message = f"no object is called {name.value}, and kustomize fails"
                yield breach("entry-without-target", name, message, suggest(name.value, names), severity="error")


def _replaced(build: Build) -> Iterator[Scalar]:
    """Yield the paths of the fields that replacements change."""
    for root in build.kustomizations:
        for target in (
            target for each in mappings(root.get("replacements")) for target in mappings(each.get("targets"))
        ):
            yield from scalars(target.get("fieldPaths"))


def _renamed(build: Build) -> set[str]:
    """Return the names that the kustomizations give images: an entry above may rename them again."""
    entries = (each for root in build.kustomizations for each in kustomization.images(root))
    return {new["newName"] for _, new in entries if "newName" in new}


def _subjects(build: Build) -> Iterator[Finding]:
    """Find accounts of a ClusterRoleBinding without a namespace, which the API server rejects."""
    is_moved = any(root.get("namespace") for root in build.kustomizations)  # with all its accounts
    for root in build.objects if build.complete and not is_moved else ():
        for subject in mappings(root.get("subjects")) if is_kind(root, RBAC, "ClusterRoleBinding") else ():
            if subject.text("kind") == "ServiceAccount" and not subject.text("namespace"):
                message = f"subject {subject.text('name')} has no namespace, and the API server rejects it"
                hint = "name its namespace"
                yield breach("subject-without-namespace", subject, message, hint)
