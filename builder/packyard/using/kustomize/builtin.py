"""Our own build of what packyard ships and of its options, with objects equal to those of kustomize.

Objects of files are gathered, components change them in their order, then the patches of the kustomization itself do,
and last its namespace. What a kustomization may say is in `supported`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from packyard.core.errors import BeyondError, InputError, Problem
from packyard.core.files import regular
from packyard.core.files.paths import Gate
from packyard.core.kubernetes.kinds import LOCAL, is_local
from packyard.core.yaml.document import decode, walk
from packyard.core.yaml.node import MappingNode, Scalar, SequenceNode, Source
from packyard.using.kustomize import manifest, namespace, objects, supported
from packyard.using.kustomize.accumulate import SourceObject, apply
from packyard.using.kustomize.objects import Object
from packyard.using.kustomize.part import Patch
from packyard.using.kustomize.supported import HINT, Budget, Kustomization, find, read
from packyard.using.options import folder
from packyard.using.options.option_setters import read_enabled

#: How deep components may name components.
_DEEPEST = 32

#: The order in which kustomize puts kinds; those between stand in the order of group, version and kind.
_FIRST = (
    "Namespace", "ResourceQuota", "StorageClass", "CustomResourceDefinition", "ServiceAccount", "PodSecurityPolicy",
    "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Secret", "Endpoints", "Service",
    "LimitRange", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim", "Deployment", "StatefulSet",
    "CronJob", "PodDisruptionBudget",
)  # fmt: skip


def build(directory: Path) -> bytes:
    """Build a directory; YAML, a document per object, in kustomize's order."""
    left = Budget(directory)
    top = read(directory, left)
    accumulation = _Accumulation(directory, left, to_patch=bool(top.components or top.patches))
    accumulation.add(top)
    items = accumulation.items
    namespace.apply(items, top.namespace, HINT)
    _check_identities(items, f"is defined twice in namespace {top.namespace!r}")
    kept = [item for item in items if not _is_local(item)]
    return manifest.write(item.root for item in sorted(kept, key=_order))


def try_components(directory: Path, text: str) -> dict[str, int]:
    """Build what the components of a kustomization change, as if the directory's had this text.

    Return how many objects each reaches, or brings, by the component's real path. Fields that act later, images say,
    are passed over. Raises `InputError` where one does not apply, and `BeyondError` where only kustomize can say.
    """
    left = Budget(directory)
    top = supported.parse(find(directory), text, left, only_components=True)
    accumulation = _Accumulation(directory, left, to_patch=True)
    accumulation.add(top)
    return accumulation.reached


def find_misfits(directory: Path) -> Sequence[Problem]:
    """Find enabled components that do not apply to a use case, or not together; none where only kustomize can say."""
    if read_enabled(directory):
        file = find(directory)
        try:
            try_components(directory, decode(regular.read(file), str(file))[1])
        except BeyondError:
            return ()
        except InputError as error:
            return error.problems
    return ()


class _Accumulation:
    """The objects of a kustomization and of its components, in the order in which kustomize comes to them."""

    def __init__(self, directory: Path, left: Budget, *, to_patch: bool) -> None:
        self.items: list[Object] = []
        self.reached: dict[str, int] = {}
        self._directory = directory
        self._left = left
        self._to_patch = to_patch
        self._open: list[str] = []

    def add(self, top: Kustomization) -> int:
        """Gather its objects, apply its components and patches; return how many objects it added or changed."""
        new: list[Object] = []
        for file in supported.files(top):
            new += objects.parse(Source(str(file), self._left.read(file)), to_patch=self._to_patch)
        self.items += new
        _check_identities(self.items, "is defined twice")
        count = len(new)
        listed: dict[str, Scalar] = {}
        for node in top.components:
            real = self._component(top, node)
            first = listed.setdefault(real, node)
            if first is not node:
                line = first.source.locate(first.start)[0]
                message = f"component {node.value!r} is listed twice, first in line {line}"
                raise InputError(node.problem(message, "take one of the lines out"))
            self._open.append(real)
            self.reached[real] = self.add(self._read(top, node))
            self._open.pop()
            count += self.reached[real]
        changed = {id(item) for change in top.patches for item in self._patch(change)}
        return count + len(changed)

    def _component(self, top: Kustomization, node: Scalar) -> str:
        """Return the real folder of a component, which lies in the package."""
        path = top.file.parent / node.value
        if "\0" in node.value or node.value.startswith("/") or not regular.is_folder(path):
            message = f"component {node.value!r} is not a folder here"
            raise (BeyondError if "//" in node.value or "?" in node.value else InputError)(node.problem(message))
        package = folder.package_of(self._directory)
        if leads := Gate(package, {}).outside(str(path)):
            message = f"component {node.value!r} leads to {leads}, outside of the package"
            raise InputError(node.problem(message, f"the package is {package}"))
        real = os.path.realpath(path)
        if real in self._open or len(self._open) >= _DEEPEST:
            raise InputError(node.problem(f"component {node.value!r} is one of its own components"))
        return real

    def _read(self, top: Kustomization, node: Scalar) -> Kustomization:
        named = Path(os.path.normpath(top.file.parent / node.value))
        place = named if os.path.realpath(named) == os.path.realpath(top.file.parent / node.value) else None
        return read(place or top.file.parent / node.value, self._left, kind="Component")

    def _patch(self, change: Patch) -> list[Object]:
        """Patch the objects that a patch is for, and return them."""
        parts = [SourceObject(item.node, "") for item in self.items if item.node is not None]
        by_part = dict(zip(map(id, parts), self.items, strict=True))
        reached = [(by_part[id(part)], part) for part in apply(change, parts)]
        for item, part in reached:
            _take(item, part, change)
        return [item for item, _ in reached]


def _take(item: Object, part: SourceObject, change: Patch) -> None:
    """Give an object what a patch made of it."""
    before = (item.api_version, item.kind, item.namespace, item.name)
    assert item.node is not None
    if any(isinstance(node, MappingNode) and node.get("<<") is not None for node in walk(item.node)):
        raise BeyondError(
            change.problem(f"patches {item.file}, which has merge keys: not supported by packyard's own build", HINT)
        )
    item.refresh(part.root, operated=isinstance(change.document.root, SequenceNode))
    if (item.api_version, item.kind, item.namespace, item.name) != before:
        message = f"changes kind, name or namespace of {before[1]} {before[3]!r}: not supported by packyard's own build"
        raise BeyondError(change.problem(message, HINT))


def _check_identities(items: Sequence[Object], complaint: str) -> None:
    seen: dict[tuple[str, str, str, str], Object] = {}
    for item in items:
        identity = (item.api_version, item.kind, namespace.effective(item), item.name)
        other = seen.setdefault(identity, item)
        if other is not item:
            place = f"{other.file}:{other.line}"
            raise InputError(item.problem(f"{item.kind} {item.name!r} {complaint}", f"also at {place}"))


def _is_local(item: Object) -> bool:
    annotations = item.metadata.get("annotations")
    return isinstance(annotations, dict) and is_local(annotations.get(LOCAL))


def _order(item: Object) -> tuple[int, str, str]:
    position = _FIRST.index(item.kind) - len(_FIRST) if item.kind in _FIRST else 0
    group, _, version = item.api_version.rpartition("/")
    return position, f"{group or '~G'}_{version or '~V'}_{item.kind}", f"{item.namespace or '~X'}|{item.name}"
