"""What packyard.json says of a directory that users deploy: its setters' shipped values, and what it requires."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from packyard.build import requirements
from packyard.bundle.manifest import ShippedUseCase, ShippedValue
from packyard.dataclass import replace
from packyard.kubernetes.images import find as find_images
from packyard.setters import krmfile
from packyard.setters.definition import Setter
from packyard.setters.packagefiles import PackageFiles, read_krmfile
from packyard.setters.plan import set_fields
from packyard.source import option
from packyard.source.compose import ComposedPackage
from packyard.yaml import aliases
from packyard.yaml.document import decode
from packyard.yaml.node import Source
from packyard.yaml.values import to_value


def use_case(package: PackageFiles) -> ShippedUseCase:
    """Describe a use case as it is shipped."""
    setters = read_krmfile(package).definitions.setters
    needed = requirements.find(_objects(_with_names(package)))
    return ShippedUseCase(setters=_values(setters), requires=tuple(map(str, needed)))


def options(package: PackageFiles) -> ShippedUseCase:
    """Describe the folder of a package's options, which nobody deploys: it requires nothing by itself."""
    return ShippedUseCase(setters=_values(read_krmfile(package).definitions.setters))


def use_cases(composed: ComposedPackage) -> dict[str, ShippedUseCase]:
    """Describe the use cases of a package and its folder of options, by their paths."""
    found = {item.use_case.path: use_case(item.package_files()) for item in composed.use_cases}
    if composed.options.all:
        found[option.DIRECTORY] = options(composed.options.package_files())
    return found


def images(composed: ComposedPackage, objects: Mapping[str, Sequence[Mapping[str, object]]]) -> tuple[str, ...]:
    """Return the images that a package pulls, sorted; ``objects`` are those of its use cases by their paths."""
    found = {image for each in objects.values() for image in find_images(each)}
    for path, data in composed.options.files.items():
        if path != krmfile.NAME:
            found.update(_images_in(Source(path, decode(data, path)[1])))
    return tuple(sorted(found))


def _images_in(source: Source) -> Iterator[str]:
    """Yield what patches name as ``image``, in a file or in a kustomization."""
    ahead: list[object] = [to_value(each.root) for each in aliases.followed(source)]
    while ahead:
        value = ahead.pop()
        if isinstance(value, dict):
            image, inline = value.get("image"), value.get("patch")
            if isinstance(image, str) and image:
                yield image
            if isinstance(inline, str):
                yield from _images_in(Source(source.name, inline))
            ahead += value.values()
        elif isinstance(value, list):
            ahead += value


def _values(setters: Mapping[str, Setter]) -> dict[str, ShippedValue]:
    return {name: _value(setters[name]) for name in sorted(setters)}


def _value(setter: Setter) -> ShippedValue:
    if setter.must_be_set:
        return None
    return (setter.values or ()) if setter.is_list else setter.value


def _with_names(package: PackageFiles) -> dict[str, bytes]:
    """Return the resources with the name of each setter that is still to be set in the place of its value."""
    definitions = read_krmfile(package).definitions
    changed = {
        name: replace(setter, value=name)
        for name, setter in definitions.setters.items()
        if setter.must_be_set and setter.type in ("", "string") and not setter.enum_values
    }
    files = set_fields(package.resources, definitions, changed).files if changed else {}
    return {path: files.get(path, data) for path, data in package.resources.items()}


def _objects(resources: dict[str, bytes]) -> list[dict[str, object]]:
    found = []
    for path, data in resources.items():
        for document in aliases.followed(Source(path, decode(data, path)[1])):
            value = to_value(document.root)
            if isinstance(value, dict):
                found.append(value)
    return found
