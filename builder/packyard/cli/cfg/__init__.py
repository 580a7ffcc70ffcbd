"""The `cfg` commands of kustomize 3.8.7, which kustomize v5 removed.

  set            set a setter: every field that its comments mark
  list-setters   list the setters of a package and of those below it
  create-setter  create a setter, and mark every field that has the value
  create-subst   create a substitution: a value made of several setters
  delete-setter  delete a setter, and the comments that mark its fields
  delete-subst   delete a substitution, and the comments that mark its fields
  init           make a directory a package: write its Krmfile

packyard cfg COMMAND --help describes a command.

Arguments, flags and exit codes are the same, and what files hold afterwards.
Scripts run unchanged, but for differences that prevent harm: where one package
of a tree refuses a change, none is written. The other commands of 3.8.7 are not
here: cat, count, grep and tree are in kustomize 5 (kustomize cfg cat …); fmt,
merge, merge3 and annotate are gone there too (kubectl annotate --local).
"""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from packyard.cli import output
from packyard.cli.flags import Declared, Flags, page
from packyard.core.errors import PackyardError, UsageError, suggest

#: The commands: the modules of this folder that run them (only the one that is asked for is imported), and their
#: functions, whose docstrings are their help, and declare their flags.
COMMANDS = {
    "set": ("setters", "set_value"),
    "list-setters": ("setters", "list_package_setters"),
    "create-setter": ("definitions", "create_setter"),
    "create-subst": ("definitions", "create_subst"),
    "delete-setter": ("definitions", "delete_setter"),
    "delete-subst": ("definitions", "delete_subst"),
    "init": ("definitions", "init"),
}
_HELP = ("-h", "--help", "help")
#: The commands of 3.8.7 that kustomize 5 still has.
_KEPT = ("cat", "count", "grep", "tree")


def main(words: Sequence[str]) -> int:
    """Run one of the commands; help is for who asks for it, or names none."""
    command = words[0] if words else "help"
    if command in _HELP:
        output.page(_page(command))
        return 0
    try:
        return _run(command, words[1:]) or 0
    except PackyardError as error:
        output.refusal(error)
        if isinstance(error, UsageError):
            output.notice(_page(command).partition("\n")[0])
        return 1


def _run(command: str, words: Sequence[str]) -> int | None:
    if command not in COMMANDS:
        hint = f"kustomize 5 has it: kustomize cfg {command}" if command in _KEPT else suggest(command, COMMANDS)
        raise UsageError(f"no command {command!r}" + (f" ({hint})" if hint else "; packyard cfg --help lists them"))
    function = _function(command)
    parsed = Declared(page(function) + "\n  --stack-trace").parse(words)  # of Go, with an error: packyard has none
    if parsed.switches["help"]:
        output.page(_page(command))
        return 0
    output.choose(is_quiet=parsed.switches["quiet"], is_verbose=parsed.switches["verbose"])
    return function(parsed)


def _page(command: str) -> str:
    """Return the help of a command, or of all; its first line says how it is used."""
    from inspect import cleandoc  # scripts call `cfg set` many times, and rarely for help

    if command in COMMANDS:
        return cleandoc(page(_function(command)))
    return f"usage: packyard cfg COMMAND [flags]\n\n{page(sys.modules[__name__]).rstrip()}"


def _function(command: str) -> Callable[[Flags], int | None]:
    module, function = COMMANDS[command]
    verb: Callable[[Flags], int | None] = getattr(import_module(f"{__name__}.{module}"), function)
    return verb


def flags_of(words: Sequence[str]) -> Declared:
    """Return the flags of the command that the words begin with, or those that every command has."""
    return Declared(page(_function(words[0])) if words and words[0] in COMMANDS else "")
