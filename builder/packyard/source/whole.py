"""What only all packages of a workspace together can tell: that nobody has a use for a patch, or for an option."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from packyard.errors import Problem, refuse
from packyard.source import idle
from packyard.source.idle import Idle
from packyard.source.workspace import OPTIONS, Workspace


def check(here: Workspace, offered: Collection[str], found: Iterable[Idle]) -> None:
    """Refuse options that fit no use case of any package, and patches that reach nothing in any."""
    unused = [
        Problem("fits no use case of any package", file=str(here.overlay_dir(OPTIONS, name)), hint="mend its targets")
        for name in here.option_names()
        if name not in offered
    ]
    refuse([*unused, *idle.problems(idle.join(found), "any use case of the workspace", here.root_dir)])
