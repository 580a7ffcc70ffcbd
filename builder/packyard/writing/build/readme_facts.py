"""What a README may say of a package: its use cases, each setter once, and its options.

How that is written is up to the fragments and to `readme`; docs/generated/fields.md lists the names that they may use.
Places are use cases by their names; none are named where all have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace as Row

from packyard.core.bundle.manifest import Manifest, ShippedUseCase
from packyard.core.kubernetes import images, operators, pods
from packyard.core.kubernetes.lenient import labels_of, name_of, text
from packyard.using.setters.definition import Setter
from packyard.writing.source import sentence
from packyard.writing.source.compose import Composed, ComposedPackage
from packyard.writing.source.option import Option
from packyard.writing.source.workspace import Workspace

_INSTANCE = "app.kubernetes.io/instance"


def context(
    workspace: Workspace,
    composed: ComposedPackage,
    objects: Mapping[str, Sequence[Mapping[str, object]]],
    described: Manifest,
) -> dict[str, object]:
    """Return what fragments may ask of a package.

    ``objects`` are those of its use cases by their paths, as plain values; packyard.json says what is ``described``.
    """
    by_path = {item.use_case.path: item for item in composed.use_cases}
    prefix, shipped = workspace.prefix, described.use_cases
    use_cases = [_use_case(item, objects[path], shipped[f"{prefix}/{path}"]) for path, item in by_path.items()]
    example = use_cases[0]
    above, _, last = example.path.rpartition("/")
    folder, leaf = ("", example.path) if example.after or not above else (f"/{above}", last)
    return {
        "name": described.name,
        "version": described.version,
        "prefix": prefix,
        "model": described.model,
        "presets": composed.presets,
        "channel": workspace.channel,
        "kubernetes": workspace.kubernetes,
        "example": example,
        "folder": folder,
        "leaf": leaf,
        "use_cases": use_cases,
        "kinds": {kind for use_case in use_cases for kind, _ in use_case.objects},
        "names": {row.name for use_case in use_cases for row in use_case.setters},
        "containers": {name for use_case in use_cases for name in use_case.containers},
        "operators": operators.needed(
            (requirement for use_case in use_cases for requirement in use_case.requirements),
            operators.declared(described.requires),
        ),
        "requires": described.requires,
        "images": sorted({image for use_case in use_cases for image in use_case.images}),
        "required": required(use_cases),
        "levels": levels(use_cases),
        "parameters": parameters(use_cases),
        "options": options(composed.options.all, use_cases),
        "programs": sorted({name.partition("/")[0] for name in composed.programs}),
    }


def _use_case(item: Composed, objects: Sequence[Mapping[str, object]], described: ShippedUseCase) -> Row:
    """Return a use case; ``name`` is that without its storage, ``names`` has that of the first object of each kind."""
    all_pods = pods.find_all(objects)
    labels = (labels_of(pod.template) for pod in all_pods if pod.template)
    setters = list(item.definitions.setters.values())
    return Row(
        path=item.use_case.path,
        name=item.use_case.name,
        storage=item.use_case.storage,
        setters=setters,
        required=[setter for setter in setters if setter.required],
        objects=item.objects,
        names={text(item.get("kind")): name_of(item) for item in reversed(objects)},
        beside=item.beside,
        requirements=list(described.requires),
        images=images.find(objects),
        description=item.description,
        after=item.use_case.after,
        containers=frozenset(text(container.get("name")) for pod in all_pods for container in pod.containers),
        instance=next((label for labelled in labels if (label := text(labelled.get(_INSTANCE)))), ""),
    )


def parameters(use_cases: Sequence[Row]) -> list[Row]:
    """Return one line per setter, in the order of the use cases' Krmfiles, those of the largest first.

    One that ``serves`` is of use cases alone that only serve the others.
    """
    everywhere, main = [use_case.path for use_case in use_cases], _main(use_cases)
    by_name: dict[str, dict[str, Setter]] = {}
    for use_case in sorted(use_cases, key=lambda use_case: -len(use_case.setters)):
        for row in use_case.setters:
            by_name.setdefault(row.name, {})[use_case.path] = row
    return [_parameter(rows, main, everywhere) for rows in by_name.values()]


def _main(use_cases: Sequence[Row]) -> set[str]:
    """Return the paths of the use cases with many setters; the others only serve them."""
    most = max((len(use_case.setters) for use_case in use_cases), default=0)
    return {use_case.path for use_case in use_cases if 2 * len(use_case.setters) > most or not most}


def _parameter(rows: Mapping[str, Setter], main: set[str], everywhere: Sequence[str]) -> Row:
    values: dict[str, list[str]] = {}
    for path in sorted(rows):
        values.setdefault("" if rows[path].required else rows[path].value, []).append(path)
    first = max(rows.values(), key=lambda row: row.required)
    shown = sorted(values.items(), key=lambda item: -len(item[1]))
    return Row(
        name=first.name,
        values=tuple((value, _places(paths, list(rows))) for value, paths in shown),
        required=first.required,
        description=first.description,
        example=first.example or "",
        places=() if rows.keys() >= main else _named(sorted(rows), everywhere),
        serves=rows.keys().isdisjoint(main),
    )


def required(use_cases: Sequence[Row]) -> list[tuple[tuple[str, ...], list[Setter]]]:
    """Return what has to be set, with the use cases where it has to, by their names."""
    everywhere = [use_case.path for use_case in use_cases]
    by_names: dict[tuple[str, ...], list[Row]] = {}
    for use_case in use_cases:
        by_names.setdefault(tuple(row.name for row in use_case.required), []).append(use_case)
    return [
        (_named([documented_use_case.path for documented_use_case in alike], everywhere), alike[0].required)
        for names, alike in by_names.items()
        if names
    ]


def levels(use_cases: Sequence[Row]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the Pod Security levels below ``restricted``, each with the use cases that need it, by their names."""
    everywhere = [use_case.path for use_case in use_cases]
    by_level: dict[str, list[str]] = {}
    for use_case in use_cases:
        for kind, _, name in (requirement.partition(" ") for requirement in use_case.requirements):
            if kind == "PodSecurity" and name != "restricted":
                by_level.setdefault(name, []).append(use_case.path)
    return [(level, _named(paths, everywhere)) for level, paths in sorted(by_level.items())]


def options(offered: Sequence[Option], use_cases: Sequence[Row]) -> list[Row]:
    """Return the options, sorted by name; one that ``serves`` fits use cases alone that only serve the others."""
    everywhere, main = [use_case.path for use_case in use_cases], _main(use_cases)
    return [
        Row(
            name=option.name,
            summary=sentence.first(option.description).removesuffix("."),
            setters=list(option.setters.values()),
            use_cases=option.use_cases,
            requires=option.requires,
            places=() if main <= set(option.use_cases) else _named(option.use_cases, everywhere),
            serves=main.isdisjoint(option.use_cases),
        )
        for option in offered
    ]


def _places(paths: Sequence[str], everywhere: Sequence[str]) -> tuple[str, ...]:
    return () if len(paths) == len(everywhere) else _named(paths, everywhere)


def _named(paths: Sequence[str], everywhere: Sequence[str]) -> tuple[str, ...]:
    """Return paths, sorted; in the place of all storages of a use case stands its name."""
    others = {path.rpartition("/")[0] for path in everywhere if path not in paths}
    above = {path: path.rpartition("/")[0] for path in paths}
    return tuple(sorted({path if above[path] in ("", *others) else above[path] for path in paths}))
