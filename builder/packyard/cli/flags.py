"""Flags as kustomize's commands parse them: anywhere between the arguments, ended by ``--``.

``--name V``, ``--name=V``, ``-R``, ``-R=false``; a word that begins with ``-`` is always a flag.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from packyard.core.errors import UsageError, suggest

_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_FALSE = frozenset(("0", "f", "F", "false", "FALSE", "False"))
#: A flag at the beginning of a line of help: its letter, its name, whether it is on without being given, its value.
_FLAG = re.compile(r"^ +(?:-(\w), )?--([\w-]+)(=false)?(?: (\S+))?(?:  |$)", re.MULTILINE)
_TO = ("--to",)
#: Flags of Helm, kpt, kubectl and pip, and what is typed here: a flag, or words as the usage of a verb has them.
_FOREIGN = {
    **dict.fromkeys(("--channel", "--index-url", "--registry", "--repo"), ("--from", "--to")),
    **dict.fromkeys(("-d", "--destination", "--dir", "--output-dir", "--target", "--untardir", "--into", "--out"), _TO),
    **dict.fromkeys(("-f", "--file", "--filename", "--from-file"), ("--values",)),
    "-c": ("--container",),
    "--disable": ("--off",),
    "--recursive": ("-R", "--all"),
    "--reset": ("--unset",),
    **dict.fromkeys(("--set", "--set-string"), ("NAME=VALUE",)),
    **dict.fromkeys(("--revision", "--to-revision"), ("[RECORD]",)),
    "--to": ("[VERSION]",),
    "--version": ("NAME@VERSION", "[VERSION]"),
}
#: What else is done, by verbs with another flag or without any.
_EVERYWHERE = ("--help", "--quiet", "--verbose", "--output")
_FEW = 8  # flags that a message lists
_UPGRADE = "packyard upgrade DIR moves a package to another version"
_INSTEAD: Mapping[str, Mapping[str, str]] = {
    **{flag: {"": "kubectl apply -n NAMESPACE takes it"} for flag in ("-n", "--namespace")},
    **{flag: {"--conflicts": "type --conflicts theirs", "--lock": _UPGRADE} for flag in ("--force", "--overwrite")},
    "-R": {"--off": "a values file has options: [NAME], and packyard set DIR -R -f FILE enables them below DIR"},
    "--create-namespace": {"--namespace": "kubectl create namespace NAMESPACE makes one"},
    "--json": {"--output": "type -o json"},
    "--undo": {"--reason": "a yank stays, for those who read it acted on it: publish the next version instead"},
    "--versions": {"": "packyard show NAME lists them"},
    "--wait": {"--no-wait": "it waits, unless you type --no-wait"},
    **{flag: {"--context": "type watch packyard status, which asks again and again"} for flag in ("-w", "--watch")},
    **{flag: {"--container": "on a terminal it opens one: leave this out"} for flag in ("-it", "-i", "-t", "--tty")},
}


def unknown(flag: str, flags: Collection[str], usage: str, *, of_values: str = "") -> str:
    """Say that a verb with these flags and this usage has no such flag, and what was probably meant.

    ``of_values`` is said where it may be a value.
    """
    for form in _FOREIGN.get(flag, ()):
        if form in flags:
            return f"unknown flag {flag!r} (did you mean {form!r}?)"
        if form in usage or form in usage.replace("[", "").replace("]", ""):
            return f"unknown flag {flag!r} (type {form.strip('[]')} without a flag)"
    ways = (text for instead, text in _INSTEAD.get(flag, {}).items() if not instead or instead in flags)
    if not (hint := next(ways, "") or suggest(flag, flags)):
        name = flag.strip("-").replace("-", "_").upper()
        is_long = "NAME=VALUE" in usage and flag.startswith("--") and flag not in _INSTEAD
        known = [name for name in flags if name.startswith("--") and name not in _EVERYWHERE]
        listed = f"it takes {', '.join(known)}" if 0 < len(known) <= _FEW else ""
        if "OPTION" in usage and flag[:2] == "--":
            listed = f"type an option without dashes, {flag.strip('-')}"
        hint = "; ".join(filter(None, (f"to set a value, type {name}=VALUE" if is_long else listed, of_values)))
    return f"unknown flag {flag!r}" + (f" ({hint})" if hint else "")


def page(command: Any) -> str:
    """Return the docstring of a module or a function, also where Python was told to leave them out (-OO)."""
    if command.__doc__:
        return str(command.__doc__)
    import ast
    import inspect

    node: Any = ast.parse(inspect.getsource(command))
    return ast.get_docstring(node if inspect.ismodule(command) else node.body[0], clean=False) or ""


class Flags(NamedTuple):
    """The arguments, and the values of the flags that were given."""

    arguments: list[str]
    switches: dict[str, bool]
    values: dict[str, list[str]]

    def text(self, name: str) -> str:
        """Return the last value that was given for a flag, or an empty text."""
        return self.values.get(name, [""])[-1]


class Declared:
    """The flags of a command, as its help describes them, to parse its words and to complete them.

      --set-by WHO                 a flag with a value
      -o, --output {text,json}     with one of these values
      -R, --recurse-subpackages    on or off
      --recurse-subpackages=false  the same, on unless it says otherwise

    Every command has ``-h``, ``-q`` and ``-v``. With ``numbers``, a word such as ``-1`` is an argument.
    """

    def __init__(self, page: str, *, numbers: bool = False) -> None:
        self.switches = dict.fromkeys(("help", "quiet", "verbose"), False)
        self.values: dict[str, Sequence[str]] = {}
        self.short = {name[0]: name for name in self.switches}
        self.numbers = numbers
        for letter, name, is_on, value in _FLAG.findall(page):
            if value:
                self.values[name] = value.strip("{}").split(",") if value[0] == "{" else ()
            else:
                self.switches[name] = bool(is_on)
            self.short |= {letter: name} if letter else {}

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
        name, behind = self.short.get(letters[0]), letters[1:]
        if name is None:
            raise UsageError(self._unknown(f"-{letters[0]}", flags))
        if name in self.values or behind.startswith("="):
            return self._take(flags, name, behind.removeprefix("=") if behind else None, rest)
        flags.switches[name] = True
        return self._take_letters(flags, behind, rest) if behind else None

    def _take(self, flags: Flags, name: str, text: str | None, rest: list[str]) -> None:
        if name in self.switches:
            if text is not None and text not in _TRUE | _FALSE:
                raise UsageError(f"--{name} is on or off: type --{name} or --{name}=false, not --{name}={text}")
            flags.switches[name] = text is None or text in _TRUE
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
        of_values = "before values that begin with -, type --" if flags.arguments else ""
        return unknown(flag, self.offered(), "NAME=VALUE" * self.numbers, of_values=of_values)
