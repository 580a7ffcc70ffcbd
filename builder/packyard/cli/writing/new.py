"""Write a new package of the workspace: it builds and lints as it is, and you go on from there.

packyard new --list        the bases and overlays that a package can be made
                           of, with what each needs; -o json has the setters
packyard new --list NAME   the manifests of one of them

What no flag says is asked for on a terminal.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from packyard.cli import declare, directory, output, workspaces
from packyard.cli.rows import Rows
from packyard.core.bundle import archive
from packyard.core.bundle.archive import Member
from packyard.core.errors import InputError, Problem, UsageError
from packyard.core.kubernetes.kustomization import first_sentence
from packyard.writing.authoring import new
from packyard.writing.authoring.new import Answers
from packyard.writing.build import workspace_lint
from packyard.writing.source import offers
from packyard.writing.source.offers import Offered
from packyard.writing.source.workspace import BASE, PROGRAMS, STORAGE, Workspace

ROWS = Rows("file", "file", line="{file}")
PARTS = Rows(
    "part",
    "kind, name, folder, description, objects, defines, needs, volume, operators",
    "--list",
    columns="NAME, KIND, WHAT IT IS=description",
)
EXAMPLE = "packyard new my-model --base job"


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="the package: lower case words joined by dashes")
    parser.switch("--list", "list what packages can be made of, or show NAME")
    text = "a use case with this base, called as the base if not otherwise; may be repeated"
    parser.value("--base [USECASE=]BASE", text, action="append")
    for kind in (STORAGE, PROGRAMS):
        parser.value(f"--{kind} NAME", "of each use case; may be repeated", action="append", default=[])
    text = "a value that the package gives a setter, such as IMAGE=…; may be repeated"
    parser.value("--set NAME=VALUE", text, action="append", default=[])
    parser.value("--description TEXT", "what the package does, in a sentence", default="")
    workspaces.add_argument(parser, carried=True)


def run(arguments: declare.Arguments) -> None:
    """Write the package, unless what it is made of does not fit together; or list parts."""
    if arguments.list:
        declare.alone(arguments, "new", "beside --list", "base", STORAGE, PROGRAMS, "set", "description")
        _list(workspaces.find(arguments, carried=True), arguments.name, arguments.output)
        return
    workspace = workspaces.find(arguments)
    arguments.name = arguments.name or _asked_name(workspace)
    if not arguments.name:
        raise UsageError(f"packyard new: NAME is missing: {EXAMPLE}")
    new.check_name(workspace, arguments.name)
    parts = [*offers.find(workspace, output.warning)]
    answers = _answers(arguments, parts)
    new.check(answers, parts)
    written = _write(workspace, answers, parts)
    if ROWS.show([(path,) for path in sorted(written.rglob("*")) if path.is_file()], arguments.output):
        output.note(f"go on with {written / 'package.yaml'}; packyard test {answers.name} tries the package")


def _list(workspace: Workspace, name: str | None, form: str) -> None:
    """List parts, or show those of a name."""
    parts = [*offers.find(workspace, output.warning)]
    listed = [part for part in parts if part.name == name or not (name or part.internal)]
    if not listed:
        raise InputError(new.fault_of_part(BASE, name or "", parts))
    if not name or form == "json":
        PARTS.show(listed, form, cells={"WHAT IT IS": _summary})
        return
    for part in listed:
        output.note(f"{part.kind} {name}: {_summary(asdict(part))}")
        output.data(new.manifests(workspace, part))


def _write(workspace: Workspace, answers: Answers, parts: Sequence[Offered]) -> Path:
    """Write the package, and say what lint warns of; one with errors is not left there."""
    packages_dir = workspace.root_dir / "packages"
    packages_dir.mkdir(exist_ok=True)
    members = (Member(path=path, data=data) for path, data in new.write(workspace, answers).items())
    written = archive.write(answers.name, members, packages_dir)
    try:
        findings = workspace_lint.lint(workspace, answers.name)
        if errors := [finding for finding in findings if finding.severity == "error"]:
            problems = [item.problem if item.rule == "does-not-compose" else item.named for item in errors]
            hint = new.cure(answers, parts, problems)
            raise InputError(*problems, Problem("was not written", file=str(written), hint=hint))
    except BaseException:  # also Ctrl-C
        shutil.rmtree(written)
        raise
    for finding in findings:
        output.marked(finding.severity, str(finding.named))
    return written


def _answers(arguments: declare.Arguments, parts: Sequence[Offered]) -> Answers:
    """Return what flags say, and what is asked for beside them."""
    is_asked = not arguments.base and output.can_ask()
    setters = {name: values[-1] for name, values in directory.values(arguments.set, "new").items()}
    bases = [_asked("what it runs", BASE, parts)] if is_asked else arguments.base
    if not bases or not all(bases):
        raise UsageError(f"packyard new: --base is missing; packyard new --list shows the bases: {EXAMPLE}")
    named = {name: base or name for name, _, base in (word.partition("=") for word in bases)}
    storage = list(dict.fromkeys(arguments.storage))
    used = [part for part in parts if part.kind == BASE and part.name in named.values()]
    defined = {name for part in parts if part.kind == STORAGE for name in part.defines}
    if not storage and any(base.volume or defined & {*base.needs} for base in used):  # it has something to do
        none = "none" if any(part.name == "none" for part in parts if part.kind == STORAGE) else ""
        storage = [*filter(None, [_asked("storage", STORAGE, parts, none) if is_asked else none])]
    return Answers(
        name=arguments.name,
        bases=named,
        storage=storage,
        programs=list(dict.fromkeys(arguments.programs)),
        setters=setters,
        description=arguments.description or (output.ask("what it does, in a sentence: ") if is_asked else ""),
    )


def _asked_name(workspace: Workspace) -> str:
    """Ask for a name until there is one that the package can have; nothing is the answer of who wants to leave."""
    while answer := output.ask("what it is called: "):
        try:
            new.check_name(workspace, answer)
            break
        except InputError as error:
            output.refusal(error)
    return answer


def _asked(prompt: str, kind: str, parts: Sequence[Offered], default: str = "") -> str:
    """Ask for a part until there is one, by its number or its name; an empty answer is the default."""
    choices = {str(number): part for number, part in enumerate(new.choices(kind, parts), 1)}
    output.note(*(f"  {it:>2}  {part.name}: {first_sentence(part.description)}" for it, part in choices.items()))
    while True:
        answer = output.ask(f"{prompt}{f' [{default}]' if default else ''}: ") or default
        name = choices[answer].name if answer in choices else answer
        problem = new.fault_of_part(kind, name, parts) if name else ""
        if not problem:
            return name
        output.problem(problem)


def _summary(part: Mapping[str, Any]) -> str:
    """Return what a part is, in a sentence, and what it needs beside it."""
    needs = [*(["a storage"] if part["volume"] else []), *part["operators"]]
    return first_sentence(part["description"]) + (f" Needs {', '.join(needs)}." if needs else "")
