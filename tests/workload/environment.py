"""What a container's process is given by the rules of Kubernetes: its variables, and its words.

command: [echo, $(DIR), $$(DIR), $(NONE)]   with DIR=/data runs   echo /data '$(DIR)' '$(NONE)'
"""

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any

#: One object, or a part of one, as YAML gives it.
Object = dict[str, Any]

_REFERENCE = re.compile(r"\$\$|\$\(([^)]*)\)")
_FIELD = re.compile(r"(metadata|spec|status)\.(\w+)(?:\['([^']*)'\])?")


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Replace ``$(NAME)``, once; ``$$`` is a dollar sign, and a name that is not known stays as it is."""
    return _REFERENCE.sub(lambda match: "$" if match[1] is None else variables.get(match[1], match[0]), text)


def environment(container: Object, pod: Object, objects: Sequence[Object]) -> dict[str, str]:
    """Return the variables of ``envFrom``, and over them those of ``env``, which may refer to all before them."""
    variables: dict[str, str] = {}
    for source in container.get("envFrom", []):
        for kind in ("ConfigMap", "Secret"):
            if reference := source.get(f"{kind[0].lower()}{kind[1:]}Ref"):
                variables |= {key: value.decode() for key, value in data(objects, kind, reference).items()}
    for variable in container.get("env", []):
        value = _value(variable, variables, pod, objects)
        if value is not None:
            variables[variable["name"]] = value
    return variables


def _value(variable: Object, variables: Mapping[str, str], pod: Object, objects: Sequence[Object]) -> str | None:
    if "valueFrom" not in variable:
        return expand(variable.get("value") or "", variables)
    ((source, reference),) = variable["valueFrom"].items()
    if source == "fieldRef":
        return field(pod, reference["fieldPath"])
    kind = {"configMapKeyRef": "ConfigMap", "secretKeyRef": "Secret"}[source]
    value = data(objects, kind, reference).get(reference["key"])
    assert value is not None or reference.get("optional"), f"{kind} {reference['name']} has no key {reference['key']}"
    return None if value is None else value.decode()


def field(pod: Object, path: str) -> str:
    """Return what the downward API gives for ``metadata.labels['app']``, ``status.podIP`` and the like."""
    match = _FIELD.fullmatch(path)
    assert match, path
    value: Any = pod.get(match[1], {}).get(match[2], {} if match[3] else "")
    return str(value.get(match[3], "") if match[3] else value)


def words(container: Object, variables: Mapping[str, str]) -> list[str]:
    """Return the container's command line; without ``command`` it is its image's, which nobody here knows."""
    return [expand(word, variables) for word in [*container["command"], *container.get("args", [])]]


def data(objects: Sequence[Object], kind: str, reference: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the keys of a ConfigMap or a Secret, of the last that has the name."""
    name = reference.get("name") or reference.get("secretName")
    named = [item for item in objects if (item["kind"], item["metadata"]["name"]) == (kind, name)]
    assert named or reference.get("optional"), f"there is no {kind} {name}"
    (item,) = named[-1:] or [{}]
    coded, plain = ("binaryData", "data") if kind == "ConfigMap" else ("data", "stringData")
    decoded = {key: base64.b64decode(value) for key, value in (item.get(coded) or {}).items()}
    return decoded | {key: value.encode() for key, value in (item.get(plain) or {}).items()}
