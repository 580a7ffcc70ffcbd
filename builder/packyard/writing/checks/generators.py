"""The ConfigMaps and Secrets that kustomizations generate, as objects with the keys that no file has to be read for.

configMapGenerator: [{name: programs, files: [train.py]}]     programs has train.py
"""

from collections.abc import Iterator
from functools import partial

from packyard.core.yaml import make
from packyard.core.yaml.document import mappings, scalars
from packyard.core.yaml.node import MappingNode
from packyard.using.kustomize.generator import split

_GENERATORS = {"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"}


def objects(root: MappingNode) -> Iterator[MappingNode]:
    """Yield what a kustomization generates; an object has no data where nobody knows its keys."""
    for kind, item in ((kind, item) for kind, key in _GENERATORS.items() for item in mappings(root.get(key))):
        mapping = partial(make.mapping, item.source.name)
        data = {} if item.get("env") or item.get("envs") else {"data": mapping(dict.fromkeys(_keys(item), ""))}
        yield mapping({"apiVersion": "v1", "kind": kind, "metadata": mapping({"name": item.text("name")}), **data})


def _keys(generator: MappingNode) -> Iterator[str]:
    """Yield the keys that a generator says itself."""
    for text in scalars(generator.get("files")):
        yield split(text.value)[0]
    for text in scalars(generator.get("literals")):
        yield text.value.partition("=")[0]
