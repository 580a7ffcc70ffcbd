"""Our own build of what packyard ships and of its options, with objects equal to those of kustomize.

Objects of files are gathered, components change them in their order, then the patches of the kustomization itself do,
and last its namespace. What a kustomization may say is in `supported`.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from packyard.core.errors import BeyondError, InputError
from packyard.core.files.tree import Tree
from packyard.core.kubernetes.kinds import called
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import MappingNode
from packyard.using.kustomize import dialect, manifest, namespace, references, selector
from packyard.using.kustomize.accumulate import Gathering, SourceObject
from packyard.using.kustomize.dialect import HINT, PackageSources
from packyard.using.kustomize.objects import Object
from packyard.using.kustomize.part import Patch
from packyard.using.kustomize.selector import Identity

#: The kinds that kustomize puts first and last; those between stand in the order of group, version and kind.
_FIRST = (
    "Namespace", "ResourceQuota", "StorageClass", "CustomResourceDefinition", "ServiceAccount", "PodSecurityPolicy",
    "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Secret", "Endpoints", "Service",
    "LimitRange", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim", "Deployment", "StatefulSet",
    "CronJob", "PodDisruptionBudget",
)  # fmt: skip
_LAST = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_POSITIONS = {kind: at for at, kind in enumerate(_FIRST, -len(_FIRST))} | {kind: at for at, kind in enumerate(_LAST, 1)}


def build(directory: Path, tree: Tree | None = None) -> bytes:
    """Build a directory, which may be open; YAML, a document per object, in kustomize's order."""
    top = dialect.read(PackageSources(tree or Tree(directory)))
    gathered: list[SourceObject] = []
    _Build().gather(top, gathered)
    items = [Object.of(source.root) for source in gathered]
    namespace.apply(items, top.namespace, HINT)
    _check_identities(items, f"is defined twice in namespace {top.namespace!r}")
    pairs = zip(items, gathered, strict=True)
    hashed = [(item, called(source.made.root)) for item, source in pairs if source.part and source.made]
    references.add_hashes(items, hashed, [spec for part in top.parts() for spec in part.references])
    deployed = [item for item, source in zip(items, gathered, strict=True) if not source.is_local]
    return manifest.write(item.root for item in sorted(deployed, key=_order))


def reached(sources: PackageSources, data: bytes) -> dict[str, int]:
    """Return how many objects each component reaches, or brings, by its real path, if a kustomization were ``data``.

    Fields that act later, images say, are passed over. Raises `InputError` where one does not apply, and `BeyondError`
    where only kustomize can say.
    """
    trial = _Build()
    trial.gather(dialect.read(sources, data), [])
    package = os.path.realpath(sources.root_dir)
    return {f"{package}/{folder}": count for folder, count in trial.reached.items()}


class _Build(Gathering):
    """Refuses what only kustomize does with an object that it patches."""

    __slots__ = ()

    def check(self, item: SourceObject, change: Patch, before: Identity) -> None:
        if any(isinstance(node, MappingNode) and node.get("<<") is not None for node in walk(item.root)):
            message = f"patches {item.root.source.name}, which has merge keys: not supported by packyard's own build"
            raise BeyondError(change.problem(message, HINT))
        if item.identity != before and item.made is None:
            message = f"changes kind, name or namespace of {before[1]} {before[3]!r}"
            raise BeyondError(change.problem(f"{message}: not supported by packyard's own build", HINT))


def _check_identities(items: Sequence[Object], complaint: str) -> None:
    by_identity: dict[Identity, Object] = {}
    for item in items:
        first = by_identity.setdefault(selector.effective(item.identity), item)
        if first is not item:
            place = f"{first.file}:{first.line}"
            raise InputError(item.problem(f"{item.kind} {item.name!r} {complaint}", f"also at {place}"))


def _order(item: Object) -> tuple[int, str, str]:
    version, kind, namespace, name = item.identity
    group, _, version = version.rpartition("/")
    return _POSITIONS.get(kind, 0), f"{group or '~G'}_{version or '~V'}_{kind}", f"{namespace or '~X'}|{name}"
