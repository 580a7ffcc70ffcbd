"""What only all packages of a workspace together can tell: that nobody has a use for an option, or for a patch."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from packyard.errors import InputError, refuse
from packyard.source import idle, parts, workspace
from packyard.source.accumulate import Object, accumulate
from packyard.source.idle import Idle
from packyard.source.workspace import Workspace
from packyard.work.reads import Reads


def check(here: Workspace, offered: Collection[str], found: Iterable[Idle]) -> None:
    """Refuse options that no use case offers, and patches that reach nothing in any use case, nor in any base."""
    joined = {patch: places for patch, places in idle.join(found).items() if places}
    left = {key: idle.join([joined, _of_bases(here, joined)])[key] for key in joined} if joined else {}
    refuse(
        [*workspace.idle_options(here, offered), *idle.problems(left, "any use case of the workspace", here.root_dir)]
    )


def _of_bases(here: Workspace, among: Idle) -> Idle:
    """Return what reaches nothing in the bases as they are, each with each overlay that has one of some patches."""
    nothing: list[Idle] = []
    with Reads(here.root_dir) as reads:
        root = reads.root_dir.resolve()
        folders = {Path(file).parent for file, _ in among}
        overlays = [each for each in (root / "overlays").glob("*") if each.relative_to(root) in folders]
        for base in (root / "bases").glob("*"):
            try:
                objects = accumulate(parts.read(base, "Kustomization"), idle=nothing)
            except InputError:  # it is for others to build on, or nobody's
                continue
            for overlay in overlays:
                _try(overlay, objects, nothing)
    return idle.below(idle.join(nothing), here.root_dir)


def _try(overlay: Path, objects: list[Object], nothing: list[Idle]) -> None:
    """Apply an overlay to objects, and note what reaches nothing; where it does not fit them, nothing is noted."""
    tried: list[Idle] = []
    try:
        accumulate(parts.read(overlay, "Component"), [item.copy() for item in objects], idle=tried)
    except InputError:
        return
    nothing += tried
