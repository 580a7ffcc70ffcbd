"""``packyard VERB …``: finds the verb, runs it, and turns what was raised into an exit code.

0 done, 1 refused, 2 wrong usage, 3 a bug in packyard, 130 interrupted. Each verb is a module with ``add_arguments`` and
``run``, or with its own ``main``; they return the code where it may be another than 0. Only the module of the verb in
use is imported.
"""

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from packyard import __version__
from packyard.cli import output, streams, verbs
from packyard.cli.verbs import FOREIGN, VERBS
from packyard.core.errors import PackyardError, Problem, UnavailableError, UsageError, suggest

#: The flags that may precede the verb.
FLAGS = ("--help", "--version", "--quiet", "--verbose")

#: What stands in `FOREIGN` for the words that were typed.
_SLOT = r"(?<!--version )(?<!--to )\b[A-Z]{2,}(?:[/=][A-Z]+)?\b"
_HELP = ("-h", "--help", "help")
_BEFORE = {"-q": "is_quiet", "--quiet": "is_quiet", "-v": "is_verbose", "--verbose": "is_verbose"}


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
    except PackyardError as error:
        from packyard.cli import directory
        from packyard.core.files import home

        output.refusal(error.mapped(directory.placed).mapped(home.explained))
        return 2 if isinstance(error, UsageError) else 1
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
        from packyard.core.files import home

        return home.explained(Problem(error.strerror, file=os.fsdecode(error.filename)))
    try:
        os.getcwd()  # noqa: PTH109  # as pathlib does
    except OSError:
        return Problem("the working directory is gone; change to one that exists: cd DIR")
    return None


def run(words: list[str]) -> int:
    """Run the verb of a command line, and raise what it raises."""
    while words and words[0] in _BEFORE:
        output.choose(**{_BEFORE[words.pop(0)]: True})
    if len(words) > 1 and words[0] in _HELP and words[1] != "all":
        words = [*words[1:], "--help"]
    if not words or words[0] in _HELP:
        output.page(verbs.every() if words[1:] else verbs.overview(__version__))
        return 0
    verb, *rest = words
    if verb in ("-V", "--version", "version"):
        if rest not in ([], ["--help"]):
            raise UsageError(f"packyard version: unexpected argument {rest[0]!r}; type packyard version")
        output.line(f"packyard {__version__}")
        return 0
    if verb not in VERBS and verb != "complete":  # which shells type
        raise UsageError(_unknown(verb, rest))
    module = import_module(f"packyard.cli.{VERBS[verb][0] if verb in VERBS else verb}")
    if hasattr(module, "main"):  # the verb parses its own command line
        return int(module.main(rest) or 0)
    from packyard.cli import declare

    return declare.run(module, verb, rest)


def _unknown(word: str, rest: Sequence[str]) -> str:
    """Say that there is no such verb, and what to type: for a verb of another tool with the words that were typed."""
    from shlex import join, quote

    if (pair := " ".join((word, *rest[:1]))) in FOREIGN:
        word, rest = pair, rest[1:]
    if word in FOREIGN:
        program = "" if FOREIGN[word].startswith("docker") else "packyard "
        return f"packyard: no verb {word!r}; type {program}{_filled(FOREIGN[word], rest)}"
    hint = suggest(word, FLAGS if word.startswith("-") else (*VERBS, "help"))
    if not hint and (verb := next(filter(VERBS.__contains__, rest), "")):
        return f"packyard: the verb goes first; type packyard {verb} {join(it for it in (word, *rest) if it != verb)}"
    if "/" in word or os.path.isdir(word):  # noqa: PTH112  # a text
        return f"packyard: the verb goes first; type packyard setters {quote(word)}"
    problem = f"no flag {word!r} before the verb" if word.startswith("-") else f"no verb {word!r}"
    return f"packyard: {problem}" + (f" ({hint})" if hint else "") + "; packyard help all lists them"


def _filled(command: str, words: Sequence[str]) -> str:
    """Return a command with the words that were typed in its slots, where there are as many; a path is no run."""
    import re
    from shlex import quote

    slots, rest = re.findall(_SLOT, command), map(quote, words)
    if len(slots) != len(words) or any(word in VERBS or word.startswith("-") for word in words):
        return command
    if slots == ["RUN"] and ("/" in words[0] or os.path.exists(words[0])):  # noqa: PTH110  # a text
        folder = f"; rm -r {quote(words[0])} removes the folder" * (command == "undeploy RUN" and "/" not in words[0])
        return f"{command}, as packyard status lists them{folder}"
    return re.sub(_SLOT, lambda _: next(rest), command)
