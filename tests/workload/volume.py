"""A pod's volumes as directories of this machine, with the owners and modes that a kubelet gives them.

ConfigMaps and Secrets are written as its AtomicWriter does, behind two symbolic links, and belong to root. `fsGroup`
changes the group of everything but network file systems and host paths (`pkg/volume/volume_linux.go`); what is
read-only to begin with becomes readable for the group, and so does a private key of mode 0600.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from workload import environment
from workload.objects import Object, Objects

#: Storage that outlives the pod, and that two pods may share.
STORAGE = ("persistentVolumeClaim", "nfs", "hostPath", "csi")
#: Storage whose owners no kubelet changes.
_FOREIGN = ("nfs", "hostPath")

_READ, _WRITE, _ENTER = 0o440, 0o660, 0o110

#: A file by its path, with its content and mode.
_File = tuple[str, tuple[bytes, int]]


def source(volume: Object) -> str:
    """Return the kind of a volume: the one field beside its name."""
    kinds = [key for key in volume if key != "name"]
    return kinds[0] if kinds else "emptyDir"


def lay(volume: Object, pod: Object, objects: Objects, folder: Path) -> Path:
    """Make a volume that lives as long as its pod."""
    kind = source(volume)
    folder.mkdir(parents=True)
    if kind == "emptyDir":
        folder.chmod(0o777)
    elif kind != "ephemeral":  # a disk of its own, whose file system is root's
        _write(folder, dict(_files(kind, volume[kind], volume[kind].get("defaultMode", 0o644), pod, objects)))
    return folder


def admit(kind: str, pod: Object, folder: Path) -> None:
    """Let the user of a pod write to storage that no kubelet touches, as its administrator does, and nobody else.

    An export is a directory of the user's group (mode 2770) whose server takes root for nobody (root_squash).
    """
    context = pod["spec"].get("securityContext") or {}
    if kind == "nfs":
        os.chown(folder, -1, context.get("runAsGroup", 0))
        folder.chmod(0o2770)
    elif kind == "hostPath":
        os.chown(folder, context.get("runAsUser", 0), -1)
        folder.chmod(0o755)


def may_resolve(kind: str, folder: Path) -> bool:
    """Say whether a kubelet, which is root, may look for a subPath: on an export it is nobody."""
    return kind != "nfs" or bool(folder.stat().st_mode & stat.S_IXOTH)


def is_read_only(kind: str) -> bool:
    """Say whether a kubelet mounts what is of this kind for nobody to write to, whatever the mount says."""
    return kind not in ("emptyDir", "ephemeral", *STORAGE)


def share(pod: Object, kind: str, folder: Path) -> None:
    """Give a volume to the group of the pod's ``fsGroup``, unless it has it already and the pod minds only that."""
    context = pod["spec"].get("securityContext") or {}
    group = context.get("fsGroup")
    if group is None or kind in _FOREIGN:
        return
    read_only = is_read_only(kind)
    if context.get("fsGroupChangePolicy") == "OnRootMismatch" and _matches(folder, group, read_only):
        return
    for path in [*folder.rglob("*"), folder]:
        os.lchown(path, -1, group)
        if not path.is_symlink():
            path.chmod(stat.S_IMODE(path.stat().st_mode) | _mask(read_only, path.is_dir()))


def _matches(folder: Path, group: int, read_only: bool) -> bool:
    found, wanted = folder.stat(), _mask(read_only, True)
    return found.st_gid == group and found.st_mode & wanted == wanted


def _mask(read_only: bool, is_dir: bool) -> int:
    return (_READ if read_only else _WRITE) | (_ENTER | stat.S_ISGID if is_dir else 0)


def _files(kind: str, spec: Object, mode: int, pod: Object, objects: Objects) -> Iterator[_File]:
    if kind == "projected":
        for each in spec["sources"]:
            yield from _files(source(each), each[source(each)], mode, pod, objects)
    elif kind == "downwardAPI":
        for item in spec["items"]:
            text = environment.field(pod, item["fieldRef"]["fieldPath"])
            yield item["path"], (text.encode(), item.get("mode", mode))
    elif kind in ("configMap", "secret"):
        data = objects.data("ConfigMap" if kind == "configMap" else "Secret", spec)
        for item in spec.get("items", [{"key": key, "path": key} for key in data]):
            yield item["path"], (data[item["key"]], item.get("mode", mode))
    else:
        raise NotImplementedError(f"volume {kind}")


def _write(folder: Path, files: Mapping[str, tuple[bytes, int]]) -> None:
    payload = folder / "..2026_01_01_00_00_00.0000000000"
    for path, (data, mode) in files.items():
        file = payload / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        file.chmod(mode)
        top = Path(path).parts[0]
        if not (folder / top).is_symlink():
            (folder / top).symlink_to(f"..data/{top}")
    payload.mkdir(exist_ok=True)
    (folder / "..data").symlink_to(payload.name)
