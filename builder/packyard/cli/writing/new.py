"""Write a new package of the workspace: it builds and lints as it is, and you go on from there.

What no flag says is asked for on a terminal; packyard parts lists bases, storages and programs.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Container, Mapping, Sequence

from packyard.cli import declare, output, workspaces
from packyard.cli.rows import Rows
from packyard.core.bundle import archive
from packyard.core.bundle.archive import Member
from packyard.core.errors import InputError, Problem, UsageError
from packyard.writing.authoring import new
from packyard.writing.authoring.new import Answers, UseCase
from packyard.writing.build import workspace_lint
from packyard.writing.source import offered
from packyard.writing.source.offered import BASE, Offered
from packyard.writing.source.package import MODEL
from packyard.writing.source.workspace import PROGRAMS, STORAGE

ROWS = Rows("file", "file", line="{file}")
EXAMPLE = "packyard new my-model --base single-node"
_DEFAULTS = {"framework": "none", "category": "none", "precision": "none", "mode": "training"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("name", metavar="NAME", help="the package: lower case words joined by dashes")
    text = "a use case with this base, called as the base if not otherwise; may be repeated"
    declare.value(parser, "--base [USECASE=]BASE", text, action="append")
    for kind in (STORAGE, PROGRAMS):
        text = "of one use case, or of all that name none; may be repeated"
        parser.add_argument(f"--{kind}", metavar="[USECASE=]NAME", action="append", default=[], help=text)
    text = "a value that the package, or one use case, gives a setter, such as IMAGE=…; may be repeated"
    declare.value(parser, "--set [USECASE=]NAME=VALUE", text, dest="values", action="append", default=[])
    workspaces.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the package, unless what it is made of does not fit together."""
    workspace = workspaces.find(arguments)
    parts = offered.find(workspace)
    answers = _answers(arguments, parts)
    new.check(workspace, answers, parts)
    packages_dir = workspace.root_dir / "packages"
    packages_dir.mkdir(exist_ok=True)
    members = (Member(path=path, data=data) for path, data in new.write(workspace, answers).items())
    written = archive.write(answers.name, members, packages_dir)
    try:
        findings = workspace_lint.lint(workspace, answers.name)
    except BaseException:  # also Ctrl-C
        shutil.rmtree(written)
        raise
    problems = [finding.problem for finding in findings if finding.rule == "does-not-compose"]
    if problems:
        shutil.rmtree(written)
        hint = "leave a storage out by --storage USECASE=, name use cases by --base USECASE=BASE, give values by --set"
        raise InputError(*problems, Problem("was not written", file=str(written), hint=hint))
    for finding in findings:
        output.marked(finding.severity, f"{finding.problem} [{finding.rule}]")
    if ROWS.show(sorted(path for path in written.rglob("*") if path.is_file()), arguments.output):
        output.note(f"go on with {written / 'package.yaml'}, and look at it by: packyard preview {answers.name}")
    return 0


def _answers(arguments: argparse.Namespace, parts: Sequence[Offered]) -> Answers:
    bases = arguments.base or _asked_parts(BASE, parts)
    if not bases:
        raise UsageError(f"packyard new: --base is missing; name one of packyard parts --kind base: {EXAMPLE}")
    named = {name: base or name for name, _, base in (word.partition("=") for word in bases)}
    storages = _by_use_case(arguments.storage or _asked_parts(STORAGE, parts), named)
    programs = _by_use_case(arguments.programs, named)
    values = _by_use_case(arguments.values, named)
    facts = {fact: _asked(fact, text) for fact, text in _DEFAULTS.items()}
    return Answers(
        name=arguments.name,
        model={key: {"name": arguments.name, **facts}[key] for key in MODEL},
        use_cases={
            name: UseCase(
                base=base,
                storage=_parts(storages, name),
                programs=_parts(programs, name),
                setters=_setters(values.get(name, [])),
            )
            for name, base in named.items()
        },
        setters=_with_image(_setters(values.get("", []))),
        description=_asked("description"),
    )


def _by_use_case(words: Sequence[str], use_cases: Container[str]) -> dict[str, list[str]]:
    """Return words by the use case that each begins with, and by an empty text if it begins with none."""
    by_use_case: dict[str, list[str]] = {}
    for word in words:
        name, equals, rest = word.partition("=")
        is_one = equals and name in use_cases
        by_use_case.setdefault(name if is_one else "", []).append(rest if is_one else word)
    return by_use_case


def _parts(named: Mapping[str, Sequence[str]], use_case: str) -> list[str]:
    """Return the parts of a use case, of which an empty name says that there are none."""
    return [name for name in dict.fromkeys(named.get(use_case, named.get("", ()))) if name]


def _setters(words: Sequence[str]) -> dict[str, str]:
    values = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"packyard new: --set takes NAME=VALUE, such as --set IMAGE=busybox:1.36, not {word!r}")
        values[name] = value
    return values


def _with_image(values: dict[str, str]) -> dict[str, str]:
    image = values.get("IMAGE") or _asked("image, if users shall not have to set it")
    return {"IMAGE": image, **values} if image else values


def _asked(what: str, default: str = "") -> str:
    shown = f" [{default}]" if default else ""
    return output.ask(f"{what}{shown}: ") or default


def _asked_parts(kind: str, parts: Sequence[Offered]) -> list[str]:
    """Ask for parts of a kind on a terminal, after showing them."""
    if not output.can_ask():
        return []
    for part in parts:
        if part.kind == kind:
            output.note(f"  {part.name}: {part.description}")
    return output.ask(f"{kind} (several: with blanks between): ").split()
