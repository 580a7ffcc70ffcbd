"""package.yaml: one model, its matrix of use cases, its values for the setters of its parts.

useCases:
  matrix:
    topology:
      "*": {overlays: [zoo-training]}        what every value of the axis has
      single-node: {base: single-node}
    storage: [user-allocated-pvc]            choices that packages share, see `packyard.source.choice`
preset: p4d-24xlarge                         a preset of the package, whose values are its defaults
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path

from packyard.errors import InputError, Problem, refuse, suggest
from packyard.setters import valuesfile
from packyard.source import choice, scripts
from packyard.source.choice import Choice, PatchEntry, Shared, Value
from packyard.source.fields import Fields
from packyard.source.workspace import SHARED, Workspace
from packyard.text.document import decode
from packyard.text.node import Node, Scalar, Sequence

FILE = "package.yaml"
EVERY = "*"
PRESETS = "presets"
#: How many directories a package may bring for its users to deploy.
MAX_USE_CASES = 256
_MODEL_KEYS = ("name", "framework", "category", "precision", "mode", "license", "source")

#: The choices that each value of an axis brings together.
_Axis = dict[str, list[Choice]]


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
    moving_tags: Mapping[str, str] = field(default_factory=dict)


def read(workspace: Workspace, name: str) -> Package:
    """Read and check a package's definition; every fault is named at once."""
    folder = workspace.package_dir(name)
    path = folder / FILE
    fields = Fields.of_file(path)
    fields.expect_header("packyard/v1", "Package")
    if not choice.NAME.fullmatch(name):
        fields.fault(fields.node, "", f"the package's folder {name!r} has to be lower case words joined by dashes")
    fields.problems += scripts.check(folder)
    model = _model(fields)
    shared = choice.read_shared(workspace, fields.problems)
    presets = choice.names(fields, PRESETS)
    defaults = _preset_values(workspace, folder, fields, presets)
    own = Choice(setters={**defaults, **choice.values(fields)}, options=fields.texts("options"))
    choice.check_parts(workspace, fields, own)
    use_cases = _use_cases(workspace, folder, fields, own, shared)
    package = Package(
        name=name,
        folder=folder,
        file=str(path),
        model=model,
        use_cases=tuple(use_cases),
        docs=tuple(choice.names(fields, "docs")) or shared.docs,
        presets=tuple(presets),
        retired={key: node.value for key, node in fields.mapping("retired").items()},
        moving_tags={**shared.moving_tags, **choice.moving_tags(fields)},
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


def _preset_values(workspace: Workspace, folder: Path, fields: Fields, presets: list[str]) -> dict[str, Value]:
    """Return the values of the preset that the package starts from."""
    name = fields.text("preset", "")
    if not name:
        return {}
    file = preset_file(workspace, folder, name)
    if name not in presets or file is None:
        fields.fault(choice.place(fields, "preset", name), "preset", f"no preset {name!r}", suggest(name, presets))
        return {}
    try:
        given = valuesfile.parse(file.read_bytes(), str(file)).given
    except InputError as error:
        fields.problems += error.problems
        return {}
    fields.problems += [
        item.problem(f"{key} has several values, which no package starts from")
        for key, item in given.items()
        if len(item.texts) > 1
    ]
    return {key: Value(item.texts[0], item.file, item.line) for key, item in given.items()}


def preset_file(workspace: Workspace, folder: Path, name: str) -> Path | None:
    """Return a preset's file: the package's own, else that of ``packages/_shared``."""
    return _nearest(workspace, folder, f"{PRESETS}/{name}.yaml")


def _nearest(workspace: Workspace, folder: Path, path: str) -> Path | None:
    """Return a package's own file of this path, else the one that packages share."""
    places = (folder / path, workspace.root_dir / "packages" / SHARED / path)
    return next((file for file in places if file.is_file()), None)


def _use_cases(workspace: Workspace, folder: Path, fields: Fields, own: Choice, shared: Shared) -> list[UseCase]:
    section = fields.child("useCases")
    if section is None:
        fields.fault(fields.node, "useCases", "is missing")
        return []
    axes = {
        axis: _axis(workspace, folder, section, axis, node, shared) for axis, node in section.nodes("matrix").items()
    }
    excluded = section.texts("exclude")
    found: list[UseCase] = []
    count = (prod(map(len, axes.values())) if axes else 0) + len(section.items("include"))
    if count > MAX_USE_CASES:
        section.fault(section.node, "", f"{count} use cases, where a package may have {MAX_USE_CASES}")
        return []
    for combination in product(*axes.values()) if axes else ():
        path = "/".join(combination)
        if path not in excluded:
            values = dict(zip(axes, combination, strict=True))
            chosen = [each for axis, value in values.items() for each in axes[axis][value]]
            found.append(_join(section, path, values, chosen, own, section.node))
    known = {"/".join(combination) for combination in product(*axes.values())}
    for name in excluded:
        if name not in known:
            section.fault(
                choice.place(section, "exclude", name),
                "exclude",
                f"{name!r} is no use case of the matrix",
                suggest(name, known),
            )
    included = (_included(workspace, folder, section, item, own, shared) for item in section.items("include"))
    found += [use_case for use_case in included if use_case]
    _check_paths(section, found)
    section.done()
    return sorted(found, key=lambda use_case: use_case.path)


def _axis(workspace: Workspace, folder: Path, section: Fields, axis: str, node: Node, shared: Shared) -> _Axis:
    """Read one axis: a list of choices that packages share, or a mapping of names to choices of its own."""
    key = f"matrix.{axis}"
    if isinstance(node, Sequence):
        named = [(item.value, shared.choice(section, item.value, key)) for item in node.items]
        return {item.value: [found] for item, found in named if found and isinstance(item, Scalar)}
    fields = Fields(node, section.file, f"{section.path}.{key}", section.problems)
    choices = {value: choice.read(workspace, folder, child) for value, child in fields.every_child().items()}
    common = [choices.pop(EVERY)] if EVERY in choices else []
    return {value: [*common, found] for value, found in choices.items()}


def _included(
    workspace: Workspace, folder: Path, section: Fields, node: Node, own: Choice, shared: Shared
) -> UseCase | None:
    """Read one use case beside the matrix: the name of a shared choice, which is its path too, or one of its own."""
    if isinstance(node, Scalar):
        found = shared.choice(section, node, "include")
        return _join(section, node.value, {}, [found], own, node) if found else None
    fields = Fields(node, section.file, f"{section.path}.include", section.problems)
    path = fields.text("path")
    return _join(fields, path, {}, [choice.read(workspace, folder, fields, base=None)], own, fields.node)


def _join(
    fields: Fields, path: str, axes: Mapping[str, str], chosen: list[Choice], own: Choice, node: Node | None
) -> UseCase:
    """Join what the package says for all its use cases with what is chosen for one, whose values win."""
    bases = [each.base for each in chosen if each.base]
    if len(bases) != 1:
        fields.fault(node, "", f"use case {path} has {len(bases)} bases where one is expected")
    setters = dict(own.setters)
    for each in chosen:
        setters.update(each.setters)
    options = [name for each in (own, *chosen) for name in each.options]
    return UseCase(
        path=path,
        axes=axes,
        base=bases[0] if bases else "",
        overlays=tuple(name for each in chosen for name in each.overlays),
        patches=tuple(name for each in chosen for name in each.patches),
        setters=setters,
        options=tuple(dict.fromkeys(options)),
        line=node.source.locate(node.start)[0] if node else 0,
    )


def _check_paths(fields: Fields, use_cases: list[UseCase]) -> None:
    seen: set[str] = set()
    for use_case in use_cases:
        if not all(choice.NAME.fullmatch(part) for part in use_case.path.split("/")):
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
    found: list[tuple[str, str]] = []
    problems: list[Problem] = []
    for name in package.docs:
        file = _nearest(workspace, package.folder, f"docs/{name}.md")
        if file is None:
            folders = (package.folder, workspace.root_dir / "packages" / SHARED)
            known = {path.stem for folder in folders for path in folder.glob("docs/*.md")}
            problems.append(Problem(f"docs: no fragment {name!r}", file=package.file, hint=suggest(name, known)))
        else:
            found.append((str(file), decode(file.read_bytes(), str(file))[1]))
    refuse(problems)
    return found
