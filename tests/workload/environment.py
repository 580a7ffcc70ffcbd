"""What a container's process is given, by the rules of Kubernetes 1.34: its environment, and its words.

    command: [echo, $(DIR), $$(DIR), $(NONE)]   with DIR=/data runs   echo /data '$(DIR)' '$(NONE)'

Of `pkg/kubelet/kubelet_pods.go`, `makeEnvironmentVariables`, and `third_party/forked/golang/expansion`. Variables
that name the Services of the namespace are left out; nothing of ours reads them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from workload.objects import Object, Objects, RefusedError

_REFERENCE = re.compile(r"\$\$|\$\(([^)]*)\)")
_FIELD = re.compile(r"(metadata|spec|status)\.(\w+)(?:\['([^']*)'\])?")


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Replace ``$(NAME)``, once; ``$$`` is a dollar sign, and a name that is not known stays as it is."""
    return _REFERENCE.sub(
        lambda match: "$" if match[1] is None else variables.get(match[1], match[0]),
        text,
    )


def environment(container: Object, pod: Object, objects: Objects) -> dict[str, str]:
    """Return the variables of ``envFrom``, and over them those of ``env``, which may refer to all before them."""
    variables: dict[str, str] = {}
    for source in container.get("envFrom", []):
        for field, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
            if field in source:
                found = objects.data(kind, source[field])
                variables |= {source.get("prefix", "") + key: value.decode() for key, value in found.items()}
    for variable in container.get("env", []):
        value = _value(variable, variables, pod, objects)
        if value is not None:
            variables[variable["name"]] = value
    return variables


def _value(variable: Object, variables: Mapping[str, str], pod: Object, objects: Objects) -> str | None:
    if "valueFrom" not in variable:
        return expand(variable.get("value") or "", variables)
    ((source, reference),) = variable["valueFrom"].items()
    if source == "fieldRef":
        return field(pod, reference["fieldPath"])
    if source in ("configMapKeyRef", "secretKeyRef"):
        kind = "ConfigMap" if source == "configMapKeyRef" else "Secret"
        found = objects.data(kind, reference).get(reference["key"])
        if found is None and not reference.get("optional"):
            raise RefusedError(f"couldn't find key {reference['key']} in {kind} {reference['name']}")
        return None if found is None else found.decode()
    raise NotImplementedError(f"{variable['name']}: valueFrom.{source}")


def field(pod: Object, path: str) -> str:
    """Return what the downward API gives for ``metadata.labels['app']``, ``status.podIP`` and the like."""
    match = _FIELD.fullmatch(path)
    if match is None:
        raise RefusedError(f"unsupported fieldPath: {path}")
    value: Any = pod.get(match[1], {}).get(match[2], {} if match[3] else "")
    return str(value.get(match[3], "") if match[3] else value)


def words(container: Object, variables: Mapping[str, str]) -> list[str]:
    """Return the container's command line; without ``command`` it is its image's, which nobody here knows."""
    if not container.get("command"):
        raise RefusedError(f"container {container['name']!r} has no command")
    return [expand(word, variables) for word in [*container["command"], *container.get("args", [])]]
