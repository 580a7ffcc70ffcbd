"""Why a pod does not run, or has failed, in words; and why pods are not even made.

status.containerStatuses[0].state.waiting      ->  image cannot be pulled: the registry does not have registry/a:1
  reason: ImagePullBackOff
status.conditions[type=PodScheduled]           ->  no node fits: of 5, 3 have too little cpu, 2 had untolerated taint(s)
  message: 0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint(s). preemption: …
"""

import re
from collections.abc import Iterator

from packyard.core.kubernetes.lenient import Object, condition, mapping, mappings, text

#: Of containers that wait: those that will not start until somebody helps, with what is said of them.
_IMAGE = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable")
#: Those that Kubernetes repeats at growing intervals, or that nothing but a change mends.
_IN_VAIN = ("ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CrashLoopBackOff", "RunContainerError")
_BEFORE = ("", "ContainerCreating", "PodInitializing")
_CAUSES = (
    (re.compile(r"(?i)invalidimagename|invalid reference|couldn't parse image"), "its name is not valid: {}"),
    (re.compile(r"(?i)ErrImageNeverPull|never pull"), "the node lacks {}, and must not pull it"),
    (
        re.compile(r"(?i)no match for platform|no matching manifest for"),
        "there is none for the architecture of the node: {}",
    ),
    (re.compile(r"(?i)toomanyrequests|too many requests|rate limit"), "the registry limits the number of pulls: {}"),
    (re.compile(r"(?i)unauthorized|authentication required|denied|forbidden|no basic auth"), "the registry refuses {}"),
    (re.compile(r"(?i)not found|manifest unknown|notfound|does not exist"), "the registry does not have {}"),
    (re.compile(r"(?i)x509|certificate"), "the registry's certificate is not trusted: {}"),
    (
        re.compile(r"(?i)no such host|timeout|timed out|connection refused|dial tcp|unreachable"),
        "the registry cannot be reached: {}",
    ),
)
_NODES = re.compile(r"\A0/(\d+) nodes are available: (.*?)(?:\.(?: .*)?)?\Z", re.DOTALL)
_INSUFFICIENT = re.compile(r"(\d+) Insufficient (\S+)")
_CREATING = re.compile(r"\A(?:.*?pods? \"[^\"]*\" is forbidden: |Error creating: )", re.DOTALL)
_QUOTA = re.compile(r"exceeded quota: (.*)\Z", re.DOTALL)
_WEBHOOK = re.compile(r"admission webhook \"([^\"]+)\" denied the request: (.*)\Z", re.DOTALL)
_CALLING = re.compile(r"failed calling webhook \"([^\"]+)\": (.*)\Z", re.DOTALL)
_SECURITY = re.compile(r"violates PodSecurity \"([^:\"]+)[^\"]*\": (.*)\Z", re.DOTALL)
_SIGNALED = 128
_UNSTARTED = ("StartError", "ContainerCannotRun")
_SCHEDULER = "default-scheduler"
#: Reasons of warnings about a pod that say what it waits for.
EXPLAINING = frozenset(
    (
        *("FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox", "NetworkNotReady"),
        *("Unhealthy", "Failed", "FailedPostStartHook", "FailedPrepareDynamicResources", "NodeNotReady"),
    )
)
#: Reasons of warnings about an object whose pods cannot be made; the second is of mpi-operator.
REFUSING = frozenset(("FailedCreate", "MPIJobFailed", "FailedCreatePod"))


def of_pod(pod: Object) -> str:
    """Return what is wrong with a pod; an empty text where nothing is, as far as it says itself."""
    status = mapping(pod.get("status"))
    if status.get("phase") == "Succeeded":
        return ""
    of_part = next(_of_containers(pod), "") or _preparing(pod)
    return _of_whole(pod, status) or of_part or ("" if is_ready(pod) else _unready(pod))


def is_ready(pod: Object) -> bool:
    """Say whether a pod runs and is ready."""
    return condition(pod, "Ready").get("status") == "True"


def is_failing(pod: Object) -> bool:
    """Say whether a pod tries again and again in vain: its image cannot be pulled, or its program ends each time."""
    return any(map(_is_failing, statuses(pod)))


def _is_failing(item: Object) -> bool:
    last, count = mapping(mapping(item.get("lastState")).get("terminated")), item.get("restartCount")
    is_large = last.get("reason") == "OOMKilled" and item.get("ready") is not True
    reason = text(mapping(mapping(item.get("state")).get("waiting")).get("reason"))
    return reason in _IN_VAIN or (is_large and isinstance(count, int) and count > 1)


def end(pod: Object) -> str:
    """Return when the first container of a pod failed."""
    ended = [mapping(mapping(status.get("state")).get("terminated")) for status in statuses(pod)]
    return min((text(state.get("finishedAt")) for state in ended if state.get("exitCode")), default="")


def last_words(pod: Object) -> str:
    """Return the last line of what the first container that failed left, by itself or, where it says so, of its log."""
    for item in statuses(pod):
        state = mapping(item.get("state"))
        is_again = mapping(state.get("waiting")).get("reason") == "CrashLoopBackOff"
        ended = mapping(mapping(item.get("lastState" if is_again else "state")).get("terminated"))
        if _of_container(item, ""):
            is_said = ended.get("exitCode") and ended.get("reason") not in _UNSTARTED
            lines = text(ended.get("message")).split("\n") if is_said else []
            return next((line.strip() for line in reversed(lines) if line.strip()), "")
    return ""


def of_creation(message: str) -> str:
    """Return why pods are not made, of what their controller says about it."""
    if match := _QUOTA.search(message):
        return f"its pods are not made: beyond quota {match[1]}"
    if match := _WEBHOOK.search(message):
        return f"its pods are refused by webhook {match[1]}: {match[2]}"
    if match := _CALLING.search(message):
        return f"its pods are not made: webhook {match[1]} cannot be called: {match[2]}"
    if match := _SECURITY.search(message):
        return f"its pods are refused by the namespace's Pod Security level {match[1]}: {match[2]}"
    return f"its pods are not made: {_CREATING.sub('', message)}"


def unschedulable(message: str) -> str:
    """Return the scheduler's words, shorter."""
    match = _NODES.match(message)
    if not match:
        return f"no node fits: {message}"
    reasons = _INSUFFICIENT.sub(r"\1 have too little \2", match[2]).replace("node(s) ", "")
    return f"no node fits: of {match[1]}, {reasons}" if match[1] != "0" else "no node fits: there are none"


def _of_whole(pod: Object, status: Object) -> str:
    """Return what a pod says of itself as a whole."""
    disrupted, scheduled = condition(pod, "DisruptionTarget"), condition(pod, "PodScheduled")
    if status.get("phase") == "Failed":
        if status.get("reason") == "Evicted" or disrupted.get("status") == "True":
            why = text(status.get("message")) or text(disrupted.get("message")) or text(disrupted.get("reason"))
            return f"evicted: {why.strip()}"
        if reason := text(status.get("reason")):
            return f"{reason}: {text(status.get('message'))}".removesuffix(": ")
    if scheduled.get("reason") == "SchedulingGated":
        gates = [text(gate.get("name")) for gate in mappings(mapping(pod.get("spec")).get("schedulingGates"))]
        return f"waits until its gate {', '.join(gates)} is lifted"
    if scheduled.get("status") == "False":
        return unschedulable(text(scheduled.get("message")))
    return _unscheduled(pod) if not scheduled and status.get("phase") == "Pending" else ""


def _unscheduled(pod: Object) -> str:
    """Return what a pod waits for of which no scheduler says anything: claims of devices, a scheduler of its own."""
    spec = mapping(pod.get("spec"))
    name = text(spec.get("schedulerName"))
    if spec.get("nodeName") or spec.get("schedulingGates"):
        return ""
    if claims := [_device_claim(resource_claim) for resource_claim in mappings(spec.get("resourceClaims"))]:
        return f"waits for {', '.join(claims)}"
    if name in ("", _SCHEDULER):
        return ""
    return f"waits for scheduler {name}, which has said nothing of it"


def _device_claim(claim: Object) -> str:
    template = f"a ResourceClaim by ResourceClaimTemplate {text(claim.get('resourceClaimTemplateName'))}"
    return f"ResourceClaim {name}" if (name := text(claim.get("resourceClaimName"))) else template


def _of_containers(pod: Object) -> Iterator[str]:
    spec = mapping(pod.get("spec"))
    limits = {
        text(item.get("name")): text(mapping(mapping(item.get("resources")).get("limits")).get("memory"))
        for key in ("initContainers", "containers")
        for item in mappings(spec.get(key))
    }
    several = len(limits) > 1
    for container in statuses(pod):
        name = text(container.get("name"))
        if trouble := _of_container(container, limits.get(name, "")):
            yield f"container {name}: {trouble}" if several else trouble


def _of_container(item: Object, limit: str) -> str:
    state, last = mapping(item.get("state")), mapping(item.get("lastState"))
    waiting, ended = mapping(state.get("waiting")), mapping(state.get("terminated"))
    reason, message = text(waiting.get("reason")), text(waiting.get("message"))
    if reason in _IMAGE:
        return f"image cannot be pulled: {_cause(text(item.get('image')), reason, message)}"
    if reason == "CrashLoopBackOff":
        why = _ending(mapping(last.get("terminated")), limit) or "it ended well, and must not end"
        return f"crash loop: {why}, started again {item.get('restartCount')} times"
    if reason not in _BEFORE:
        return f"{reason}: {message}".removesuffix(": ")
    return _ending(ended, limit)


def _ending(ended: Object, limit: str) -> str:
    """Return how a container failed; an empty text where it did not."""
    code = ended.get("exitCode")
    if not isinstance(code, int) or not code:
        return ""
    if ended.get("reason") == "OOMKilled":
        return "out of memory" + (f": more than its limit of {limit}" if limit else "")
    if ended.get("reason") in _UNSTARTED:
        return f"it cannot be started: {text(ended.get('message'))}"
    signal = f" (signal {code - _SIGNALED})" if _SIGNALED < code < _SIGNALED + 65 else ""
    return f"exit code {code}{signal}"


def _cause(image: str, reason: str, message: str) -> str:
    """Return why an image cannot be pulled; the name of an image must not be taken for a cause."""
    detail = message.rpartition(" desc = ")[2]
    whole = f"{reason}: {detail.replace(image, '')}" if image else f"{reason}: {detail}"
    cause = next((words.replace("{}", image) for pattern, words in _CAUSES if pattern.search(whole)), "")
    return cause or f"{image}: {detail or reason}"


def _preparing(pod: Object) -> str:
    """Return which container still prepares a pod, before those that count."""
    spec, status = mapping(pod.get("spec")), mapping(pod.get("status"))
    lasting = {
        item.get("name") for item in mappings(spec.get("initContainers")) if item.get("restartPolicy") == "Always"
    }
    for item in mappings(status.get("initContainerStatuses")):
        if "running" in mapping(item.get("state")) and item.get("name") not in lasting:
            return f"its init container {text(item.get('name'))} has not ended yet"
    return ""


def _unready(pod: Object) -> str:
    """Return that a pod is not ready, with what its node's end, or a gate, says of it: ``NodeLost``."""
    status, ready = mapping(pod.get("status")), condition(pod, "Ready")
    of_gates = text(ready.get("message")) if ready.get("reason") == "ReadinessGatesNotReady" else ""
    why = ": ".join(filter(None, (text(status.get("reason")), text(status.get("message")), of_gates)))
    return f"runs, and is not ready{f': {why}' if why else ''}" if status.get("phase") == "Running" else ""


def statuses(pod: Object) -> list[Object]:
    """Return the states of containers, those that come first in a pod's life first."""
    status = mapping(pod.get("status"))
    return [item for key in ("initContainerStatuses", "containerStatuses") for item in mappings(status.get(key))]
