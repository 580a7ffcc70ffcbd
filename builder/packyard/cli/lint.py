"""Report what is wrong with packages: those of a workspace, or any folder with a Krmfile.

The exit code is 1 if any finding is an error.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from packyard.checks import parts
from packyard.checks.finding import Finding, finding
from packyard.checks.lint import lint, lint_catalogue
from packyard.checks.rule import table
from packyard.cli import arguments as shared
from packyard.cli import fanout, libraries, output, sources, state
from packyard.dataclass import replace
from packyard.errors import InputError, Problem, suggest
from packyard.files import regular
from packyard.files.tree import Tree
from packyard.kubernetes import kustomization
from packyard.kubernetes import schemas as judges
from packyard.kubernetes.schemas import Judge
from packyard.render.builtin import find_misfits
from packyard.setters.packages import PackageFiles, find_packages, read_package, read_resources
from packyard.source.workspace import FILE, Workspace, built_in, find_root


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    targets = "packages or folders (default: all packages of the workspace, otherwise the package here)"
    parser.add_argument("targets", metavar="NAME|DIR", nargs="*", help=targets)
    explain = "print why a rule is there, with an example, or all rules; check nothing"
    parser.add_argument("--explain", metavar="RULE", nargs="?", const="", help=explain)
    shared.add_output(parser)
    sources.add_argument(parser)
    fanout.add_cache_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Lint every target and print the findings; in a folder, a user's copy, required values may be set."""
    if arguments.explain is not None:
        return _explain(arguments.explain)
    here = _workspace(arguments)
    folders = [target for target in arguments.targets if Path(target).is_dir()] if arguments.targets or here else ["."]
    names = [target for target in arguments.targets if target not in folders]
    if names and not here:
        raise InputError(Problem(f"is not a directory, and there is no {FILE} here or above", file=names[0]))
    findings, count = _find(arguments, here, names, folders)
    if arguments.output == "json":
        output.json_result([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            output.line(str(finding))
    errors = sum(finding.severity == "error" for finding in findings)
    counts = ((count, "use case"), (errors, "error"), (len(findings) - errors, "warning"))
    checked = ", ".join(arguments.targets or folders) or f"all packages of {here.root_dir if here else ''}"
    output.note(f"{', '.join(output.counted(number, noun) for number, noun in counts)} in {checked}")
    return 1 if errors else 0


def _explain(name: str) -> int:
    rules = table()
    if not name:
        output.table(
            ("RULE", "SEVERITY", "WHAT IS WRONG"),
            [(each.name, each.severity, each.summary) for each in rules.values()],
            wide=True,
        )
        return 0
    if name not in rules:
        hint = suggest(name, rules) or "packyard lint --explain lists all rules"
        raise InputError(Problem(f"there is no rule {name!r}", hint=hint))
    rule = rules[name]
    fix = [f"--fix {rule.fix}."] if rule.fix else []
    head = f"{rule.name} ({rule.severity}): {rule.summary}"
    output.page("\n".join([head, "", rule.why, rule.hint, *fix, "", rule.example.rstrip("\n")]))
    return 0


def _find(
    arguments: argparse.Namespace, here: Workspace | None, names: list[str], folders: list[str]
) -> tuple[list[Finding], int]:
    """Return what is wrong with packages of the workspace and in folders, and the number of use cases."""
    copies = [copy for folder in folders for copy in _copies(Path(folder))]
    composed = _composed(arguments, here, names) if here and (names or not folders) else []
    judging = judges_of(here or built_in())
    findings = lint_catalogue(composed, judges=judging)
    if here and not names and (composed or here.is_library):
        findings += _of_parts(here)
    for directory, package in copies:
        found = lint(package, shipped=False, judges=judging)
        readable = all(each.rule != "unreadable" for each in found)
        misfits = find_misfits(directory) if readable else ()
        findings += [*found, *(finding("option-does-not-apply", "error", problem) for problem in misfits)]
    return findings, len(composed) + len(copies)


def _workspace(arguments: argparse.Namespace) -> Workspace | None:
    """Return the workspace that is named, or the one around, or None: then targets are folders."""
    if arguments.workspace:
        return sources.find(arguments)
    around = find_root(Path.cwd())
    here = libraries.read(around) if around else None
    if not here and not arguments.targets:
        try:
            find_packages(Tree(Path()), recursive=True)
        except InputError as error:
            hint = "type packyard lint DIR, or packyard lint --workspace DIR"
            raise InputError(Problem(f"no {FILE} here or above, and no package here", hint=hint)) from error
    return here


def judges_of(workspace: Workspace) -> list[Judge]:
    """Return the judges of the versions that the workspace lists; none, and a warning, without what they need."""
    missing = judges.missing()
    if missing:
        output.warning(
            f"not checked: the schemas of Kubernetes and of custom resources, which need {' and '.join(missing)} "
            f"({judges.EXTRA})"
        )
        return []
    return judges.choose(workspace.kubernetes)


def _copies(folder: Path) -> Iterator[tuple[Path, PackageFiles]]:
    tree = Tree(folder)
    state.tell_pending(tree)
    for package in find_packages(tree, recursive=True):
        files = read_package(tree, package)
        yield folder / package, replace(files, patches=read_resources(tree, package, suffixes=(".json6902",)))


def _of_parts(here: Workspace) -> list[Finding]:
    """Find what is wrong with the parts of a workspace, compared with each other."""
    bases = here.root_dir.glob("bases/**/*.yaml")
    overlays = here.root_dir.glob(f"overlays/*/*/{kustomization.FILE}")
    return [*parts.check(*({str(file): regular.read(file) for file in files} for files in (bases, overlays)))]


def _composed(arguments: argparse.Namespace, here: Workspace, names: list[str]) -> list[PackageFiles]:
    """Compose packages, or find them in the cache."""
    from packyard.build import library
    from packyard.build.composing import Composing
    from packyard.source import whole

    cache_dir = fanout.cache_dir(arguments)
    if here.is_library and not names:
        library.draft(here)  # which refuses parts that cannot be read
    names = names or here.package_names()
    made = list(map(Composing(here.root_dir, cache_dir, here.libraries), names))
    fanout.finish(cache_dir, (item.fault for item in made))
    whole.check(here, names, made)
    return [files for item in made for files in item.files]
