"""A package as its users use it: in a temporary folder, with options enabled and values set in what has them.

    packyard lint p --option gpus MEMORY=64Gi

A use case that an option does not fit stays without it, and so does one that lacks a setter. A package where nothing
of that is at hand is refused, like by `packyard enable -R` and `packyard set -R`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from packyard.core.bundle import archive
from packyard.core.errors import InputError, PackyardError, Problem
from packyard.core.files.tree import Tree
from packyard.core.kubernetes.schemas import Judge
from packyard.core.work.memo import Memo
from packyard.using.kustomize.builtin import try_components
from packyard.using.options.folder import NAME as OPTIONS
from packyard.using.options.switch import enable_below
from packyard.using.setters.change import change_setters
from packyard.using.setters.krmfile import EMPTY
from packyard.using.setters.krmfile import NAME as KRMFILE
from packyard.using.setters.packages import PackageFiles, read_package, read_resources
from packyard.writing.build.draft import Draft
from packyard.writing.checks.finding import Finding
from packyard.writing.checks.lint import find_built
from packyard.writing.checks.parsed import parse
from packyard.writing.checks.shipped_options import ShippedOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What somebody does with a package: options, then values; nothing if both are empty.

    ``command`` is what they typed before the values, for the hints of errors.
    """

    options: Sequence[str] = ()
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    command: str = ""

    def __bool__(self) -> bool:
        return bool(self.options or self.values)

    def __str__(self) -> str:
        words = [f"--option {name}" for name in self.options]
        return " ".join([*words, *(f"{name}={','.join(texts)}" for name, texts in self.values.items())])

    def apply(self, package_dir: Path, prefix: str, use_cases: Sequence[str]) -> None:
        """Enable and set, in the use cases of an unpacked package; messages name files from the package on."""
        top = package_dir / prefix
        try:
            if self.options:
                enable_below(top, use_cases, self.options, lambda here: partial(try_components, here))
            if self.values:
                change_setters(top, self.values, recursive=True, command=self.command)
        except InputError as error:
            raise InputError(*(_from(each, f"{package_dir.parent}/") for each in error.problems)) from error


@contextmanager
def unpacked(draft: Draft, prefix: str, use: Use) -> Iterator[Path]:
    """Yield the folder of a package, as its sources are, in use."""
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        package_dir = archive.write(draft.manifest.name, draft.members, Path(folder).resolve())
        use.apply(package_dir, prefix, paths(draft, prefix))
        yield package_dir


def paths(draft: Draft, prefix: str) -> list[str]:
    """Return the paths of the use cases of a package, below the prefix."""
    below = (path.removeprefix(f"{prefix}/") for path in draft.manifest.use_cases)
    return [path for path in below if path != OPTIONS]


def find(draft: Draft, prefix: str, use: Use, judges: Sequence[Judge], only: Sequence[str] = ()) -> list[Finding]:
    """Return what is wrong with the objects of a package in use, of all use cases or these, in its composed files."""
    memo, findings = Memo(), list[Finding]()
    with unpacked(draft, prefix, use) as package_dir:
        options, above = ShippedOptions(memo, only_enabled=True), f"{package_dir.parent}/"
        for path in only or paths(draft, prefix):
            files = _read(package_dir / prefix / path)
            parsed = parse(files, memo)
            here = find_built(parsed, judges=judges)
            findings += [*here, *options.find(files, parsed, here, judges=judges, shipped=True)]
    return [
        replace(each, file=each.file.removeprefix(above), message=f"with {use}, {each.message}", fix="")
        for each in findings
    ]


def _read(directory: Path) -> PackageFiles:
    """Read a use case; one without setters has no Krmfile."""
    tree = Tree(directory)
    if tree.has_file(KRMFILE):
        return read_package(tree, "")
    return PackageFiles(EMPTY + b"\n", read_resources(tree, ""), tree.prefix)


def among(drafts: Mapping[str, Draft], prefix: str, use: Use) -> dict[str, Draft]:
    """Return the packages that a use is for; it is refused where it is for none."""
    fitting, refused = dict[str, Draft](), list[Problem]()
    for name, draft in drafts.items():
        try:
            with unpacked(draft, prefix, use):
                fitting[name] = draft
        except PackyardError as error:
            refused += error.problems
    if not fitting:
        raise InputError(*{str(each): each for each in refused}.values())
    return fitting


def _from(problem: Problem, above: str) -> Problem:
    message, hint = (text.replace(above, "") for text in (problem.message, problem.hint))
    return problem._replace(message=message, hint=hint, file=problem.file.removeprefix(above))
