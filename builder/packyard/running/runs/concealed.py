"""What looks like a secret in the objects of a run, kept apart from what everybody may read of it.

    - kind: ConfigMap                          - kind: ConfigMap
      data: {WANDB_API_KEY: abc, EPOCHS: "3"}    data: {WANDB_API_KEY: "", EPOCHS: "3"}    /0/data/WANDB_API_KEY: abc

Looked at are texts by their names, in the data of ConfigMaps, in variables and in flags of commands; and any text by
what it looks like. A place is a JSON pointer (RFC 6901) into the list of objects.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from packyard.core.errors import IntegrityError, Problem
from packyard.core.kubernetes import plain_secrets
from packyard.core.kubernetes.kinds import CORE
from packyard.core.kubernetes.lenient import kind_of, name_of
from packyard.core.yaml.pointer import pointer, steps
from packyard.running.runs.run import Object

#: What stands for a text that is not the one on the cluster.
OTHER = "***"
_FLAG = re.compile(r"--?(?P<name>[A-Za-z][\w.-]*)=(?P<value>.+)", re.DOTALL)
_Keys = tuple["str | int", ...]


def split(objects: Sequence[Object]) -> tuple[list[Object], dict[str, str]]:
    """Return objects with empty texts in place of what looks like a secret, and these texts by their places."""
    texts = {pointer((number, *keys)): text for number, item in enumerate(objects) for keys, text in _secrets(item)}
    return (_filled(objects, dict.fromkeys(texts, "")) if texts else list(objects)), texts


def join(objects: Sequence[Object], texts: Mapping[str, str], file: str) -> list[Object]:
    """Return objects as they were before `split`; ``file`` names their record where that does not fit them."""
    try:
        if all(_at(objects, steps(place)) == "" for place in texts):
            return _filled(objects, texts)
    except (LookupError, ValueError, TypeError):
        pass
    raise IntegrityError(Problem("names places of secrets that its objects do not have", file=file))


def compared(objects: Sequence[Object], there: Sequence[Mapping[str, Any]]) -> list[Object]:
    """Return what `split` does, with a mark in place of each secret that the object at its place ``there`` lacks."""
    cleared, texts = split(objects)
    return _filled(cleared, {place: OTHER for place, text in texts.items() if not _is_there(there, place, text)})


def named(objects: Sequence[Object], places: Sequence[str]) -> list[str]:
    """Return the places for people: ``ConfigMap settings: data.WANDB_API_KEY``."""
    names = []
    for number, *keys in map(steps, places):
        item = objects[int(number)]
        names.append(f"{kind_of(item)[1]} {name_of(item)}: {'.'.join(map(str, keys))}")
    return names


def is_secret(name: str, text: str) -> bool:
    """Say whether a text, which has a name or none, looks like a secret."""
    flag = None if name else _FLAG.fullmatch(text)
    called, value = (flag["name"], flag["value"]) if flag else (name, text)
    is_named = plain_secrets.is_name(re.sub(r"[-.]", "_", called).upper())
    return bool(is_named and plain_secrets.is_value(value) and "$(" not in value) or bool(plain_secrets.find(text))


def _is_there(there: Sequence[Mapping[str, Any]], place: str, text: str) -> bool:
    try:
        return bool(_at(there, steps(place)) == text)
    except (LookupError, ValueError, TypeError):
        return False


def _secrets(item: Object) -> Iterator[tuple[_Keys, str]]:
    """Yield what looks like a secret in an object; the data of Secrets are no concern here."""
    if kind_of(item) == (CORE, "Secret"):
        return
    is_map = kind_of(item) == (CORE, "ConfigMap")
    for keys, name, text in _texts(item, ()):
        called = name or (str(keys[1]) if is_map and keys[0] == "data" and len(keys) > 1 else "")
        if is_secret(called, text):
            yield keys, text


def _texts(value: Any, keys: _Keys) -> Iterator[tuple[_Keys, str, str]]:
    """Yield each text with its keys, and its name where it is the value of a variable or of a flag."""
    if isinstance(value, dict):
        called = value.get("name")
        for key, member in value.items():
            if key == "value" and isinstance(member, str) and isinstance(called, str):
                yield (*keys, key), called, member
            else:
                yield from _texts(member, (*keys, key))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _texts(member, (*keys, number))
    elif isinstance(value, str):
        yield keys, "", value


def _filled(objects: Sequence[Object], texts: Mapping[str, str]) -> list[Object]:
    copies = copy.deepcopy(list(objects))
    for place, text in texts.items():
        *inside, last = steps(place)
        held = _at(copies, inside)
        held[int(last) if isinstance(held, list) else last] = text
    return copies


def _at(value: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        value = value[int(key) if isinstance(value, Sequence) and not isinstance(value, str) else key]
    return value
