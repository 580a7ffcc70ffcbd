"""Write a new package of the workspace: it builds and lints as it is, and you go on from there.

What no flag says is asked for on a terminal; packyard parts lists bases, storages and programs.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence

from packyard.authoring import new
from packyard.authoring.new import Answers
from packyard.build import linting
from packyard.bundle import archive
from packyard.bundle.archive import Member
from packyard.cli import arguments as shared
from packyard.cli import output, sources
from packyard.errors import InputError, Problem, UsageError
from packyard.source import offered
from packyard.source.offered import BASE, Offered
from packyard.source.package import MODEL
from packyard.source.workspace import PROGRAMS, STORAGE

_DEFAULTS = {"framework": "none", "category": "none", "precision": "none", "mode": "training"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("name", metavar="NAME", help="the package: lower case words joined by dashes")
    base = "a use case with this base, called as the base if not otherwise; may be repeated"
    parser.add_argument("--base", metavar="[USECASE=]BASE", action="append", help=base)
    for kind in (STORAGE, PROGRAMS):
        parser.add_argument(f"--{kind}", metavar="NAME", action="append", help="of all use cases; may be repeated")
    values = "a value that the package gives a setter, such as IMAGE=…; may be repeated"
    parser.add_argument("--set", dest="values", metavar="NAME=VALUE", action="append", default=[], help=values)
    for fact, text in _DEFAULTS.items():
        parser.add_argument(f"--{fact}", metavar="TEXT", help=f"the model's {fact} (default: {text})")
    parser.add_argument("--description", metavar="TEXT", help="what it does, in a sentence")
    shared.add_output(parser)
    sources.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the package, unless what it is made of does not fit together."""
    workspace = sources.find(arguments)
    parts = offered.find(workspace)
    answers = _answers(arguments, parts)
    new.check(workspace, answers, parts)
    packages_dir = workspace.root_dir / "packages"
    packages_dir.mkdir(exist_ok=True)
    members = (Member(path=path, data=data) for path, data in new.write(workspace, answers).items())
    written = archive.write(answers.name, members, packages_dir)
    try:
        findings = linting.lint(workspace, answers.name)
    except BaseException:  # also Ctrl-C
        shutil.rmtree(written)
        raise
    problems = [finding.problem for finding in findings if finding.rule == "does-not-compose"]
    if problems:
        shutil.rmtree(written)
        hint = "name use cases by --base USECASE=BASE, give values by --set NAME=VALUE"
        raise InputError(*problems, Problem("was not written", file=str(written), hint=hint))
    for finding in findings:
        output.problem(str(finding))
    output.files(sorted(path for path in written.rglob("*") if path.is_file()), arguments.output)
    if arguments.output == "json":
        return 0
    output.note(f"go on with {written / 'package.yaml'}, and look at it by: packyard preview {answers.name}")
    return 0


def _answers(arguments: argparse.Namespace, parts: Sequence[Offered]) -> Answers:
    bases = arguments.base or _asked_parts(BASE, parts)
    if not bases:
        raise UsageError("packyard new: --base is missing; packyard parts --kind base lists what there is")
    storages = arguments.storage or _asked_parts(STORAGE, parts)
    facts = {fact: getattr(arguments, fact) or _asked(fact, text) for fact, text in _DEFAULTS.items()}
    return Answers(
        name=arguments.name,
        model={key: {"name": arguments.name, **facts}[key] for key in MODEL},
        bases={name: base or name for name, _, base in (word.partition("=") for word in bases)},
        storages=list(dict.fromkeys(storages)),
        programs=list(dict.fromkeys(arguments.programs or [])),
        setters=_setters(arguments.values),
        description=arguments.description or _asked("description"),
    )


def _setters(words: Sequence[str]) -> dict[str, str]:
    """Read values of setters; without one for the image, it is asked for."""
    values = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"packyard new: --set {word!r} must be NAME=VALUE")
        values[name] = value
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
