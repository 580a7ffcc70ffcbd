"""Setting what Krmfiles define in the objects of a list, as `packyard set` does."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote

from packyard.core.errors import InputError
from packyard.core.files.tree import Tree
from packyard.core.yaml.compare import Planned
from packyard.core.yaml.document import items
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Scalar, SequenceNode
from packyard.core.yaml.values import double_quoted
from packyard.using.functions.listedpackages import ListedPackage
from packyard.using.functions.resourcelist import ResourceItem, Result
from packyard.using.options import folder, option_setters
from packyard.using.setters import fields
from packyard.using.setters.change import check_rules
from packyard.using.setters.definition import Definitions, Setter
from packyard.using.setters.fields import FieldEdits
from packyard.using.setters.kpt.apply import roots_of
from packyard.using.setters.krmfile import NAME, Krmfile
from packyard.using.setters.listing import count_fields
from packyard.using.setters.packages import PackageFiles, read_krmfile, read_resources
from packyard.using.setters.plan import Assignment, Plan, plan


@dataclass(frozen=True, slots=True)
class Applied:
    """What setting changes in one package of a list, and each setter's number of fields.

    ``krmfile`` is None where the Krmfile stays as it is.
    """

    package: ListedPackage
    edits: Sequence[Edit] = ()
    planned: Planned = ()
    krmfile: bytes | None = None
    results: Sequence[Result] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


def names(packages: Sequence[ListedPackage]) -> set[str]:
    """Return every setter that the packages define."""
    return {name for package in packages for name in _krmfile(package).definitions.setters}


def apply(package: ListedPackage, values: Mapping[str, str], packages: Sequence[ListedPackage]) -> Applied:
    """Give the setters of a package their values; what is refused becomes results, and then nothing else is there.

    ``packages`` are all of the list: an option of the package's use case has to be among them if it is reached.
    """
    krmfile = _krmfile(package)
    setters = krmfile.definitions.setters
    texts = {name: _texts(setters[name], text) for name, text in values.items() if name in setters}
    if not texts:
        return Applied(package)
    try:
        planned = plan(_files(package), Assignment(texts))
        edits = FieldEdits(planned.definitions, {name: planned.definitions.setters[name] for name in texts})
        results = [result for item in package.objects for result in _set(edits, item)]
        check_rules(krmfile, planned._replace(counts=edits.counts))
    except InputError as error:
        refused = [Result(str(problem), "error", file=_file(package)) for problem in error.problems]
        return Applied(package, results=refused)
    results += (_recorded(package, planned, name, count) for name, count in edits.counts.items())
    if unbound := [each for item in package.objects for each in _behind_headers(item, krmfile.definitions, texts)]:
        return Applied(package, results=unbound)
    outside = [*_options_outside(package, texts, packages), *_fields_outside(package, edits.counts)]
    results = [Result(message, "error", file=_file(package)) for message in outside] or results
    return Applied(package, edits.edits, edits.planned, planned.files.get(NAME), results, edits.counts)


def _files(package: ListedPackage) -> PackageFiles:
    return PackageFiles(package.krmfile, {}, package.where)


def _krmfile(package: ListedPackage) -> Krmfile:
    return read_krmfile(_files(package))


def _file(package: ListedPackage) -> str:
    return f"{package.path}/{NAME}" if package.path else NAME


def _texts(setter: Setter, text: str) -> list[str]:
    """Return the items of a list setter, which may be written ``[a, b]``, or the one text of another."""
    if not text:
        return []
    root = next(iter(roots_of(text)), None) if setter.is_list else None
    if not isinstance(root, SequenceNode):
        return [text]
    return [value.value if isinstance(value, Scalar) else value.lexeme for value in items(root)]


def _behind_headers(item: ResourceItem, definitions: Definitions, names: Collection[str]) -> Iterator[Result]:
    """Yield the comments that were to bind a block scalar to what is set, and do not, as `packyard set` does."""
    for reference, problem in fields.behind_headers([item.document]):
        definition = definitions.resolve(reference)
        if definition and definitions.reached(definition, names):
            yield Result(f"{problem.message} ({problem.hint})", "error", item=item)


def _set(edits: FieldEdits, item: ResourceItem) -> Iterator[Result]:
    """Set the fields of an object, and yield what each shows now."""
    before = len(edits.changes)
    edits.visit([item.document])
    for change in edits.changes[before:]:
        yield Result.of_field(item, change.path, change.old, change.new)


def _recorded(package: ListedPackage, planned: Plan, name: str, count: int) -> Result:
    shown = planned.definitions.setters[name].shown
    message = f"{name} is {double_quoted(shown)} in {count} field{'s' * (count != 1)}"
    return Result(message, file=_file(package))


def _options_outside(
    package: ListedPackage, texts: Collection[str], packages: Sequence[ListedPackage]
) -> Iterator[str]:
    """Say which options that the use case has enabled the values reach, where their objects are not in the list."""
    directory = package.directory
    if directory is None or not folder.has_components(directory):
        return
    reached = option_setters.reach(directory, list(texts), recursive=False)
    here = {os.path.realpath(each.directory) for each in packages if each.directory}
    for path, setters in reached.packages.items() if reached else ():
        assert reached is not None
        if os.path.realpath(reached.root_dir / path) not in here:
            yield f"{', '.join(sorted(setters))} also sets {path}, which is not in the list ({_remedy(directory)})"


def _fields_outside(package: ListedPackage, counts: Mapping[str, int]) -> Iterator[str]:
    """Say which setters have more fields on disk than in the list, as where kpt selects objects."""
    if package.directory is None:
        return
    resources = read_resources(Tree(package.directory), "")
    on_disk = count_fields(_files(package)._replace(resources=resources), _krmfile(package).definitions)
    for name, count in counts.items():
        if on_disk[name] > count:
            more = on_disk[name] - count
            message = f"{name} also sets {more} field{'s' * (more != 1)} of objects that are not in the list"
            yield f"{message} ({_remedy(package.directory)})"


def _remedy(directory: Path) -> str:
    return f"start the function for the folder that has them all, or type packyard set {quote(str(directory))}"
