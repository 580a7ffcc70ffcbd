"""Report what is wrong with packages: those of a workspace, or any folder of manifests.

A finding in a package of the workspace is at the line that its author wrote, with the composed place behind it. The
exit code is 1 if any finding is an error, or with --strict if there is any. A comment at a line makes an exception:
``# packyard: allow RULE: reason``. Use cases of a workspace are judged alone, and with each option.
"""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from packyard.cli import declare, output, state, workspaces
from packyard.cli import directory as directories
from packyard.cli.rows import Rows
from packyard.core.errors import InputError, Problem, suggest
from packyard.core.files.paths import MANIFEST, WORKSPACE, root_of
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import schemas
from packyard.core.kubernetes.schemas import Judge
from packyard.core.work import executor
from packyard.using.options.switch import find_misfits
from packyard.writing.authoring.fix import fix
from packyard.writing.build import package_lint, workspace_lint
from packyard.writing.build.own_rules import judges_of
from packyard.writing.checks import explanation, folder
from packyard.writing.checks.finding import Finding, finding
from packyard.writing.checks.folder import Linted
from packyard.writing.source.workspace import Workspace, built_in, find_root

ROWS = Rows("finding", "file, line, column, rule, severity, message, hint, composed, fix")
EXAMPLE = "packyard lint my-model --strict"
_WAYS = "type packyard lint DIR, packyard lint . for all below, or packyard lint --workspace DIR"


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    targets = "default: all of the workspace, or this folder"
    parser.add_argument("targets", metavar="NAME|DIR", nargs="*", help=targets)
    explain = "only say why a rule is there, or list all"
    parser.add_argument("--explain", metavar="RULE", nargs="?", const="", help=explain)
    parser.switch("--strict", "exit with 1 for warnings, too")
    parser.switch("--fix", "correct what is certain, in your sources or files")
    workspaces.add_argument(parser)
    workspaces.add_jobs(parser)


def run(arguments: declare.Arguments) -> int:
    """Lint every target and print the findings; what stops lint itself is one, too, where a program reads them."""
    if arguments.explain is not None:
        declare.alone(arguments, "lint", "beside --explain", "strict", "fix")
        return _explain(arguments.explain)
    try:
        return _lint(arguments)
    except InputError as error:
        if arguments.output == "text":
            raise
        _show([finding("does-not-compose", problem) for problem in error.problems], arguments.output)
        return 1


def _lint(arguments: declare.Arguments) -> int:
    here = _workspace(arguments)
    names, folders = _sorted_out(arguments.targets, here)
    if names and not here:
        no_workspace = f", and there is no {WORKSPACE} here or above"
        raise directories.refusal(names[0]).mapped(lambda it: it._replace(message=it.message + no_workspace))
    all_findings, count = _find(arguments, here, names, folders)
    roots = [*([here.root_dir] if here else []), *map(Path, folders)] if arguments.fix else []
    fixed = [solved for root in roots for solved in fix(all_findings, root, state.log("lint --fix"))]
    output.note(*(f"{solved.file}:{solved.line}: fixed [{solved.rule}]" for solved in fixed))
    if fixed:
        all_findings, count = _find(arguments, _workspace(arguments), names, folders)
    _show(all_findings, arguments.output)
    errors = sum(finding.severity == "error" for finding in all_findings)
    counts = ((count, "use case"), (errors, "error"), (len(all_findings) - errors, "warning"))
    checked = ", ".join(arguments.targets or folders) or f"all packages of {here.root_dir if here else ''}"
    output.note(f"{', '.join(output.counted(number, noun) for number, noun in counts)} in {checked}")
    return 1 if errors or (arguments.strict and all_findings) else 0


def _sorted_out(targets: Sequence[str], here: Workspace | None) -> tuple[list[str], list[str]]:
    """Return the names of packages of the workspace, and the folders beside it, that targets are."""
    names: list[str] = _all_names(here) if here and not targets else []
    folders: list[str] = [] if targets or here else ["."]  # which nobody named: all below it may be meant or not
    if folders and not (any(Path().glob("*.y*ml")) or os.path.lexists(f"{root_of('.')}/{MANIFEST}")):
        raise InputError(Problem(f"no {WORKSPACE} here or above, and nothing here that is linted", hint=_WAYS))
    for target in targets:
        if Path(target).is_file():
            raise directories.refusal(target)
        packages = _packages_in(target, here) if here else None
        is_name = here and target in _all_names(here) and not Path(target).exists()
        if packages is None and not is_name and (place := directories.find([target])):
            folders.append(str(place[0]))
        else:
            names += [target] if packages is None else packages
    return names, folders


def _packages_in(folder: str, here: Workspace) -> list[str] | None:
    """Return the packages of the workspace whose sources are what a folder is for; None for another folder.

    Parts are refused: their comments name setters of other parts, and packages make objects of them.
    """
    place, root = Path(folder).resolve(), here.root_dir.resolve()
    if place in (root, root / "packages"):
        return _all_names(here)
    if any(part in (place, *place.parents) for part in (root / "bases", root / "overlays")):
        message = f"is a part of the packages of {here.root_dir}, and is judged with them"
        raise InputError(Problem(message, file=folder, hint="packyard lint"))
    return [place.name] if place.parent == root / "packages" and place.name in here.package_names() else None


def _all_names(here: Workspace) -> list[str]:
    return [*([here.name] if here.is_library else []), *here.package_names()]


def _workspace(arguments: declare.Arguments) -> Workspace | None:
    """Return the workspace that is named, or the one around, or None: then targets are folders."""
    return workspaces.find(arguments) if arguments.workspace or find_root(Path()) else None


def _find(
    arguments: declare.Arguments, here: Workspace | None, names: list[str], folders: list[str]
) -> tuple[list[Finding], int]:
    """Return what is wrong with packages of the workspace and in folders, and the number of use cases."""
    all_findings, count = _in_workspace(arguments, here, names) if here and names else ([], 0)
    judging = (judges_of(here) if here else schemas.choose(built_in().kubernetes)) if folders else []
    for target in map(Path, folders):
        linted = _in_folder(target, judging)
        all_findings += _without_taste(target, linted.findings)
        count += len(linted.use_cases)
    return all_findings, count


def _in_workspace(arguments: declare.Arguments, here: Workspace, names: list[str]) -> tuple[list[Finding], int]:
    """Return what is wrong with packages of the workspace, and the number of their use cases."""
    names = list(dict.fromkeys(names))
    for name in (name for name in names if name not in _all_names(here)):
        here.package_dir(name)  # which refuses it
    linted = executor.run(partial(package_lint.lint, here), names, jobs=workspaces.jobs(arguments, names))
    output.note(*sorted({text for item in linted for text in item.unchecked}))
    return workspace_lint.judge(here, linted), sum(item.use_cases for item in linted)


def _without_taste(directory: Path, findings: list[Finding]) -> list[Finding]:
    """Return what is more than taste, in a folder that was not made with packyard."""
    if find_root(directory) or any(directory.rglob(MANIFEST)) or os.path.lexists(f"{root_of(directory)}/{MANIFEST}"):
        return findings
    taste = {name for name, rule in explanation.table().items() if rule.taste}
    return [finding for finding in findings if finding.severity == "error" or finding.rule not in taste]


def _in_folder(directory: Path, judging: list[Judge]) -> Linted:
    """Return what is wrong with a folder, and with the options that its use cases have."""
    tree = Tree(directory)
    output.note(*tree.warnings())
    linted = folder.lint(tree, judges=judging)
    output.note(*linted.unchecked)
    if not linted.findings and not linted.use_cases:
        raise InputError(Problem(f"no {WORKSPACE} here or above, and no manifests in {directory}", hint=_WAYS))
    broken = {Path(finding.file) for finding in linted.findings if finding.rule == "unreadable"}
    sound = {directory / use_case for use_case in linted.use_cases} - {file.parent for file in broken}
    misfits = (problem for path in sorted(sound) for problem in find_misfits(tree.at(path)))
    told = {(finding.file, finding.line) for finding in linted.findings}
    new = (misfit for misfit in misfits if (misfit.file, misfit.line) not in told)
    once = dict.fromkeys(misfit for misfit in new if Path(misfit.file) not in broken)
    return Linted([*linted.findings, *(finding("option-does-not-apply", misfit) for misfit in once)], linted.use_cases)


def _show(findings: Sequence[Finding], form: str) -> None:
    """Print findings in a form."""
    if ROWS.show(findings, form):
        for finding in findings:
            output.line(str(finding), *[f"  composed: {finding.composed}"] * bool(finding.composed))


def _explain(name: str) -> int:
    """Print a rule with its example, or without a name all rules."""
    rules = explanation.table()
    if not name:
        rows = [(rule.name, rule.severity, rule.summary) for rule in rules.values()]
        output.table(("RULE", "SEVERITY", "WHAT IS WRONG"), rows)
        return 0
    if name not in rules:
        hint = suggest(name, rules) or "packyard lint --explain lists all rules"
        raise InputError(Problem(f"there is no rule {name!r}", hint=hint))
    rule = rules[name]
    fix = [f"--fix {rule.fix}."] if rule.fix else []
    head = f"{rule.name} ({rule.severity}): {rule.summary}"
    output.page("\n".join([head, "", rule.why, rule.hint, *fix, "", rule.example.rstrip("\n")]))
    return 0
