"""What a use case's directory says, read by PyYAML alone: two of them are compared without packyard's own reader."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from yaml.events import DocumentEndEvent, DocumentStartEvent, ScalarEvent

from packyard.core.yaml.values import implicit_type
from real import Kustomize

_SETTER_COMMENT = re.compile(r'#\s*(\{"\$openapi":.*)$')


def files(directory: Path) -> dict[str, bytes]:
    """Return the bytes of every file, by its path below ``directory``."""
    found = sorted(file for file in directory.rglob("*") if file.is_file())
    return {file.relative_to(directory).as_posix(): file.read_bytes() for file in found}


def objects(directory: Path) -> dict[str, list[Any]]:
    """Return the parsed documents of every resource file, by its path below ``directory``."""
    return {
        path: [document for document in yaml.load_all(data, yaml.CSafeLoader) if document is not None]
        for path, data in manifests(directory).items()
        if not path.endswith("kustomization.yaml")
    }


def manifests(directory: Path) -> dict[str, bytes]:
    """Return the bytes of every YAML file: all of a use case but its Krmfile."""
    return {file.relative_to(directory).as_posix(): file.read_bytes() for file in sorted(directory.rglob("*.yaml"))}


def setter_comments(directory: Path) -> dict[tuple[str, str], str]:
    """Return each setter comment by the file and the path of the field that it stands beside.

    Every setter comment has to stand behind a scalar, the only place where packyard's composer puts one.
    """
    return {
        (path, field): comment
        for path, data in manifests(directory).items()
        for field, comment in _comments(data.decode())
    }


def _comments(text: str) -> Iterator[tuple[str, str]]:
    fields = {
        node.end_mark.line: (f"{number}{path}", node.end_mark.column)
        for number, document in enumerate(yaml.compose_all(text, Loader=yaml.CSafeLoader))
        for path, node in _scalars(document, "")
    }
    for number, line in enumerate(text.splitlines()):
        match = _SETTER_COMMENT.search(line)
        if match:
            path, column = fields[number]
            assert not line[column : match.start()].strip(), f"{path}: {line}"
            yield path, match.group(1)


def _scalars(node: yaml.Node, path: str) -> Iterator[tuple[str, yaml.ScalarNode]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _scalars(value, f"{path}.{key.value}")
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _scalars(item, f"{path}[{index}]")
    elif isinstance(node, yaml.ScalarNode):
        yield path, node


def definitions(directory: Path) -> dict[str, Any]:
    """Return the definitions of a Krmfile, parsed."""
    found = yaml.load((directory / "Krmfile").read_bytes(), yaml.CSafeLoader)["openAPI"]["definitions"]
    assert isinstance(found, dict)
    return found


def setter_values(directory: Path) -> dict[str, Any]:
    """Return the value of every setter of a Krmfile, parsed."""
    return {name: setter["value"] for name, setter in _setters(directory)}


def set_by_user(directory: Path) -> set[str]:
    """Return the names of the setters that the Krmfile says were set."""
    return {name for name, setter in _setters(directory) if setter.get("isSet")}


def _setters(directory: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for definition in definitions(directory).values():
        if "setter" in definition.get("x-k8s-cli", {}):
            yield definition["x-k8s-cli"]["setter"]["name"], definition["x-k8s-cli"]["setter"]


def built(kustomize: Kustomize, directory: Path, *options: str) -> list[Any]:
    """Return the objects that a real kustomize builds."""
    return sorted_objects(kustomize.done("build", *options, directory))


def sorted_objects(text: str) -> list[Any]:
    """Return the objects of a stream by kind and name, for versions of kustomize differ in their order."""
    found = [document for document in yaml.load_all(text, yaml.CSafeLoader) if document is not None]
    assert found
    return in_order(found)


def in_order(found: Iterable[Any]) -> list[Any]:
    """Return objects by kind and name."""
    return sorted(found, key=lambda item: (item["kind"], item["metadata"]["name"]))


def content(text: str) -> list[tuple[str, ...]]:
    """Return a text's events, by PyYAML; the types of plain scalars are those of kustomize."""
    return [
        (event.value, implicit_type(event.value) if event.implicit[0] else "string")
        if isinstance(event, ScalarEvent)
        else (type(event).__name__,)
        for event in yaml.parse(text, Loader=yaml.CBaseLoader)
        if not isinstance(event, DocumentStartEvent | DocumentEndEvent)
    ]
