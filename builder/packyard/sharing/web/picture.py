"""A picture of objects: a box for each, and an arrow to what it mounts, reads, selects or runs as.

1. `find` reads from the objects what they name: `Arrow`s, also to what the cluster has to have.
2. `draw` puts each object to the right of those that point to it, and writes SVG without any style of its own.

Objects are plain values of a package, and hold anything: a field of another type counts as empty.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple, TypeAlias

from markupsafe import Markup

from packyard.core.kubernetes import dependencies, pods
from packyard.core.kubernetes.dependencies import ALWAYS_THERE, HOLDERS, NAMES, TYPED
from packyard.core.kubernetes.lenient import Object, labels_of, mapping, mappings, name_of, text
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
    "subjects": "grants to",
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


#: Two objects between which an arrow leads.
Pair: TypeAlias = tuple[Thing, Thing]


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
        for arrow in (*_references(thing, item), *_selections(thing, item, named))
        if arrow.end.name and arrow.end != thing and arrow.end not in ALWAYS_THERE
    ]
    return list(named), list(dict.fromkeys(arrows))


def _references(thing: Thing, value: object) -> Iterator[Arrow]:
    """Yield what the fields of an object name."""
    for item in value if isinstance(value, list) else ():
        yield from _references(thing, item)
    for key, member in mapping(value).items():
        word = _WORDS.get(key, "reads")
        for reference in dependencies.of({key: member}) if key in HOLDERS else ():
            yield Arrow(thing, word, Thing(reference.kind, reference.name))
        if key in NAMES:
            yield Arrow(thing, word, Thing(NAMES[key], text(member)))
        for target in [member] if key in TYPED else mappings(member) if key == "subjects" else ():
            yield Arrow(thing, word, Thing(text(mapping(target).get("kind")), text(mapping(target).get("name"))))
        yield from _references(thing, member)


def _selections(thing: Thing, item: Object, named: Mapping[Thing, Object]) -> Iterator[Arrow]:
    """Yield whose pods an object selects by their labels."""
    spec = mapping(item.get("spec"))
    selector = {
        "Service": {"matchLabels": spec["selector"]} if spec.get("selector") else None,
        "NetworkPolicy": spec.get("podSelector"),
        "PodDisruptionBudget": spec.get("selector"),
    }.get(thing.kind)
    for target, value in named.items() if selector is not None else ():
        if any(selects(selector, labels_of(mapping(pod.template))) for pod in pods.find(value)):
            yield Arrow(thing, "selects", target)


def draw(things: Sequence[Thing], arrows: Sequence[Arrow]) -> Markup:
    """Return the picture as SVG; an empty text where there is nothing, or too much, to draw."""
    every = list(dict.fromkeys([*things, *(arrow.end for arrow in arrows)]))
    if not 0 < len(every) <= _MOST:
        return Markup()
    words: dict[Pair, list[str]] = defaultdict(list)
    for arrow in arrows:
        words[arrow.start, arrow.end].append(arrow.word)
    gap = max([60.0, *(40 + 6.4 * len(", ".join(word)) for word in words.values())])
    places, width, height = _places(every, list(words), gap)
    parts = [_line(", ".join(labels), places[start], places[end]) for (start, end), labels in words.items()]
    parts += [_box(thing, places[thing], "" if thing in things else "outside") for thing in every]
    about = "; ".join(map(str, arrows or every))
    head = Markup('<svg viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" aria-label="{2}">')
    return head.format(round(width), round(height), about) + Markup().join(parts) + Markup("</svg>")


def _places(every: Sequence[Thing], pairs: Sequence[Pair], gap: float) -> tuple[dict[Thing, Place], float, float]:
    """Return where each object stands, and the width and the height of all.

    It is in the column to the right of what leads there, and in the order of that. An arrow that closes a circle leads
    to the left.
    """
    starts = {thing: [start for start, end in pairs if end == thing] for thing in every}
    rank: dict[Thing, int] = {}
    while not rank:
        try:
            for thing in TopologicalSorter(starts).static_order():
                rank[thing] = max((rank[before] + 1 for before in starts[thing]), default=0)
        except CycleError as error:
            start, end = max(pairwise(error.args[1]), key=pairs.index)
            starts[end].remove(start)
    columns: list[list[Thing]] = [[] for _ in range(max(rank.values()) + 1)]
    for thing in every:
        columns[rank[thing]].append(thing)
    step = _HEIGHT + _GAP
    places, x, tall = dict[Thing, Place](), float(_MARGIN), step * max(map(len, columns)) - _GAP
    for column in columns:
        column.sort(key=lambda thing: fmean([places[before].y for before in starts[thing]] or [_MARGIN + tall / 2]))
        width = max(max(len(thing.kind) * 6.6, len(_short(thing.name)) * 7.6) for thing in column) + 24
        top = _MARGIN + (tall - step * len(column) + step) / 2
        places |= {thing: Place(x, top + at * step, width) for at, thing in enumerate(column)}
        x += width + gap
    return places, x - gap + _MARGIN, tall + 2 * _MARGIN


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _line(word: str, start: Place, end: Place) -> Markup:
    """Return an arrow between two boxes, and its word; below the one that leads to the right, where it leads back."""
    is_back = end.x <= start.x
    left, right = (start.x, end.x + end.width) if is_back else (start.x + start.width, end.x)
    lower, side = (12, 8) if is_back else (0, -8)
    y, at, middle = start.y + lower, end.y + lower, (left + right) / 2
    way = f"M{left:.1f},{y:.1f} C{middle:.1f},{y:.1f} {middle:.1f},{at:.1f} {right:.1f},{at:.1f}"
    tip = f"M{right + side:.1f},{at - 4:.1f} L{right:.1f},{at:.1f} L{right + side:.1f},{at + 4:.1f} z"
    label = Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="middle" class="word">{}</text>')
    lines = Markup('<path d="{}"/><path d="{}" class="tip"/>').format(way, tip)
    return lines + label.format(middle, (y + at) / 2 - 3, word)


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
