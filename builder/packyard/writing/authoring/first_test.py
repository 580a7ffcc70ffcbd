"""The test that a new package begins with: the image of its first program is the one that its users set.

Where no setter gives it, the test asks that there is one; where no program runs, that there is an object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from packyard.core.kubernetes import pods
from packyard.core.yaml.content import Text, Tree, block, in_brackets
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.using.kustomize.accumulate import SourceObject
from packyard.using.setters import comment
from packyard.using.setters.definition import Setter
from packyard.using.setters.fields import path_text
from packyard.using.setters.refusal import refusal

_HEAD = "# What users rely on; packyard test asks it, and nobody gets this file.\n"
_IMAGE = "registry.example/image:1"


def write(use_case: str, objects: Sequence[SourceObject], setters: Mapping[str, Setter]) -> str:
    """Return the text of a file of tests for a use case, of which ``setters`` can be set."""
    test = _of_image(objects, setters) or {
        "it": Text(f"has a {objects[0].identity[1]}"),
        "expect": [_expected(objects[0].identity[1], "", {"exists": "true"})],
    }
    tree = {"it": test.pop("it"), "useCases": in_brackets([Text(use_case)]), **test}
    return _HEAD + "".join(f"{line}\n" for line in block({"tests": [tree]}))


def _of_image(objects: Sequence[SourceObject], setters: Mapping[str, Setter]) -> dict[str, Tree]:
    kinds = [item.identity[1] for item in objects]
    for item in objects:
        for pod in pods.find(item.root):
            for path, container in pod.container_places:
                image = container.get("image")
                if "initContainers" in path or not isinstance(image, Scalar):
                    continue
                kind, where = item.identity[1], f"{_path(path, container)}.image"
                setter = _setter(image, setters)
                if setter and kinds.count(kind) == 1:
                    return {
                        "it": Text("runs the image that its user sets"),
                        "set": in_brackets({setter: Text(_IMAGE)}),
                        "expect": [_expected(kind, where, {"equal": Text(_IMAGE)})],
                    }
                expected = _expected(kind, where, {"exists": "true"})
                return {"it": Text("runs an image"), "expect": [expected]}
    return {}


def _expected(kind: str, path: str, check: Mapping[str, Tree]) -> Tree:
    return {"kind": Text(kind), **({"path": Text(path)} if path else {}), **check}


def _path(path: pods.Path, container: MappingNode) -> str:
    """Return the path of a container, by its name where no setter changes that."""
    name = container.get("name")
    if isinstance(name, Scalar) and name.comment is None:
        return f"{path_text(path[:-1])}[name={name.value}]"
    return path_text(path)


def _setter(image: Scalar, setters: Mapping[str, Setter]) -> str:
    """Return the name of the setter that gives an image, if it takes any."""
    reference = comment.parse(image.comment.text) if image.comment else None
    setter = setters.get(reference.name) if reference else None
    return setter.name if setter and not refusal(setter, [_IMAGE]) else ""
