"""The pages that `packyard` prints itself: one screen for users, and all verbs with the flags of every verb."""

from __future__ import annotations

from packyard import __version__
from packyard.cli.verbs import GROUPS, USE, Group

_FLAGS = """\
Flags of every verb:

  -h, --help     describe the verb
  -q, --quiet    print results and problems only
  -v, --verbose  also print the programs that it runs"""


def overview() -> str:
    """Return what `packyard` alone prints: the verbs of users, and the names of the others."""
    title = f"packyard {__version__}: assemble, set, pack, publish and run packages for Kustomize"
    others = [f"{group.title + ':':<18} {' '.join(group.verbs)}" for group in GROUPS if group is not USE]
    more = "packyard VERB --help describes a verb, packyard help all lists all."
    return "\n\n".join((title, _table(USE), "\n".join(others), more))


def every() -> str:
    """Return all verbs with what they do, group by group, and the flags of every verb."""
    return "\n\n".join((*(f"{group.title}:\n\n{_table(group)}" for group in GROUPS), _FLAGS))


def _table(group: Group) -> str:
    return "\n".join(f"  {verb:<11} {text}" for verb, (_, text) in group.verbs.items())
