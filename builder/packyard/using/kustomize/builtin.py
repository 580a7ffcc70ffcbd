"""Our own build of what packyard ships and of its options, with objects equal to those of kustomize.

Objects of files are gathered, components change them in their order, then the patches of the kustomization itself do,
and last its namespace. What a kustomization may say is in `supported`.
"""

import os
from collections.abc import Sequence

from packyard.core.errors import BeyondError
from packyard.core.files.tree import Tree
from packyard.core.kubernetes.kinds import called
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import MappingNode
from packyard.core.yaml.strict import Value
from packyard.using.kustomize import accumulate, dialect, generator, manifest, namespace, objects, references, selector
from packyard.using.kustomize.accumulate import Gathering, SourceObject
from packyard.using.kustomize.dialect import HINT, PackageSources
from packyard.using.kustomize.part import Patch
from packyard.using.kustomize.references import FieldSpec
from packyard.using.kustomize.selector import Identity
from packyard.using.setters import fields

#: The kinds that kustomize puts first and last; those between stand in the order of group, version and kind.
_FIRST = (
    "Namespace", "ResourceQuota", "StorageClass", "CustomResourceDefinition", "ServiceAccount", "PodSecurityPolicy",
    "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Secret", "Endpoints", "Service",
    "LimitRange", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim", "Deployment", "StatefulSet",
    "CronJob", "PodDisruptionBudget",
)  # fmt: skip
_LAST = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_POSITIONS = {kind: at for at, kind in enumerate(_FIRST, -len(_FIRST))} | {kind: at for at, kind in enumerate(_LAST, 1)}


def build(tree: Tree) -> bytes:
    """Build a directory; YAML, a document per object, in kustomize's order."""
    top = dialect.read(PackageSources(tree))
    items = Gathering(check=_check).gather(top)
    if top.namespace:
        namespace.apply(items, top.namespace, HINT)
        accumulate.add([], items, f" in namespace {top.namespace!r}")
    pairs = zip(items, hashed(items, [spec for part in top.parts() for spec in part.references]), strict=True)
    deployed = sorted((pair for pair in pairs if not pair[0].is_local), key=lambda pair: _order(pair[0].identity))
    return manifest.write(value for _, value in deployed)


def hashed(items: Sequence[SourceObject], configured: Sequence[FieldSpec]) -> list[dict[str, Value]]:
    """Put hashes behind the names of what is made so, and return the values of all objects.

    References follow where kustomize knows them, or was told; they may have the name that an object was generated
    with, too. Those of objects in another namespace mean something else there.
    """
    names: dict[str, dict[str, str]] = {}
    for item in items:
        if item.part and item.made:
            _, _, space, before = selector.effective(item.identity)
            after = f"{before}-{generator.suffix(objects.values(item.root))}"
            item.give("/metadata/name", after)
            names.setdefault(space, {}).update({before: after, called(item.made.root): after})
    values = [objects.values(item.root) for item in items]
    spaces = [selector.effective(item.identity)[2] for item in items]
    for place, in_place in names.items():
        reaching = [value for value, space in zip(values, spaces, strict=True) if space in (selector.CLUSTER, place)]
        references.rename(reaching, in_place, [*references.KNOWN, *references.NEWER, *configured])
    return values


def reached(sources: PackageSources, data: bytes) -> dict[str, int]:
    """Return how many objects each component reaches, or brings, by its real path, if a kustomization were ``data``.

    Fields that act later, images say, are passed over. Raises `InputError` where one does not apply, and `BeyondError`
    where only kustomize can say.
    """
    trial = Gathering(check=_check)
    trial.gather(dialect.read(sources, data))
    package = os.path.realpath(sources.root_dir)
    return {f"{package}/{folder}": count for folder, count in trial.reached.items()}


def bound(sources: PackageSources, data: bytes) -> set[str]:
    """Return the names in the setter comments of what `reached` builds: a field that a patch replaces has none."""
    items = Gathering(check=_check).gather(dialect.read(sources, data))
    return {field.reference.name for item in items for field in fields.find(item.root)}


def _check(item: SourceObject, change: Patch, before: Identity) -> None:
    """Refuse what only kustomize does with an object that it patches."""
    if any(isinstance(node, MappingNode) and node.get("<<") is not None for node in walk(item.root)):
        message = f"patches {item.root.source.name}, which has merge keys: not supported by packyard's own build"
        raise BeyondError(change.problem(message, HINT))
    if item.identity != before and item.made is None:
        message = f"changes kind, name or namespace of {before[1]} {before[3]!r}"
        raise BeyondError(change.problem(f"{message}: not supported by packyard's own build", HINT))


def _order(identity: Identity) -> tuple[int, str, str]:
    version, kind, namespace, name = identity
    group, _, version = version.rpartition("/")
    return _POSITIONS.get(kind, 0), f"{group or '~G'}_{version or '~V'}_{kind}", f"{namespace or '~X'}|{name}"
