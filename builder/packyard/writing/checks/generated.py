"""The ConfigMaps and Secrets that kustomizations generate, by what can be known of them without reading their files.

configMapGenerator: [{name: programs, files: [train.py]}]     programs has train.py
patches: [{target: {kind: ConfigMap, name: programs}, …}]     and what patches add to it
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping

from packyard.core.errors import InputError
from packyard.core.yaml.document import entries, mappings, scalars
from packyard.core.yaml.node import MappingNode, Node, Scalar
from packyard.core.yaml.pointer import steps
from packyard.using.kustomize import selector

#: The keys of ConfigMaps and Secrets by their kinds and names, before the hash; None where nobody knows all of them.
Generated = Mapping[tuple[str, str], frozenset[str] | None]
_DATA = ("data", "stringData", "binaryData")
_GENERATORS = {"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"}


def find(root: MappingNode) -> Generated:
    """Return what a kustomization generates."""
    return together({(kind, each.text("name")): _keys(each)} for kind, each in generators(root))


def generators(root: MappingNode) -> list[tuple[str, MappingNode]]:
    """Return the generators of a kustomization, each with the kind that it makes."""
    return [(kind, each) for kind, key in _GENERATORS.items() for each in mappings(root.get(key))]


def hashed(root: MappingNode) -> frozenset[tuple[str, str]]:
    """Return what a kustomization generates with a hash behind the name."""
    switch = "disableNameSuffixHash"
    if root.mapping("generatorOptions") and root.find("generatorOptions", switch) is not None:
        return frozenset()
    every = generators(root)
    return frozenset((kind, each.text("name")) for kind, each in every if each.find("options", switch) is None)


def together(every: Iterable[Generated]) -> Generated:
    """Return what several generate together, of one name all keys."""
    objects: dict[tuple[str, str], frozenset[str] | None] = {}
    for called, keys in (item for each in every for item in each.items()):
        earlier = objects.get(called, frozenset())
        objects[called] = None if keys is None or earlier is None else earlier | keys
    return objects


def patched(objects: Generated, patch: Node, target: Mapping[str, str] | None) -> Generated:
    """Return what a patch makes of them; labels in its target are taken as matched."""
    return together([objects, {each: _added(patch) for each in objects if _is_for(patch, target, *each)}])


def _keys(generator: MappingNode) -> frozenset[str] | None:
    if generator.get("env") or generator.get("envs"):
        return None
    return frozenset(key for _, _, key in keys(generator))


def keys(generator: MappingNode) -> Iterator[tuple[str, Scalar, str]]:
    """Yield the keys that a generator says itself: the field, its text there, and the key."""
    for text in scalars(generator.get("files")):
        key, _, path = text.value.partition("=")
        yield "files", text, key if path else posixpath.basename(key)
    for text in scalars(generator.get("literals")):
        yield "literals", text, text.value.partition("=")[0]


def is_target(target: Mapping[str, str], kind: str, name: str) -> bool:
    """Say whether a target means what is generated; labels in it, and a broken pattern, are taken as matched."""
    identity = {"kind": kind, "name": name}
    try:
        return all(selector.matches(target.get(word, text), text) for word, text in identity.items())
    except InputError:
        return True


def _is_for(patch: Node, target: Mapping[str, str] | None, kind: str, name: str) -> bool:
    if target is not None:
        return is_target(target, kind, name)
    return isinstance(patch, MappingNode) and selector.identity(patch)[1::2] == (kind, name)


def _added(patch: Node) -> frozenset[str] | None:
    if isinstance(patch, MappingNode):
        return frozenset(entry.name for field in _DATA for entry in entries(patch.get(field)))
    paths = [each.text("path") for each in mappings(patch)]
    if not all(path.count("/") > 1 for path in paths):  # all of data, or what is copied
        return None
    return frozenset(steps(path)[1] for path in paths if steps(path)[0] in _DATA)
