"""Choices: what one value of an axis contributes to a use case, or what an included use case is made of.

Those that packages name instead of writing them stand in ``packages/_shared/shared.yaml``, beside the usual fragments
of a README:

    choices:
      user-allocated-pvc: {overlays: [user-allocated-pvc], setters: {VARIANT: pvc}}
      tensorboard/user-allocated-pvc: {base: tensorboard, overlays: [user-allocated-pvc], setters: {VARIANT: tb}}

    storage: [user-allocated-pvc]                   an axis of a package
    include: [tensorboard/user-allocated-pvc]       its path is its name
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packyard.errors import Problem, suggest
from packyard.source.fields import Fields
from packyard.source.parts import read_selector
from packyard.source.workspace import SHARED, Workspace
from packyard.text.node import Node, Scalar, Sequence

FILE = "shared.yaml"
NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Value:
    """A setter's value as package.yaml gives it, with its place."""

    text: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class PatchEntry:
    """A patch file of the package, and the objects that it is for (None: the one that it names itself)."""

    path: str
    target: Mapping[str, str] | None = None
    pods: str | None = None  # as in `parts.Patch`


@dataclass(slots=True)
class Choice:
    """A base or none, overlays, patches, values for setters, options."""

    base: str = ""
    overlays: list[str] = field(default_factory=list)
    patches: list[PatchEntry] = field(default_factory=list)
    setters: dict[str, Value] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Shared:
    """What ``shared.yaml`` says: choices by their name, the fragments of a README that a package does not list, and why
    the tags of images move, by a pattern for the image.
    """

    choices: Mapping[str, Choice] = field(default_factory=dict)
    docs: tuple[str, ...] = ()
    moving_tags: Mapping[str, str] = field(default_factory=dict)

    def choice(self, fields: Fields, node: Node, key: str) -> Choice | None:
        """Return the choice that a scalar names; an unknown name is a fault."""
        found = self.choices.get(node.value) if isinstance(node, Scalar) else None
        if found is None:
            name = repr(node.value) if isinstance(node, Scalar) else "this"
            hint = suggest(node.value, self.choices) if isinstance(node, Scalar) else ""
            fields.fault(node, key, f"{name} is no choice of packages/{SHARED}/{FILE}", hint)
        return found


def read_shared(workspace: Workspace, problems: list[Problem]) -> Shared:
    """Read ``shared.yaml``, whose faults join ``problems``; a workspace may do without it."""
    file = workspace.root_dir / "packages" / SHARED / FILE
    if not file.is_file():
        return Shared()
    fields = Fields.of_file(file, problems)
    fields.expect_header("packyard/v1", "Shared")
    choices = {name: read(workspace, None, child) for name, child in fields.children("choices").items()}
    shared = Shared(choices, tuple(names(fields, "docs")), moving_tags(fields))
    fields.done()
    return shared


def read(workspace: Workspace, folder: Path | None, fields: Fields, base: str | None = "") -> Choice:
    """Read one choice of the package in ``folder``; one that packages share has none, and no patches.

    ``base`` None asks for a base.
    """
    choice = Choice(
        fields.text("base", base),
        fields.texts("overlays"),
        _patches(fields, folder) if folder else [],
        values(fields),
        fields.texts("options"),
    )
    check_parts(workspace, fields, choice)
    fields.done()
    return choice


def names(fields: Fields, key: str) -> list[str]:
    """Read the names of files, each once."""
    found = fields.texts(key)
    for name in found:
        if not NAME.fullmatch(name) or found.count(name) > 1:
            message = f"{name!r} has to be lower case words joined by dashes, and stand once"
            fields.fault(place(fields, key, name), key, message)
    return found


def values(fields: Fields) -> dict[str, Value]:
    """Read the values of setters."""
    return {
        name: Value(node.value, fields.file, node.source.locate(node.start)[0])
        for name, node in fields.mapping("setters").items()
    }


def moving_tags(fields: Fields) -> dict[str, str]:
    """Read why the tags of images move, by a pattern for the image."""
    found = fields.mapping("movingTags")
    for pattern, node in found.items():
        if not node.value.strip():
            fields.fault(node, f"movingTags.{pattern}", "is no reason")
    return {pattern: node.value for pattern, node in found.items()}


def check_parts(workspace: Workspace, fields: Fields, choice: Choice) -> None:
    """Note a base, an overlay or an option that is not there."""
    for kind, key, names in (
        ("base", "base", [choice.base]),
        ("overlay", "overlays", choice.overlays),
        ("overlay", "options", choice.options),
    ):
        root = workspace.root_dir / f"{kind}s"
        for name in filter(None, names):
            if not NAME.fullmatch(name) or not (root / name).is_dir():
                known = [path.name for path in root.iterdir() if path.is_dir()] if root.is_dir() else []
                fields.fault(place(fields, key, name), key, f"no {kind} {name!r}", suggest(name, known))


def place(fields: Fields, key: str, value: str) -> Node | None:
    """Return the scalar below ``key`` that says ``value``, for a message to point at."""
    node = fields.node.get(key) if fields.node else None
    items = [item.value for item in node.items] if isinstance(node, Sequence) else []
    return next((item for item in items if isinstance(item, Scalar) and item.value == value), node)


def _patches(fields: Fields, folder: Path) -> list[PatchEntry]:
    """Read ``podPatches`` and ``patches``: each a path, or as in a kustomization ``{path: …, target: {kind: …}}``."""
    found = []
    for key in ("podPatches", "patches"):
        pods = key == "podPatches"
        for node in fields.items(key):
            if isinstance(node, Scalar):
                entry = PatchEntry(node.value, {}, "") if pods else PatchEntry(node.value)
            else:
                item = Fields(node, fields.file, f"{fields.path}.{key}", fields.problems)
                entry = PatchEntry(item.text("path"), *read_selector(item, pods=pods))
                item.done()
            file = folder / entry.path
            if not fields.reach(node, key, entry.path, file):
                continue
            if not file.is_file() or entry.path.startswith("/") or ".." in file.relative_to(folder).parts:
                known = [path.relative_to(folder).as_posix() for path in folder.glob("patches/*")]
                fields.fault(node, key, f"no file {entry.path!r}", suggest(entry.path, known))
            found.append(entry)
    return found
