"""Lint of what an author would meet in silence, told at the author's line: what a package says of its use cases.

useCases: {serving: {base: triton, storage: [pvc]}}     no description; a storage that no container of triton mounts
name: triton                                            two runs cannot live side by side
replicas: 1 # {"$openapi":"REPLICAS"}                   ships 3, as the library's Krmfile says
image: x # kpt-set: ${IMAGE}                            no setter comment here
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from packyard.core.errors import Problem
from packyard.core.yaml.document import find_comments, mappings
from packyard.core.yaml.node import Document, Scalar
from packyard.using.kustomize.part import Part
from packyard.using.setters import fields
from packyard.using.setters.definition import Setter
from packyard.using.setters.kpt.tagged import PREFIX
from packyard.writing.build.draft import Draft
from packyard.writing.checks.finding import Finding, finding
from packyard.writing.checks.parsed import Parsed
from packyard.writing.source import parts, words
from packyard.writing.source.package import FILE, Package, UseCase
from packyard.writing.source.pod_operations import is_bound
from packyard.writing.source.words import Word
from packyard.writing.source.workspace import STORAGE, Workspace, is_own


def check(here: Workspace, package: Package, draft: Draft, parsed: Iterable[Parsed]) -> Iterator[Finding]:
    """Find what use cases of a package do not say, or what is not heeded of what their parts say."""
    composed = {each.where.removeprefix(f"{package.name}/{here.prefix}/").rstrip("/"): each for each in parsed}
    shared = words.Words(parts.read_shared(here.sources, here.libraries), [], {}, here.sources.memo).defined
    for use_case in package.use_cases:
        yield from _sentence(here, package, use_case, draft)
        if known := composed.get(use_case.path):
            yield from _names(known)
        yield from _parts(here, package, use_case, shared)
    yield from _left_out(here, package, draft)


def _left_out(here: Workspace, package: Package, draft: Draft) -> Iterator[Finding]:
    """Find patches that no use case names."""
    for path in here.sources.list(f"{package.folder}/patches", "**/*.yaml"):
        if path not in draft.inputs:
            problem = Problem("no use case takes this patch in", file=here.sources.shown(path), line=1)
            yield finding("unlisted-file", problem._replace(hint=f"name it in {FILE}, or remove it"))


def mounted(here: Workspace, package: Package, parsed: Sequence[Parsed], findings: Iterable[Finding]) -> list[Finding]:
    """Tell of a storage that no container mounts where it was chosen, once for a use case."""
    chosen = {f"{package.name}/{here.prefix}/{each.path}/": each for each in package.use_cases if each.storage}
    unused = {each.where: chosen[each.where] for each in parsed if each.where in chosen and not _mounts(each)}
    told = []
    for each in findings:
        use_case = unused.get(f"{each.file.rpartition('/')[0]}/")
        if use_case and each.rule == "volume-never-mounted" and f"'{STORAGE}'" in each.message:
            message = f"useCases.{use_case.name}: no container of the base {use_case.base} mounts the volume 'storage'"
            hint = f"mount it there, or leave out the storage {use_case.storage}"
            each = replace(each, file=package.file, line=use_case.line, column=0, message=message, hint=hint, fix="")
        told.append(each)
    return told


def _mounts(parsed: Parsed) -> bool:
    """Say whether a container mounts the volume that a storage takes the place of."""
    containers = (container for pods in parsed.pods.values() for pod in pods for container in pod.containers)
    return any(mount.text("name") == STORAGE for one in containers for mount in mappings(one.get("volumeMounts")))


def _names(parsed: Parsed) -> Iterator[Finding]:
    """Find objects with pods whose names no setter changes."""
    for root in parsed.objects:
        metadata = root.mapping("metadata")
        entry = metadata.entry("name") if metadata and parsed.pods.get(id(root)) else None
        if entry and isinstance(entry.value, Scalar) and not is_bound(entry):
            kind = root.text("kind")
            message = f"the name of {kind} {entry.value.value!r} is the same in each run: two cannot live side by side"
            problem = entry.value.problem(message, 'bind it: # {"$openapi":"INSTANCE_NAME"}')
            yield finding(
                "fixed-name", problem._replace(file=f"{parsed.where}{problem.file.removeprefix(parsed.where)}")
            )


def _parts(here: Workspace, package: Package, use_case: UseCase, shared: Mapping[str, Word]) -> Iterator[Finding]:
    """Find values of a base that a library's Krmfile replaces, and comments of kpt."""
    sources, memo = here.sources, here.sources.memo
    base = parts.read(sources, here.base_dir(use_case.base), "Kustomization")
    overlays = [parts.read(sources, here.overlay_dir(*overlay), "Component") for overlay in use_case.overlays]
    own = parts.read_krmfile(sources, package.folder)
    krmfiles = [krmfile for part in (base, *overlays) for krmfile in part.krmfiles()] + ([own] if own else [])
    given = {*use_case.setters, *(name for krmfile in krmfiles for name in words.read(krmfile, memo))}
    for document in (part for path in _files(base) for part in sources.documents(path)):
        yield from _of_kpt(document)
        for binding in fields.find(document):
            word = shared.get(name := binding.reference.name)
            is_from_library = name not in given and word is not None and word.layer < 0
            if word and is_from_library and isinstance(word.definition, Setter) and isinstance(binding.node, Scalar):
                written, ships = binding.node.value, word.definition.text
                if written not in ("", ships):
                    message = f"{written!r} does not ship, but {ships!r}: {name} has this value in {word.place}"
                    hint = f"give {name} a value in package.yaml, or an entry in the Krmfile of {use_case.base}"
                    yield finding("replaced-value", binding.node.problem(message, hint))


def _files(part: Part) -> Iterator[str]:
    """Yield the author's own files of a base, and of those that it builds on."""
    for below in part.resources:
        yield from _files(below)
    yield from (path for path in part.files if is_own(path))


def _of_kpt(document: Document) -> Iterator[Finding]:
    for comment in find_comments(document):
        if comment.text.startswith(PREFIX):
            hint = 'write # {"$openapi":"NAME"}, or import the package: packyard import DIR'
            yield finding("kpt-comment", document.source.problem(comment.start, "binds nothing in a workspace", hint))


def _sentence(here: Workspace, package: Package, use_case: UseCase, draft: Draft) -> Iterator[Finding]:
    """Find a use case that says nothing of what it is for."""
    if not draft.manifest.use_cases[f"{here.prefix}/{use_case.path}"].description:
        message = f"useCases.{use_case.name}: nothing says what this use case is for"
        hint = f"write `description:` here, or begin the kustomization of the base {use_case.base} with a comment"
        yield finding("no-description", Problem(message, file=package.file, line=use_case.line, hint=hint))
