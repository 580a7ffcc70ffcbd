"""What a use case composes to, now and after each change of its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packyard.checks.finding import Finding
from packyard.checks.lint import lint_catalogue
from packyard.errors import InputError, PackyardError, Problem, suggest
from packyard.kubernetes.schemas import Judge
from packyard.source import library, package, workspace
from packyard.source.compose import compose
from packyard.source.library import Library
from packyard.source.sources import Observed
from packyard.work.kept import Fact


@dataclass(frozen=True, slots=True)
class View:
    """The files of a use case by their paths from the package's parent, and what lint finds in them.

    Without ``problems`` it composes.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    problems: Sequence[Problem] = ()


class Preview:
    """Looks at one use case of a package of a workspace, again and again."""

    def __init__(
        self, root_dir: Path, name: str, path: str, judges: Sequence[Judge] = (), libraries: Sequence[Library] = ()
    ) -> None:
        self.root_dir = root_dir
        self.name = name
        self.path = path
        self.judges = judges
        self.libraries = libraries
        self._facts: list[Fact] = []

    def look(self) -> View:
        """Compose it now; what is wrong with its sources is in the view."""
        try:
            here = workspace.read(self.root_dir, libraries=self.libraries)
        except PackyardError as error:
            self._facts = Observed(self.root_dir, library.places(self.libraries)).now(self._facts)
            return View(problems=error.problems)
        try:
            composed = compose(here, package.read(here, self.name))
        except PackyardError as error:
            return View(problems=error.problems)
        finally:
            self._facts = here.sources.facts
        found = next((item for item in composed.use_cases if item.use_case.path == self.path), None)
        if found is None:
            return View(problems=[Problem(f"{self.name} has no use case {self.path!r} any more")])
        where = f"{self.name}/{here.prefix}/{self.path}/"
        findings = lint_catalogue([found.package_files(where)], judges=self.judges)
        return View({where + file: data for file, data in sorted(found.files.items())}, findings)

    def has_changed(self) -> bool:
        """Say whether anything differs that the last look asked its sources."""
        return not Observed(self.root_dir, library.places(self.libraries)).agrees(self._facts)


def choose(described: package.Package, path: str) -> str:
    """Return the path of a use case: that of this path, the only one below it, or without a path the first."""
    paths = [use_case.path for use_case in described.use_cases]
    if not path:
        return described.first
    below = [each for each in paths if each == path or each.startswith(f"{path}/")]
    if len(below) == 1:
        return below[0]
    hint = suggest(path, paths) or f"one of: {', '.join(below or paths)}"
    raise InputError(Problem(f"{described.name} has no use case {path!r}", file=described.file, hint=hint))
