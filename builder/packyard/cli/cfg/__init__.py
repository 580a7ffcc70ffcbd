"""kustomize's own `cfg` commands, which kustomize v5 removed, with their arguments, messages and exit codes.

  packyard cfg set DIR NAME VALUE [VALUE...] [-R] [--values V] [--set-by S] [--description S]
  packyard cfg list-setters DIR [NAME] [-R=false] [--include-subst] [--markdown]
  packyard cfg create-setter DIR NAME VALUE [-R] [--value V] [--field PATH] [--type T] [--schema-path FILE]
                             [--description S] [--set-by S] [--required]
  packyard cfg create-subst DIR NAME --field-value V --pattern P [--field PATH] [-R]
  packyard cfg delete-setter DIR NAME [-R]
  packyard cfg delete-subst DIR NAME [-R]
  packyard cfg init [DIR]
  packyard cfg annotate [DIR] --kv KEY=VALUE [--kv ...] [--kind K] [--apiVersion V] [--name N] [--namespace N] [-R]

Scripts that call `kustomize cfg` of version 3.8.7 run unchanged, but for differences that prevent harm: what one
package of a tree refuses is written in none.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from packyard.errors import PackyardError, UsageError

#: The commands, the modules of this folder that run them (only the one that is asked for is imported), the functions.
COMMANDS = {
    "set": ("set", "set_value"),
    "list-setters": ("listing", "list_package_setters"),
    "create-setter": ("create", "create_setter"),
    "create-subst": ("create", "create_subst"),
    "delete-setter": ("delete", "delete_setter"),
    "delete-subst": ("delete", "delete_subst"),
    "init": ("init", "init"),
    "annotate": ("annotate", "run"),
}

#: A flag of all kustomize commands, which asks for Go's stack beside an error; there is none to print.
_STACK_TRACE = "--stack-trace"


def main(words: Sequence[str]) -> int:
    """Run one of the commands; kustomize prints help, and exits with 0, for any that it does not know."""
    if not words or words[0] not in COMMANDS or "--help" in words or "-h" in words:
        print(__doc__)
        return 0
    module, function = COMMANDS[words[0]]
    end = words.index("--") if "--" in words else len(words)
    words = [word for place, word in enumerate(words) if word != _STACK_TRACE or place > end]
    try:
        return int(getattr(import_module(f"{__name__}.{module}"), function)(words[1:]))
    except UsageError as error:
        print(f"Error: {error}\n{__doc__}", file=sys.stderr)
        return 1
    except PackyardError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
