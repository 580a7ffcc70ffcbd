"""A package's sources to its bundle: every use case composed, the README rendered, all of it packed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from packyard.bundle import bundle, readme, requirements
from packyard.bundle.archive import Member
from packyard.bundle.bundle import Bundle
from packyard.bundle.manifest import Parameter, UseCase
from packyard.setters import krmfile
from packyard.setters.listing import Row, RuleRow, list_setters, rule_rows
from packyard.source import package as packages
from packyard.source import preset, scripts
from packyard.source.compose import Composed, compose_all
from packyard.source.package import Package
from packyard.source.preset import Preset
from packyard.source.workspace import Workspace
from packyard.text.document import parse_shared
from packyard.text.node import Mapping as MappingNode
from packyard.text.node import Source
from packyard.text.plain import to_value
from packyard.text.sharing import Sharing


@dataclass(frozen=True, slots=True)
class DocumentedUseCase:
    """What a README fragment may ask of a use case."""

    path: str
    axes: Mapping[str, str]
    setters: list[Row]
    rules: list[RuleRow]
    objects: list[tuple[str, str]]
    requirements: list[str]
    images: list[str]


@dataclass(frozen=True, slots=True)
class Parameters:
    """One line of a README's parameter table: a setter, and the use cases that have it (none named: all).

    ``places`` says the same shorter: ``multi-node/*`` for all of a directory, ``*/user-mounted-nfs`` for all of a name.
    """

    name: str
    value: str
    type: str
    required: bool
    description: str
    example: str
    use_cases: tuple[str, ...]
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentedRule:
    """One rule in a README, and the use cases that have it, as patterns (none: all)."""

    rule: str
    message: str
    places: tuple[str, ...]


def assemble(workspace: Workspace, name: str, version: str) -> Bundle:
    """Build the bundle of one package. The same sources and version give the same tar on every machine."""
    with Sharing():
        return _assemble(workspace, packages.read(workspace, name), version)


def _assemble(workspace: Workspace, package: Package, version: str) -> Bundle:
    composed = compose_all(workspace, package)
    rows = {item.use_case.path: list_setters(item.package_files(), item.definitions) for item in composed}
    described = {item.use_case.path: _describe(item, rows[item.use_case.path]) for item in composed}
    documented = [_document(item, rows[item.use_case.path], described[item.use_case.path]) for item in composed]
    members = [
        Member(path=f"{workspace.prefix}/{item.use_case.path}/{path}", data=data)
        for item in composed
        for path, data in item.shipped.items()
    ]
    members += _own_files(workspace, package)
    presets = preset.read_all(workspace, package)
    members += [Member(path=f"{preset.DIRECTORY}/{item.name}.yaml", data=item.data) for item in presets]
    members.append(Member(path="README.md", data=_readme(workspace, package, version, documented, presets)))
    use_cases = {f"{workspace.prefix}/{path}": use_case for path, use_case in described.items()}
    return bundle.build(package.name, version, members, use_cases=use_cases, model=package.model)


def _objects(item: Composed) -> list[Mapping[str, object]]:
    found: list[Mapping[str, object]] = []
    for _, name in item.objects:
        for document in parse_shared(Source(name, item.files[name].decode())):
            value = to_value(document.root) if isinstance(document.root, MappingNode) else None
            if isinstance(value, dict):
                found.append(value)
    return found


def _describe(item: Composed, rows: Sequence[Row]) -> UseCase:
    objects = _objects(item)
    setters = {
        row.name: Parameter(
            type=row.type or "string", required=row.required, default=row.default, description=row.description
        )
        for row in rows
    }
    return UseCase(setters=setters, images=requirements.images(objects), requirements=requirements.find(objects))


def _document(item: Composed, rows: list[Row], described: UseCase) -> DocumentedUseCase:
    return DocumentedUseCase(
        path=item.use_case.path,
        axes=item.use_case.axes,
        setters=rows,
        rules=rule_rows(item.rules, item.definitions, krmfile.NAME),
        objects=list(item.objects),
        requirements=[str(requirement) for requirement in described.requirements],
        images=list(described.images),
    )


def _own_files(workspace: Workspace, package: Package) -> list[Member]:
    """Return the licence, and the files that the package ships as they are, with their run bit."""
    members = [Member(path="LICENSE", data=(workspace.root_dir / workspace.license_file).read_bytes())]
    for file in scripts.find(package.folder):
        path = file.relative_to(package.folder / scripts.DIRECTORY).as_posix()
        members.append(Member(path=path, data=file.read_bytes(), executable=scripts.is_executable(file)))
    return members


def _readme(
    workspace: Workspace,
    package: Package,
    version: str,
    use_cases: Sequence[DocumentedUseCase],
    presets: Sequence[Preset],
) -> bytes:
    context: dict[str, object] = {
        "name": package.name,
        "version": version,
        "prefix": workspace.prefix,
        "model": package.model,
        "use_cases": use_cases,
        "parameters": merge_parameters(use_cases),
        "rules": merge_rules(use_cases),
        "presets": presets,
        "retired": package.retired,
    }
    documents = packages.documents(workspace, package)
    fragments = [(os.path.relpath(file, workspace.root_dir), text) for file, text in documents]
    return readme.render(fragments, context)


def merge_parameters(use_cases: Sequence[DocumentedUseCase]) -> list[Parameters]:
    """Return one line per setter and default, sorted by name, with the use cases that it holds for."""
    found: dict[tuple[str, str], Parameters] = {}
    for use_case in use_cases:
        for row in use_case.setters:
            line = found.get((row.name, row.value)) or Parameters(
                row.name, row.value, row.type or "string", row.required, row.description, row.example or "", ()
            )
            found[row.name, row.value] = replace(line, use_cases=(*line.use_cases, use_case.path))
    everywhere = [use_case.path for use_case in use_cases]
    return [
        replace(line, use_cases=(), places=())
        if len(line.use_cases) == len(everywhere)
        else replace(line, places=tuple(abbreviate(line.use_cases, everywhere)))
        for _, line in sorted(found.items())
    ]


def abbreviate(paths: Sequence[str], everywhere: Sequence[str]) -> list[str]:
    """Write paths as few patterns with one ``*``, each of which stands for nothing else among all paths."""
    first = {f"{path.split('/')[0]}/*": f"{path.split('/')[0]}/" for path in everywhere if "/" in path}
    last = {f"*/{path.split('/')[-1]}": f"/{path.split('/')[-1]}" for path in everywhere if "/" in path}
    groups = {pattern: {path for path in everywhere if path.startswith(start)} for pattern, start in first.items()}
    groups |= {pattern: {path for path in everywhere if path.endswith(end)} for pattern, end in last.items()}
    left, found = set(paths), []
    while left:
        fitting = [pattern for pattern, group in groups.items() if group <= set(paths) and len(group & left) > 1]
        if not fitting:
            break
        best = max(fitting, key=lambda pattern: len(groups[pattern] & left))
        found.append(best)
        left -= groups[best]
    return sorted([*found, *left])


def merge_rules(use_cases: Sequence[DocumentedUseCase]) -> list[DocumentedRule]:
    """Return every rule once, in the order of the use cases, with those that it holds for."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for use_case in use_cases:
        for row in use_case.rules:
            found[row.rule, row.message] = (*found.get((row.rule, row.message), ()), use_case.path)
    everywhere = [use_case.path for use_case in use_cases]
    return [
        DocumentedRule(rule, message, () if len(paths) == len(everywhere) else tuple(abbreviate(paths, everywhere)))
        for (rule, message), paths in found.items()
    ]
