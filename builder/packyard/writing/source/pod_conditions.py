"""``where`` of a patch of pods: what a pod has to have already, as a fragment of one.

    where:
      containers:
      - resources: {limits: {nvidia.com/gpu: .*}}      a container that has GPUs
        env: [{name: RANK}]                            and a variable
      volumes: [{name: scratch, emptyDir: {}}]         in a pod with such a volume
      hostNetwork: null                                and without this field

A text is a regular expression for a whole text, as in a target; an item of a list has to be in that of the pod, at any
place; a mapping has to have what the fragment says of it. Where it lists containers, only those that are alike are
patched. What it needs is tested where it is shipped: by its value, or where a setter changes that, by being there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.core.kubernetes import schemas
from packyard.core.kubernetes.pods import Path, Pod
from packyard.core.kubernetes.schemas import last
from packyard.core.yaml.document import entries, items, mappings, walk
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Child, Collection, Entry, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.values import is_null, to_value
from packyard.using.kustomize import selector
from packyard.using.setters import comment, regexp

#: The lists of containers of a pod.
CONTAINERS = ("initContainers", "containers")
_COLLECTIONS = ("where a mapping is expected", "where a list is expected")
_EXAMPLE = "such as: where: {containers: [{name: main}]}"


@dataclass(frozen=True, slots=True)
class Need:
    """A field that a condition holds by: its path in the object and its value, or None where it is missing."""

    path: Path
    value: Node | None
    is_bound: bool = False


Needs = list[Need]


@dataclass(slots=True)
class Holding:
    """By what a condition holds in a pod, and the containers for which it does, by the ids of their mappings."""

    needs: Needs = field(default_factory=list)
    containers: dict[str, set[int]] = field(default_factory=dict)

    def reaches(self, key: str, container: MappingNode) -> bool:
        """Say whether a container of a list may be patched."""
        return key not in self.containers or id(container) in self.containers[key]


def hold(
    where: Entry | None, pod: Pod[MappingNode], places: Mapping[str, Sequence[tuple[Path, MappingNode]]]
) -> Holding | None:
    """Return by what a condition holds in a pod, whose containers have ``places``; None where it does not."""
    holding = Holding()
    for entry in entries(where.value) if where else ():
        if entry.name in CONTAINERS and isinstance(entry.value, SequenceNode):
            matches = [_containers(item, places[entry.name]) for item in mappings(entry.value)]
            holding.containers[entry.name] = {number for alike in matches for number in alike}
            needs = [need for alike in matches for each in alike.values() for need in each] if all(matches) else None
        elif entry.name == "volumes" and isinstance(entry.value, SequenceNode):
            needs = _items(mappings(entry.value), pod.volume_places)
        else:
            path, holder = _holder(pod, entry.name)
            needs = _of_field(entry, path, holder)
        if needs is None:
            return None
        holding.needs += needs
    return holding


def _containers(condition: MappingNode, places: Sequence[tuple[Path, MappingNode]]) -> dict[int, Needs]:
    """Return the containers that are as a condition says, by their ids, with what that holds by."""
    matches = ((id(each), _item(condition, path, each)) for path, each in places)
    return {number: needs for number, needs in matches if needs is not None}


def _holder(pod: Pod[MappingNode], name: str) -> tuple[Path, MappingNode]:
    """Return what has a field of a pod: the pod, or what an Argo template is in."""
    holders = reversed(pod.chain) if pod.is_argo else ()
    return next(((path, each) for path, each in holders if each.get(name) is not None), pod.chain[-1])


def _fields(condition: MappingNode, path: Path, holder: MappingNode) -> Needs | None:
    needs: Needs = []
    for entry in condition.entries:
        inside = _of_field(entry, path, holder)
        if inside is None:
            return None
        needs += inside
    return needs


def _item(condition: MappingNode, path: Path, item: MappingNode) -> Needs | None:
    """Return by what an item of a list is as a condition says, first its name: its index may come to mean another."""
    needs, name = _fields(condition, path, item), item.entry("name")
    return [Need((*path, "name"), name.value), *needs] if needs is not None and name and not is_bound(name) else needs


def _of_field(entry: Entry, above: Path, holder: MappingNode) -> Needs | None:
    path, child = (*above, entry.name), holder.entry(entry.name)
    if is_null(entry.value):
        return [Need(path, None)] if child is None or is_null(child.value) else None
    return None if child is None else _of_value(entry.value, path, child)


def _of_value(condition: Node, path: Path, child: Child) -> Needs | None:
    """Return by what a value is as a condition says; None where it is not."""
    value = child.value
    if isinstance(condition, MappingNode) and isinstance(value, MappingNode):
        if isinstance(path[-1], int):
            return _item(condition, path, value)
        return _fields(condition, path, value) if condition.entries else [Need(path, value, is_bound=True)]
    if isinstance(condition, SequenceNode) and isinstance(value, SequenceNode):
        places = [((*path, index), item) for index, item in enumerate(value.items)]
        matched = [next(filter(None, (_of_value(item.value, *place) for place in places)), None)
                   for item in condition.items]  # fmt: skip
        return None if None in matched else [need for needs in matched for need in needs or ()]
    if isinstance(condition, Scalar) and isinstance(value, Scalar) and selector.matches(condition.value, value.value):
        return [Need(path, value, is_bound(child))]
    return None


def _items(conditions: Sequence[MappingNode], places: Sequence[tuple[Path, MappingNode]]) -> Needs | None:
    """Return by what each wanted item is among some; None where one is not."""
    needs: Needs = []
    for item in conditions:
        item_needs = next(filter(None, (_item(item, path, each) for path, each in places)), None)
        if item_needs is None:
            return None
        needs += item_needs
    return needs


def is_bound(child: Child) -> bool:
    """Say whether a setter changes an entry or an item, by a comment behind it or above."""
    comments = (child.value.comment, child.comment, *child.head)
    return any(each is not None and comment.parse(each.text) is not None for each in comments)


def check(fields: Fields, where: Entry) -> None:
    """Note what no pod can have, and what is no pattern."""
    if not isinstance(where.value, MappingNode) or not where.value.entries:
        fields.fault(where.value, where.name, "must be fields of a pod", _EXAMPLE)
        return
    for node, text in _faults(where.value):
        fields.fault(node, where.name, text)
    judge = schemas.kubernetes(schemas.kubernetes_versions()[-1])
    for fault in judge.faults(judge.kinds["v1 Pod"], {"spec": to_value(where.value)}):
        node = _at(where.value, fault.path[1:])
        if fault.rule == "unknown-field":
            entry = node.entry(fault.field)
            message = f"{last(fault.path[1:]) or 'a pod'} has no field {fault.field!r}"
            fields.fault(entry.key if entry else node, where.name, message, fault.hint)
        elif fault.rule == "wrong-type" and (isinstance(node, Collection) or fault.message.endswith(_COLLECTIONS)):
            fields.fault(node, where.name, fault.message)


def _at(node: Node, path: Path) -> Node:
    """Return what a path leads to; a schema tells of what is there."""
    for step in path:
        inside = items(node)[step] if isinstance(step, int) else node.get(step)
        assert inside is not None
        node = inside
    return node


def _faults(root: Node) -> Iterator[tuple[Node, str]]:
    for node in walk(root):
        if isinstance(node, Collection):
            if not node.children and isinstance(node, SequenceNode):
                yield node, "an empty list says nothing"
            yield from ((child.value, "has a setter comment, and is not shipped") for child in node.children
                        if is_bound(child))  # fmt: skip
        elif isinstance(node, Scalar) and (fault := regexp.fault(f"^(?:{node.value})$")):
            yield node, f"{node.value!r} must be a regular expression: {fault}"
