"""References between the objects of a package: whether what they name is there, and changes with them.

ServiceAccounts, Services and Roles must be in the package. Secrets and claims may be the cluster's, which makes them
requirements: a setter has to say which claim it is, and a Secret may have the name that the package gives it. A
ConfigMap is a requirement where its name is a setter that names no object of the package, or where an option names it.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from packyard.core.errors import suggest
from packyard.core.kubernetes import job_sets, kustomization, pods
from packyard.core.kubernetes.dependencies import ALWAYS_THERE, HOLDERS, NAMES, TYPED
from packyard.core.kubernetes.groups import BUILT_IN_GROUPS
from packyard.core.kubernetes.kinds import (
    APPS,
    CORE,
    KUEUE,
    OPAQUE,
    Kind,
    called,
    group_of,
    is_kind,
    kind_of,
    name_of,
    namespace_of,
    of,
)
from packyard.core.yaml.document import entries, items, mappings, walk
from packyard.core.yaml.node import Entry, MappingNode, Node, Scalar
from packyard.core.yaml.values import flag, is_null
from packyard.using.setters.comment import parse
from packyard.writing.checks import selectors, variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

#: Fields that may stand empty or be something else.
_LENIENT = ("configMap", "secret", "persistentVolumeClaim")
#: The kind that a field means which says none.
_DEFAULTS = {"runtimeRef": "ClusterTrainingRuntime", "scaleTargetRef": "Deployment"}
_ALIKE = 0.9  # of 1: so alike are names of which one was meant, though clusters have such objects of their own
#: What the cluster may have: a requirement, where the package does not bring it.
_REQUIREMENTS = of(CORE, "Secret", "PersistentVolumeClaim", "PersistentVolume")


@dataclass(frozen=True, slots=True)
class _Field:
    """A field that names an object of a kind, by its value or the first of these keys, or a list of such fields.

    It does in ``holders`` alone, if there are any.
    """

    kind: Kind
    keys: Sequence[str] = ()
    holders: Sequence[Kind] = ()
    is_list: bool = False


#: The fields that name an object of one kind. Those of `TYPED` say which kind.
_FIELDS = {
    **{field: _Field((CORE, kind)) for field, kind in NAMES.items()},
    **{field: _Field((CORE, kind), keys) for field, (kind, keys) in HOLDERS.items()},
    "serviceName": _Field((CORE, "Service"), holders=of(APPS, "StatefulSet")),
    "volumeName": _Field((CORE, "PersistentVolume"), holders=of(CORE, "PersistentVolumeClaim")),
    "imagePullSecrets": _Field((CORE, "Secret"), ("name",), is_list=True),
    f"{KUEUE}/queue-name": _Field((KUEUE, "LocalQueue")),
    "clusterQueue": _Field((KUEUE, "ClusterQueue"), holders=of(KUEUE, "LocalQueue")),
    "flavors": _Field((KUEUE, "ResourceFlavor"), ("name",), of(KUEUE, "ClusterQueue"), is_list=True),
}


@dataclass(frozen=True, slots=True)
class _Reference:
    """A field that names an object, by the kind of the object and the node of the name."""

    kind: Kind
    name: Scalar
    optional: bool = False
    kind_node: Node | None = None  # where the kind is written

    @property
    def is_of_cluster(self) -> bool:
        """Whether it is a kind of which clusters have objects of their own."""
        return self.kind[0] == KUEUE or self.kind[1].startswith("Cluster")

    def is_known(self, subject: Subject) -> bool:
        """Say whether programs make the object, or every cluster or namespace has it."""
        is_generated = any(kind_of(root) == self.kind and called(root) == self.name.value for root in subject.generated)
        return is_generated or (self.kind[1], self.name.value) in ALWAYS_THERE


def check(subject: Subject) -> Iterator[Finding]:
    """Find references to missing objects, and references that a set does not change together with the name."""
    own = _names(subject)
    own_names = (name for by_name in own.values() for name in by_name.values())
    naming = frozenset[str]().union(*map(subject.changed_by, own_names))
    spaces = {"", *(namespace_of(root) for root in subject.objects if is_kind(root, CORE, "ServiceAccount"))}
    for root in subject.objects:
        if kind_of(root) in OPAQUE:
            continue
        for reference in _references(root, spaces):
            if isinstance(reference, Finding):
                yield reference
                continue
            of_kind, name = own.get(reference.kind, {}), reference.name.value
            is_asked = subject.complete and not reference.optional and not variables.is_filled_in(name)
            if name in of_kind:
                what, this = f"the name of {reference.kind[1]} {name!r}", "this reference to it"
                yield from selectors.parted(reference.name, [of_kind[name]], what, subject, this)
            elif reference.is_of_cluster and not _is_meant(reference, of_kind, subject):
                continue
            elif subject.complete and (kind := _of_other_kind(reference, own)):
                yield kind
            elif is_asked and not reference.is_known(subject) and not _is_renamed_to(name, of_kind, subject):
                yield from _missing(reference, of_kind, subject, naming)


def _is_renamed_to(name: str, own: Iterable[str], subject: Subject) -> bool:
    """Say whether a name is what kustomizations make of one of the package's own."""
    roots = [root for build in subject.builds for root in build.kustomizations]
    return any(kustomization.may_call(name, own_name, roots) for own_name in own)


def _is_meant(reference: _Reference, own: Iterable[str], subject: Subject) -> bool:
    """Say whether a name is nearly one of the package's own; beside its own queues any other is taken for a slip."""
    if reference.kind[0] == KUEUE and not subject.is_loose:
        return any(own)
    return any(SequenceMatcher(None, reference.name.value, own_name).ratio() > _ALIKE for own_name in own)


def _of_other_kind(reference: _Reference, own: Mapping[Kind, Mapping[str, Scalar]]) -> Finding | None:
    """Find a reference that says another kind than the object of its name has."""
    kinds = [kind for (group, kind), names in own.items() if reference.name.value in names and group == APPS]
    if reference.kind_node and kinds and reference.kind[0] == APPS:
        message = f"{reference.kind[1]} {reference.name.value!r} is not in the package"
        return breach("dangling-reference", reference.kind_node, message, f"it is a {kinds[0]}")
    return None


def _names(subject: Subject) -> dict[Kind, dict[str, Scalar]]:
    """Return the names of the package's objects by kind."""
    by_kind: dict[Kind, dict[str, Scalar]] = {}
    for root in subject.objects:
        if name := name_of(root):
            by_kind.setdefault(kind_of(root), {})[name.value] = name
    for service in (job_set.service for job_set in job_sets.find(subject.objects)):
        if service is not None:
            by_kind.setdefault((CORE, "Service"), {})[service.value] = service
    return by_kind


def _references(root: MappingNode, spaces: Container[str]) -> Iterator[_Reference | Finding]:
    """Yield the references of an object; an account in a namespace of ``spaces`` is one of the package."""
    for entry in (entry for node in walk(root) for entry in entries(node)):
        value, field = entry.value, _FIELDS.get(entry.name)
        if field and (not field.holders or kind_of(root) in field.holders):
            for node in items(value) if field.is_list else [value]:
                yield from _named(node, field, entry, root)
        elif entry.name in TYPED and (name := value.scalar("name")):
            kind = value.text("kind", default=_DEFAULTS.get(entry.name, ""))
            group = value.text("apiGroup", default=group_of(value.text("apiVersion", default=TYPED[entry.name])))
            yield _Reference((group, kind), name, kind_node=value.get("kind"))
        elif entry.name == "subjects":
            for item in mappings(value):
                name = item.scalar("name")
                if name and item.text("kind") == "ServiceAccount" and item.text("namespace") in spaces:
                    yield _Reference((CORE, "ServiceAccount"), name)


def _named(node: Node, field: _Field, entry: Entry, root: MappingNode) -> Iterator[_Reference | Finding]:
    """Yield the reference of a field, or a finding where a mapping that holds a name holds none."""
    named = [node.scalar(key) for key in field.keys] if field.keys else [node]
    name = next((scalar for scalar in named if isinstance(scalar, Scalar) and scalar.value), None)
    is_known = kind_of(root)[0] in BUILT_IN_GROUPS or pods.are_known(root)  # otherwise the field may be another
    if name:
        yield _Reference(field.kind, name, optional=flag(node.get("optional")) or False)
    elif (
        entry.name in HOLDERS
        and entry.name not in _LENIENT
        and (isinstance(node, MappingNode) or is_null(node))
        and not any(_is_unset(node, key) for key in field.keys)
        and is_known
    ):
        message = f"{entry.name} does not name a {field.kind[1]}: nothing is read from it"
        yield breach("empty-reference", entry, message, "put its name below it, indented deeper")


def _is_unset(value: Node, key: str) -> bool:
    """Say whether a name is empty only until its setter is set."""
    node = value.get(key)
    return node is not None and node.comment is not None and parse(node.comment.text) is not None


def _missing(
    reference: _Reference, own: Mapping[str, Scalar], subject: Subject, naming: frozenset[str]
) -> Iterator[Finding]:
    """Find a name that is not in the package: a fault, or a requirement without a setter.

    ``naming`` are the setters that change the names of its objects.
    """
    name = reference.name
    message = f"{reference.kind[1]} {name.value!r} is not in the package"
    here = subject.changed_by(name)
    if reference.kind in _REQUIREMENTS or (reference.kind == (CORE, "ConfigMap") and here and not here & naming):
        if not here and reference.kind != (CORE, "Secret"):
            hint = "ship it, or bind a setter to the name: then it is a requirement"
            message += ", and no setter says which one it is"
            yield breach("fixed-requirement", name, message, hint)
    elif own:
        near = suggest(name.value, own)
        if not near and name.source.name in subject.added:
            return
        hint = near or f"there is {', '.join(sorted(own))}"
        yield breach("dangling-reference", name, message, hint)
    elif name.source.name not in subject.added:
        hint = "add it to the package, unless the cluster has it"
        yield breach("dangling-reference", name, message, hint)
