"""Flags as the commands of kustomize read them: anywhere between the arguments, ``--`` ends them.

``--name V``, ``--name=V``, ``-R``, ``-R=false``; a word that begins with ``-`` is always a flag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from packyard.errors import UsageError

_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_FALSE = frozenset(("0", "f", "F", "false", "FALSE", "False"))


class Flags:
    """The arguments, and the values of the flags that were given."""

    def __init__(self, arguments: list[str], switches: dict[str, bool], values: dict[str, list[str]]) -> None:
        self.arguments = arguments
        self.switches = switches
        self.values = values

    def text(self, name: str) -> str:
        """Return the last value that was given for a flag, or an empty text."""
        return self.values.get(name, [""])[-1]


def parse(words: Sequence[str], *, switches: Mapping[str, bool], values: Sequence[str], numbers: bool = False) -> Flags:
    """Read words; ``switches`` are on or off, and have a default, ``values`` are flags that take a value.

    With ``numbers`` a word such as ``-1`` is an argument.
    """
    found = Flags([], dict(switches), {})
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            found.arguments += rest
            break
        if word == "-" or not word.startswith("-") or (numbers and word[1].isdigit()):
            found.arguments.append(word)
            continue
        name, equals, text = word.lstrip("-").partition("=")
        if not word.startswith("--"):
            letters = name.lstrip("R")
            if letters or not name:
                raise UsageError(f"unknown shorthand flag: {letters[:1] or equals!r} in -{letters}{equals}{text}")
            name = "recurse-subpackages"
        if name in switches:
            found.switches[name] = _switch(name, text) if equals else True
        elif name in values:
            if not equals and not rest:
                raise UsageError(f"flag needs an argument: --{name}")
            found.values.setdefault(name, []).append(text if equals else rest.pop(0))
        else:
            raise UsageError(f"unknown flag: --{name}")
    return found


def _switch(name: str, text: str) -> bool:
    if text not in _TRUE | _FALSE:
        shown = "-R, --recurse-subpackages" if name == "recurse-subpackages" else f"--{name}"
        fault = f'strconv.ParseBool: parsing "{text}": invalid syntax'
        raise UsageError(f'invalid argument "{text}" for "{shown}" flag: {fault}')
    return text in _TRUE
