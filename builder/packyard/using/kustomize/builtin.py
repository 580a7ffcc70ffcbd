"""Our own build of what packyard ships and of its options, with objects equal to those of kustomize.

Objects of files are gathered, components change them in their order, then the patches of the kustomization itself do,
and last its namespace. What a kustomization may say is in `supported`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packyard.core.errors import BeyondError, InputError, Problem
from packyard.core.files import regular
from packyard.core.files.paths import Gate
from packyard.core.kubernetes.kinds import LOCAL, is_local
from packyard.core.yaml import strict
from packyard.core.yaml.document import decode, walk
from packyard.core.yaml.node import MappingNode, Scalar, SequenceNode, Source
from packyard.using.kustomize import manifest, namespace, objects, references, supported
from packyard.using.kustomize.accumulate import Contents, SourceObject, gather
from packyard.using.kustomize.generator import Generated
from packyard.using.kustomize.objects import Object
from packyard.using.kustomize.part import Part, Patch
from packyard.using.kustomize.references import FieldSpec
from packyard.using.kustomize.selector import Identity
from packyard.using.kustomize.supported import HINT, Budget, Kustomization, find, read
from packyard.using.options import folder
from packyard.using.options.option_setters import enabled

#: How deep components may name components.
_DEEPEST = 32

#: The kinds that kustomize puts first and last; those between stand in the order of group, version and kind.
_FIRST = (
    "Namespace", "ResourceQuota", "StorageClass", "CustomResourceDefinition", "ServiceAccount", "PodSecurityPolicy",
    "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Secret", "Endpoints", "Service",
    "LimitRange", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim", "Deployment", "StatefulSet",
    "CronJob", "PodDisruptionBudget",
)  # fmt: skip
_LAST = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_POSITIONS = {kind: at for at, kind in enumerate(_FIRST, -len(_FIRST))} | {kind: at for at, kind in enumerate(_LAST, 1)}


def build(directory: Path) -> bytes:
    """Build a directory; YAML, a document per object, in kustomize's order."""
    files = _Files(directory)
    top = read(directory, files.left)
    built: list[_Built] = []
    gather(top, files, built)
    items = [item.item for item in built]
    namespace.apply(items, top.namespace, HINT)
    _check_identities(items, f"is defined twice in namespace {top.namespace!r}")
    references.add_hashes(items, [each.item for each in built if each.made and each.made.is_hashed], files.references)
    deployed = [item for item in items if not _is_local(item)]
    return manifest.write(item.root for item in sorted(deployed, key=_order))


def try_components(directory: Path, text: str) -> dict[str, int]:
    """Build what the components of a kustomization change, as if the directory's had this text.

    Return how many objects each reaches, or brings, by the component's real path. Fields that act later, images say,
    are passed over. Raises `InputError` where one does not apply, and `BeyondError` where only kustomize can say.
    """
    files = _Files(directory)
    gather(supported.parse(find(directory), text, files.left, only_components=True), files, [])
    return files.reached


def find_misfits(directory: Path) -> Sequence[Problem]:
    """Find enabled components that do not apply to a use case, or not together; none where only kustomize can say."""
    try:
        options = folder.find(directory)
        if options and enabled(directory, options):
            file = find(directory)
            try_components(directory, decode(regular.read(file), str(file))[1])
    except BeyondError:
        return ()
    except InputError as error:
        return error.problems
    return ()


def component(directory: Path) -> Part:
    """Read a component for a trial on objects that are at hand; `BeyondError` where it is made of others."""
    budget = Budget(directory)
    top = read(directory, budget, kind="Component")
    if top.components:
        raise BeyondError(top.components[0].problem("a component of a component is not tried", HINT))
    sources = (Source(str(file), budget.read(file)) for file in supported.files(top))
    own = tuple(("", item.node) for source in sources for item in objects.parse(source))
    return Part(str(directory), objects=own, generated=top.generated, patches=top.patches)


@dataclass(slots=True, eq=False, kw_only=True)
class _Built(SourceObject):
    """An object with the values that kustomize makes of it."""

    item: Object

    def settle(self, change: Patch) -> None:
        item = self.item
        before = item.identity
        if any(isinstance(node, MappingNode) and node.get("<<") is not None for node in walk(item.node)):
            message = f"patches {item.file}, which has merge keys: not supported by packyard's own build"
            raise BeyondError(change.problem(message, HINT))
        item.refresh(self.root, operated=isinstance(change.document.root, SequenceNode))
        if item.identity != before:
            message = f"changes kind, name or namespace of {before[1]} {before[3]!r}"
            raise BeyondError(change.problem(f"{message}: not supported by packyard's own build", HINT))


class _Files:
    """Reads a directory and the components that it names, within a budget."""

    def __init__(self, directory: Path) -> None:
        self.left = Budget(directory)
        self.reached: dict[str, int] = {}
        self.references: list[FieldSpec] = []
        self._directory = directory
        self._open: list[str] = []

    def open(self, top: Kustomization) -> Contents[Kustomization, _Built]:
        sources = (Source(str(file), self.left.read(file)) for file in supported.files(top))
        own = [_Built(item.node, "", item=item) for source in sources for item in objects.parse(source)]
        generated = [_Built(each.root, "", each, item=_of(each)) for each in top.generated]
        self.references += top.references
        return Contents(own, self._components(top), generated=generated)

    def close(self, top: Kustomization, count: int) -> None:
        self.reached[os.path.realpath(top.file.parent)] = count

    def patch_pods(self, *_: object) -> Sequence[_Built]:
        return ()  # written out in what is shipped

    def add(self, objects: list[_Built], new: Sequence[_Built]) -> None:
        objects += new
        _check_identities([built.item for built in objects], "is defined twice")

    def _components(self, top: Kustomization) -> Iterator[Kustomization]:
        listed: dict[str, Scalar] = {}
        for node in top.components:
            real = self._component(top, node)
            first = listed.setdefault(real, node)
            if first is not node:
                line = first.source.locate(first.start)[0]
                message = f"component {node.value!r} is listed twice, first in line {line}"
                raise InputError(node.problem(message, "take one of the lines out"))
            self._open.append(real)
            yield self._read(top, node)
            self._open.pop()

    def _component(self, top: Kustomization, node: Scalar) -> str:
        """Return the real folder of a component, which lies in the package."""
        path = top.file.parent / node.value
        if "\0" in node.value or node.value.startswith("/") or not regular.is_folder(path):
            message = f"component {node.value!r} is not a folder here"
            raise (BeyondError if "//" in node.value or "?" in node.value else InputError)(node.problem(message))
        package = folder.package_of(self._directory)
        if leads := Gate(package, {}).outside(str(path)):
            message = f"component {node.value!r} leads to {leads}, outside of the package {package}"
            raise BeyondError(node.problem(f"{message}, which packyard's own build does not follow", HINT))
        real = os.path.realpath(path)
        if real in self._open or len(self._open) >= _DEEPEST:
            raise InputError(node.problem(f"component {node.value!r} is one of its own components"))
        return real

    def _read(self, top: Kustomization, node: Scalar) -> Kustomization:
        path = Path(os.path.normpath(top.file.parent / node.value))
        place = path if os.path.realpath(path) == os.path.realpath(top.file.parent / node.value) else None
        return read(place or top.file.parent / node.value, self.left, kind="Component")


def _of(generated: Generated) -> Object:
    value = strict.to_value(generated.root)
    assert isinstance(value, dict)
    source = generated.entry.source
    return Object(value, source.name, source.locate(generated.entry.start)[0], generated.root)


def _check_identities(items: Sequence[Object], complaint: str) -> None:
    seen: dict[Identity, Object] = {}
    for item in items:
        other = seen.setdefault(item.effective, item)
        if other is not item:
            place = f"{other.file}:{other.line}"
            raise InputError(item.problem(f"{item.kind} {item.name!r} {complaint}", f"also at {place}"))


def _is_local(item: Object) -> bool:
    annotations = item.metadata.get("annotations")
    return isinstance(annotations, dict) and is_local(annotations.get(LOCAL))


def _order(item: Object) -> tuple[int, str, str]:
    group, _, version = item.api_version.rpartition("/")
    return (
        _POSITIONS.get(item.kind, 0),
        f"{group or '~G'}_{version or '~V'}_{item.kind}",
        f"{item.namespace or '~X'}|{item.name}",
    )
