"""A pod's volumes as folders of this machine, with the owners and modes that a kubelet gives them."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from workload import environment
from workload.environment import Object

#: Storage that outlives the pod, and that two pods may share.
STORAGE = "persistentVolumeClaim"
#: What a kubelet writes, and a container only reads.
WRITTEN = ("configMap", "secret", "downwardAPI")


def source(volume: Object) -> str:
    """Return the kind of a volume: the one field beside its name."""
    return next((key for key in volume if key != "name"), "emptyDir")


def lay(volume: Object, pod: Object, objects: Sequence[Object], folder: Path) -> None:
    """Fill the folder of a volume, and let the pod's user, or the group that ``fsGroup`` names, get at it."""
    kind, context = source(volume), pod["spec"].get("securityContext") or {}
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "emptyDir":
        folder.chmod(0o777)
    elif kind in WRITTEN:
        for path, content, mode in _files(kind, volume[kind], volume[kind].get("defaultMode", 0o644), pod, objects):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
            (folder / path).chmod(mode)
    if "fsGroup" in context:
        for each in [folder, *folder.rglob("*")]:
            os.lchown(each, -1, context["fsGroup"])
            added = 0o2550 if each.is_dir() else 0o440
            if not each.is_symlink():
                each.chmod(each.stat().st_mode | (added if kind in WRITTEN else added | 0o220))


def _files(
    kind: str, spec: Object, mode: int, pod: Object, objects: Sequence[Object]
) -> Iterator[tuple[str, bytes, int]]:
    if kind == "downwardAPI":
        for item in spec["items"]:
            yield item["path"], environment.field(pod, item["fieldRef"]["fieldPath"]).encode(), mode
    else:
        content = environment.data(objects, "ConfigMap" if kind == "configMap" else "Secret", spec)
        for item in spec.get("items", [{"key": key, "path": key} for key in content]):
            yield item["path"], content[item["key"]], item.get("mode", mode)
