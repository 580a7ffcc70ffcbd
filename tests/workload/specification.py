"""What a pod says of one of its containers, as `container.py` takes it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workload import environment, volume
from workload.image import PATH
from workload.objects import Object, Objects, RefusedError
from workload.pod import Pod

#: What a container runtime leaves to a container that drops nothing.
_CAPABILITIES = {
    *("audit_write", "chown", "dac_override", "fowner", "fsetid", "kill", "mknod", "net_bind_service", "net_raw"),
    *("setfcap", "setgid", "setpcap", "setuid", "sys_chroot"),
}


def specification(container: Object, pod: Pod, objects: Objects, layer: Path) -> dict[str, Any]:
    """Return who the first process is, what it runs, and what it sees of the disk; or refuse, as a kubelet does."""
    spec = pod.described["spec"]
    context = {**(spec.get("securityContext") or {}), **(container.get("securityContext") or {})}
    user, group = context.get("runAsUser", 0), context.get("runAsGroup", 0)
    if context.get("runAsNonRoot") and not user:
        raise RefusedError("container has runAsNonRoot and image will run as root")
    dropped = {name.lower() for name in context.get("capabilities", {}).get("drop", [])}
    added = {name.lower() for name in context.get("capabilities", {}).get("add", [])}
    variables = environment.environment(container, pod.described, objects)
    return {
        "layer": str(layer),
        "path": PATH,
        "hostname": pod.hostname,
        "environment": variables,
        "words": environment.words(container, variables),
        "workingDir": container.get("workingDir", "/"),
        "readOnlyRoot": context.get("readOnlyRootFilesystem", False),
        "user": user,
        "group": group,
        "groups": sorted({*context.get("supplementalGroups", []), *_fs_group(context)}),
        "capabilities": sorted((set() if "all" in dropped else _CAPABILITIES - dropped) | added),
        "noNewPrivileges": context.get("allowPrivilegeEscalation") is False,
        "mounts": [
            {"source": str(pod.hosts_file), "target": "/etc/hosts", "readOnly": False},
            {"source": str(pod.records_dirs[container["name"]]), "target": "/.records", "readOnly": False},
            *(_mount(each, pod, variables) for each in container.get("volumeMounts", [])),
        ],
    }


def _mount(mount: Object, pod: Pod, variables: Mapping[str, str]) -> dict[str, Any]:
    source = pod.volumes[mount["name"]]
    inner = environment.expand(mount["subPathExpr"], variables) if "subPathExpr" in mount else mount.get("subPath", "")
    kinds = {each["name"]: volume.source(each) for each in pod.described["spec"]["volumes"]}
    if inner and not volume.may_resolve(kinds[mount["name"]], source):
        raise RefusedError(f'failed to prepare subPath for volumeMount "{mount["name"]}": permission denied')
    if inner and not (source / inner).exists():
        (source / inner).mkdir(parents=True, mode=source.stat().st_mode & 0o7777)
    return {
        "source": str((source / inner).resolve()),
        "target": mount["mountPath"],
        "readOnly": mount.get("readOnly", False) or volume.is_read_only(kinds[mount["name"]]),
    }


def _fs_group(context: Mapping[str, Any]) -> list[int]:
    return [context["fsGroup"]] if "fsGroup" in context else []
