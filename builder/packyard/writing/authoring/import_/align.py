"""Which objects of several lists are one, and which of them is shorter to share than to write out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from packyard.core.yaml.node import MappingNode
from packyard.using.kustomize import selector
from packyard.writing.authoring.import_.normal import content
from packyard.writing.authoring.import_.share import Addition, Path, is_name, lines, share

_FILE = 3  # lines that a patch takes beside what it adds


@dataclass(frozen=True, slots=True)
class Change:
    """What comes to an object, which is named as it is before: all that comes to one list, or to one key of a mapping.

    ``key`` is equal for equal changes.
    """

    to: MappingNode
    additions: tuple[Addition, ...]
    key: object

    @property
    def is_renaming(self) -> bool:
        """Whether the object gets another name."""
        return any(map(is_name, self.additions))


@dataclass(slots=True)
class Own:
    """What one of several lists has beside the others: objects, and changes of those that it shares."""

    objects: list[MappingNode] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    def without(self, keys: Iterable[object]) -> Own:
        """Return what is left where some of it is written elsewhere."""
        elsewhere = set(keys)
        objects = [root for root in self.objects if content(root) not in elsewhere]
        return Own(objects, [each for each in self.changes if each.key not in elsewhere])

    @property
    def keys(self) -> list[object]:
        """What objects and changes are told apart by."""
        return [*map(content, self.objects), *(each.key for each in self.changes)]


def common(lists: Sequence[Sequence[MappingNode]]) -> tuple[list[MappingNode], list[Own]]:
    """Return the objects that all lists have, as far as they agree, and what each list adds."""
    if len(lists) == 1:
        return list(lists[0]), [Own()]
    shared_roots: list[MappingNode] = []
    own = [Own(list(some)) for some in lists]
    for row in _rows(lists):
        shared = share(row)
        if not isinstance(shared.node, MappingNode):
            continue
        inserted = {each.path[:-1] for additions in shared.additions for each in additions if each.is_item}
        changes = [list(_changes(shared.node, additions, inserted)) for additions in shared.additions]
        different = {each.key: each for some in changes for each in some}.values()
        cost = lines(shared.node) + _FILE * sum(map(bool, changes))
        cost += sum(one.lines for each in different for one in each.additions)
        if different and cost > sum({content(root): lines(root) for root in row}.values()):
            continue
        shared_roots.append(shared.node)
        for each, root, some in zip(own, row, changes, strict=True):
            each.objects = [other for other in each.objects if other is not root]
            each.changes += some
    return shared_roots, own


def _changes(to: MappingNode, additions: Sequence[Addition], inserted: Collection[Path]) -> Iterator[Change]:
    """Put additions together that cannot be parted: those to one of the lists that get items, and below it.

    All places in it count on each other.
    """
    groups: dict[Path, list[Addition]] = {}
    for each in additions:
        above = (each.path[:length] for length in range(len(each.path)))
        groups.setdefault(next((path for path in above if path in inserted), each.path), []).append(each)
    for some in groups.values():
        key = (selector.identity(to), *((each.path, content(each.child.value)) for each in some))
        yield Change(to, tuple(some), key)


def _rows(lists: Sequence[Sequence[MappingNode]]) -> list[list[MappingNode]]:
    """Return objects that are one in all lists: by what they are called, or as the only one of a kind."""
    kinds = [Counter(selector.identity(root)[:2] for root in some) for some in lists]
    named = [{selector.identity(root): root for root in some} for some in lists]
    alone = [{selector.identity(root)[:2]: root for root in some} for some in lists]
    rows = []
    for root in lists[0]:
        key, kind = selector.identity(root), selector.identity(root)[:2]
        if all(key in some for some in named):
            rows.append([some[key] for some in named])
        elif all(count[kind] == 1 for count in kinds):
            rows.append([some[kind] for some in alone])
    return rows
