"""Many packages at once: each is composed, in this process or in several; linted, and written.

All or nothing: if one package is refused, everything that is wrong with any is said, and `tree` writes none.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from packyard.core.bundle.bundle import Bundle
from packyard.core.digest import Digest
from packyard.core.work import executor
from packyard.writing.build import package_lint, workspace_lint
from packyard.writing.build.draft import compose_draft
from packyard.writing.build.package_lint import Linted
from packyard.writing.checks.finding import Finding
from packyard.writing.source.workspace import Workspace


class Built(NamedTuple):
    """A package that was built; ``inputs`` are the files that it was made from, below the root of the sources."""

    name: str
    version: str
    digest: Digest
    tar: Digest
    size: int
    inputs: Mapping[str, Digest]


class Catalogue(NamedTuple):
    """Packages that were built, in the order of their names, and what lint warns of.

    ``secrets`` are those in plain text, which exceptions allow.
    """

    packages: list[Built]
    warnings: Sequence[Finding]
    secrets: Sequence[Finding]


#: What puts a bundle where it belongs: see `tree`.
_Put = Callable[[Bundle], object]


def build(
    here: Workspace,
    version: str,
    names: Sequence[str],
    put: _Put,
    *,
    jobs: int,
    done: Callable[[int], None] = lambda _: None,
) -> Catalogue:
    """Build packages; refuse what is wrong with them, with all of them together, and with parts that none uses."""
    results = executor.run(partial(_task, here, version, put), names, jobs=jobs, done=done)
    linted = [package for _, package in results]
    if here.is_library and here.name in names:
        linted += (package_lint.lint(here, name) for name in here.package_names())
    warnings = workspace_lint.refuse(here, linted)
    secrets = [item for package in linted for item in package.findings if item.rule == "plain-secret"]
    return Catalogue([built for built, _ in results], warnings, secrets)


def _task(here: Workspace, version: str, put: _Put, name: str) -> tuple[Built, Linted]:
    """Build a package; its bytes are put away here, so that no process holds many."""
    draft = compose_draft(here, version, name)
    bundle = draft.bundle()
    put(bundle)
    built = Built(bundle.name, bundle.version, bundle.digest, bundle.tar, len(bundle.data), draft.inputs)
    return built, package_lint.lint(here, name, draft)
