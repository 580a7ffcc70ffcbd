"""What a use case composes to, now and after each change of its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packyard.core.errors import InputError, PackyardError, Problem, suggest
from packyard.core.work.kept import Fact
from packyard.core.yaml.sources import Observed
from packyard.writing.build import assemble, package_lint, used, workspace_lint
from packyard.writing.build.packing import Packing, Settings
from packyard.writing.build.used import Use
from packyard.writing.checks.finding import Finding
from packyard.writing.source import library, package, workspace
from packyard.writing.source.library import Library

_VERSION = "0.0.0"  # which no finding shows


@dataclass(frozen=True, slots=True)
class View:
    """The files of a use case by their paths from the package's parent, and what lint finds in the package.

    Without ``problems`` it composes.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    problems: Sequence[Problem] = ()


class Preview:
    """Looks at one use case of a package of a workspace, again and again."""

    def __init__(
        self, root_dir: Path, name: str, path: str, libraries: Sequence[Library] = (), use: Use | None = None
    ) -> None:
        self.root_dir = root_dir
        self.name = name
        self.path = path
        self.libraries = tuple(libraries)
        self.use = use or Use()
        self._facts: list[Fact] = []

    def look(self) -> View:
        """Compose it now; what is wrong with its sources is in the view."""
        before = Observed(self.root_dir, library.places(self.libraries)).now(self._facts)  # it is read
        try:
            here = workspace.read(self.root_dir, libraries=self.libraries)
        except PackyardError as error:
            self._facts = before
            return View(problems=error.problems)
        try:
            draft = assemble.draft(here, self.name, _VERSION)
        except PackyardError as error:
            return View(problems=error.problems)
        finally:
            self._facts = here.sources.facts
        where = f"{here.prefix}/{self.path}/"
        files = {f"{self.name}/{item.path}": item.data for item in draft.members if item.path.startswith(where)}
        if not files:
            return View(problems=[Problem(f"{self.name} has no use case {self.path!r} any more")])
        packing = Packing(Settings(root_dir=self.root_dir, version=_VERSION, libraries=self.libraries))
        linted = [package_lint.Linting(packing)(self.name, (draft, self._facts))]
        try:
            if self.use:
                linted = package_lint.in_use(packing, linted, self.use)
                files = used.files(draft, here.prefix, self.use, self.path)
        except PackyardError as error:
            return View(problems=error.problems)
        return View(files, workspace_lint.judge(here, linted, alone=True))

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
