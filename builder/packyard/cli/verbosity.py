"""How much a command prints: only results and problems, or also the programs that it runs.

Python's audit events tell about these, so that no part of packyard has to.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from packyard.cli import output


def choose(*, quiet: bool = False, verbose: bool = False) -> None:
    """Print less, or more, from now on."""
    output.quiet = output.quiet or quiet
    if verbose and not output.verbose:
        output.verbose = True
        sys.addaudithook(_see)


def _see(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in ("subprocess.Popen", "os.exec"):
        return
    import shlex

    executable, words, *_ = arguments
    listed = words if isinstance(words, list | tuple) else [words or executable]
    output.detail(f"runs {shlex.join(os.fsdecode(str(word)) for word in listed)}")
