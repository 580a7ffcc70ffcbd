"""What kustomize builds otherwise than parts compose, as patches: for what no part can say, such as a prefix of names.

    namePrefix: dev-      ->    patches:
                                - target: {kind: Service, name: web}
                                  patch: |
                                    - {op: add, path: /metadata/name, value: dev-web}

Objects are matched by their kind, and the name that the other one's contains.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from packyard.core.kubernetes.lenient import mapping, name_of, type_of
from packyard.core.yaml import make
from packyard.core.yaml.content import Text, Tree, block, in_brackets
from packyard.core.yaml.node import Item
from packyard.core.yaml.pointer import pointer
from packyard.using.kustomize import generator
from packyard.writing.authoring import schemafile

_Path = tuple[str | int, ...]


def patches(composed: Sequence[object], built: Sequence[object]) -> tuple[list[Item], list[object]]:
    """Return what makes objects of parts those that kustomize builds, and which of these have none to be made of."""
    new, matched = [*built], dict[int, object]()
    for item in sorted(map(mapping, composed), key=lambda item: -len(name_of(item))):
        if match := _match(item, new):
            new = [value for value in new if value is not match]
            matched[id(item)] = match
    items = [_patch(mapping(item), mapping(matched.get(id(item)))) for item in composed]
    return [item for item in items if item], new


def _match(item: Mapping[str, object], built: Sequence[object]) -> Mapping[str, object] | None:
    """Return what kustomize makes of an object; a ConfigMap with a hash in its name is renamed by nobody."""
    name, is_hashed = name_of(item), name_of(item) != _name(item)
    candidates = [value for value in map(mapping, built) if type_of(value) == type_of(item) and name in name_of(value)]
    if is_hashed:
        candidates = [value for value in candidates if name_of(value) == name]
    return min(candidates, key=lambda value: (len(name_of(value)), len([*_operations(item, value, ())])), default=None)


def _name(item: Any) -> str:
    """Return the name of an object before kustomize put a hash behind it."""
    name: str = name_of(item)
    return name.removesuffix(f"-{generator.suffix(item)}") if item.get("kind") == "ConfigMap" else name


def _patch(item: Mapping[str, object], built: Mapping[str, object]) -> Item | None:
    """Return the patch that makes one object of another, or takes it out where there is none."""
    kind, name = Text(str(item.get("kind"))), Text(_name(item))
    version, metadata = Text(str(item.get("apiVersion"))), in_brackets({"name": name})
    tree: Tree = {"$patch": "delete", "apiVersion": version, "kind": kind, "metadata": metadata}
    if built:
        tree = [in_brackets(operation) for operation in _operations(item, built, ())]
    if not tree:
        return None
    target = make.mapping("", {"kind": kind, "name": name})
    text = "".join(f"{line}\n" for line in block(tree))
    return Item(make.mapping("", {"target": target, "patch": make.literal(text, "")}), 0)


def _operations(old: object, new: object, path: _Path) -> Iterator[Mapping[str, Tree]]:
    """Yield the operations of RFC 6902 between two values; lists of another length are replaced."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in (key for key in old if key not in new):
            yield {"op": "remove", "path": Text(pointer((*path, key)))}
        for key in new:
            if key in old:
                yield from _operations(old[key], new[key], (*path, key))
            else:
                yield {"op": "add", "path": Text(pointer((*path, key))), "value": schemafile.to_tree(new[key])}
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from _operations(*pair, (*path, index))
    elif json.dumps(old) != json.dumps(new):
        yield {"op": "replace", "path": Text(pointer(path)), "value": schemafile.to_tree(new)}
