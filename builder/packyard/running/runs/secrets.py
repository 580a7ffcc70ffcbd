"""Texts of objects that look like secrets, and that everybody sees who may read these objects.

Looked at are texts by their names, in the data of ConfigMaps, in variables and in flags of commands; and any text by
what it looks like. The data of Secrets are no concern here.
"""

import re
from collections.abc import Iterator
from typing import Any

from packyard.core.kubernetes import plain_secrets
from packyard.core.kubernetes.kinds import CORE, kind_of
from packyard.core.kubernetes.lenient import Object, mapping, text

_FLAG = re.compile(r"--?(?P<name>[A-Za-z][\w.-]*)=(?P<value>.+)", re.DOTALL)


def find(item: Object) -> list[str]:
    """Return the path of each text that looks like a secret: ``data.WANDB_API_KEY``."""
    kind = kind_of(item)
    return [] if kind == (CORE, "Secret") else [*_find(item, "", "", is_map=kind == (CORE, "ConfigMap"))]


def _find(value: Any, path: str, name: str, *, is_map: bool) -> Iterator[str]:
    """Yield the paths below one; ``name`` is that of a variable, or of an entry of a ConfigMap, whose text it is."""
    if isinstance(value, str) and _is_secret(name, value):
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        called = str(key) if is_map and path == "data" else text(mapping(value).get("name")) if key == "value" else ""
        yield from _find(member, f"{path}.{key}".removeprefix("."), called, is_map=is_map)


def _is_secret(name: str, text: str) -> bool:
    flag = None if name else _FLAG.fullmatch(text)
    called, value = (flag["name"], flag["value"]) if flag else (name, text)
    is_named = plain_secrets.is_name(re.sub(r"[-.]", "_", called).upper())
    return bool(is_named and plain_secrets.is_value(value) and "$(" not in value) or bool(plain_secrets.find(text))
