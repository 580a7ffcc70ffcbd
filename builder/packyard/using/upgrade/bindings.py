"""What binds nothing in a package: a definition with two names, a comment or substitution that names no definition."""

from collections.abc import Iterator, Mapping
from posixpath import basename, dirname

from packyard.core.errors import InputError, Problem
from packyard.core.yaml.document import parse_text, source_of, unmerged
from packyard.using.setters.comment import is_marked
from packyard.using.setters.definition import Definitions
from packyard.using.setters.fields import find
from packyard.using.setters.krmfile import KRMFILE
from packyard.using.setters.packages import read_krmfile
from packyard.using.upgrade import kept
from packyard.using.upgrade.difference import Files


def broken(files: Files) -> Mapping[tuple[str, str], Problem]:
    """Return what is broken, or cannot be read, by its file and what it is; files that have markers are passed over."""
    faults: dict[tuple[str, str], Problem] = {}
    for path in sorted(files):
        if basename(path) == KRMFILE and not _is_undecided(files[path]):
            for problem in _of_package(files, dirname(path)):
                faults.setdefault((problem.file, problem.message), problem)
    return faults


def _of_package(files: Files, where: str) -> Iterator[Problem]:
    package = kept.package(files, where)
    try:
        krmfile = read_krmfile(package)
    except InputError as error:
        yield from error.problems
        return
    yield from krmfile.misnamed()
    for substitution in krmfile.definitions.substitutions.values():
        try:
            krmfile.definitions.expand(substitution)
        except InputError as error:
            yield from error.problems
    for path, data in package.resources.items():
        if is_marked(data) and not _is_undecided(data):
            try:
                yield from _of_resources(data, package.where + path, krmfile.definitions)
            except InputError as error:
                yield from error.problems


def _of_resources(data: bytes, path: str, definitions: Definitions) -> Iterator[Problem]:
    for document in parse_text(source_of(data, path)):
        for bound in find(document):
            if definitions.resolve(bound.reference) is None:
                yield bound.node.problem(f"a comment names {bound.reference.name}, which nothing defines")


def _is_undecided(data: bytes) -> bool:
    return unmerged("", data.decode("utf-8", "replace")) is not None
