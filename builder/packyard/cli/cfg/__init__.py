"""The `cfg` commands of kustomize 3.8.7, which kustomize v5 removed: finds the command, and prints what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from packyard.cli import output
from packyard.cli.flags import Declared
from packyard.core.errors import PackyardError, UsageError, suggest

#: The commands, the modules of this folder that run them (only the one that is asked for is imported), the functions,
#: and what declares their flags.
COMMANDS = {
    "set": ("set", "set_value", "FLAGS"),
    "list-setters": ("list", "list_package_setters", "FLAGS"),
    "create-setter": ("create", "create_setter", "SETTER_FLAGS"),
    "create-subst": ("create", "create_subst", "SUBST_FLAGS"),
    "delete-setter": ("delete", "delete_setter", "FLAGS"),
    "delete-subst": ("delete", "delete_subst", "FLAGS"),
    "init": ("init", "init", "FLAGS"),
    "annotate": ("annotate", "run", "FLAGS"),
}
#: The other commands of 3.8.7, and what does their work today.
_ELSEWHERE = {
    **{name: f"kustomize 5 has it: kustomize cfg {name}" for name in ("cat", "count", "grep", "tree")},
    **dict.fromkeys(("fmt", "merge", "merge3"), "kustomize 5 has none either"),
}
_HELP = ("-h", "--help", "help")

#: A flag of all kustomize commands, which prints Go's stack with an error; packyard has none.
_STACK_TRACE = "--stack-trace"


def main(words: Sequence[str]) -> int:
    """Run one of the commands; help is for who asks for it, or names none."""
    from packyard.cli.cfg import help  # scripts call `cfg set` many times, and rarely for help

    if not words or words[0] in _HELP:
        output.page(help.overview())
        return 0
    try:
        if words[0] not in COMMANDS:
            raise UsageError(_unknown(words[0]))
        if "--help" in words or "-h" in words:
            output.page(help.page(words[0], flags_of(words[0])))
            return 0
        module, function, _ = COMMANDS[words[0]]
        end = words.index("--") if "--" in words else len(words)
        words = [word for place, word in enumerate(words) if word != _STACK_TRACE or place > end]
        return int(getattr(import_module(f"{__name__}.{module}"), function)(words[1:]))
    except UsageError as error:
        output.notice(f"Error: {error}\n{help.usage(words[0])}")
        return 1
    except PackyardError as error:
        output.notice(f"Error: {error}")
        return 1


def flags_of(command: str) -> Declared:
    """Return the flags that a command declares."""
    module, _, flags = COMMANDS[command]
    declared = getattr(import_module(f"{__name__}.{module}"), flags)
    assert isinstance(declared, Declared)
    return declared


def _unknown(word: str) -> str:
    if word in _ELSEWHERE:
        return f"packyard has no cfg {word} ({_ELSEWHERE[word]})"
    if word.startswith("-"):
        return f"unknown flag {word}: a command comes first"
    hint = suggest(word, COMMANDS)
    return f"unknown command {word}" + (f" ({hint})" if hint else "")
