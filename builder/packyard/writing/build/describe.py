"""What packyard.json says of a package: what its use cases require, the values that they are shipped with, images."""

from collections.abc import Mapping, Sequence

from packyard.core.bundle.manifest import Manifest, ShippedUseCase, ShippedValue
from packyard.core.kubernetes import requirements
from packyard.core.kubernetes.images import find as find_images
from packyard.core.kubernetes.lenient import texts_under
from packyard.using.options.folder import OPTIONS
from packyard.using.setters.definition import Setter
from packyard.using.setters.plan import set_fields
from packyard.writing.source import crds
from packyard.writing.source.compose import Composed, ComposedPackage, values
from packyard.writing.source.workspace import Workspace


def manifest(
    workspace: Workspace,
    composed: ComposedPackage,
    objects: Mapping[str, Sequence[Mapping[str, object]]],
    version: str,
) -> Manifest:
    """Describe a version of a package, but not its files; ``objects`` are those of its use cases by their paths."""
    by_path = {item.use_case.path: _use_case(item, workspace) for item in composed.use_cases}
    if composed.options.all:  # nobody deploys their folder: it requires nothing by itself
        by_path[OPTIONS] = ShippedUseCase(setters=values_of(composed.options.setters))
    return Manifest(
        name=composed.package.name,
        version=version,
        model=composed.package.model,
        images=_images(composed, objects),
        kubernetes=workspace.kubernetes,
        moved=_moved(workspace, composed),
        requires=tuple(dict.fromkeys(require for item in composed.use_cases for require in item.requires)),
        options={option.name: option.requires for option in composed.options.all if option.requires},
        use_cases={f"{workspace.prefix}/{path}": item for path, item in by_path.items()},
    )


def _images(composed: ComposedPackage, objects: Mapping[str, Sequence[Mapping[str, object]]]) -> tuple[str, ...]:
    """Return the images that a package pulls, sorted."""
    images = {image for item in objects.values() for image in find_images(item)}
    images |= texts_under([option.values for option in composed.options.all], "image")
    return tuple(sorted(images))


def _moved(workspace: Workspace, composed: ComposedPackage) -> dict[str, str]:
    """Return the replacement of each former setter or use case that the package no longer has."""
    names = {item.use_case.name for item in composed.use_cases}
    names |= {name for item in composed.use_cases for name in item.definitions.setters}
    names.update(composed.options.setters)
    moved = {**workspace.moved, **composed.package.moved}
    return {name: sentence for name, sentence in sorted(moved.items()) if name not in names}


def _use_case(item: Composed, workspace: Workspace) -> ShippedUseCase:
    """Describe a use case as it is shipped.

    What it requires is looked for in what is built, with the name of each setter that is still to be set in the place
    of its value. Files beside it, for users to add, say themselves what they need.
    """
    setters, memo = item.definitions.setters, workspace.sources.memo
    changed = {
        name: setter._replace(value=name)
        for name, setter in setters.items()
        if setter.must_be_set and setter.type in ("", "string") and not setter.enum_values
    }
    named = set_fields(item.resources, item.definitions, changed, memo).files if changed else {}
    definitions = {*crds.names(workspace), *(name for require in item.requires for name in require.definitions)}
    built = {file: resource for file, resource in {**item.resources, **named}.items() if file not in item.beside}
    needed = requirements.find(values(built, memo), definitions)
    words = {word for require in item.requires for word in require.words}
    return ShippedUseCase(
        setters=values_of(setters),
        requires=tuple(sorted({*words, *needed})),
        description=item.description,
        after=tuple(f"{workspace.prefix}/{path}" for path in item.use_case.after),
    )


def values_of(setters: Mapping[str, Setter]) -> dict[str, ShippedValue]:
    """Return the values that setters are shipped with."""
    return {
        name: None if setter.must_be_set else (setter.values or ()) if setter.is_list else setter.value
        for name, setter in sorted(setters.items())
    }
