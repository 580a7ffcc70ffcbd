"""What a patch of pods comes to in one object: operations of RFC 6902, for the pods wherever its kind keeps them.

    spec: {tolerations: [{key: a}]}      - {op: test, path: /spec/replicatedJobs/0/name, value: worker}
                                         - {op: add, path: /spec/replicatedJobs/0/template/…/tolerations/-, value: …}

An item of a list is found by the key by which Kubernetes merges that list, and tested by it where an index is written;
what a pod does not have is tested to be missing, so that nothing that was added by hand is lost. A Workflow has fields
of its pods itself, and containers in its templates, whose names they go by.
"""

from collections.abc import Collection as Collection_
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.core.errors import InputError
from packyard.core.kubernetes import fieldtypes, pods
from packyard.core.kubernetes.fieldtypes import Step
from packyard.core.kubernetes.pods import Path, Pod
from packyard.core.yaml import make
from packyard.core.yaml.document import entries, walk
from packyard.core.yaml.node import Child, Collection, Comment, Entry, Item, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.pointer import escaped, pointer
from packyard.core.yaml.values import is_null
from packyard.using.kustomize import selector
from packyard.using.kustomize.patch import MisfitError
from packyard.using.kustomize.selector import Identity
from packyard.using.setters import comment

#: What a Workflow calls otherwise than a pod.
_OF_WORKFLOW = {"metadata": "podMetadata", "priorityClassName": "podPriorityClassName"}
_NULL = "null"
_NAMELESS = "has no name of its own by which a patch of pods could tell it from others"
#: The lists of containers of a pod.
CONTAINERS = ("initContainers", "containers")


@dataclass(frozen=True, slots=True, eq=False)
class PodPatch:
    """A patch of pods: for which objects and which of their pods, and what they get.

    A container without an image has to be there, and one whose name is a pattern in brackets, as ``(a|b)``.
    The patch is written in ``path``, at ``line``; ``file`` is how messages show that, ``head`` are the comments that it
    begins with.
    """

    path: str
    file: str
    line: int
    targets: tuple[Mapping[str, str], ...]
    roles: tuple[str, ...]
    absent: frozenset[str]
    append: frozenset[str]
    metadata: Entry | None
    spec: MappingNode | None
    head: tuple[Comment, ...] = ()
    places: tuple[Node, ...] = ()  # where targets and roles are written

    @property
    def roots(self) -> list[Node]:
        """What it says of pods: of their metadata, and of their spec."""
        return [node for node in (self.metadata and self.metadata.value, self.spec) if node]

    @property
    def selected(self) -> list[str]:
        """What it is for, in words: its targets and roles, or an empty text."""
        return [*map(_words, self.targets), *map(_of_role, self.roles)] or [""]

    @property
    def keys(self) -> list[tuple[str, int, str]]:
        """Where the patch is written, once for each target and each role: each of them has to reach something.

        Without any, that is where it names the containers that have to be there.
        """
        named = " and ".join(f"container {node.text('name')!r}" for node in self._needed)
        lines = [node.source.locate(node.start)[0] for node in (self.places or self._needed[:1])] or [self.line]
        texts = (", ".join(filter(None, (word, named))) for word in self.selected)
        return [(self.path, line, text) for line, text in zip(lines, texts, strict=True)]

    @property
    def _needed(self) -> list[MappingNode]:
        """The containers that have to be there."""
        return [node for key in CONTAINERS for node in containers(self.spec, key) if not _is_new(node)]

    def misfit(self, number: int, roots: Sequence[MappingNode]) -> tuple[Node | None, str, str]:
        """Say what no object has where the key of a number stands for nothing: its place, in words, and a hint.

        That is a target, a role, a container, or a field that is null.
        """
        chosen = [root for target in self.targets for root in selector.near(target, roots)[0]]
        changed = [pod for root in (chosen if self.targets else roots) for pod in pods.find(root)]
        number = number if changed else 0
        if number < len(self.targets) and (hint := selector.near(self.targets[number], roots)[1]):
            return self.places[number], self.selected[number], hint
        roles = {pod.role for pod in changed}
        known = {part.name for pod in changed for key in CONTAINERS for part in containers_of(pod, key)}
        places = self.places[len(self.targets) :]
        rows = [(role, _of_role(role), place, roles) for role, place in zip(self.roles, places, strict=True)]
        called = [name for node in self._needed if (name := node.scalar("name"))]
        rows += [(name.value, f"container {name.value!r}", name, known) for name in called]
        fields = {entry.name for pod in changed for node in walk(pod.spec) for entry in entries(node)}
        nulls = (entry for node in walk(self.spec) for entry in entries(node) if is_null(entry.value))
        rows += [(entry.name, f"the field {entry.name!r}", entry.key, fields) for entry in nulls]
        for text, words, place, names in rows:
            if not any(selector.matches(text, name) for name in names):
                return place, words, selector.there_is(text, names)
        return None, self.keys[number][2], "correct what it is for, or remove it"

    def operations(
        self, root: MappingNode, identity: Identity
    ) -> tuple[SequenceNode, Collection_[tuple[str, int, str]]] | None:
        """Return what is done to an object, and which keys that stands for; None where it has no such pods."""
        patched = find(self, root, identity)
        return (to_node(patched[0], self.file), patched[1]) if patched else None


@dataclass(frozen=True, slots=True)
class Operation:
    """``test``, ``add`` or ``remove``; ``value`` is a node, with the comment behind the key or the dash before it.

    ``origin`` is where the value of an ``add`` stands in the patch.
    """

    op: str
    path: str
    value: Node | None = None
    comment: Comment | None = None
    origin: str = ""

    def to_node(self, name: str) -> MappingNode:
        """Return the operation for an object, made for a file."""
        node = make.mapping(name, {"op": self.op, "path": self.path})
        if self.value is not None:
            entry = make.entry("value", self.value)
            entry.comment = self.comment
            node.entries.append(entry)
        return node


def to_node(operations: Iterable[Operation], name: str) -> SequenceNode:
    """Return operations for an object, made for a file."""
    return make.sequence(name, (Item(operation.to_node(name), 0) for operation in operations))


def find(
    patch: PodPatch, root: MappingNode, identity: Identity
) -> tuple[Sequence[Operation], Sequence[tuple[str, int, str]]] | None:
    """Return what a patch does to an object, and those of its keys that the object and the roles of its pods stand for.

    It is None where it is not for the object, or for none of its pods.

    Raises `MisfitError` where a pod has what has to be absent.
    """
    chosen = [target for target in patch.targets if selector.selects(target, root, identity)]
    merged = _Made(patch)
    for pod in pods.find(root) if chosen or not patch.targets else ():
        if not patch.roles or pod.role in patch.roles:
            merged.pod(pod)
    if all(operation.op == "test" for operation in merged.operations.values()):
        return None
    words = {*map(_words, chosen), *map(_of_role, merged.roles)}
    keys = [key for key, word in zip(patch.keys, patch.selected, strict=True) if word in words or not word]
    return [*merged.operations.values()], keys


@dataclass(frozen=True, slots=True)
class _Place:
    """A mapping or a list of the object: its pointer, its path in a pod, and where its fragment is in the patch."""

    pointer: str
    fields: tuple[Step, ...]
    origin: str

    def below(self, key: str | int, origin: str | int, field: Step) -> "_Place":
        return _Place(f"{self.pointer}/{escaped(str(key))}", (*self.fields, field), f"{self.origin}/{origin}")


@dataclass(frozen=True, slots=True)
class Container:
    """A container of a pod: its path, its mapping, its name, and what tests that it is this one."""

    path: Path
    node: MappingNode
    name: str
    tested: tuple[str, Node | None]


@dataclass(frozen=True, slots=True)
class _Fragment:
    """What a patch says of a container, in its place of a list, and the containers of a pod that it is for."""

    key: str
    item: Item
    origin: str
    containers: Sequence[Container]


@dataclass(slots=True)
class _Made:
    """Gathers the operations on the pods of one object, each once."""

    patch: PodPatch
    operations: dict[tuple[str, str, str], Operation] = field(default_factory=dict)
    roles: set[str] = field(default_factory=set)

    def pod(self, pod: Pod[MappingNode]) -> None:
        """Merge the patch into a pod, if that has all containers which the patch names."""
        containers = {key: list(containers_of(pod, key)) for key in CONTAINERS}
        fragments = [
            _Fragment(key, item, f"/spec/{key}/{number}", [part for part in own if _is_for(item.value, part.name)])
            for key, own in containers.items()
            for number, item in enumerate(_items(self.patch.spec, key))
        ]
        if not all(fragment.containers or _is_new(fragment.item.value) for fragment in fragments):
            return  # a container has to be there, and is not
        before = len(self.operations)
        if not any(fragment.containers for fragment in fragments) and not pod.is_argo:
            self._test_items(pod)
        for fragment in fragments:
            for container in fragment.containers:
                self._test(*container.tested)
                place = _Place(pointer(container.path), ("spec", fragment.key, 0), fragment.origin)
                self._mapping(container.node, fragment.item.value, place, without="name")
            if not fragment.containers:
                self._new(pod, fragment)
        self._rest(pod)
        if len(self.operations) > before:
            self.roles.add(pod.role)

    def _rest(self, pod: Pod[MappingNode]) -> None:
        """Merge what is not said of containers: into the pod, or for all pods into a Workflow."""
        path, target = pod.chain[-1]
        outer = pod.chain[-2] if pod.template is not None else None
        if pod.is_argo:
            path, target = next(link for link in pod.chain if link[1].get("templates") is not None)
            outer = path, target
        place = _Place(pointer(path), ("spec",), "/spec")
        for entry in entries(self.patch.spec):
            if entry.name not in CONTAINERS:
                self._entry(target, entry, place, _OF_WORKFLOW.get(entry.name, "") if pod.is_argo else "")
        if self.patch.metadata and outer:
            place = _Place(pointer(outer[0]), (), "")
            self._entry(outer[1], self.patch.metadata, place, _OF_WORKFLOW["metadata"] if pod.is_argo else "")

    def _new(self, pod: Pod[MappingNode], fragment: _Fragment) -> None:
        """Add a container that the pod does not have."""
        path = f"{pointer(pod.path)}/{fragment.key}"
        if pod.is_argo:
            self._test_items(pod)
        if pod.spec.get(fragment.key) is None:
            self._absent(path)
            self._add(path, make.sequence(self.patch.file, []), None, "")
        self._add(f"{path}/-", fragment.item.value, fragment.item.comment, fragment.origin)

    def _mapping(self, target: MappingNode, fragment: Node, place: _Place, without: str = "") -> None:
        for entry in entries(fragment):
            if entry.name != without:
                self._entry(target, entry, place)

    def _entry(self, target: MappingNode, entry: Entry, above: _Place, name: str = "") -> None:
        """Merge an entry of the patch into a mapping, in which it may have another name."""
        old, new = target.get(name or entry.name), entry.value
        place = above.below(name or entry.name, escaped(entry.name), entry.name)
        if entry.name in self.patch.absent:
            if old is not None:
                message = f"a pod has {entry.name} already, at {old.place}"
                raise MisfitError(entry.key.problem(message, "take it out there, or do without this patch"))
            self._absent(place.pointer)
        if is_null(new):
            if old is not None:
                self._note(Operation("remove", place.pointer))
            return
        if old is None or is_null(old):
            if isinstance(new, MappingNode) or _is_joined(new):
                self._absent(place.pointer)
            self._add(place.pointer, new, entry.comment, place.origin)
        elif isinstance(old, MappingNode) and isinstance(new, MappingNode):
            self._mapping(old, new, place)
        elif isinstance(old, SequenceNode) and isinstance(new, SequenceNode):
            self._list(old, new, entry, place)
        elif isinstance(old, Collection) or isinstance(new, Collection):
            message = f"{entry.name} is a text here and a mapping or list in {old.source.name}, or the other way round"
            raise InputError(new.problem(message))
        else:
            self._add(place.pointer, new, entry.comment, place.origin)

    def _list(self, old: SequenceNode, new: SequenceNode, entry: Entry, place: _Place) -> None:
        """Merge a list by the key by which Kubernetes does; one without a key is replaced, or added to."""
        keys = fieldtypes.merge_keys("v1", "Pod", place.fields)
        if keys is None and entry.name not in self.patch.append and (old.items or not new.items):
            self._add(place.pointer, new, entry.comment, place.origin)
            return
        for number, item in enumerate(new.items):
            wanted = _told_apart_by(item.value, keys or ())
            twins = (index for index, twin in enumerate(old.items) if _told_apart_by(twin.value, keys or ()) == wanted)
            indices = list(twins) if keys is not None and wanted[0] else []
            for index in indices:
                inner, own = old.items[index].value, place.below(index, number, 0)
                if keys and isinstance(inner, MappingNode):
                    for key in (*keys[1:], keys[0]):
                        self._test(f"{own.pointer}/{key}", inner.get(key))
                    self._mapping(inner, item.value, own, without=keys[0])
            if not indices:
                self._add(f"{place.pointer}/-", item.value, item.comment, f"{place.origin}/{number}")

    def _test_items(self, pod: Pod[MappingNode]) -> None:
        """Make sure which items the indices in the path of a pod mean, by their names, unless a setter changes them."""
        for path, holder in pod.chain:
            if path and isinstance(path[-1], int):
                named = (key for key in ("name", "groupName") if (entry := holder.entry(key)) and not is_bound(entry))
                if (key := next(named, None)) is None:
                    raise InputError(holder.problem(_NAMELESS, "write its name, or groupName"))
                self._test(f"{pointer(path)}/{key}", holder.get(key))

    def _add(self, path: str, value: Node, behind: Comment | None, origin: str) -> None:
        self._note(Operation("add", path, without_nulls(value), behind, origin))

    def _absent(self, path: str) -> None:
        self._test(path, make.scalar(_NULL, self.patch.file, _NULL))

    def _test(self, path: str, value: Node | None) -> None:
        if value is not None:
            self._note(Operation("test", path, value))

    def _note(self, operation: Operation) -> None:
        self.operations.setdefault((operation.op, operation.path, operation.origin), operation)


def containers_of(pod: Pod[MappingNode], key: str) -> Iterator[Container]:
    """Yield the containers of a list of a pod."""
    above = pod.path
    for path, container in pod.container_places:
        steps = path[len(above) :]
        if key in steps:
            yield Container(path, container, container.text("name"), (f"{pointer(path)}/name", container.get("name")))
        elif pod.is_argo and key == CONTAINERS[1] and steps[0] in ("container", "script"):
            name = pod.spec.get("name")
            yield Container(path, container, pod.spec.text("name"), (f"{pointer(above)}/name", name))


def _told_apart_by(node: Node, keys: Sequence[str]) -> list[str]:
    """Return the texts of an item's keys, or its own; what names no protocol means TCP to Kubernetes."""
    if keys and isinstance(node, MappingNode):
        return [node.text(key) or ("TCP" if key == "protocol" else "") for key in keys]
    return [node.value if isinstance(node, Scalar) else ""]


def _is_joined(node: Node) -> bool:
    """Say whether a node is a list that others may add to: one of mappings, not a command."""
    return isinstance(node, SequenceNode) and any(isinstance(item.value, MappingNode) for item in node.items)


def without_nulls(node: Node) -> Node:
    """Return a value without what it says to be missing; an item keeps its place, and is empty."""
    if not any(map(is_null, walk(node))):
        return node
    copied = make.copy(node, without_nulls)
    if isinstance(copied, Collection):
        copied.children = [child for child in copied.children if not is_null(child.value)]
    return copied


def _words(target: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {text!r}" for key, text in target.items())


def _of_role(role: str) -> str:
    return f"role {role!r}"


def _items(spec: Node | None, key: str) -> Sequence[Item]:
    """Return the items of a list of a fragment of a pod."""
    listed = spec.get(key) if spec else None
    return listed.items if isinstance(listed, SequenceNode) else ()


def containers(spec: Node | None, key: str) -> Sequence[MappingNode]:
    """Return the containers of a list of a fragment of a pod."""
    return [item.value for item in _items(spec, key) if isinstance(item.value, MappingNode)]


def _is_new(fragment: Node) -> bool:
    """Say whether a fragment is a container that is added to pods without it: it has an image, and one name."""
    return fragment.find("image") is not None and "(" not in fragment.text("name")


def _is_for(fragment: Node, name: str) -> bool:
    """Say whether a fragment is for containers of a name."""
    return isinstance(fragment, MappingNode) and selector.matches(fragment.text("name"), name)


def is_bound(child: Child) -> bool:
    """Say whether a setter changes an entry or an item, by a comment behind it or above."""
    behind = (child.value.comment, child.comment, *child.head)
    return any(text is not None and comment.parse(text.text) is not None for text in behind)
