"""``packyard VERB …``: finds the verb, runs it, and turns what was raised into an exit code.

0 done, 1 refused, 2 wrong usage, 3 a bug of ours, 130 interrupted. Each verb is a module with ``add_arguments`` and
``run``, or with a ``main`` of its own; only the one that is asked for is imported.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from packyard import __version__
from packyard.errors import PackyardError, UsageError, suggest

#: Every verb, in the order of the help: its module and what it does.
VERBS = {
    "list": ("list", "show the packages of a channel, or of the catalogue"),
    "get": ("get", "fetch a package, verify it and unpack it"),
    "setters": ("setters", "show what can be set in a package, and what has to be"),
    "set": ("set", "set values, changing nothing but their fields"),
    "explain": ("explain", "show every field that a setter reaches, and through what"),
    "enable": ("enable", "fold an option of a use case into its files, with its setters"),
    "disable": ("disable", "take an option out again, to the same bytes"),
    "undo": ("undo", "take the last change back, and the one before it"),
    "render": ("render", "build a use case's manifests, once all that is required is set"),
    "lint": ("lint", "say what is wrong with packages"),
    "build": ("build", "compose packages from their sources and pack them"),
    "publish": ("publish", "build packages and publish them to a channel"),
    "cfg": ("cfg", "kustomize's own `cfg` commands, which kustomize v5 removed"),
    "fn": ("fn", "KRM functions for kpt and kustomize: apply-setters, create-setters, list-setters"),
    "completion": ("completion", "print what makes a shell complete names and values"),
    "version": ("version", "print the version"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    gc.disable()  # a command is over before a collection would pay
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files are printed as the bytes that they are
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    except PackyardError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in the buffer goes nowhere
        return 1
    except Exception:  # a bug: say so, with everything that helps to mend it
        import traceback

        traceback.print_exc()
        print("this is a bug of packyard: please report it with the lines above", file=sys.stderr)
        return 3


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    if words[0] == "--version":
        words = ["version"]
    if words[0] not in VERBS and words[0] != "complete":
        hint = suggest(words[0], VERBS)
        raise UsageError(f"packyard: no verb {words[0]!r}" + (f" ({hint})" if hint else "") + "\n" + _help())
    module = import_module(f"packyard.cli.{VERBS.get(words[0], words)[0]}")
    if hasattr(module, "main"):  # a verb with a command line of its own
        return int(module.main(words[1:]))
    from packyard.cli import parser

    return parser.run(module, words[0], words[1:])


def _help() -> str:
    lines = [f"packyard {__version__}: packages for Kustomize, assembled, set, packed and published", ""]
    lines += [f"  packyard {verb:<10} {text}" for verb, (_, text) in VERBS.items()]
    return "\n".join([*lines, "", "packyard VERB --help tells more about one."])


if __name__ == "__main__":
    sys.exit(main())
