"""How verbs declare arguments and get them: all but `set`, which must start fast, and kustomize's own commands."""

import argparse
import re
from collections.abc import Sequence
from functools import partial
from shlex import join
from textwrap import fill
from typing import Any, NoReturn

from packyard.cli import output
from packyard.cli.flags import unknown
from packyard.core import ending
from packyard.core.errors import UsageError, suggest

Arguments = argparse.Namespace


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help in 80 columns: sentences are filled, and lines with columns stay as they were written."""

    def _fill_text(self, text: str, width: int, _indent: str) -> str:
        paragraphs = text.strip().split("\n\n")
        return "\n\n".join(item if "  " in item else fill(item, width, break_on_hyphens=False) for item in paragraphs)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """Name the value of a flag once: ``-o, --output {text,json}``."""
        if not action.option_strings:
            return super()._format_action_invocation(action)
        value = self._format_args(action, str(action.dest).upper()) if action.nargs != 0 else ""
        return " ".join(filter(None, (", ".join(action.option_strings), value)))


class Parser(argparse.ArgumentParser):
    """An argument parser that prints through `output`, and raises `UsageError` instead of exiting.

    ``example`` is a command that says all that has to be said; ``instead`` is said where another verb may be meant.
    """

    example = instead = ""
    typed: Sequence[str] = ()
    color = False  # from Python 3.14 on argparse would color the help

    def switch(self, flag: str, text: str) -> None:
        """Declare a flag that is on or off: ``--yes``, or ``-y --yes``."""
        self.add_argument(*flag.split(), action="store_true", help=text)

    def value(self, flag: str, text: str, **more: Any) -> None:
        """Declare a flag with a value, ``--role NAME``; its text says which it has by default, if that is not empty."""
        *names, metavar = flag.split()
        default = f" (default: {more['default']})" if more.get("default") else ""
        self.add_argument(*names, metavar=metavar, help=text + default, **more)

    def former(self, flag: str, now: str) -> None:
        """Take a flag also by the name that it had in 0.1.0, which scripts type; no help or completion shows that."""
        self._option_string_actions[flag] = self._option_string_actions[now]

    def error(self, message: str) -> NoReturn:
        """Refuse the command line in one sentence with what to type next."""
        command, usage = f"{self.prog} --help", (self.usage or "").replace("%(prog)s", self.prog)
        if "arguments are required: " in message:
            missing = message.partition(": ")[2].split(", ")
            message = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
            flags = [_in_usage(self._option_string_actions[name]) for name in missing if name[0] == "-"]
            typed = " ".join([self.prog, join(self.typed), *flags]) if self.typed and flags else ""
            # a version that stands alone is meant
            typed = re.sub(r" (v?\d\S*\.\S*)(.*) --version VERSION", r" --version \1\2", typed)
            command = self.instead or typed or self.example or usage.removesuffix(" [flags]")
        elif ": ignored explicit argument " in message:
            value = message.partition(": ignored explicit argument ")[2].strip("'\"")
            word = next((word for word in self.typed if word.startswith("-") and word.endswith(value)), value)
            meant, message = word.partition("=")[0] if "=" in word else word.lstrip("-"), f"there is no flag {word!r}"
            command = f"{self.prog} {join(meant if typed == word else typed for typed in self.typed)}"
        elif message.startswith("unexpected argument"):
            command = usage
        message = message.removeprefix("argument ").replace(": expected one argument", " needs a value")
        raise UsageError(f"{self.prog}: {message}; type {command}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a word that is none of a few, and name the nearest."""
        if action.choices is not None and value not in action.choices:
            names = [str(choice) for choice in action.choices]
            text = f"takes {', '.join(names[:-1])} or {names[-1]}, not {value!r}"
            hint = suggest(str(value), names) or "a folder goes behind --to" * ("--to" in self._option_string_actions)
            self.error(f"{'/'.join(action.option_strings) or action.metavar} {text}" + (f" ({hint})" if hint else ""))

    def refuse_rest(self, words: Sequence[str]) -> None:
        """Refuse words that the verb does not take."""
        for word in words:
            if not word.startswith("-"):
                self.error(f"unexpected argument {word!r}")
            self.error(unknown(word.partition("=")[0], [*self.flags(), "--help"], self.usage or ""))

    def flags(self) -> dict[str, Sequence[str] | None]:
        """Return the flags, but for former names, each with the values to choose from: None where it takes no value."""
        return {
            name: None if action.nargs == 0 else [str(choice) for choice in action.choices or ()]
            for action in self._actions
            if action.nargs == 0 or action.default is not argparse.SUPPRESS
            for name in action.option_strings
        }

    def choices(self, place: int) -> Sequence[str]:
        """Return what the word at a place, counted from 0, may be, where it is one of a few."""
        words = [action for action in self._actions if not action.option_strings]
        return [str(choice) for word in words[place : place + 1] for choice in word.choices or ()]

    def _print_message(self, message: str, _file: object = None) -> None:
        output.page(message.rstrip("\n"))


def alone(arguments: Arguments, verb: str, mode: str, *names: str) -> None:
    """Refuse flags, called without their dashes, and words, such as RUN, in a ``mode`` such as ``beside --explain``."""
    if given := [name for name in names if name.lower() in arguments.given]:
        first = given[0] if given[0].isupper() else f"--{given[0]}"
        raise UsageError(f"packyard {verb}: {first} has no meaning {mode}; packyard {verb} --help")


def make(module: Any, verb: str) -> Parser:
    """Return a verb's parser, with the arguments that its module declares."""
    formatter = partial(Formatter, max_help_position=28, width=80)
    parser = Parser(f"packyard {verb}", formatter_class=formatter, allow_abbrev=False, add_help=False)
    parser.description, parser.color = module.__doc__, Parser.color
    module.add_arguments(parser)
    if rows := getattr(module, "ROWS", None):
        text = f"output format (default: {rows.forms[0]})"
        parser.add_argument("-o", "--output", choices=rows.forms, default=rows.forms[0], help=text)
    parser.add_argument("-h", "--help", action="help", help=argparse.SUPPRESS)
    parser.add_argument("-q", "--quiet", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("-v", "--verbose", action="store_true", help=argparse.SUPPRESS)
    for action in parser._actions:
        if not action.option_strings:
            action.help = action.help or argparse.SUPPRESS
            action.required = action.nargs not in ("?", "*")  # as argparse says of "*" only where that has a default
    words = ["%(prog)s", *filter(None, map(_in_usage, parser._actions)), "[flags]"]
    parser.usage = parser.usage or " ".join(words)
    parser.example = getattr(module, "EXAMPLE", "")
    if parser.example and not parser.epilog:
        parser.epilog = f"for example: {parser.example}"
    return parser


def _in_usage(action: argparse.Action) -> str:
    """Return an argument as the usage has it; of the flags it has those that are required."""
    name = str(action.metavar or action.dest)
    if action.option_strings:
        return f"{action.option_strings[0]} {name}" if action.required else ""
    words = name if name.startswith("[") else f"[{name} ...]"  # as the verb has them
    return {"?": f"[{name}]", "*": words, "+": f"{name} ..."}.get(str(action.nargs), name)


def run(module: Any, verb: str, words: Sequence[str]) -> int:
    """Parse the words as the verb's module declares, and run it."""
    parser = make(module, verb)
    parser.typed = words
    end = words.index("--") if "--" in words else len(words)
    known = parser._option_string_actions
    flags = (word.partition("=")[0] for word in words[:end] if word.startswith("-"))
    parser.refuse_rest([flag for flag in flags if (flag[:2] == "--" and flag not in known) or f"-{flag}" in known])
    try:
        takes_command = getattr(module, "TAKES_COMMAND", False)
        parsed, rest = parser.parse_known_intermixed_args(words[:end] if takes_command else words)
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    parser.refuse_rest(rest)
    usual = {action.dest: action.default and parser._get_value(action, action.default) for action in parser._actions}
    parsed.given = {it.replace("_", "-") for it, value in vars(parsed).items() if value != usual.get(it, value)}
    parsed.command = [*words[end + 1 :]]
    output.choose(is_quiet=parsed.quiet, is_verbose=parsed.verbose)
    with ending.as_interrupt():
        return int(module.run(parsed) or 0)
