"""How verbs declare their flags: a line for each, on a `Parser`, which hands `Arguments` to them."""

from __future__ import annotations

from argparse import ArgumentParser as Parser
from argparse import Namespace as Arguments
from typing import Any

from packyard.core.errors import UsageError

__all__ = ["Arguments", "Parser", "alone", "former", "given", "switch", "value"]


def switch(parser: Parser, flag: str, text: str) -> None:
    """Declare a flag that is on or off: ``--yes``, or ``-y --yes``."""
    parser.add_argument(*flag.split(), action="store_true", help=text)


def given(arguments: Arguments, *names: str) -> list[str]:
    """Return those of some flags that the user gave, ``--no-wait`` by ``no-wait``; a verb need not have all."""
    values = {name: getattr(arguments, name.replace("-", "_"), None) for name in names}
    return [f"--{name}" for name, value in values.items() if value is not False and value not in (None, "", [])]


def alone(arguments: Arguments, verb: str, mode: str, *names: str) -> None:
    """Refuse flags of a verb that have no meaning in a ``mode``, such as ``beside --explain``."""
    if others := given(arguments, *names):
        raise UsageError(f"packyard {verb}: {others[0]} has no meaning {mode}; packyard {verb} --help")


def value(parser: Parser, flag: str, text: str, **more: Any) -> None:
    """Declare a flag with a value, ``--role NAME``; its text says which it has by default, if that is not empty."""
    *names, metavar = flag.split()
    default = f" (default: {more['default']})" if more.get("default") else ""
    parser.add_argument(*names, metavar=metavar, help=text + default, **more)


def former(parser: Parser, flag: str, now: str) -> None:
    """Take a flag also by the name that it had in 0.1.0, which scripts type; neither help nor completion shows that."""
    parser._option_string_actions[flag] = parser._option_string_actions[now]
