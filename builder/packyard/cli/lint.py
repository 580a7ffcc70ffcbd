"""Report what is wrong with packages: those of a workspace, or any folder of manifests.

A finding in a package of the workspace is at the line that its author wrote, with the composed place behind it. The
exit code is 1 if any finding is an error, or with --strict if there is any. A comment at a line makes an exception:
``# packyard: allow RULE: reason``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from packyard.build import linting
from packyard.build.packing import Packing, Settings
from packyard.bundle import shipped
from packyard.checks.finding import Finding, finding
from packyard.checks.lint import lint
from packyard.cli import arguments as shared
from packyard.cli import fanout, findings, fixing, libraries, output, rules, sources, state
from packyard.dataclass import replace
from packyard.errors import InputError, Problem
from packyard.files.tree import Tree
from packyard.kubernetes import schemas as judges
from packyard.kubernetes.schemas import Judge
from packyard.render.builtin import find_misfits
from packyard.setters.krmfile import EMPTY
from packyard.setters.packages import PackageFiles, find_packages, read_package, read_resources
from packyard.source.workspace import FILE, Workspace, built_in, find_root
from packyard.work import executor

_VERSION = "0.0.0"  # which no finding shows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    targets = "packages or folders (default: all packages of the workspace, otherwise the folder here)"
    parser.add_argument("targets", metavar="NAME|DIR", nargs="*", help=targets)
    explain = "print why a rule is there, with an example, or all rules; check nothing"
    parser.add_argument("--explain", metavar="RULE", nargs="?", const="", help=explain)
    parser.add_argument("--strict", action="store_true", help="exit with 1 for warnings, too")
    parser.add_argument("--fix", action="store_true", help="correct what is certain, in your sources or files")
    shared.add_output(parser, *findings.FORMS)
    sources.add_argument(parser)
    fanout.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Lint every target and print the findings; in a folder, a user's copy, required values may be set."""
    if arguments.explain is not None:
        return rules.explain(arguments.explain)
    here = _workspace(arguments)
    folders = [target for target in arguments.targets if Path(target).is_dir()] if arguments.targets or here else ["."]
    names = [target for target in arguments.targets if target not in folders]
    if names and not here:
        raise InputError(Problem(f"is not a directory, and there is no {FILE} here or above", file=names[0]))
    judging = judges_of(here or built_in())
    found, count = _find(arguments, here, names, folders, judging)
    roots = [*([here.root_dir] if here else []), *map(Path, folders)]
    if arguments.fix and fixing.fix(found, roots):
        found, count = _find(arguments, _workspace(arguments), names, folders, judging)
    findings.show(found, arguments.output)
    errors = sum(each.severity == "error" for each in found)
    counts = ((count, "use case"), (errors, "error"), (len(found) - errors, "warning"))
    checked = ", ".join(arguments.targets or folders) or f"all packages of {here.root_dir if here else ''}"
    output.note(f"{', '.join(output.counted(number, noun) for number, noun in counts)} in {checked}")
    return 1 if errors or (arguments.strict and found) else 0


def _workspace(arguments: argparse.Namespace) -> Workspace | None:
    """Return the workspace that is named, or the one around, or None: then targets are folders."""
    if arguments.workspace:
        return sources.find(arguments)
    around = find_root(Path())
    return libraries.read(around) if around else None


def _find(
    arguments: argparse.Namespace, here: Workspace | None, names: list[str], folders: list[str], judging: list[Judge]
) -> tuple[list[Finding], int]:
    """Return what is wrong with packages of the workspace and in folders, and the number of use cases."""
    found, count = _in_workspace(arguments, here, names) if here and (names or not folders) else ([], 0)
    for folder in folders:
        for directory, package in _copies(Path(folder)):
            found += _in_copy(directory, package, judging)
            count += 1
    return found, count


def _in_workspace(arguments: argparse.Namespace, here: Workspace, names: list[str]) -> tuple[list[Finding], int]:
    """Return what is wrong with packages of the workspace, and the number of their use cases."""
    for name in names:
        here.package_dir(name)  # which refuses an unknown one
    every = [*([here.name] if here.is_library else []), *here.package_names()]
    names = list(dict.fromkeys(names)) or every
    settings = Settings(
        root_dir=here.root_dir, version=_VERSION, cache_dir=fanout.cache_dir(arguments), libraries=here.libraries
    )
    linted = executor.run(linting.Linting(Packing(settings)), names, on=fanout.engine(arguments, names))
    fanout.finish(settings.cache_dir, (item.fault for item in linted))
    return linting.judge(here, linted), sum(item.use_cases for item in linted)


def _in_copy(directory: Path, package: PackageFiles, judging: list[Judge]) -> list[Finding]:
    found = lint(package, shipped=False, judges=judging, is_own=shipped.package_of(directory) is None)
    readable = all(each.rule != "unreadable" for each in found)
    misfits = find_misfits(directory) if readable else ()
    return [*found, *(finding("option-does-not-apply", "error", problem) for problem in misfits)]


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
    """Yield the packages in a folder; one without any is taken as a whole, as manifests without setters."""
    tree = Tree(folder)
    state.tell_pending(tree)
    try:
        packages = find_packages(tree, recursive=True)
    except InputError as error:
        files = read_resources(tree, "", suffixes=(".yaml", ".yml", ".json6902"))
        if not files:
            hint = "type packyard lint DIR, or packyard lint --workspace DIR"
            problem = Problem(f"no {FILE} here or above, and no manifests in {folder}", hint=hint)
            raise InputError(problem) from error
        patches = {path: files.pop(path) for path in list(files) if path.endswith(".json6902")}
        yield folder, PackageFiles(EMPTY + b"\n", files, tree.prefix, patches=patches)
        return
    for package in packages:
        files_of = read_package(tree, package)
        patches = read_resources(tree, package, suffixes=(".json6902",))
        yield folder / package, replace(files_of, patches=patches)
