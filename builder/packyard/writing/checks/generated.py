"""The ConfigMaps that kustomizations generate, by what can be known of them without reading their files.

configMapGenerator: [{name: programs, files: [train.py]}]     programs has train.py
patches: [{target: {kind: ConfigMap, name: programs}, …}]     and what patches add to it
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from packyard.core.yaml.document import entries, mappings, scalars
from packyard.core.yaml.node import MappingNode, Node
from packyard.core.yaml.pointer import steps
from packyard.using.kustomize import selector

#: The keys of ConfigMaps by their names, before the hash; None where nobody knows all of them.
Generated = Mapping[str, frozenset[str] | None]


def find(root: MappingNode) -> Generated:
    """Return what a kustomization generates."""
    return together({each.text("name"): _keys(each)} for each in mappings(root.get("configMapGenerator")))


def together(every: Iterable[Generated]) -> Generated:
    """Return what several generate together, of one name all keys."""
    config_maps: dict[str, frozenset[str] | None] = {}
    for name, keys in (item for each in every for item in each.items()):
        earlier = config_maps.get(name, frozenset())
        config_maps[name] = None if keys is None or earlier is None else earlier | keys
    return config_maps


def patched(config_maps: Generated, patch: Node, target: Mapping[str, str] | None) -> Generated:
    """Return what a patch makes of them; labels in its target are taken as matched."""
    return together([config_maps, {name: _added(patch) for name in config_maps if _is_for(patch, target, name)}])


def _keys(generator: MappingNode) -> frozenset[str] | None:
    if generator.get("env") or generator.get("envs"):
        return None
    files = (text.value.partition("=") for text in scalars(generator.get("files")))
    literals = (text.value.partition("=")[0] for text in scalars(generator.get("literals")))
    return frozenset([*(key if path else posixpath.basename(key) for key, _, path in files), *literals])


def _is_for(patch: Node, target: Mapping[str, str] | None, name: str) -> bool:
    if target is not None:
        identity = {"kind": "ConfigMap", "name": name}
        return all(selector.matches(target.get(word, text), text) for word, text in identity.items())
    return isinstance(patch, MappingNode) and selector.identity(patch)[1::2] == ("ConfigMap", name)


def _added(patch: Node) -> frozenset[str] | None:
    if isinstance(patch, MappingNode):
        return frozenset(entry.name for entry in entries(patch.get("data")))
    paths = [each.text("path") for each in mappings(patch)]
    if not all(path.count("/") > 1 for path in paths):  # all of data, or what is copied
        return None
    return frozenset(steps(path)[1] for path in paths if path.startswith("/data/"))
