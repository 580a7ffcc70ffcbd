"""What kustomize builds otherwise than parts compose, as patches: for what no part can say, such as a prefix of names.

    namePrefix: dev-      ->    patches:
                                - target: {kind: Service, name: web}
                                  patch: |
                                    - {op: add, path: /metadata/name, value: dev-web}

Objects are matched by their kind, and the name that the other one's contains. The hash behind the name of a generated
ConfigMap follows from its data, so that no patch says it.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from packyard.core.kubernetes.lenient import Object, mapping, name_of, type_of
from packyard.core.yaml import make
from packyard.core.yaml.content import Text, Tree, block, in_brackets, tree
from packyard.core.yaml.node import Item
from packyard.core.yaml.pointer import pointer
from packyard.using.kustomize import generator
from packyard.writing.authoring.definition import leaf

_Path = tuple[str | int, ...]


def find(composed: Sequence[object], built: Sequence[object]) -> tuple[list[Item], dict[int, Object], dict[str, str]]:
    """Return what makes objects of parts those that kustomize builds: patches; what is added, by its number.

    The last has what generated ConfigMaps are called before kustomize puts a hash behind their names.
    """
    known = _generated(composed)
    again = {name: plain for name, plain in _generated(built).items() if any(own in plain for own in known.values())}
    names = {**again, **known}
    items, others = (
        tree([*side], lambda text: names.get(text, text) if isinstance(text, str) else text)
        for side in (composed, built)
    )
    added = dict(enumerate(others))
    matched: dict[int, Object] = {}
    for number in sorted(range(len(items)), key=lambda number: -len(name_of(items[number]))):
        match = match_of(items[number], added)
        if match is not None:
            matched[number] = added.pop(match)
    patches = (_patch(item, matched.get(number, {})) for number, item in enumerate(items))
    return [*filter(None, patches)], added, names


def match_of(item: Object, built: Mapping[int, Object]) -> int | None:
    """Return the number of what kustomize makes of an object: its name may be longer."""
    name = name_of(item)
    own = {number: name_of(value) for number, value in built.items() if type_of(value) == type_of(item)}
    numbers = [number for number, longer in own.items() if name in longer]

    def distance(number: int) -> tuple[int, int]:
        return len(own[number]), len([*_operations(item, built[number], ())])

    return min(numbers, key=distance, default=None)


def _generated(items: Sequence[object]) -> dict[str, str]:
    """Return the names of ConfigMaps that end with a hash of their data, without it."""
    maps = (item for item in map(mapping, items) if item.get("kind") == "ConfigMap")
    names = {name_of(item): name_of(item).removesuffix(f"-{generator.suffix(item)}") for item in maps}
    return {name: plain for name, plain in names.items() if plain != name}


def _patch(item: Object, built: Object) -> Item | None:
    """Return the patch that makes one object of another, or takes it out where there is none."""
    kind, name = Text(str(item.get("kind"))), Text(name_of(item))
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
                yield {"op": "add", "path": Text(pointer((*path, key))), "value": tree(new[key], leaf)}
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from _operations(*pair, (*path, index))
    elif json.dumps(old) != json.dumps(new):
        yield {"op": "replace", "path": Text(pointer(path)), "value": tree(new, leaf)}
