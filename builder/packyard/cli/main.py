"""``packyard VERB …``: finds the verb, runs it, and turns what was raised into an exit code.

0 done, 1 refused, 2 wrong usage, 3 a bug in packyard, 130 interrupted. Each verb is a module with ``add_arguments`` and
``run``, or with its own ``main``; only the module of the verb in use is imported.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from packyard.cli import colors, output, streams
from packyard.cli.verbs import FOREIGN, GROUPS, UNLISTED, VERBS
from packyard.core.errors import PackyardError, Problem, UnavailableError, UsageError, suggest

#: The flags that may precede the verb.
FLAGS = ("--help", "--version", "--quiet", "--verbose", "--color")

_HELP = ("-h", "--help", "help")
_VERBOSITY = {"-q": "quiet", "--quiet": "quiet", "-v": "verbose", "--verbose": "verbose"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    streams.open_missing()
    words = list(sys.argv[1:] if arguments is None else arguments)
    gc.disable()  # commands are too short for it to pay,
    atexit.register(gc.freeze)  # and so it is not done as Python ends either
    try:
        code = run(words)
        streams.flush()
        return code
    except UsageError as error:
        output.refusal(error)
        return 2
    except PackyardError as error:
        output.refusal(error)
        return 1
    except KeyboardInterrupt:
        output.notice("interrupted")
        return 130
    except streams.Closed:
        return 1
    except Exception as error:
        return _unforeseen(error)


def _unforeseen(error: Exception) -> int:
    """Report an unexpected error: a file that the system refuses, or a bug, with all that helps to fix it."""
    if isinstance(error, OSError) and (problem := _refused_by_system(error)):
        output.refusal(UnavailableError(problem))
        return 1
    import traceback

    output.notice("".join(traceback.format_exception(error)).rstrip())
    output.problem("this is a bug of packyard: please report it with the lines above")
    return 3


def _refused_by_system(error: OSError) -> Problem | None:
    if isinstance(error.filename, str | bytes) and error.strerror:
        return Problem(error.strerror, file=os.fsdecode(error.filename))
    try:
        os.getcwd()  # noqa: PTH109  # as pathlib does
    except OSError:
        return Problem("the working directory is gone; change to one that exists: cd DIR")
    return None


def run(words: list[str]) -> int:
    """Run the verb of a command line, and raise what it raises."""
    while words and (words[0] in _VERBOSITY or words[0].partition("=")[0] == "--color"):
        _tell(words)
    if not words or words[0] in _HELP:
        if (page := _page(words[1:])) is not None:
            output.page(page)
            return 0
        words = [*words[1:], "--help"]
    if words[0] in ("-V", "--version"):
        words[0] = "version"
    verb, *rest = words
    if verb not in VERBS and verb not in UNLISTED:
        raise UsageError(_unknown(verb))
    module = import_module(f"packyard.cli.{VERBS[verb][0] if verb in VERBS else UNLISTED[verb]}")
    if hasattr(module, "main"):  # the verb parses its own command line
        return int(module.main(rest))
    from packyard.cli import parser

    return parser.run(module, verb, rest)


def _page(words: list[str]) -> str | None:
    """Return the page of `packyard help`: the first one, or that of a group; None where a verb is asked for."""
    if words and (words[0] in VERBS or words[0] not in (*GROUPS, "all")):
        return None
    from packyard.cli import pages

    if not words:
        return pages.overview()
    return pages.every() if words[0] == "all" else pages.listed(GROUPS[words[0]])


def _tell(words: list[str]) -> None:
    """Take one of the flags that say how much is printed, and in which colors, from the words."""
    from packyard.cli import watch

    flag, _, color = words.pop(0).partition("=")
    if flag in _VERBOSITY:
        watch.tell(quiet=_VERBOSITY[flag] == "quiet", verbose=_VERBOSITY[flag] == "verbose")
        return
    color = color or (words.pop(0) if words else "")
    if color not in colors.MODES:
        raise UsageError(
            f"packyard: --color is {', '.join(colors.MODES)}, not {color!r}; type packyard --color=auto VERB"
        )
    watch.tell(color=color)


def _unknown(word: str) -> str:
    if word in FOREIGN:
        verb = FOREIGN[word]
        return f"packyard: no verb {word!r}; to {VERBS[verb][1].partition(';')[0]}, type packyard {verb}"
    hint = suggest(word, FLAGS if word.startswith("-") else VERBS)
    problem = f"no flag {word!r} before the verb" if word.startswith("-") else f"no verb {word!r}"
    return f"packyard: {problem}" + (f" ({hint})" if hint else "") + "; packyard help all lists them"


if __name__ == "__main__":
    sys.exit(main())
