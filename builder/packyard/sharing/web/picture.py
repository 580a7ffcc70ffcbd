"""A picture of objects: a box for each, and an arrow to what it mounts, reads, selects, runs as, calls or waits for.

1. `find` reads from the objects what they name: `Arrow`s, also to what the cluster has to have.
2. `draw` puts each object to the right of those that point to it, and writes SVG without any style of its own.

Objects are plain values of a package, and hold anything: a field of another type counts as empty.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from markupsafe import Markup

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.lenient import Object, labels_of, mapping, mappings, name_of, text
from packyard.core.kubernetes.name_fields import ALWAYS_THERE, HOLDERS, NAMES, TYPED
from packyard.core.kubernetes.selection import selects

_MOST = 60  # objects that are drawn
_LONGEST = 48  # characters of a name
_HEIGHT, _GAP, _MARGIN = 46, 18, 12
_WORDS = {
    "configMap": "mounts",
    "secret": "mounts",
    "persistentVolumeClaim": "mounts",
    "serviceAccountName": "runs as",
    "subdomain": "is named by",
    "roleRef": "grants",
    "runtimeRef": "runs by",
    "scaleTargetRef": "scales",
}
_OPAQUE = {"ConfigMap", "Secret", "CustomResourceDefinition"}


class Thing(NamedTuple):
    """An object, by its kind and its name."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class Place(NamedTuple):
    """Where something is drawn: its left end, its middle, and how wide it is."""

    x: float
    y: float
    width: float


#: Two objects between which an arrow leads; and an object, or where an arrow crosses a column.
Pair: TypeAlias = tuple[Thing, Thing]
Point: TypeAlias = Thing | tuple[Pair, int]


class Arrow(NamedTuple):
    """What an object has to do with another one."""

    start: Thing
    word: str
    end: Thing

    def __str__(self) -> str:
        return f"{self.start} {self.word} {self.end}"


def find(objects: Sequence[Object]) -> tuple[list[Thing], list[Arrow]]:
    """Return objects by their names, and what they have to do with each other and with what the cluster has."""
    named = {Thing(text(item.get("kind")), name_of(item)): item for item in objects if name_of(item)}
    arrows = [
        arrow
        for thing, item in named.items()
        if thing.kind not in _OPAQUE
        for arrow in (*_references(thing, item), *_selections(thing, item, named), *_calls(thing, item, named))
        if arrow.end.name and arrow.end != thing and arrow.end not in ALWAYS_THERE
    ]
    return list(named), list(dict.fromkeys(arrows))


def _references(thing: Thing, value: object) -> Iterator[Arrow]:
    """Yield what the fields of an object name."""
    for item in value if isinstance(value, list) else ():
        yield from _references(thing, item)
    for key, member in mapping(value).items():
        word = _WORDS.get(key, "reads")
        if key in HOLDERS:
            kind, keys = HOLDERS[key]
            yield Arrow(thing, word, Thing(kind, next(filter(None, (text(mapping(member).get(k)) for k in keys)), "")))
        elif key in NAMES:
            yield Arrow(thing, word, Thing(NAMES[key], text(member)))
        elif key in TYPED:
            yield Arrow(thing, word, Thing(text(mapping(member).get("kind")), text(mapping(member).get("name"))))
        elif key == "subjects":
            for subject in mappings(member):
                yield Arrow(thing, "grants to", Thing(text(subject.get("kind")), text(subject.get("name"))))
        yield from _references(thing, member)


def _selections(thing: Thing, item: Object, named: Mapping[Thing, Object]) -> Iterator[Arrow]:
    """Yield whose pods an object selects by their labels."""
    spec = mapping(item.get("spec"))
    selectors = {
        "Service": {"matchLabels": spec["selector"]} if spec.get("selector") else None,
        "NetworkPolicy": spec.get("podSelector"),
        "PodDisruptionBudget": spec.get("selector"),
    }
    for other, value in named.items():
        templates = [pod.template for pod in pods.find(value)] if selectors.get(thing.kind) is not None else []
        if any(selects(selectors[thing.kind], labels_of(mapping(each))) for each in templates):
            yield Arrow(thing, "selects", other)


def _calls(thing: Thing, item: Object, named: Mapping[Thing, Object]) -> Iterator[Arrow]:
    """Yield the Services that the containers of an object's pods name."""
    services = [other.name for other in named if other.kind == "Service"]
    for pod in pods.find(item) if services else ():
        for word, field in (("waits for", "initContainers"), ("calls", "containers")):
            written = "\n".join(_texts(pod.get(field)))
            for name in services:
                if re.search(rf"(?<![^\s/@\"'=,]){re.escape(name)}(?![^\s.:/\"',])", written):
                    yield Arrow(thing, word, Thing("Service", name))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for member in value if isinstance(value, list) else mapping(value).values():
        yield from _texts(member)


def draw(things: Sequence[Thing], arrows: Sequence[Arrow]) -> Markup:
    """Return the picture as SVG; an empty text where there is nothing, or too much, to draw."""
    every = list(dict.fromkeys([*things, *(arrow.end for arrow in arrows)]))
    if not 0 < len(every) <= _MOST:
        return Markup()
    words: dict[tuple[Thing, Thing], list[str]] = defaultdict(list)
    for arrow in arrows:
        words[arrow.start, arrow.end].append(arrow.word)
    columns, ways = _columns(every, list(words))
    gap = max(60.0, *(40 + 6.4 * len(", ".join(each)) for each in words.values())) if words else 0.0
    places, width, height = _places(columns, gap)
    parts = [
        _line(", ".join(words[pair]), [places[point] for point in ways[pair]], is_back=ways[pair][0] != pair[0])
        for pair in words
    ]
    parts += [_box(thing, places[thing], "" if thing in things else "outside") for thing in every]
    about = "; ".join(map(str, arrows or every))
    head = Markup('<svg viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" aria-label="{2}">')
    return head.format(round(width), round(height), about) + Markup().join(parts) + Markup("</svg>")


def _columns(every: Sequence[Thing], pairs: Sequence[Pair]) -> tuple[list[list[Point]], dict[Pair, list[Point]]]:
    """Return what stands in each column, and the way of each arrow from the left to the right.

    An arrow that closes a circle is drawn from its end to its start. One that crosses columns has a point in each.
    """
    ends: dict[Thing, set[Thing]] = {thing: set() for thing in every}
    for start, end in pairs:
        if not _leads(ends, end, start):
            ends[start].add(end)
    starts = {thing: [each for each in every if thing in ends[each]] for thing in every}
    rank: dict[Thing, int] = {}
    for thing in TopologicalSorter(starts).static_order():
        rank[thing] = max((rank[each] + 1 for each in starts[thing]), default=0)
    for thing in every:
        if not starts[thing] and ends[thing]:
            rank[thing] = min(rank[each] for each in ends[thing]) - 1
    columns: list[list[Point]] = [[] for _ in range(max(rank.values()) + 1)]
    for thing in every:
        columns[rank[thing]].append(thing)
    ways: dict[Pair, list[Point]] = {}
    for pair in pairs:
        left, right = sorted(pair, key=lambda thing: rank[thing])
        between: list[Point] = [(pair, at) for at in range(rank[left] + 1, rank[right])]
        ways[pair] = [left, *between, right]
        for at, point in enumerate(between, rank[left] + 1):
            columns[at].append(point)
    _untangle(columns, list(ways.values()))
    return columns, ways


def _leads(ends: Mapping[Thing, set[Thing]], start: Thing, goal: Thing) -> bool:
    """Say whether arrows lead from one object to another."""
    reached, todo = {start}, [start]
    while todo:
        new = ends[todo.pop()] - reached
        reached |= new
        todo += new
    return goal in reached


def _untangle(columns: list[list[Point]], ways: Sequence[Sequence[Point]]) -> None:
    """Sort each column by the places of what its arrows come from, and then by those of where they lead."""
    before, after = defaultdict(list), defaultdict(list)
    for way in ways:
        for left, right in pairwise(way):
            before[right].append(left)
            after[left].append(right)
    for near, order in ((before, columns), (after, columns[::-1])) * 2:
        place: dict[Point, float] = {}
        for column in order:
            own = {point: at for at, point in enumerate(column)}
            means = {
                point: sum(place[each] for each in near[point]) / len(near[point]) if near[point] else own[point]
                for point in column
            }
            column.sort(key=means.__getitem__)
            place |= {point: at - (len(column) - 1) / 2 for at, point in enumerate(column)}


def _places(columns: Sequence[Sequence[Point]], gap: float) -> tuple[dict[Point, Place], float, float]:
    """Return where each point stands, and the width and the height of all."""
    heights = [sum(_height(point) + _GAP for point in column) - _GAP for column in columns]
    places, x = {}, float(_MARGIN)
    for column, height in zip(columns, heights, strict=True):
        width, y = max(map(_width, column)), _MARGIN + (max(heights) - height) / 2
        for point in column:
            own = _width(point) or width
            places[point] = Place(x + (width - own) / 2, y + _height(point) / 2, own)
            y += _height(point) + _GAP
        x += width + gap
    return places, x - gap + _MARGIN, max(heights) + 2 * _MARGIN


def _width(point: Point) -> float:
    return max(len(point.kind) * 6.6, len(_short(point.name)) * 7.6) + 24 if isinstance(point, Thing) else 0


def _height(point: Point) -> float:
    return _HEIGHT if isinstance(point, Thing) else 10


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _line(word: str, way: Sequence[Place], *, is_back: bool) -> Markup:
    """Return an arrow that goes through some places, and its word between the first two of them."""
    if is_back:  # below the one that leads the other way
        way = [place._replace(y=place.y + 12) for place in way]
    steps = [f"M{way[0].x + way[0].width:.1f},{way[0].y:.1f}"]
    for left, right in pairwise(way):
        middle = (left.x + left.width + right.x) / 2
        steps.append(f"C{middle:.1f},{left.y:.1f} {middle:.1f},{right.y:.1f} {right.x:.1f},{right.y:.1f}")
        steps += [f"H{right.x + right.width:.1f}"] if right is not way[-1] else []
    x, y, side = (way[0].x + way[0].width, way[0].y, 8) if is_back else (way[-1].x, way[-1].y, -8)
    tip = f"M{x + side:.1f},{y - 4:.1f} L{x:.1f},{y:.1f} L{x + side:.1f},{y + 4:.1f} z"
    at_x, at_y = (way[0].x + way[0].width + way[1].x) / 2, (way[0].y + way[1].y) / 2 + (14 if is_back else -3)
    text_ = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="middle" class="word">{}</text>').format(at_x, at_y, word)
    return Markup('<path d="{}"/><path d="{}" class="tip"/>').format(" ".join(steps), tip) + text_


def _box(thing: Thing, place: Place, kind: str) -> Markup:
    middle = place.x + place.width / 2
    box = Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}" rx="6"/>')
    line = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="middle" class="{}">{}</text>')
    return Markup('<g class="{}">{}{}{}</g>').format(
        kind,
        box.format(place.x, place.y - _HEIGHT / 2, place.width, _HEIGHT),
        line.format(middle, place.y - 5, "kind", thing.kind),
        line.format(middle, place.y + 12, "name", _short(thing.name)),
    )
