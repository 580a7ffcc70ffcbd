"""The workloads of a run, with the pods of each in their roles: how many there are, and which are in trouble."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from packyard.core.kubernetes.kinds import APPS, JOBSET, kind_of
from packyard.core.kubernetes.lenient import Object, is_ending, mapping, mappings, name_of, owners_of, text
from packyard.running.runs import outcome, roles, trouble
from packyard.running.runs.look import Key, key_of
from packyard.running.runs.outcome import FAILED, SUCCEEDED
from packyard.running.runs.record import RunRecord
from packyard.running.runs.roles import Role

_REVISION = "deployment.kubernetes.io/revision"
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
_STATES = {"Succeeded": "done", "Failed": "failed", "Running": "running"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PodStatus:
    """A pod in its role; ``reason`` says what is wrong with it.

    ``index`` counts the pods of a role; pods that took each other's place have the same.
    """

    item: Object
    role: str
    index: int
    reason: str = ""

    @property
    def name(self) -> str:
        """The name of the pod."""
        return name_of(self.item)

    @property
    def node(self) -> str:
        """The node that it runs on, or an empty text."""
        return text(mapping(self.item.get("spec")).get("nodeName"))

    @property
    def phase(self) -> str:
        """The phase of the pod."""
        return text(mapping(self.item.get("status")).get("phase"))

    @property
    def state(self) -> str:
        """What it does: waiting, running, ready, done, failed or ending."""
        if is_ending(self.item):
            return "ending"
        return "ready" if self.is_ready else _STATES.get(self.phase, "waiting")

    @property
    def is_active(self) -> bool:
        """Whether the pod may still do something."""
        return self.phase not in ("Succeeded", "Failed") and not is_ending(self.item)

    @property
    def is_ready(self) -> bool:
        """Whether the pod runs and is ready."""
        return self.phase == "Running" and trouble.is_ready(self.item)

    @property
    def has_started(self) -> bool:
        """Whether its containers have begun."""
        return self.state != "waiting"

    @property
    def restarts(self) -> int:
        """How often its containers were started again."""
        counts = [status.get("restartCount") for status in trouble.statuses(self.item)]
        return sum(count for count in counts if isinstance(count, int))

    @property
    def created(self) -> str:
        """When it was made: ISO 8601."""
        return text(mapping(self.item.get("metadata")).get("creationTimestamp"))

    @property
    def containers(self) -> Sequence[str]:
        """The names of its containers, the one that counts first, and those that prepare last."""
        metadata, spec = mapping(self.item.get("metadata")), mapping(self.item.get("spec"))
        named = [text(item.get("name")) for key in ("containers", "initContainers") for item in mappings(spec.get(key))]
        first = text(mapping(metadata.get("annotations")).get(_DEFAULT_CONTAINER))
        return sorted(named, key=lambda name: name != first)

    @property
    def running(self) -> Sequence[str]:
        """The names of the containers that run now."""
        statuses = trouble.statuses(self.item)
        return [text(status.get("name")) for status in statuses if "running" in mapping(status.get("state"))]


@dataclass(frozen=True, slots=True)
class Workload:
    """What makes pods; ``restarts`` are those of all its pods.

    ``former`` are the names of pods as it was before its last change: they stay until others are ready in their place.
    The one without an ``item`` has ``foreign`` objects, of kinds of which little is known, and the pods of all these.
    """

    item: Object
    roles: Sequence[Role]
    pods: Sequence[PodStatus]
    restarts: int
    foreign: Sequence[Object] = ()
    former: frozenset[str] = frozenset()

    @property
    def items(self) -> Sequence[Object]:
        """The objects that pods are made of."""
        return [self.item] if self.item else self.foreign

    @property
    def ended(self) -> str:
        """How it ended, or an empty text; what is unknown ends as it says, else as its pods do."""
        outcomes = {outcome.of_object(item)[0] for item in self.foreign}
        if FAILED in outcomes or outcomes == {SUCCEEDED}:
            return FAILED if FAILED in outcomes else SUCCEEDED
        if self.item or not self.pods or any(pod.is_active for pod in self.pods):
            return outcome.of_object(self.item)[0]
        return FAILED if any(pod.phase == "Failed" for pod in self.pods) else SUCCEEDED

    def of(self, role: Role) -> list[PodStatus]:
        """Return the pods of a role."""
        return [pod for pod in self.pods if pod.role == role.name]

    def ready(self, role: Role) -> int:
        """Return how many pods of a role are ready."""
        return sum(pod.is_ready for pod in self.of(role))

    def done(self, role: Role) -> int:
        """Return how many pods of a role ended well; those of a workload that did may be deleted by now."""
        ended = len({pod.index for pod in self.of(role) if pod.phase == "Succeeded"})
        return max(ended, role.wanted - self.ready(role)) if self.ended == SUCCEEDED else ended

    def lacking(self, role: Role) -> int:
        """Return how many pods should be there now, and are not even made."""
        if self.ended or outcome.is_suspended(self.item):
            return 0
        return self._needed(role) - sum(pod.is_active for pod in self.of(role))

    def _needed(self, role: Role) -> int:
        return min(role.at_once, role.wanted - self.done(role))

    @property
    def is_starting(self) -> bool:
        """Whether a pod that it wants now is not ready, or still to be made as the workload says now."""
        is_short = not self.roles or any(self.ready(role) < self._needed(role) for role in self.roles)
        return not self.ended and (is_short or bool(outcome.updating(self.item)))

    @property
    def troubled(self) -> list[PodStatus]:
        """The pods that matter now: failed ones in whose place no other is, the first first, then those not ready."""
        if self.ended == SUCCEEDED:
            return []
        failed = sorted((pod for pod in self.pods if pod.phase == "Failed"), key=lambda pod: trouble.end(pod.item))
        if self.ended != FAILED:
            lacking = {role.name for role in self.roles if self.lacking(role) > 0}
            failed = [pod for pod in failed if pod.role in lacking]
        unready = [pod for pod in self.pods if pod.is_active and not pod.is_ready]
        return [*failed, *(pod for pod in unready if pod.name not in self.former)]


def find(record: RunRecord, objects: Mapping[Key, Object]) -> list[Workload]:
    """Return the workloads of a run in the order of its record; ``objects`` are those that are there.

    The last one, without an object, has the pods of kinds that nothing is known of.
    """
    named = [key for reference in record.objects if (key := key_of(reference)) in objects]
    items = [objects[key] for key in named if roles.is_workload(key[:2])]
    left = sorted((item for key, item in objects.items() if key[:2] == ("", "Pod")), key=_age)
    names: set[str] = set()
    workloads = []
    for item in items:
        template = _template(item, objects)
        own_roles = [_own(role, item, names) for role in roles.find(template, record.run)]
        names |= {role.name for role in own_roles}
        of_pods = [(pod, roles.of_pod(pod, item, own_roles)) for pod in left]
        pods = _placed([(pod, place) for pod, place in of_pods if place], own_roles)
        left = [pod for pod, place in of_pods if not place]
        all_roles, former = [*own_roles, *_others(pods, own_roles)], _former(item, pods, objects)
        workloads.append(Workload(item, all_roles, pods, _restarts(template), former=former))
    foreign = [objects[key] for key in named if roles.is_unknown(objects[key])]
    if left or foreign:
        pods = _placed([(pod, ("pod", None)) for pod in left], ())
        workloads.append(Workload({}, _others(pods, ()), pods, 0, foreign))
    return workloads


def _template(item: Object, objects: Mapping[Key, Object]) -> Object:
    """Return the object that says how many pods there are: of a TrainJob the JobSet that is made of it."""
    jobset = objects.get((JOBSET, "JobSet", name_of(item)))
    return jobset if jobset and kind_of(item)[1] == "TrainJob" else item


def _own(role: Role, item: Object, names: set[str]) -> Role:
    """Return a role by a name that no other workload of the run has for its own."""
    return replace(role, name=f"{role.name}-{kind_of(item)[1].lower()}") if role.name in names else role


def _placed(pods: Sequence[tuple[Object, tuple[str, int | None]]], announced: Sequence[Role]) -> list[PodStatus]:
    """Return pods by role and index; where a controller gives no index, they are counted by age."""
    singles = {role.name for role in announced if role.wanted == 1}
    counts: dict[str, int] = {}
    placed = []
    for pod, (role, index) in pods:
        counts[role] = 0 if role in singles else counts.get(role, -1) + 1
        placed.append(PodStatus(item=pod, role=role, index=counts[role] if index is None else index))
    order = {role.name: place for place, role in enumerate(announced)}
    return sorted(placed, key=lambda pod: (order.get(pod.role, len(order)), pod.role, pod.index))


def _former(item: Object, pods: Sequence[PodStatus], objects: Mapping[Key, Object]) -> frozenset[str]:
    """Return the names of pods that are not as a workload says now, as far as its controller shows which."""
    if outcome.is_unseen(item):
        return frozenset(pod.name for pod in pods)
    if kind_of(item) != (APPS, "Deployment"):
        return frozenset()
    sets = (replica_set for key, replica_set in objects.items() if key[:2] == (APPS, "ReplicaSet"))
    own = (replica_set for replica_set in sets if name_of(item) in _owner_names(replica_set))
    now = {name_of(replica_set) for replica_set in own if _revision(replica_set) == _revision(item)}
    return frozenset(pod.name for pod in pods if now and not now & _owner_names(pod.item))


def _revision(item: Object) -> str:
    return text(mapping(mapping(item.get("metadata")).get("annotations")).get(_REVISION))


def _owner_names(item: Object) -> set[str]:
    return {text(owner.get("name")) for owner in owners_of(item)}


def _others(pods: Sequence[PodStatus], announced: Sequence[Role]) -> list[Role]:
    """Return roles that pods have and nobody announced, such as the steps of a Workflow: as many as there are."""
    names = dict.fromkeys(pod.role for pod in pods)
    counts = {name: sum(pod.role == name and pod.phase != "Failed" for pod in pods) for name in names}
    return [Role(name, counts[name], counts[name]) for name in names if name not in {role.name for role in announced}]


def _restarts(item: Object) -> int:
    """Return how often all pods of a JobSet were made again."""
    count = mapping(item.get("status")).get("restarts")
    return count if isinstance(count, int) else 0


def _age(pod: Object) -> tuple[str, str]:
    return text(mapping(pod.get("metadata")).get("creationTimestamp")), name_of(pod)
