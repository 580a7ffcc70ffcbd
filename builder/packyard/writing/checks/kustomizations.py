"""Faults of kustomization files: fields that kustomize does not know, files that are missing, entries without effect.

resources: [deployment.yml]                     the file is called deployment.yaml
images: [{name: server, newTag: "2"}]           no container has the image server

What kustomize says by itself when it reads such a file is left to it.
"""

import posixpath
import re
from collections.abc import Callable, Iterator

from packyard.core.errors import suggest
from packyard.core.kubernetes import images, kustomization, pods
from packyard.core.kubernetes.kinds import called
from packyard.core.kubernetes.kustomization import FIELDS, GROUP, NAMES
from packyard.core.kubernetes.name_forms import LABEL
from packyard.core.yaml.document import mappings, scalars
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.using.kustomize import generator
from packyard.writing.checks.builds import Build
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

#: Says whether the tree has a file or a folder of this path; None where the path leads out of it.
Exists = Callable[[str], "bool | None"]

#: The fields that list files, or mappings with the path of one.
_LISTS = (
    *("resources", "components", "bases", "crds", "configurations", "generators", "transformers", "validators"),
    *("patches", "patchesJson6902", "patchesStrategicMerge", "replacements"),
)
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*::?/?/|git@|[^/]*\.[a-z]{2,}/.|.*(\?|\.git\b)", re.IGNORECASE)


def check(subject: Subject, exists: Exists | None) -> Iterator[Finding]:
    """Find what kustomize refuses or passes over; ``exists`` says which files are there, if anybody knows."""
    for root in _kustomizations(subject):
        yield from _fields(root)
        yield from _paths(root, exists) if exists else ()
    yield from _unlisted(subject)
    for build in subject.builds:
        yield from build.findings
        if build.complete and build.kustomizations:
            yield from _unreached(build, subject)


def _kustomizations(subject: Subject) -> list[MappingNode]:
    roots = (document.root for document in subject.documents)
    return [root for root in roots if isinstance(root, MappingNode) and _is_kustomization(root)]


def _is_kustomization(root: MappingNode) -> bool:
    return root.text("apiVersion").startswith(f"{GROUP}/") or posixpath.basename(root.source.name) in NAMES


def _fields(root: MappingNode) -> Iterator[Finding]:
    for entry in root.entries:
        if entry.name not in FIELDS:
            message = f"kustomize knows no field {entry.name!r}"
            yield breach("unknown-kustomize-field", entry, message, suggest(entry.name, FIELDS))
    namespace = root.entry("namespace")
    if namespace and namespace.text == "default":
        message = "everything goes into the namespace default, whatever namespace kubectl is told"
        yield breach("namespace-default", namespace, message, "leave it to the user")
    elif namespace and namespace.text and not LABEL.pattern.match(namespace.text):
        message = f"{namespace.text!r} is not a valid name for a namespace"
        yield breach("no-name", namespace, message, LABEL.description)


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
    yield from ((node, node.value) for node in kustomization.named(root, _LISTS))
    for key in ("configMapGenerator", "secretGenerator"):
        for generated in mappings(root.get(key)):
            for field in ("files", "envs"):
                yield from ((item, generator.split(item.value)[1]) for item in scalars(generated.get(field)))


def listed(subject: Subject) -> set[str]:
    """Return the files and folders that kustomizations name."""
    return {
        posixpath.normpath(posixpath.join(posixpath.dirname(root.source.name), text))
        for root in _kustomizations(subject)
        for _, text in _named(root)
    }


def _unlisted(subject: Subject) -> Iterator[Finding]:
    """Find manifests beside a kustomization that none takes in, neither as objects nor as patches."""
    roots, taken_in = _kustomizations(subject), listed(subject)
    folders = {posixpath.dirname(root.source.name) for root in roots}
    folders -= {posixpath.dirname(root.source.name) for root in roots if not kustomization.has_lists(root)}
    objects = (root for document in subject.documents if isinstance(root := document.root, MappingNode))
    first = {root.source.name: root for root in reversed([*objects]) if root.mapping("metadata") and root.get("kind")}
    for file, root in first.items():
        is_beside = posixpath.dirname(file) in folders and not _is_kustomization(root)
        if is_beside and posixpath.normpath(file) not in taken_in:
            message = "no kustomization takes this file in, so nothing of it is applied"
            yield breach("unlisted-file", root, message, "list it in resources, or remove it")


def _unreached(build: Build, subject: Subject) -> Iterator[Finding]:
    """Find images and replicas of a kustomization that reach no object, where all objects are known."""
    # What patches take out of a build is there for the kustomizations below.
    roots = [root for document in subject.documents if isinstance(root := document.root, MappingNode)]
    containers = [container for pod in pods.find_all([*build.objects, *roots]) for container in pod.containers]
    used = {images.parse(container.text("image")).name for container in containers}
    names = {called(root) for root in (*build.objects, *roots, *build.generated)} - {""}
    renamed = {new.get("newName", "") for root in build.kustomizations for _, new in kustomization.images(root)}
    for root in build.kustomizations:
        for image in mappings(root.get("images")):
            old = image.scalar("name")
            if old and used and old.value not in used | renamed:
                message = f"no container has the image {old.value}"
                yield breach("entry-without-target", old, message, suggest(old.value, used))
        for replica in mappings(root.get("replicas")):
            name = replica.scalar("name")
            if name and not any(kustomization.may_call(name.value, known, build.kustomizations) for known in names):
                message = f"no object is called {name.value}, and kustomize fails"
                yield breach("entry-without-target", name, message, suggest(name.value, names), severity="error")
