"""Verbs whose arguments `argparse` parses: all but `set`, which must start fast, and kustomize's own commands."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from packyard.cli import declare, output, pages, rows, watch
from packyard.cli.flags import Declared, unknown
from packyard.cli.verbs import GROUPS
from packyard.core import ending
from packyard.core.errors import UsageError, suggest

#: What `argparse` says of the value of an argument.
_FAULT = re.compile(r"(\S+): (?:(expected) \S+.* arguments?|invalid (?:choice|int value): '(.*?)'(?: \(.*)?)")


class Formatter(argparse.HelpFormatter):
    """Help that fits the terminal as `pages` has it: examples keep their columns, and no word or flag is broken."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=pages.width())

    def _fill_text(self, text: str, width: int, _indent: str) -> str:
        return pages.fitted(text, width)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return pages.filled(text, width)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """Name the value of a flag once: ``-o, --output {text,json}``."""
        if not action.option_strings:
            return super()._format_action_invocation(action)
        value = self._format_args(action, str(action.dest).upper()) if action.nargs != 0 else ""
        return " ".join(filter(None, (", ".join(action.option_strings), value)))


class _Argument(str):
    """A word behind ``--``: no flag, whatever it begins with."""

    __slots__ = ()


def _plain(value: object) -> object:
    """Return arguments as plain text."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, _Argument) else value


class Parser(argparse.ArgumentParser):
    """An argument parser that prints through `output`, and raises `UsageError` instead of exiting.

    ``example`` is a command that says all that has to be said.
    """

    example = ""

    def _parse_optional(self, arg_string: str) -> Any:
        """Take a word for an argument behind ``--``, which argparse forgets where flags and arguments are mixed."""
        return None if isinstance(arg_string, _Argument) else super()._parse_optional(arg_string)

    def error(self, message: str) -> NoReturn:
        """Refuse the command line in one sentence with what to type next."""
        message = message.removeprefix("argument ")
        missing = message.removeprefix("the following arguments are required: ")
        if missing != message:
            message = self._name_missing(missing.split(", "))
        elif match := _FAULT.fullmatch(message):
            message = self._name_fault(match[1].rpartition("/")[2], match[3])
        raise UsageError(f"{self.prog}: {message}; {self.prog} --help shows the usage")

    def _name_missing(self, names: Sequence[str]) -> str:
        """Say what to name, with a command; what `argparse` calls required and may be left out is not named."""
        optional = [str(each.metavar or each.dest) for each in self._actions if each.nargs in ("*", "?")]
        wanted = [name for name in names if name not in optional] or list(names)
        words = [self._with_value(name) for name in wanted]
        listed = " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
        return f"name {listed}: {self.example or ' '.join((self.prog, *self._needed(words)))}"

    def _needed(self, wanted: Sequence[str]) -> Iterator[str]:
        """Yield all that has to be typed, in the order of the usage; what is ``wanted`` may be optional otherwise."""
        for action in self._actions:
            name = action.option_strings[0] if action.option_strings else str(action.metavar or action.dest)
            word = self._with_value(name)
            if word in wanted or (action.required and action.nargs not in ("*", "?")):
                yield word

    def _name_fault(self, name: str, value: str | None) -> str:
        """Say what an argument takes, where its value is missing, or is another one."""
        action = self._action(name)
        choices = [str(each) for each in (action.choices if action else None) or ()]
        takes = f"{', '.join(choices[:-1])} or {choices[-1]}" if choices else "a whole number"
        if value is None:
            return f"{name} needs a value: {takes if choices else self._with_value(name)}"
        hint = f" ({hint})" if (hint := suggest(value, choices)) else ""
        return f"{name} is {takes}, not {value!r}{hint}"

    def _with_value(self, name: str) -> str:
        """Return an argument as it is typed: ``--to CHANNEL``."""
        action = self._action(name)
        return f"{name} {action.metavar or action.dest.upper()}" if action and action.option_strings else name

    def _action(self, name: str) -> argparse.Action | None:
        return next((each for each in self._actions if name in (each.metavar, each.dest, *each.option_strings)), None)

    def refuse_rest(self, words: Sequence[str]) -> None:
        """Refuse words that the verb does not take."""
        for word in words:
            if isinstance(word, _Argument) or not word.startswith("-"):
                self.error(f"unexpected argument {word!r}")
            self.error(unknown(word.partition("=")[0], [*self.flags(), "--help"], self.usage or ""))

    def fit_usage(self) -> None:
        """Write the usage with the arguments and the flags that are required: the others are listed below."""
        required = [each for each in self._actions if each.option_strings and each.required]
        words = [f"{each.option_strings[0]} {each.metavar}" for each in required]
        words += [self._in_usage(each) for each in self._actions if not each.option_strings]
        usage = self.usage or " ".join(("%(prog)s", *words, "[flags]"))
        self.usage = pages.usage(usage % {"prog": self.prog}).removeprefix("usage: ").replace("%", "%%")

    def _in_usage(self, action: argparse.Action) -> str:
        name = str(action.metavar or action.dest)
        forms = {"?": "[{}]", "*": "[{} ...]", "+": "{} ..."}
        return forms.get(str(action.nargs), "{}").format(name)

    def flags(self) -> dict[str, Sequence[str] | None]:
        """Return the flags, each with the values to choose from: None where it takes no value."""
        return {
            name: None if action.nargs == 0 else [str(choice) for choice in action.choices or ()]
            for action in self._actions
            for name in action.option_strings
        }

    def choices(self, place: int) -> Sequence[str]:
        """Return what the word at a place, counted from 0, may be, where it is one of a few."""
        words = [each for each in self._actions if not each.option_strings]
        return [str(choice) for each in words[place : place + 1] for choice in each.choices or ()]

    def _print_message(self, message: str, _file: object = None) -> None:
        output.page(message.rstrip("\n"))


def make(module: Any, verb: str) -> Parser:
    """Return a verb's parser, with the arguments that its module declares."""
    parser = Parser(
        prog=f"packyard {verb}", description=module.__doc__ or "", allow_abbrev=False, formatter_class=Formatter
    )
    if verb in GROUPS:
        parser.epilog = pages.listed(GROUPS[verb])
    module.add_arguments(parser)
    rows.add_arguments(parser, module)
    declare.verbosity(parser)
    parser.fit_usage()
    parser.example = getattr(module, "EXAMPLE", "")
    if parser.example and not parser.epilog:
        parser.epilog = f"for example: {parser.example}"
    return parser


def page(
    command: str,
    words: str,
    about: str,
    flags: Declared | None = None,
    texts: Mapping[str, str] | None = None,
) -> str:
    """Return the help page of a command that parses its words itself.

    ``texts`` says of a flag with the name of its value, ``values FILE``, what it is for.
    """
    parser = Parser(
        prog=command,
        usage=" ".join(filter(None, ("%(prog)s", words, "[flags]"))),
        description=about,
        formatter_class=Formatter,
    )
    for named, text in (texts or {}).items():
        name, _, value = named.partition(" ")
        if flags and name in {*flags.switches, *flags.values}:
            letters = [f"-{letter}" for letter, meant in flags.short.items() if meant == name]
            whole = f"--{name}[={value}]" if name in flags.bare else f"--{name} {value}".rstrip()
            parser.add_argument(*letters, whole, action="store_true", help=text)
    parser.fit_usage()
    return parser.format_help().rstrip("\n")


def run(module: Any, verb: str, words: Sequence[str], **known: object) -> int:
    """Parse the words as the verb's module declares, and run it; ``known`` is what the caller knows beside them."""
    parser = make(module, verb)
    end = words.index("--") if "--" in words else len(words)
    behind = words[end + 1 :]
    has_command = getattr(module, "TAKES_COMMAND", False)
    try:
        parsed, rest = parser.parse_known_intermixed_args(
            [*words[:end], *(() if has_command else map(_Argument, behind))]
        )
    except SystemExit as stop:  # --help
        return int(stop.code or 0)
    parser.refuse_rest(rest)
    vars(parsed).update({name: _plain(value) for name, value in vars(parsed).items()})
    parsed.command = behind if has_command else []
    vars(parsed).update(known)
    watch.tell(quiet=parsed.quiet, verbose=parsed.verbose, color=parsed.color)
    with ending.as_interrupt():
        return int(module.run(parsed))
