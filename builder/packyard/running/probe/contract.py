"""What a container finds in its image, on its volumes and around it when all is well, as its command and variables say.

    command: [python3, $(MODEL_DIR)/train.py]                  program python3, file $(MODEL_DIR)/train.py
    DATASET_DIR: /data/set      below a read-only mount        read $(DATASET_DIR)
    OUTPUT_DIR: /pvc/user/run   below a mount                  write $(OUTPUT_DIR)

What is looked for is written as the pod writes it, with its variables. Nothing of this is known of a single package,
and what a shell's script starts is not read out of it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from packyard.core.kubernetes.lenient import Object, mapping, mappings, name_of, text, type_of

#: The functions of `probe.sh`.
Kind = Literal["program", "file", "read", "write", "name"]

_FILE = re.compile(r"[^\s;&|{}]+\.(?:sh|py)\Z")
_HOST = re.compile(r"\bhttps?://(?:[^/@\s]*@)?([A-Za-z0-9.-]*[A-Za-z][A-Za-z0-9.-]*)")
_REFERENCE = re.compile(r"\$\$|\$\(([^)]*)\)")
#: Volumes that are there before a pod and after it.
_LASTING = ("persistentVolumeClaim", "nfs", "hostPath", "csi")
_MOST = 60  # what is looked for in one container, whose last words a kubelet cuts off at 4 KiB


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to look for: ``word`` is given to the probe, ``about`` names it to people."""

    kind: Kind
    word: str
    about: str


def find(container: Object, volumes: Sequence[Object], values: Mapping[str, str]) -> tuple[Check, ...]:
    """Return what a container needs whose pod has these volumes, and that has these variables."""
    lists = (container.get(field) for field in ("command", "args"))
    words = [word for each in lists if isinstance(each, list) for word in each if isinstance(word, str)]
    sources = {text(each.get("name")): each for each in volumes}
    mounted = {text(each.get("mountPath")): each for each in mappings(container.get("volumeMounts"))}
    of_mounts = {path: sources.get(text(each.get("name")), {}) for path, each in mounted.items()}
    lasting = {path for path, source in of_mounts.items() if any(kind in source for kind in _LASTING)}
    empty = [path for path, source in of_mounts.items() if "emptyDir" in source]
    here = text(container.get("workingDir"))
    checks = [Check("program", word, _expanded(word, values)) for word in words[:1]]
    files = {word: _expanded(word, values) for word in words[1:] if _FILE.match(word)}
    checks += [
        Check("file", word, file)
        for word, file in files.items()
        if not any(_holds(each, posixpath.join(here, file)) for each in empty)
    ]
    checks += _folders({path: mounted[path].get("readOnly") is True for path in lasting}, values)
    hosts = [host for value in (*values.values(), *words) for host in _HOST.findall(_expanded(value, values))]
    checks += [Check("name", host, host) for host in hosts]
    return tuple(dict.fromkeys(each for each in checks if "{{" not in each.word))[:_MOST]  # a parameter of Argo


def values_of(container: Object, objects: Sequence[Object]) -> dict[str, str]:
    """Return the variables of a container that are written out, in it or in a ConfigMap among ``objects``."""
    maps = {name_of(item): mapping(item.get("data")) for item in objects if type_of(item) == ("v1", "ConfigMap")}
    values: dict[str, str] = {}
    for source in mappings(container.get("envFrom")):
        named = maps.get(text(mapping(source.get("configMapRef")).get("name")), {})
        values |= {text(source.get("prefix")) + key: text(value) for key, value in named.items()}
    for variable in mappings(container.get("env")):
        reference = mapping(mapping(variable.get("valueFrom")).get("configMapKeyRef"))
        if "value" in variable:
            values[text(variable.get("name"))] = _expanded(text(variable["value"]), values)
        elif (value := maps.get(text(reference.get("name")), {}).get(text(reference.get("key")))) is not None:
            values[text(variable.get("name"))] = text(value)
    return values


def _expanded(value: str, values: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda match: "$" if match[1] is None else values.get(match[1], match[0]), value)


def _folders(mounts: Mapping[str, bool], values: Mapping[str, str]) -> Iterator[Check]:
    """Yield the folders of storage that variables name."""
    for name, value in values.items():
        holder = max((each for each in mounts if _holds(each, value)), key=len, default="")
        if holder:
            yield Check("read" if mounts[holder] else "write", f"$({name})", f"{name} {value}")


def _holds(folder: str, path: str) -> bool:
    return f"{posixpath.normpath(path)}/".startswith(posixpath.normpath(folder).rstrip("/") + "/")
