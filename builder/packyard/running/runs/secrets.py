"""Texts of objects that look like secrets, and that everybody sees who may read these objects.

Looked at are texts by their names, in the data of ConfigMaps, in variables and in flags of commands; and any text by
what it looks like. The data of Secrets are no concern here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from packyard.core.kubernetes import plain_secrets
from packyard.core.kubernetes.kinds import CORE
from packyard.core.kubernetes.lenient import Object, kind_of

_FLAG = re.compile(r"--?(?P<name>[A-Za-z][\w.-]*)=(?P<value>.+)", re.DOTALL)


def find(item: Object) -> list[tuple[str, str]]:
    """Return the path of each text that looks like a secret, ``data.WANDB_API_KEY``, and the text."""
    if kind_of(item) == (CORE, "Secret"):
        return []
    is_map = kind_of(item) == (CORE, "ConfigMap")
    return [(path, text) for path, name, text in _texts(item, "", is_map=is_map) if _is_secret(name, text)]


def hidden(item: Object) -> Any:
    """Return an object with an ellipsis in place of each such text."""
    return _replaced(item, {text for _, text in find(item)})


def _texts(value: Any, path: str, *, is_map: bool) -> Iterator[tuple[str, str, str]]:
    """Yield each text with its path, and its name where it is in a ConfigMap or is the value of a variable."""
    if isinstance(value, str):
        yield path, path.removeprefix("data.") if is_map and path.startswith("data.") else "", value
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _texts(member, f"{path}.{number}", is_map=is_map)
    elif isinstance(value, dict):
        called = value.get("name")
        for key, member in value.items():
            inside = f"{path}.{key}".removeprefix(".")
            if key == "value" and isinstance(member, str) and isinstance(called, str):
                yield inside, called, member
            else:
                yield from _texts(member, inside, is_map=is_map)


def _is_secret(name: str, text: str) -> bool:
    flag = None if name else _FLAG.fullmatch(text)
    called, value = (flag["name"], flag["value"]) if flag else (name, text)
    is_named = plain_secrets.is_name(re.sub(r"[-.]", "_", called).upper())
    return bool(is_named and plain_secrets.is_value(value) and "$(" not in value) or bool(plain_secrets.find(text))


def _replaced(value: Any, texts: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(each, texts) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, texts) for each in value]
    return "…" if isinstance(value, str) and value in texts else value
