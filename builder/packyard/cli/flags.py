"""Flags as kustomize's commands parse them: anywhere between the arguments, ended by ``--``.

``--name V``, ``--name=V``, ``-R``, ``-R=false``; a word that begins with ``-`` is always a flag.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from packyard.core.errors import UsageError, suggest

_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_FALSE = frozenset(("0", "f", "F", "false", "FALSE", "False"))
_RECURSE = "recurse-subpackages"
_TO = ("--to",)
#: Flags of Helm, kpt, kubectl and pip, and what is typed here: a flag, or words as the usage of a verb has them.
_FOREIGN = {
    **dict.fromkeys(("--channel", "--index-url", "--registry", "--repo"), ("--from", "--to")),
    **dict.fromkeys(("-d", "--destination", "--dir", "--output-dir", "--target", "--untardir", "--into", "--out"), _TO),
    **dict.fromkeys(("-f", "--file", "--filename"), ("--values",)),
    "--recursive": ("-R", "--all"),
    "--reset": ("--unset",),
    "--set": ("NAME=VALUE",),
    "--to": ("[VERSION]",),
    "--version": ("NAME@VERSION", "[VERSION]"),
}


def unknown(flag: str, flags: Collection[str], usage: str) -> str:
    """Say that a verb with these flags and this usage has no such flag, and what was probably meant."""
    for form in _FOREIGN.get(flag, ()):
        if form in flags:
            return f"unknown flag {flag!r} (did you mean {form!r}?)"
        if form in usage or form in usage.replace("[", "").replace("]", ""):
            return f"unknown flag {flag!r} (type {form.strip('[]')} without a flag)"
    hint = suggest(flag, flags)
    if not hint and "NAME=VALUE" in usage and flag.isupper():
        hint = f"to set a value, type {flag.strip('-')}=VALUE"
    return f"unknown flag {flag!r}" + (f" ({hint})" if hint else "")


class Flags(NamedTuple):
    """The arguments, and the values of the flags that were given."""

    arguments: list[str]
    switches: dict[str, bool]
    values: dict[str, list[str]]

    def text(self, name: str) -> str:
        """Return the last value that was given for a flag, or an empty text."""
        return self.values.get(name, [""])[-1]


class Declared:
    """The flags of a command, to parse its words and to complete them.

    ``switches`` are on or off, with their defaults; ``values`` are flags that take a value, each with the values to
    choose from, or none where any is possible; ``short`` maps letters to names. With ``numbers``, a word such as ``-1``
    is an argument.
    """

    def __init__(
        self,
        switches: Mapping[str, bool] | None = None,
        values: Mapping[str, Collection[str]] | None = None,
        short: Mapping[str, str] | None = None,
        *,
        numbers: bool = False,
    ) -> None:
        self.switches = dict(switches or {})
        self.values = dict(values or {})
        self.short = {"R": _RECURSE, **(short or {})} if _RECURSE in self.switches else dict(short or {})
        self.numbers = numbers

    def offered(self) -> dict[str, Sequence[str] | None]:
        """Return the flags, each with the values to choose from: None where it takes no value."""
        names: dict[str, Sequence[str] | None] = {f"--{name}": None for name in self.switches}
        names.update({f"--{name}": [*choices] for name, choices in self.values.items()})
        return {**names, **{f"-{letter}": names[f"--{name}"] for letter, name in self.short.items()}}

    def parse(self, words: Sequence[str]) -> Flags:
        """Parse words."""
        flags = Flags([], dict(self.switches), {})
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if word == "--":
                flags.arguments.extend(rest)
                break
            if word == "-" or not word.startswith("-") or (self.numbers and word[1].isdigit()):
                flags.arguments.append(word)
            elif word.startswith("--"):
                name, equals, text = word[2:].partition("=")
                self._take(flags, name, text if equals else None, rest)
            else:
                self._take_letters(flags, word[1:], rest)
        return flags

    def _take_letters(self, flags: Flags, letters: str, rest: list[str]) -> None:
        """Read ``-R``, ``-Rq``, ``-R=false``, ``-o json`` and ``-ojson``."""
        while letters:
            name, behind = self.short.get(letters[0], ""), letters[1:]
            if not name:
                raise UsageError(self._unknown(f"-{letters[0]}", flags))
            if behind.startswith("="):
                return self._take(flags, name, behind[1:], rest)
            if name in self.values:
                return self._take(flags, name, behind or None, rest)
            flags.switches[name] = True
            letters = behind
        return None

    def _take(self, flags: Flags, name: str, text: str | None, rest: list[str]) -> None:
        if name in self.switches:
            flags.switches[name] = True if text is None else self._switch(name, text)
        elif name in self.values:
            if text is None and not rest:
                raise UsageError(f"--{name} needs a value")
            value, choices = rest.pop(0) if text is None else text, self.values[name]
            if choices and value not in choices:
                raise UsageError(f"--{name} is {' or '.join(choices)}, not {value!r}")
            flags.values.setdefault(name, []).append(value)
        else:
            raise UsageError(self._unknown(f"--{name}", flags))

    def _unknown(self, flag: str, flags: Flags) -> str:
        names = [f"--{name}" for name in (*self.switches, *self.values)]
        told = unknown(flag, [*names, *(f"-{letter}" for letter in self.short)], "NAME=VALUE")
        is_bare = flags.arguments and told.endswith(repr(flag))
        return f"{told} (before values that begin with -, type --)" if is_bare else told

    def _switch(self, name: str, text: str) -> bool:
        if text not in _TRUE | _FALSE:
            raise UsageError(f"--{name} is on or off: type --{name} or --{name}=false, not --{name}={text}")
        return text in _TRUE
