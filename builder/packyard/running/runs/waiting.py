"""What pods and workloads wait for that do not say so themselves: a queue of Kueue, a volume of a claim.

Each is read only where something waits without a reason, and only explains: what may not be read is left out.
"""

from collections.abc import Sequence
from functools import cached_property

from packyard.core.kubernetes import dependencies, pods
from packyard.core.kubernetes.kinds import KUEUE, kind_of
from packyard.core.kubernetes.lenient import Object, condition, labels_of, mapping, mappings, name_of, owners_of, text
from packyard.running.runs import look, trouble
from packyard.running.runs.kubectl import Kubectl

CLAIM = "PersistentVolumeClaim"
#: The label that names the queue of a workload.
QUEUE = f"{KUEUE}/queue-name"
_WORKLOADS = f"workloads.{KUEUE}"
#: Reasons of warnings about a claim that say why it has no volume.
_FAILING = ("ProvisioningFailed", "VolumeMismatch")
_PROVISIONER = ("volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner")
#: What the scheduler says after ten minutes without a volume, or where two pods ask for one at once, and of a claim
#: that waits for none of its pods, or that came after them.
_BINDING = ('plugin "VolumeBinding"', "unbound immediate PersistentVolumeClaims", 'persistentvolumeclaim "')


class Surroundings:
    """What explains why something waits, of the namespace of ``kubectl``: each is read once, when it is asked for."""

    def __init__(self, kubectl: Kubectl) -> None:
        self.kubectl = kubectl

    @cached_property
    def warnings(self) -> Sequence[Object]:
        """The warnings of the namespace, the newest last."""
        words = ("get", "events", "--field-selector=type=Warning", "--chunk-size=0")
        return sorted(self.kubectl.glance(*words), key=look.time_of)

    @cached_property
    def queued(self) -> Sequence[Object]:
        """The Workloads of Kueue."""
        return self.kubectl.glance("get", _WORKLOADS, "--chunk-size=0")

    @cached_property
    def claims(self) -> Sequence[Object]:
        """The claims."""
        return self.kubectl.glance("get", CLAIM, "--chunk-size=0")


def queue_of(workload: Object) -> str:
    """Return the name of the queue that a workload is in, or an empty text."""
    return text(labels_of(workload).get(QUEUE))


def is_gated(pod: Object) -> bool:
    """Say whether a pod, of a server for example, waits in a queue."""
    return bool(queue_of(pod)) and bool(mappings(mapping(pod.get("spec")).get("schedulingGates")))


def in_queue(workload: Object, around: Surroundings) -> str:
    """Return in which queue a workload waits, and what Kueue says of it."""
    queue = queue_of(workload)
    own = next((queued for queued in around.queued if _is_made_for(queued, workload)), None)
    if own is None:
        return f"is suspended until queue {queue} lets it in; no Workload of Kueue is made for it"
    reserved, admitted = condition(own, "QuotaReserved"), condition(own, "Admitted")
    message = text((reserved if reserved.get("status") != "True" else admitted).get("message")) or _checks(own)
    return f"waits in queue {queue}" + (f": {message}" if message else "")


def _checks(item: Object) -> str:
    """Return the admission checks that keep a workload waiting once there is quota for it, with what they say."""
    checks = [
        check for check in mappings(mapping(item.get("status")).get("admissionChecks")) if check.get("state") != "Ready"
    ]
    parts = [": ".join(filter(None, (text(check.get("name")), text(check.get("message"))))) for check in checks]
    return f"admission check {', '.join(parts)}" if parts else ""


def is_unplaced(pod: Object) -> bool:
    """Say whether a pod has no node, and says nothing of why, or that its volumes are not there."""
    waits = mapping(pod.get("status")).get("phase") == "Pending" and not mapping(pod.get("spec")).get("nodeName")
    own = trouble.of_pod(pod)
    return waits and (not own or any(phrase in own for phrase in _BINDING)) and bool(_claims(pod))


def for_volumes(pod: Object, around: Surroundings) -> str:
    """Return which claim a pod waits for that has no volume, who is to make it, and why that failed, by its events."""
    named = _claims(pod)
    for claim in around.claims:
        name, phase = name_of(claim), text(mapping(claim.get("status")).get("phase"))
        if name in named and phase == "Pending":
            failure = look.warned(around.warnings, _FAILING, {(CLAIM, name)}.__contains__)
            return f"{CLAIM} {name} has no volume yet{_maker(claim)}" + (f": {failure}" if failure else "")
        if name in named and phase == "Lost":
            return f"{CLAIM} {name} has lost its volume"
    return ""


def _claims(pod: Object) -> set[str]:
    """Return the names of the claims that a pod mounts."""
    return {item.name for part in pods.find(pod) for item in dependencies.find(part) if item.kind == CLAIM}


def _maker(claim: Object) -> str:
    annotations = mapping(mapping(claim.get("metadata")).get("annotations"))
    maker = next(filter(None, (text(annotations.get(annotation)) for annotation in _PROVISIONER)), "")
    of_class = text(mapping(claim.get("spec")).get("storageClassName"))
    named = f" of class {of_class}" if of_class else ""
    return f"; {maker} is to make one{named}" if maker else f"; it is{named or ' of no class'}"


def _is_made_for(item: Object, workload: Object) -> bool:
    kind = kind_of(workload)[1]
    owners = ((text(owner.get("kind")), text(owner.get("name"))) for owner in owners_of(item))
    return (kind, name_of(workload)) in owners
