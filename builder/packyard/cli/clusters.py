"""What verbs that meet a cluster share: kubectl's own flags, the line that names context and namespace first, DIR."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence

from packyard.cli import directory as directories
from packyard.cli import output, state
from packyard.cluster import kubectl
from packyard.cluster.kubectl import Kubectl
from packyard.cluster.prepared import Prepared, prepare
from packyard.errors import UsageError
from packyard.files.tree import Tree

_UNITS = {"s": 1, "m": 60, "h": 3600}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare kubectl's flags."""
    parser.add_argument("-n", "--namespace", metavar="NAME", default="", help="as for kubectl")
    parser.add_argument("--context", metavar="NAME", default="", help="as for kubectl")
    parser.add_argument("--kubeconfig", metavar="FILE", default="", help="as for kubectl")


def find(arguments: argparse.Namespace) -> Kubectl:
    """Return kubectl for what the arguments and kubeconfig say, without a word."""
    given = {name: getattr(arguments, name) for name in ("namespace", "context", "kubeconfig")}
    return kubectl.find(os.environ.get("PATH", ""), **given)


def tell(found: Kubectl) -> None:
    """Say which context and namespace all that follows is about."""
    output.note(f"{found}")


def prepared(words: Sequence[str], verb: str) -> tuple[Prepared, list[str]]:
    """Return the use case that ``[DIR] [NAME=VALUE…]`` names, as if the values were set, and its words."""
    directory, rest = directories.split(words, "", lambda _: ())
    values: dict[str, list[str]] = {}
    for word in rest:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise UsageError(f"packyard {verb}: {word!r} must be NAME=VALUE; packyard {verb} --help shows the usage")
        values.setdefault(name, []).append(text)
    state.tell_pending(Tree(directory))
    return prepare(directory, values, path=os.environ.get("PATH", "")), [str(directory), *rest]


def command(found: Kubectl, arguments: argparse.Namespace, *words: str) -> str:
    """Return a command of packyard to type next, for the same cluster and namespace."""
    flags = [f"--{name}={given}" for name in ("context", "kubeconfig") if (given := getattr(arguments, name))]
    return shlex.join(["packyard", *words, "-n", found.namespace, *flags])


def duration(word: str) -> float:
    """Read ``90``, ``90s``, ``15m`` or ``2h`` as seconds."""
    number, unit = (word[:-1], word[-1:]) if word[-1:] in _UNITS else (word, "s")
    if not number.isdecimal() or len(number) > 6:
        raise argparse.ArgumentTypeError(f"{word!r} is not a time such as 90s, 15m or 2h")
    return int(number) * _UNITS[unit]
