"""package.yaml: one model, its matrix of use cases, its values for the setters of its parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

from packyard.errors import InputError, Problem, suggest
from packyard.source import scripts
from packyard.source.parts import read_selector
from packyard.source.record import Fields
from packyard.source.workspace import SHARED, Workspace
from packyard.text.document import decode, parse_one
from packyard.text.node import Node, Scalar

FILE = "package.yaml"
_PATH_PART = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_MODEL_KEYS = ("name", "framework", "category", "precision", "mode", "license", "source")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCase:
    """One directory that a user deploys, as a kustomization: a base, overlays, patches; and values for setters."""

    path: str
    axes: Mapping[str, str] = field(default_factory=dict)
    base: str
    overlays: tuple[str, ...] = ()
    patches: tuple[PatchEntry, ...] = ()
    setters: Mapping[str, Value] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """What package.yaml says, checked: every part that it names exists."""

    name: str
    folder: Path
    file: str
    model: Mapping[str, str]
    use_cases: tuple[UseCase, ...]
    docs: tuple[str, ...] = ()
    presets: tuple[str, ...] = ()
    retired: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Choice:
    """What one value of an axis, or one included use case, contributes."""

    base: str = ""
    overlays: list[str] = field(default_factory=list)
    patches: list[PatchEntry] = field(default_factory=list)
    setters: dict[str, Value] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)


def read(workspace: Workspace, name: str) -> Package:
    """Read and check a package's definition; every fault is named at once."""
    folder = workspace.package_dir(name)
    path = folder / FILE
    fields = Fields(parse_one(path.read_bytes(), str(path)).root, str(path), "")
    fields.expect_header("packyard/v1", "Package")
    if not _PATH_PART.match(name):
        fields.fault(fields.node, "", f"the package's folder {name!r} has to be lower case words joined by dashes")
    fields.problems += scripts.check(folder)
    model = _model(fields)
    shared = _Choice(setters=_values(fields), options=fields.texts("options"))
    _check_parts(workspace, fields, shared)
    use_cases = _use_cases(workspace, folder, fields, shared)
    package = Package(
        name=name,
        folder=folder,
        file=str(path),
        model=model,
        use_cases=tuple(use_cases),
        docs=tuple(fields.texts("docs")),
        presets=tuple(_presets(fields)),
        retired={key: node.value for key, node in fields.mapping("retired").items()},
    )
    fields.done()
    return package


def _model(fields: Fields) -> dict[str, str]:
    child = fields.child("model")
    if child is None:
        fields.fault(fields.node, "model", "is missing")
        return {}
    model = {key: child.text(key, "" if key in ("license", "source") else None) for key in _MODEL_KEYS}
    child.done()
    return {key: value for key, value in model.items() if value}


def _presets(fields: Fields) -> list[str]:
    names = fields.texts("presets")
    for name in names:
        if not _PATH_PART.match(name) or names.count(name) > 1:
            message = f"{name!r} has to be lower case words joined by dashes, and stand once"
            fields.fault(_place(fields, "presets", name), "presets", message)
    return names


def _values(fields: Fields) -> dict[str, Value]:
    return {
        name: Value(node.value, fields.file, node.source.locate(node.start)[0])
        for name, node in fields.mapping("setters").items()
    }


def _use_cases(workspace: Workspace, folder: Path, fields: Fields, shared: _Choice) -> list[UseCase]:
    section = fields.child("useCases")
    if section is None:
        fields.fault(fields.node, "useCases", "is missing")
        return []
    choices = {
        axis: {value: _choice(workspace, folder, child) for value, child in values.every_child().items()}
        for axis, values in section.children("matrix").items()
    }
    excluded = section.texts("exclude")
    found: list[UseCase] = []
    for combination in product(*choices.values()) if choices else ():
        path = "/".join(combination)
        if path not in excluded:
            chosen = [choices[axis][value] for axis, value in zip(choices, combination, strict=True)]
            found.append(_join(section, path, dict(zip(choices, combination, strict=True)), chosen, shared))
    known = {"/".join(combination) for combination in product(*choices.values())}
    for name in excluded:
        if name not in known:
            section.fault(
                _place(section, "exclude", name),
                "exclude",
                f"{name!r} is no use case of the matrix",
                suggest(name, known),
            )
    found += [_included(workspace, folder, section, item, shared) for item in section.items("include")]
    _check_paths(section, found)
    section.done()
    return sorted(found, key=lambda use_case: use_case.path)


def _choice(workspace: Workspace, folder: Path, fields: Fields, base: str | None = "") -> _Choice:
    """Read what a value of an axis contributes, or an included use case, for which ``base`` None asks for a base."""
    choice = _Choice(
        fields.text("base", base),
        fields.texts("overlays"),
        _patches(fields, folder),
        _values(fields),
        fields.texts("options"),
    )
    _check_parts(workspace, fields, choice)
    fields.done()
    return choice


def _included(workspace: Workspace, folder: Path, section: Fields, node: Node, shared: _Choice) -> UseCase:
    fields = Fields(node, section.file, f"{section.path}.include", section.problems)
    path = fields.text("path")
    return _join(fields, path, {}, [_choice(workspace, folder, fields, base=None)], shared)


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
            if not (folder / entry.path).is_file() or ".." in Path(entry.path).parts:
                known = [path.relative_to(folder).as_posix() for path in folder.glob("patches/*")]
                fields.fault(node, key, f"no file {entry.path!r}", suggest(entry.path, known))
            found.append(entry)
    return found


def _check_parts(workspace: Workspace, fields: Fields, choice: _Choice) -> None:
    for kind, key, names in (
        ("base", "base", [choice.base]),
        ("overlay", "overlays", choice.overlays),
        ("overlay", "options", choice.options),
    ):
        root = workspace.root_dir / f"{kind}s"
        for name in filter(None, names):
            if "/" in name or not (root / name).is_dir():
                known = [path.name for path in root.iterdir() if path.is_dir()] if root.is_dir() else []
                fields.fault(_place(fields, key, name), key, f"no {kind} {name!r}", suggest(name, known))


def _place(fields: Fields, key: str, value: str) -> Node | None:
    """Return the scalar below ``key`` that says ``value``, for a message to point at."""
    node = fields.node.get(key) if fields.node else None
    items = [item.value for item in getattr(node, "items", [])]
    return next((item for item in items if isinstance(item, Scalar) and item.value == value), node)


def _join(fields: Fields, path: str, axes: Mapping[str, str], chosen: list[_Choice], shared: _Choice) -> UseCase:
    bases = [choice.base for choice in chosen if choice.base]
    if len(bases) != 1:
        fields.fault(fields.node, "", f"use case {path} has {len(bases)} bases where one is expected")
    setters = dict(shared.setters)
    for choice in chosen:
        setters.update(choice.setters)
    options = [name for choice in (shared, *chosen) for name in choice.options]
    return UseCase(
        path=path,
        axes=axes,
        base=bases[0] if bases else "",
        overlays=tuple(name for choice in chosen for name in choice.overlays),
        patches=tuple(name for choice in chosen for name in choice.patches),
        setters=setters,
        options=tuple(dict.fromkeys(options)),
        line=fields.node.source.locate(fields.node.start)[0] if fields.node else 0,
    )


def _check_paths(fields: Fields, use_cases: list[UseCase]) -> None:
    seen: set[str] = set()
    for use_case in use_cases:
        if not all(_PATH_PART.match(part) for part in use_case.path.split("/")):
            fields.fault(fields.node, "", f"use case {use_case.path!r}: lower case words, joined by dashes and slashes")
        if any(other == use_case.path or f"{other}/".startswith(f"{use_case.path}/") for other in seen):
            fields.fault(fields.node, "", f"use case {use_case.path!r} stands twice, or inside another")
        seen.add(use_case.path)
    if not use_cases:
        fields.fault(fields.node, "", "no use case is left: give a matrix or include some")


def documents(workspace: Workspace, package: Package) -> list[tuple[str, str]]:
    """Return the README's fragments, name and text, in the order that package.yaml gives.

    A fragment is the package's own ``docs/NAME.md``, else the shared ``packages/_shared/docs/NAME.md``.
    """
    folders = (package.folder / "docs", workspace.root_dir / "packages" / SHARED / "docs")
    found: list[tuple[str, str]] = []
    problems: list[Problem] = []
    for name in package.docs:
        file = next((folder / f"{name}.md" for folder in folders if (folder / f"{name}.md").is_file()), None)
        if file is None:
            known = {path.stem for folder in folders for path in folder.glob("*.md")}
            problems.append(Problem(f"docs: no fragment {name!r}", file=package.file, hint=suggest(name, known)))
        else:
            found.append((str(file), decode(file.read_bytes(), str(file))[1]))
    if problems:
        raise InputError(*problems)
    return found
