"""Enabling and disabling an option of ``options/NAME``: decided on a draft, then written as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from packyard.files.tree import Keep, Tree
from packyard.setters.definition import Setter
from packyard.source.enabling import component, replaced, rivals
from packyard.source.enabling.component import Component
from packyard.source.enabling.draft import Draft
from packyard.source.enabling.fold import fold, others_in, unfold
from packyard.text.sharing import Sharing


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, or would be: the bytes of each file that differs, before and after; None where there is none.

    Nothing differs where the options were enabled, or disabled, already. ``setters`` are those of the options.
    """

    names: tuple[str, ...]
    setters: dict[str, Setter]
    before: dict[str, bytes | None] = field(default_factory=dict)
    after: dict[str, bytes | None] = field(default_factory=dict)


def enable(directory: Path, *names: str, dry_run: bool = False, keep: Keep | None = None) -> Outcome:
    """Fold options in, with the values that their setters have now; one that is in stays as it is.

    Refused where another option that is in touches the same place. All or nothing; with ``dry_run`` nothing is written.
    """
    return _change(directory, names, _enable, dry_run, keep)


def disable(directory: Path, *names: str, dry_run: bool = False, keep: Keep | None = None) -> Outcome:
    """Take options out: the bytes are those that the values set meanwhile would have given without them.

    What was changed by hand in what they put there is refused by file and line, and nothing is changed.
    """
    return _change(directory, names, _disable, dry_run, keep)


def _change(
    directory: Path, names: Sequence[str], act: Callable[[Draft, Component], None], dry_run: bool, keep: Keep | None
) -> Outcome:
    with nullcontext() if dry_run else Tree(directory).locked(), Sharing():
        draft = Draft(directory)
        options = [component.read(draft.tree, name) for name in dict.fromkeys(names)]
        for option in options:
            act(draft, option)
        changed = draft.changed()
        before = {path: old for path, (old, _) in changed.items()}
        after = {path: new for path, (_, new) in changed.items()}
        if changed and not dry_run:
            draft.tree.write(after, keep)
        setters = {name: setter for option in options for name, setter in option.setters.items()}
        return Outcome(tuple(option.name for option in options), setters, before, after)


def _enable(draft: Draft, option: Component) -> None:
    if option.name not in replaced.read(draft):
        rivals.refuse_component(draft, option.name)
        rivals.refuse(draft, option, others_in(draft, option.name))
        fold(draft, option)


def _disable(draft: Draft, option: Component) -> None:
    if option.name in replaced.read(draft):
        unfold(draft, option)
