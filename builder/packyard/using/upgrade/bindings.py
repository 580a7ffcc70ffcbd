"""What binds nothing in a package: a definition with two names, a comment or substitution that names no definition."""

from collections.abc import Iterator, Mapping, Sequence
from posixpath import basename, dirname

from packyard.core.errors import InputError, Problem
from packyard.core.yaml.document import parse_text, source_of, unmerged
from packyard.using.setters.comment import is_marked
from packyard.using.setters.fields import find
from packyard.using.setters.krmfile import KRMFILE
from packyard.using.setters.packages import PackageFiles, read_krmfile
from packyard.using.upgrade import choices
from packyard.using.upgrade.difference import Files


def broken(files: Files) -> Mapping[tuple[str, str], Problem]:
    """Return what is broken, or cannot be read, by its file and what it is; files that have markers are passed over."""
    faults: list[Problem] = []
    files = {path: data for path, data in files.items() if not unmerged("", data.decode("utf-8", "replace"))}
    for path in files:
        if basename(path) == KRMFILE:
            try:
                faults += _of_package(choices.package(files, dirname(path)))
            except InputError as error:
                faults += error.problems
    return {(problem.file, problem.message): problem for problem in faults}


def _of_package(package: PackageFiles) -> Iterator[Problem]:
    krmfile = read_krmfile(package)
    yield from krmfile.misnamed()
    for substitution in krmfile.definitions.substitutions.values():
        krmfile.definitions.expand(substitution)
    for path, data in package.resources.items():
        if is_marked(data):
            for document in parse_text(source_of(data, package.where + path)):
                for bound in find(document):
                    if krmfile.definitions.resolve(bound.reference) is None:
                        yield bound.node.problem(f"a comment names {bound.reference.name}, which nothing defines")


def named(path: str, data: bytes, names: Sequence[str]) -> list[str]:
    """Return which of the setters the comments of a file name."""
    documents = parse_text(source_of(data, path)) if path.endswith((".yaml", ".yml")) and is_marked(data, names) else ()
    bound = {field.reference.name for document in documents for field in find(document)}
    return [name for name in names if name in bound]
