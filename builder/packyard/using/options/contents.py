"""What a bundle says of its use cases and options before it is unpacked: its packyard.json, Krmfiles and Components."""

from contextlib import suppress
from dataclasses import dataclass
from posixpath import dirname

from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import ShippedUseCase
from packyard.core.errors import InputError
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.document import source_of
from packyard.using.options.folder import OPTIONS, description
from packyard.using.setters.definition import Setter
from packyard.using.setters.krmfile import EMPTY, KRMFILE, parse_krmfile


@dataclass(frozen=True, slots=True)
class BundledUseCase:
    """A use case, what packyard.json says of it, and its setters in the order of its Krmfile."""

    path: str
    shipped: ShippedUseCase
    setters: tuple[Setter, ...]

    @property
    def required(self) -> list[Setter]:
        """The setters that have to be set."""
        return [setter for setter in self.setters if setter.must_be_set]


def use_case(bundle: Bundle, path: str) -> BundledUseCase:
    """Return a use case by its path in packyard.json."""
    data, setters = bundle.files.get(f"{path}/{KRMFILE}", EMPTY), tuple[Setter, ...]()
    with suppress(InputError):  # one that cannot be read tells nothing, and `packyard lint` says why
        setters = tuple(parse_krmfile(source_of(data, f"{bundle.name}/{path}/{KRMFILE}")).definitions.setters.values())
    return BundledUseCase(path, bundle.manifest.use_cases[path], setters)


def options(bundle: Bundle) -> list[tuple[str, str]]:
    """Return the options with what they say of themselves, sorted by name."""
    by_name = {}
    for path, data in bundle.files.items():
        folder, _, file = path.rpartition("/")
        if file == kustomization.FILE and dirname(folder).rpartition("/")[2] == OPTIONS:
            by_name[folder.rpartition("/")[2]] = description(data).removesuffix(".")
    return sorted(by_name.items())
