"""Faults by schemas: unknown and missing fields, wrong types, kinds that a version of Kubernetes does not serve.

Objects are checked with the ``example`` of every setter that still has to be set. A pod is checked by the schemas of
Kubernetes wherever it stands; a custom resource also by the schema of its operator, of which a field that packyard does
not know may be newer: a warning. Of a custom resource of an unknown operator only metadata and pods are checked.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from packyard.core.errors import is_a_letter_away, suggest
from packyard.core.kubernetes import groups, pods
from packyard.core.kubernetes.groups import BUILT_IN_GROUPS
from packyard.core.kubernetes.pods import Path
from packyard.core.kubernetes.schemas import KUBERNETES, Fault, Judge, kinds_of, last, unversioned
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import Entry, Node, Scalar
from packyard.core.yaml.values import double_quoted, nearest
from packyard.using.setters.comment import parse
from packyard.writing.checks import definition_rules
from packyard.writing.checks.applied_objects import Applied, AppliedObject
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject
from packyard.writing.checks.variables import is_filled_in

_OLD_GROUP = "extensions"  # which Kubernetes served before 1.22
#: Fields of the items of a list that the webhook of an operator fills in, though its definition requires them.
_FILLED_IN = (("jobset.x-k8s.io JobSet", "rules", "name"),)
#: Fields that a container of Argo has beyond those of Kubernetes, and its name, which Argo gives.
_ARGO_FIELDS = ("source", "mirrorVolumeMounts", "dependencies", "name")
#: What the rules of definitions say.
_BY_RULES = ("server-refuses", "rule-without-answer")


def check(subject: Subject, applied: Applied, judges: Sequence[Judge], *, newest: bool = False) -> Iterator[Finding]:
    """Find what the schemas of these versions of Kubernetes and of these operators reject.

    With ``newest`` nobody says for which versions a tree is: what the last one serves is a warning, and so is a kind
    of which a definition stands in the tree in another version.
    """
    kubernetes = [judge for judge in judges if judge.name == KUBERNETES]
    operators = [judge for judge in judges if judge.name != KUBERNETES]
    # What a kustomization changes may get its missing fields from there.
    builds = [build for build in subject.builds if build.complete or not build.kustomizations]
    finished = {id(root) for build in builds for root in build.objects}
    yield from applied.unreadable
    for item in applied.objects:
        noted: dict[tuple[str, Entry | Node, str], tuple[Fault, list[Judge]]] = {}
        for judge, fault in _faults(item, kubernetes, operators):
            place = _place(item, fault)
            if place and (fault.rule != "missing-field" or id(item.root) in finished):
                noted.setdefault((fault.rule, place, fault.message), (fault, []))[1].append(judge)
        lacking = {(fault.path, fault.field): key for key, (fault, _) in noted.items() if fault.rule == "missing-field"}
        for key, (fault, by) in [*noted.items()] if lacking else ():
            meant = [field for path, field in lacking if path == fault.path and suggest(fault.field, [field])]
            if fault.rule == "unknown-field" and meant:  # which is one fault
                noted.pop(lacking[fault.path, meant[0]], None)
                noted[key] = replace(fault, is_slip=True), by
        for (_, place, _), (fault, by) in noted.items():
            made = _finding(place, fault, by, judges)
            is_served = made.rule != "unserved-kind"
            certain = [*kubernetes[-1:], *(judge for judge in operators if is_served or not judge.is_given)]
            yield replace(made, severity="warning") if newest and not any(judge in certain for judge in by) else made


def unchecked(subject: Subject, judges: Sequence[Judge]) -> Iterator[str]:
    """Say of the kinds of which nobody has a schema how to hand it."""
    known = kinds_of(judges)
    for version, kind in {(root.text("apiVersion"), root.text("kind")) for root in subject.objects}:
        if groups.custom(version, kind) and unversioned(f"{version} {kind}") not in known:
            name = groups.definition(version, kind)
            command = f"mkdir -p crds && kubectl get crd {name} -o yaml >crds/{name}.yaml"
            yield f"the fields of {kind} are not checked; to have them checked: {command}"


def _faults(
    item: AppliedObject, kubernetes: Sequence[Judge], operators: Sequence[Judge]
) -> Iterator[tuple[Judge, Fault]]:
    if item.value.get("kind") == "List":
        return
    own = any(item.kind in judge.kinds for judge in kubernetes)
    custom = [judge for judge in operators if item.kind in judge.kinds]
    for name in dict.fromkeys(map(_called, custom)):
        yield from _of_operator(item, [judge for judge in custom if _called(judge) == name])
    if not own and not custom:
        yield from _unserved(item, kubernetes, operators)
    # Of a custom resource that is its metadata and its pods; a Workflow's volumes once.
    pod_parts = () if own else _pod_parts(item.value)
    parts: dict[Path, tuple[str, object]] = {("metadata",): ("ObjectMeta", item.value.get("metadata"))}
    parts |= {path: (name, part) for path, name, part in pod_parts}
    for judge in kubernetes:
        if item.kind in judge.kinds:
            yield from ((judge, fault) for fault in judge.faults(judge.kinds[item.kind], item.value))
        elif own:
            yield judge, _no_such_kind(item, "another version of Kubernetes serves it")
        else:
            is_guess = not pods.are_known(item.value)
            for fault in _parts(judge, parts, is_known=bool(custom)):
                yield judge, replace(fault, is_guess=is_guess and fault.path[:1] != ("metadata",))


def _called(judge: Judge) -> str:
    """Return the operator that a judge has a version of: whatever authors give of a kind is one."""
    return "" if judge.is_given else judge.name


def _of_operator(item: AppliedObject, versions: Sequence[Judge]) -> Iterator[tuple[Judge, Fault]]:
    """Yield the faults of a custom resource, if no version of its operator takes it as it is.

    Where one does, the fields that later ones took away are faults, but
    of definitions that authors give, which have no order; where none does, what the most fitting one takes is no fault.
    """
    verdicts: list[tuple[Judge, list[Fault]]] = []
    for judge in reversed(versions):
        definition = judge.kinds[item.kind]
        listed = judge.faults(definition, item.value)
        faults = [part for part in listed if (unversioned(item.kind), *part.path[-2:-1], part.field) not in _FILLED_IN]
        faults = faults or list(definition_rules.faults(judge, definition, item.value))
        if not faults:
            later = [] if judge.is_given else verdicts
            unknown = [(number, fault) for number, lost in later for fault in lost if fault.rule == "unknown-field"]
            yield from ((number, replace(fault, is_slip=False)) for number, fault in unknown)
            return
        verdicts.append((judge, faults))
    _, least = min(verdicts, key=lambda pair: len(pair[1]))
    yield from ((judge, fault) for judge, faults in reversed(verdicts) for fault in faults if fault in least)


def _unserved(
    item: AppliedObject, kubernetes: Sequence[Judge], operators: Sequence[Judge]
) -> Iterator[tuple[Judge, Fault]]:
    """Find a kind that its group has in another version only, or not at all."""
    version, kind = str(item.value.get("apiVersion")), str(item.value.get("kind"))
    group = version.rpartition("/")[0]
    built_in = group in (*BUILT_IN_GROUPS, _OLD_GROUP)
    judges = [
        judge
        for judge in (*kubernetes, *operators)
        if (built_in and judge.name == KUBERNETES) or any(_is_meant(name, group, version, kind) for name in judge.kinds)
    ]
    for judge in judges:
        served = sorted({name.split(" ")[0] for name in judge.kinds if name.endswith(f" {kind}")})
        kinds = [name.split(" ")[1] for name in judge.kinds if name.startswith(f"{version} ")]
        yield judge, _no_such_kind(item, f"it is {' or '.join(served)} there" if served else suggest(kind, kinds))


def _is_meant(name: str, group: str, version: str, kind: str) -> bool:
    """Say whether a kind that is served is the one of another version, or is one letter from it."""
    served, _, served_kind = name.partition(" ")
    is_other_version = (served.rpartition("/")[0], served_kind) == (group, kind)
    return is_other_version or (served == version and is_a_letter_away(kind, served_kind))


def _no_such_kind(item: AppliedObject, hint: str) -> Fault:
    return Fault("unserved-kind", (), f"there is no {item.kind}", hint, "apiVersion")


def _parts(judge: Judge, parts: Mapping[Path, tuple[str, object]], *, is_known: bool) -> Iterator[Fault]:
    """Check what Kubernetes defines in a custom resource; what an unknown one lacks, its operator may add."""
    for path, (name, part) in parts.items():
        for fault in judge.faults(judge.parts[name], part, last(path)):
            argo = name == "Container" and not fault.path and fault.field in _ARGO_FIELDS
            beyond = name == "PodSpec" and not fault.path and fault.rule == "unknown-field"
            if not argo and (is_known or (not beyond and fault.rule != "missing-field")):
                yield replace(fault, path=(*path, *fault.path))


def _pod_parts(value: dict[str, object]) -> Iterator[tuple[Path, str, object]]:
    """Yield the parts of pods in an object, each with what Kubernetes calls it."""
    for pod in pods.find(value):
        if pod.is_argo:
            yield from ((path, "Container", container) for path, container in pod.container_places)
            yield from ((path, "Volume", volume) for path, volume in pod.volume_places)
            tolerations = pod.spec.get("tolerations")
            for index, item in enumerate(tolerations if isinstance(tolerations, list) else ()):
                yield (*pod.path, "tolerations", index), "Toleration", item
        elif pod.template and len(pod.path) > 1:
            yield pod.path, "PodSpec", pod.spec
            yield (*pod.path[:-1], "metadata"), "ObjectMeta", pod.template.get("metadata") or {}


def _place(item: AppliedObject, fault: Fault) -> Entry | Node | None:
    """Return what is wrong, unless it waits for a value."""
    entry, node = nearest(item.root, (*fault.path, fault.field) if fault.field else fault.path)
    is_filled = isinstance(node, Scalar) and is_filled_in(node.value)
    if (
        (fault.rule != "unknown-field" and id(node) in item.waiting)
        or (fault.rule == "wrong-value" and is_filled)
        or (fault.rule in _BY_RULES and any(map(item.is_later, walk(node))))
    ):
        return None
    return entry if entry and fault.field and fault.rule != "missing-field" else nearest(item.root, fault.path)[1]


def _finding(place: Entry | Node, fault: Fault, by: Sequence[Judge], order: Sequence[Judge]) -> Finding:
    """Return one finding for all versions whose judges report a fault."""
    # A field may be one of a newer operator than those whose definitions packyard carries.
    carried = all(judge.name != KUBERNETES and not judge.is_given for judge in by)
    is_newer = fault.rule == "unknown-field" and carried and not fault.is_slip
    is_open = fault.counts_as_missing or fault.is_guess or is_newer or fault.rule == "rule-without-answer"
    hint = fault.hint or (_OWN_DEFINITION if is_newer else "")
    fix = _fix(place.value if isinstance(place, Entry) else place, fault)
    message = f"{fault.message} in {versions(by, order)}"
    return breach(fault.rule, place, message, hint, fix, severity="warning" if is_open else "error")


#: What to do where a cluster has a newer operator.
_OWN_DEFINITION = "if your operator has it, put its CustomResourceDefinition into crds/"


def _fix(node: Node, fault: Fault) -> str:
    """Return a value with the right quotes; a setter would write others with the next set."""
    if fault.quotes is None or not isinstance(node, Scalar) or (node.comment and parse(node.comment.text)):
        return ""
    return double_quoted(node.value) if fault.quotes else node.value


def versions(judges: Sequence[Judge], order: Iterable[Judge]) -> str:
    """Name judges, several versions by the first and the last: ``Kubernetes 1.28 to 1.37``."""
    by_name: dict[str, list[str]] = {}
    for judge in order:
        if judge in judges:
            by_name.setdefault(judge.name, []).append(judge.version)
    return ", ".join(
        f"{name} {' to '.join(dict.fromkeys((own[0], own[-1])))}".rstrip() for name, own in by_name.items()
    )
