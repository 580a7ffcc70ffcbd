"""What a README may say of a package: its use cases, each setter once, and its options.

How that is written is up to the fragments and to `readme`; docs/generated/fields.md lists the names that they may use.
Places are use cases by their names; none are named where all have it.
"""

from collections.abc import Collection, Mapping, Sequence
from types import SimpleNamespace as Row

from packyard.core.bundle.manifest import Manifest, ShippedUseCase
from packyard.core.kubernetes import images, operators, pods
from packyard.core.kubernetes.kustomization import first_sentence
from packyard.core.kubernetes.lenient import labels_of, mapping, name_of, text
from packyard.using.setters.definition import Setter
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
    shipped = described.use_cases
    use_cases = [
        _use_case(item, objects[item.use_case.path], shipped[f"{workspace.prefix}/{item.use_case.path}"])
        for item in composed.use_cases
    ]
    example = use_cases[0]
    above, _, last = example.path.rpartition("/")
    folder, leaf = ("", example.path) if example.after or not above else (f"/{above}", last)
    places = _Places(use_cases)
    requirements = [requirement for use_case in use_cases for requirement in use_case.requirements]
    return {
        "name": described.name,
        "version": described.version,
        "prefix": workspace.prefix,
        "model": described.model,
        "presets": composed.presets,
        "channel": workspace.channel,
        "kubernetes": workspace.kubernetes,
        "example": example,
        "folder": folder,
        "leaf": leaf,
        "use_cases": use_cases,
        "namespaces": sorted({name for use_case in use_cases for name in use_case.namespaces or ["ml"]}),
        "kinds": {kind for use_case in use_cases for kind, _ in use_case.objects},
        "names": {row.name for use_case in use_cases for row in use_case.setters},
        "containers": {name for use_case in use_cases for name in use_case.containers},
        "operators": operators.needed(requirements, operators.declared(described.requires)),
        "requires": described.requires,
        "images": sorted({image for use_case in use_cases for image in use_case.images}),
        "levels": levels(use_cases, places),
        "parameters": parameters(use_cases, places),
        "options": [_option(option, places) for option in composed.options.all],
        "programs": sorted({name.partition("/")[0] for name in composed.programs}),
    }


def _use_case(item: Composed, objects: Sequence[Mapping[str, object]], described: ShippedUseCase) -> Row:
    """Return a use case; ``name`` is that without its storage, ``names`` has that of the first object of each kind."""
    all_pods = pods.find_all(objects)
    labels = (labels_of(pod.template) for pod in all_pods if pod.template)
    setters = list(item.definitions.setters.values())
    named = {text(mapping(value.get("metadata")).get("namespace")) for value in objects} - {""}
    return Row(
        path=item.use_case.path,
        name=item.use_case.name,
        storage=item.use_case.storage,
        setters=setters,
        required=[setter for setter in setters if setter.required],
        objects=item.objects,
        namespaces=[item.use_case.namespace] if item.use_case.namespace else sorted(named),
        names={text(item.get("kind")): name_of(item) for item in reversed(objects)},
        beside=item.beside,
        requirements=list(described.requires),
        images=images.find(objects),
        description=item.description,
        after=item.use_case.after,
        containers=frozenset(text(container.get("name")) for pod in all_pods for container in pod.containers),
        instance=next((label for labelled in labels if (label := text(labelled.get(_INSTANCE)))), ""),
    )


class _Places:
    """Names of use cases, by their paths. The ``main`` ones have many setters; the others only serve them."""

    def __init__(self, use_cases: Sequence[Row]) -> None:
        most = max(len(use_case.setters) for use_case in use_cases)
        self.all = [use_case.path for use_case in use_cases]
        self.main = {use_case.path for use_case in use_cases if 2 * len(use_case.setters) > most or not most}

    def of(self, paths: Collection[str], among: Collection[str] = ()) -> tuple[str, ...]:
        """Return paths, sorted; in the place of all storages of a use case that are ``among`` some stands its name."""
        folders = {path.rpartition("/")[0] for path in among or self.all if path not in paths}
        above = {path: path.rpartition("/")[0] for path in paths}
        return tuple(sorted({path if above[path] in ("", *folders) else above[path] for path in paths}))

    def beside_main(self, paths: Collection[str]) -> dict[str, object]:
        """Return ``places``, none where all main use cases are among them, and whether they are of ``serves`` alone."""
        return {"places": () if self.main <= {*paths} else self.of(paths), "serves": self.main.isdisjoint(paths)}


def parameters(use_cases: Sequence[Row], places: _Places) -> list[Row]:
    """Return one line per setter, in the order of the use cases' Krmfiles, those of the largest first.

    One that ``serves`` is of use cases alone that only serve the others.
    """
    by_name: dict[str, dict[str, Setter]] = {}
    for use_case in sorted(use_cases, key=lambda use_case: -len(use_case.setters)):
        for row in use_case.setters:
            by_name.setdefault(row.name, {})[use_case.path] = row
    return [_parameter(rows, places) for rows in by_name.values()]


def _parameter(rows: Mapping[str, Setter], places: _Places) -> Row:
    values: dict[str, list[str]] = {}
    for path in sorted(rows):
        values.setdefault("" if rows[path].required else rows[path].value, []).append(path)
    first = max(rows.values(), key=lambda row: row.required)
    shown = sorted(values.items(), key=lambda item: -len(item[1]))
    return Row(
        name=first.name,
        values=tuple((value, () if len(values) == 1 else places.of(paths, rows)) for value, paths in shown),
        required=first.required,
        description=first.description,
        example=first.example or "",
        **places.beside_main(rows),
    )


def levels(use_cases: Sequence[Row], places: _Places) -> list[tuple[str, tuple[str, ...]]]:
    """Return the Pod Security levels below ``restricted``, each with the use cases that need it; none if all do."""
    by_level, every = dict[str, list[str]](), [use_case.path for use_case in use_cases]
    for use_case in use_cases:
        for kind, _, name in (requirement.partition(" ") for requirement in use_case.requirements):
            if kind == "PodSecurity" and name != "restricted":
                by_level.setdefault(name, []).append(use_case.path)
    return [(level, places.of(paths) if paths != every else ()) for level, paths in sorted(by_level.items())]


def _option(option: Option, places: _Places) -> Row:
    """Return an option; one that ``serves`` fits use cases alone that only serve the others."""
    return Row(
        name=option.name,
        summary=first_sentence(option.part.description).removesuffix("."),
        setters=list(option.setters.values()),
        use_cases=option.use_cases,
        requires=option.requires,
        **places.beside_main(option.use_cases),
    )
