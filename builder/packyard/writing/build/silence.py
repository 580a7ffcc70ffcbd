"""Lint of what an author would meet in silence, told at the author's line: what a package says of its use cases.

useCases: {serving: {base: triton, storage: [pvc]}}     no description; a storage that no container of triton mounts
name: triton                                            two runs cannot live side by side
replicas: 1 # {"$openapi":"REPLICAS"}                   ships 3, as the library's Krmfile or, for a patch, any says
image: x # kpt-set: ${IMAGE}                            no setter comment here
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from posixpath import dirname

from packyard.core.errors import Problem
from packyard.core.kubernetes import pods
from packyard.core.yaml.content import lexeme
from packyard.core.yaml.document import find_comments
from packyard.core.yaml.node import Scalar
from packyard.core.yaml.values import nearest
from packyard.using.kustomize import selector
from packyard.using.kustomize.part import Part
from packyard.using.setters import fields
from packyard.using.setters.definition import Setter, Substitution
from packyard.using.setters.kpt.tags import PREFIX
from packyard.writing.build import readme
from packyard.writing.checks.finding import Finding, finding
from packyard.writing.source import parts
from packyard.writing.source.compose import Composed, ComposedPackage
from packyard.writing.source.package import DESCRIPTION, FILE, UseCase
from packyard.writing.source.pod_operations import is_bound
from packyard.writing.source.words import MARKER, Word, Words, named
from packyard.writing.source.workspace import STORAGE, Workspace, is_own

#: The storage of those that keep nothing, whose volume nobody has to mount.
NO_STORAGE = "none"
#: What a fragment of a README has without a word about the package: headings, and comments of Jinja2.
_SILENT = re.compile(r"\{#.*?#\}|^#[^\n]*", re.DOTALL | re.MULTILINE)


def check(here: Workspace, composed: ComposedPackage, inputs: Collection[str]) -> Iterator[Finding]:
    """Find what use cases of a package do not say, or what is not heeded of what their parts say."""
    package, sources = composed.package, here.sources
    for member in composed.use_cases:
        if not member.description:
            use_case = member.use_case
            message = f"useCases.{use_case.name}: nothing says what this use case is for"
            hint = f"write `description:` here, or begin the kustomization of the base {use_case.base} with a comment"
            yield finding("no-description", Problem(message, file=package.file, line=use_case.line, hint=hint))
    yield from _parts(here, composed)
    own = {path: text for path, text in readme.find(here, package) if path.startswith(f"{package.folder}/")}
    if not any(_SILENT.sub("", text).strip() for text in own.values()):
        file = sources.shown(f"{package.folder}/{DESCRIPTION}")
        hint = "write there, in a sentence, what the package does: its README begins with that"
        yield finding("no-description", Problem("the package has no description", file=file, line=1, hint=hint))
    for path in sources.list(f"{package.folder}/patches", "**/*.yaml"):
        if path not in inputs:
            problem = Problem("no use case takes this patch in", file=sources.shown(path), line=1)
            yield finding("unlisted-file", problem._replace(hint=f"name it in {FILE}, or remove it"))


def carried(item: Finding, use_case: UseCase) -> Finding:
    """Tell what is wrong with a file that packyard carries in the words of the use case that took it in."""
    if item.rule != "volume-never-mounted" or f"'{STORAGE}'" not in item.message:
        return item
    message = f"useCases.{use_case.name}: no container of the base {use_case.base} mounts the volume 'storage'"
    hint = f"mount it there, or take storage: [{NO_STORAGE}]"
    return replace(item, message=message, hint=hint, fix="")


def _parts(here: Workspace, composed: ComposedPackage) -> Iterator[Finding]:
    """Find values of parts that a library's Krmfile replaces, or of a patch that any does, and comments of kpt."""
    for member in composed.use_cases:
        case, words = member.use_case, member.words
        unset = {name: word for name, word in words.defined.items() if _is_unset(words, name)}
        shared = {name: word for name, word in unset.items() if words.layers[name] < 0}
        for part in (part for path in case.parts for part in parts.of(here, path).parts()):
            folder = here.sources.shown(part.folder)
            beside = {name: word for name, word in unset.items() if dirname(word.place) == folder}
            yield from _written(here, part, words, shared | beside, "or an entry in a Krmfile beside it")
        own = Part("", patches=case.patches, pods=case.pods)
        yield from _written(here, own, words, unset, where := f"for all use cases or below useCases.{case.name}")
        yield from _bindings(here, member, where)


def _bindings(here: Workspace, case: Composed, where: str) -> Iterator[Finding]:
    """Find names of objects with pods that no setter changes, and values of patches in whose place a setter would."""
    used = (part for path in case.use_case.parts for part in parts.of(here, path).parts())
    own = [root for part in used for _, root in part.objects]
    for item in case.sources:
        metadata, (_, kind, _, name) = item.root.mapping("metadata"), item.identity
        entry = metadata.entry("name") if metadata and pods.find(item.root) else None
        if entry and not is_bound(entry):
            same = (root for root in own if root.text("kind") == kind and root.text("metadata", "name") in name)
            called = next(same, item.root).scalar("metadata", "name")  # before a prefix, too
            assert called
            message = f"the name of {kind} {called.value!r} is the same in each run: two cannot live side by side"
            hint = 'bind it to a setter, such as # {"$openapi":"INSTANCE_NAME"}, or leave it where one run is enough'
            yield finding("fixed-name", called.problem(message, hint))
    patched = {item.identity: item.root for item in case.sources}
    for root in own:
        changed = patched.get(selector.identity(root), root)
        for binding in fields.find(root) if changed is not root else ():
            name, (_, node) = binding.reference.name, nearest(changed, binding.path)
            word = case.words.defined.get(name)  # what others share, or an overlay lends, need not be set here
            is_own = word and case.words.layers[name] > 0 and "overlays/" not in word.place and not word.pattern
            if is_own and name not in case.definitions.setters and isinstance(node, Scalar) and node.comment is None:
                message = f"this replaces the setter {name}: it sets nothing in {case.use_case.path}"
                hint = f"write setters: {{{name}: {lexeme(node.value, flow=True)}}} in package.yaml, {where}"
                yield finding("replaced-value", node.problem(message, hint))


def _is_unset(words: Words, name: str) -> bool:
    """Say whether what a name ships is known, and has nothing of package.yaml in it."""
    reachable = named([name], words.pattern)
    setters = [word.definition for word in map(words.defined.get, reachable - {name}) if word]
    are_known = not any(isinstance(setter, Setter) and setter.must_be_set for setter in setters)
    is_shipped = (words.is_used(name) and are_known) or not words.pattern(name)
    return is_shipped and not reachable & words.values.keys()


def _shipped(words: Words, name: str) -> str:
    """Return the text that a name ships."""
    meaning = words.meaning(name)
    if isinstance(meaning, Substitution):
        return MARKER.sub(lambda marker: _shipped(words, marker[1]), meaning.pattern)
    return meaning if isinstance(meaning, str) else meaning.text


def _written(here: Workspace, part: Part, words: Words, unset: Mapping[str, Word], where: str) -> Iterator[Finding]:
    """Find comments of kpt, and values that unset words replace; package.yaml may say another ``where``."""
    paths = dict.fromkeys((*part.files, *(pod.path for pod in part.pods)))
    documents = [document for path in paths if is_own(path) for document in here.sources.documents(path)]
    for document in (*documents, *(patch.document for patch in part.patches if is_own(patch.path))):
        for comment in find_comments(document.root):
            if comment.text.startswith(PREFIX):
                message = "kpt's comment does nothing in a workspace"
                hint = 'write # {"$openapi":"NAME"}, or import the package: packyard import DIR'
                yield finding("kpt-comment", document.source.problem(comment.start, message, hint))
        for binding in fields.find(document.root):
            name, node = binding.reference.name, binding.node
            word = unset.get(name)
            if word and isinstance(node, Scalar) and node.value not in ("", ships := _shipped(words, name)):
                message = f"{node.value!r} is replaced by {ships!r}, the value of {name} in {word.place}"
                hint = f"write setters: {{{name}: {lexeme(node.value, flow=True)}}} in package.yaml, {where}"
                flag, sign, _ = node.value.partition("=")
                if flag.startswith("-") and sign:  # the value is a part of it
                    hint = f"define a substitution with the pattern {flag}=${{{name}}}, and name it in the comment"
                elif word.pattern:
                    hint = f"change its pattern there, {word.pattern!r}, or give what that names values in package.yaml"
                yield finding("replaced-value", node.problem(message, hint))
