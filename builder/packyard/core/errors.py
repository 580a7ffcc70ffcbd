"""What packyard raises on purpose: one root, and one class per reaction that a caller can have.

    PackyardError            understood and refused
    ├── InputError           fix the file or the value that is named, then run again
    │   ├── UsageError       the words on the command line do not fit the verb
    │   ├── BeyondError      packyard's own build does not know what is asked: build with kustomize
    │   └── NotHereError     one package of several does not admit the change: go on with the others, or stop
    ├── ConflictError        something published, or edited meanwhile, is in the way: choose another name or look
    ├── IntegrityError       bytes are not what they are said to be: do not use them
    └── UnavailableError     a store, a program or a right is missing: try again, or elsewhere

Anything else that escapes is a bug of ours. Nothing here prints or exits; ``cli.main`` does.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Self, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")

_MOST_SHOWN = 80  # characters of a value


class Problem(NamedTuple):
    """One thing that is wrong: where it stands, what it is, what to do next.

    Its text is ``file:line:column: message (hint)``, as compilers and editors print and read it;
    parts that are unknown are left out. ``missing`` is the name that was asked for, where the problem is that it is
    not there (see `absent`), ``setter`` one whose value is wrong. ``detail`` is for those who ask for details, with
    ``--verbose``.
    """

    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    hint: str = ""
    missing: str = ""
    is_guess: bool = False
    setter: str = ""
    detail: str = ""

    def __str__(self) -> str:
        place = on_one_line(self.file)
        if place and self.line:
            place += f":{self.line}"
            if self.column:
                place += f":{self.column}"
        text = f"{place}: {self.message}" if place else self.message
        return f"{text} ({self.hint})" if self.hint else text

    def renamed(self, folder: str, name: str) -> "Problem":
        """Return the problem of what is in a folder that nobody knows, with another name for the folder.

        In the hint, which may be a command, paths are quoted as their new names ask for.
        """
        import re
        from shlex import quote

        known = re.escape(folder) + ("" if folder.endswith("/") else r"(?![^/\s:;,)'\"])")
        message, file = (re.sub(known, lambda _: name, text) for text in (self.message, self.file))
        typed = re.compile(rf"'{known}(?P<quoted>[^']*)'|{known}(?P<plain>[\w@%+=:,./-]*)")
        hint = typed.sub(lambda match: quote(name + (match["quoted"] or match["plain"] or "")), self.hint)
        return self._replace(message=message, file=file, hint=hint)


def on_one_line(text: str) -> str:
    """Return text for people: line breaks, controls, marks that turn or hide text and lone bytes are shown escaped.

    Spaces of other scripts stay, such as the ideographic space.
    """
    if text.isprintable():
        return text
    from unicodedata import category  # only for what may need escapes

    return "".join(sign if sign.isprintable() or category(sign) == "Zs" else ascii(sign)[1:-1] for sign in text)


def shown(value: str, *, quoted: bool = False) -> str:
    """Return a value for people: in quotes where it would be misread without, or always; a long one cut short."""
    text = value if len(value) <= _MOST_SHOWN else value[:_MOST_SHOWN] + "…"
    if not quoted and text and text.strip() == text and text.isprintable():
        return text
    return f"'{text}'" if text.isprintable() and "'" not in text else repr(text)


class PackyardError(Exception):
    """Something that was understood and is refused, for one or more problems at once."""

    def __init__(self, *problems: Problem | str) -> None:
        self.problems = tuple(p if isinstance(p, Problem) else Problem(p) for p in problems)
        super().__init__(*problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)

    def mapped(self, change: Callable[[Problem], Problem]) -> Self:
        """Return the same error, with what ``change`` makes of each problem."""
        return type(self)(*map(change, self.problems))

    def hinted(self, hint: str) -> Self:
        """Return the same error, with a hint for those problems that have none."""
        return self.mapped(lambda problem: problem if problem.hint else problem._replace(hint=hint))


class InputError(PackyardError):
    """What somebody wrote is wrong."""


class UsageError(InputError):
    """The words on the command line do not fit the verb."""


class BeyondError(InputError):
    """packyard's own build does not know what is asked; kustomize may."""


class NotHereError(InputError):
    """One package does not admit the change; other packages of the tree may."""


class ConflictError(PackyardError):
    """Something that exists already is in the way, and is left as it is."""


class IntegrityError(PackyardError):
    """Bytes are not what they are said to be."""


class UnavailableError(PackyardError):
    """A store, a program or a right that is needed cannot be had now."""


def refuse(problems: Iterable[Problem], kind: type[PackyardError] = InputError) -> None:
    """Raise one error of a kind that names every problem; return if there are no problems."""
    if all_problems := tuple(problems):
        raise kind(*all_problems)


def every(make: Callable[[Given], Made], items: Iterable[Given]) -> list[Made]:
    """Return what is made of each, in their order; faults of several are named at once, in one `InputError`.

    What is wrong with several of them is said once.
    """
    results: list[Made] = []
    problems: list[Problem] = []
    for item in items:
        try:
            results.append(make(item))
        except InputError as error:
            problems += error.problems
    refuse(dict.fromkeys(problems))
    return results


_LONG, _NEAR = 256, 500  # to look for the nearest name is slow for long names, and for many
_SHORTEST = 3  # characters of a beginning, or of a part, that says which name was meant
_MOST_NAMES = 3
_CUTOFF, _SHORT_CUTOFF = 0.75, 0.65  # of likeness: a name that nobody meant is worse than none


def suggest(name: str, names: Iterable[str], before: str = "") -> str:
    """Return the hint ``did you mean 'X'?`` for what ``name`` was probably meant to be; an empty text for no idea.

    Names that begin so come first, then one that is spelled nearly so, then those of which it is a part, as ``nfs`` is
    of ``user-mounted-nfs``. What is typed ``before`` a name stands before it.
    """
    choices: Sequence[str] = sorted(choice for choice in names if len(choice) < _LONG and choice != name)
    if len(name) >= _LONG:
        return ""
    folded, is_long = name.casefold(), len(name.strip("-")) >= _SHORTEST
    near = [choice for choice in choices if choice.casefold() == folded]
    near = near or [choice for choice in choices if is_long and choice.casefold().startswith(folded)]
    near = near or _spelled(name, choices)
    near = near or [choice for choice in choices if is_long and _between_dashes(name) in _between_dashes(choice)]
    if not near:
        return ""
    quoted = [f"'{before}{choice}'" for choice in near[:_MOST_NAMES]]
    if len(near) > _MOST_NAMES:
        quoted.append(f"one of {len(near) - _MOST_NAMES} more")
    return f"did you mean {', '.join(quoted[:-1])}{' or ' * (len(quoted) > 1)}{quoted[-1]}?"


def absent(message: str, name: str, names: Iterable[str], hint: str = "", file: str = "") -> Problem:
    """Describe a name that is missing; where the hint is not ``hint``, it is a guess which of ``names`` was meant."""
    guess = suggest(name, names)
    return Problem(message, file=file, hint=guess or hint, missing=name, is_guess=bool(guess))


def _spelled(name: str, choices: Sequence[str]) -> list[str]:
    """Return the name that is spelled most like another, or with two letters swapped."""
    from bisect import bisect
    from difflib import get_close_matches  # slow to import, and only needed for an error

    near = bisect(choices, name)
    choices = choices[max(0, near - _NEAR) : near + _NEAR]  # of many, those that begin alike: each takes its time
    by_fold = {choice.casefold(): choice for choice in choices}
    cutoff = _CUTOFF if len(name) >= _SHORTEST else _SHORT_CUTOFF
    nearest = get_close_matches(name.casefold(), by_fold, n=1, cutoff=cutoff)
    swapped = [folded for folded in by_fold if _is_swapped(name.casefold(), folded)]
    return [by_fold[folded] for folded in (*swapped, *nearest)[:1]]


def is_a_letter_away(name: str, known: str) -> bool:
    """Say whether two names are the same but for one letter, the case of letters, or two neighbors that are swapped."""
    shorter, longer = sorted((name.casefold(), known.casefold()), key=len)
    if len(shorter) == len(longer):
        return sum(a != b for a, b in zip(shorter, longer, strict=True)) <= 1 or _is_swapped(shorter, longer)
    return len(longer) == len(shorter) + 1 and any(
        longer[:at] + longer[at + 1 :] == shorter for at in range(len(longer))
    )


def _is_swapped(name: str, known: str) -> bool:
    """Say whether two neighbors among the letters of a name are the other way round in another."""
    apart = [place for place, (a, b) in enumerate(zip(name, known, strict=False)) if a != b]
    if len(name) != len(known) or len(name) < _SHORTEST or len(apart) != 2 or apart[1] != apart[0] + 1:
        return False
    return name[apart[0]] == known[apart[1]] and name[apart[1]] == known[apart[0]]


def _between_dashes(name: str) -> str:
    """Return a name with dashes around it, and in the place of underscores, dots and slashes."""
    return f"-{name.casefold().translate(str.maketrans('_./', '---')).strip('-')}-"
