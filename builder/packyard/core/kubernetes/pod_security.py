"""The Pod Security level that a namespace may enforce and still admit some pods.

Source of the rules: Kubernetes' Pod Security Standards, v1.31, without those for Windows. A field that still has to be
set (``""``) is accepted by every rule.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes.lenient import Object, mapping, mappings, text
from packyard.core.kubernetes.pods import Pod

_BASELINE_CAPABILITIES = {
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
    *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
}
_RESTRICTED_VOLUMES = {
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image"),
    *("persistentVolumeClaim", "projected", "secret"),
}
_SELINUX_TYPES = {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}
_SAFE_SYSCTLS = {"kernel.shm_rmid_forced"} | {
    f"net.ipv4.{name}"
    for name in (
        *("ip_local_port_range", "ip_local_reserved_ports", "ip_unprivileged_port_start", "ping_group_range"),
        *("tcp_fin_timeout", "tcp_keepalive_intvl", "tcp_keepalive_probes", "tcp_keepalive_time", "tcp_syncookies"),
    )
}


#: The levels of Pod Security, the strictest first.
LEVELS = ("restricted", "baseline", "privileged")


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """``restricted``, ``baseline`` or ``privileged``, and what the next stricter level objects to."""

    name: str
    objections: tuple[str, ...]


def find(pods: Sequence[Pod[Object]]) -> Level | None:
    """Return the strictest level that admits all pods, or None if there are none."""
    if not pods:
        return None
    for name, rules in zip(reversed(LEVELS), (_baseline, _restricted), strict=False):
        if objections := {objection for pod in pods for objection in rules(pod)}:
            return Level(name=name, objections=tuple(sorted(objections)))
    return Level(name=LEVELS[0], objections=())


def _baseline(pod: Pod[Object]) -> Iterator[str]:
    """Yield what ``baseline`` forbids in a pod."""
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(field) is True:
            yield f"{field} is on"
    for volume in pod.volumes:
        if "hostPath" in volume:
            yield f"volume {_name(volume)} is a hostPath"
    yield from _baseline_context("the pod", mapping(pod.get("securityContext")))
    for container in pod.containers:
        who = f"container {_name(container)}"
        yield from _baseline_context(who, mapping(container.get("securityContext")))
        if any(isinstance(port.get("hostPort"), int) and port["hostPort"] for port in mappings(container.get("ports"))):
            yield f"{who} has a hostPort"


def _baseline_context(who: str, context: Object) -> Iterator[str]:
    """Yield objections to the security context of a pod, which lacks some of the fields, or of a container."""
    if context.get("privileged") is True:
        yield f"{who} is privileged"
    if added := _added(context) - _BASELINE_CAPABILITIES:
        yield f"{who} adds the capabilities {', '.join(sorted(added))}"
    if text(context.get("procMount")) not in ("", "Default"):
        yield f"{who} changes procMount"
    for field in ("seccompProfile", "appArmorProfile"):
        if mapping(context.get(field)).get("type") == "Unconfined":
            yield f"{who} has an unconfined {field}"
    selinux = mapping(context.get("seLinuxOptions"))
    if text(selinux.get("type")) not in _SELINUX_TYPES or text(selinux.get("user")) or text(selinux.get("role")):
        yield f"{who} changes seLinuxOptions"
    for sysctl in mappings(context.get("sysctls")):
        if text(sysctl.get("name")) not in _SAFE_SYSCTLS | {""}:
            yield f"{who} sets the sysctl {sysctl['name']}"


def _restricted(pod: Pod[Object]) -> Iterator[str]:
    """Yield what ``restricted`` forbids in a pod, beyond ``baseline``."""
    for volume in pod.volumes:
        for kind in sorted({str(key) for key in volume} - {"name"} - _RESTRICTED_VOLUMES):
            yield f"volume {_name(volume)} is of the type {kind}"
    context = mapping(pod.get("securityContext"))
    if context.get("runAsUser") == 0:
        yield "the pod runs as user 0"
    for container in pod.containers:
        for objection in _restricted_container(mapping(container.get("securityContext")), context):
            yield f"container {_name(container)} {objection}"


def _restricted_container(own: Object, pod: Object) -> Iterator[str]:
    """Yield objections to a container by its ``own`` security context and the ``pod``'s, which it falls back to."""
    if own.get("allowPrivilegeEscalation") not in (False, ""):
        yield "does not set allowPrivilegeEscalation: false"
    if "ALL" not in _texts(mapping(own.get("capabilities")).get("drop")):
        yield "does not drop the capabilities ALL"
    if added := _added(own) - {"NET_BIND_SERVICE"}:
        yield f"adds the capabilities {', '.join(sorted(added))}"
    if _either(own, pod, "runAsNonRoot") not in (True, ""):
        yield "does not set runAsNonRoot: true"
    if own.get("runAsUser") == 0:
        yield "runs as user 0"
    if mapping(_either(own, pod, "seccompProfile")).get("type") not in ("RuntimeDefault", "Localhost", ""):
        yield "does not set seccompProfile"


def _either(own: Object, pod: Object, field: str) -> object:
    value = own.get(field)
    return pod.get(field) if value is None else value


def _added(context: Object) -> set[str]:
    return _texts(mapping(context.get("capabilities")).get("add"))


def _texts(value: object) -> set[str]:
    return {item for item in value if isinstance(item, str) and item} if isinstance(value, list) else set()


def _name(item: Object) -> str:
    return text(item.get("name")) or "without a name"
