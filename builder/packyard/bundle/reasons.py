"""What a package needs a recorded reason for: a Pod Security level below ``restricted``, and an image tag that moves.

Levels are recorded by the part that causes them (see `packyard.source.security`), tags in package.yaml or in
``packages/_shared/shared.yaml``, by a pattern for the whole reference of the image:

    movingTags:
      "*:tf-latest-*": It is the tag that the model zoo documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from packyard.bundle import pod_security
from packyard.bundle.pod import Object, containers, mappings, pods, text
from packyard.checks.practice import is_moving
from packyard.errors import Problem
from packyard.source import security
from packyard.source.compose import Composed
from packyard.source.option import PATCH_SUFFIX, Option
from packyard.source.package import Package
from packyard.source.security import LEVELS, Excuse
from packyard.text.document import parse_shared
from packyard.text.node import Source
from packyard.text.plain import to_value


@dataclass(frozen=True, slots=True)
class Reason:
    """Why some use cases, or an option in them, need a lower level."""

    level: str
    reason: str
    use_cases: tuple[str, ...]
    option: str = ""


def check(package: Package, item: Composed, built: Sequence[Object] | None = None) -> Iterator[Problem]:
    """Yield what a use case and its options have no reason for, and what they have a reason for and do not need.

    ``built`` are its objects as plain values, for callers who have them.
    """
    place = package.file, item.use_case.line
    specs = list(pods(item.values() if built is None else built))
    yield from _level(item.use_case.path, specs, item.excuses, place)
    for option in item.options:
        pod = {"containers": [], "volumes": _added(option)}
        yield from _level(f"the option {option.name} of {item.use_case.path}", [pod], option.excuses, place)
    yield from _tags(package, item, specs)


def merge(composed: Sequence[Composed]) -> list[Reason]:
    """Return every reason for a level once, with the use cases that it holds for, the lowest level first."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for item in composed:
        named = [("", item.excuses), *((option.name, option.excuses) for option in item.options)]
        for option, excuses in named:
            for excuse in excuses:
                found.setdefault((excuse.level, excuse.reason, option), []).append(item.use_case.path)
    reasons = [Reason(level, reason, tuple(paths), option) for (level, reason, option), paths in found.items()]
    return sorted(reasons, key=lambda each: (each.option, -LEVELS.index(each.level)))


def _level(what: str, specs: Sequence[Object], excuses: Sequence[Excuse], place: tuple[str, int]) -> Iterator[Problem]:
    level = pod_security.find(specs)
    needed = LEVELS.index(level.name if level else LEVELS[0])
    recorded = LEVELS.index(security.lowest(tuple(excuses)))
    if needed > recorded:
        objections = "; ".join(level.objections) if level else ""
        message = f"{what} needs the Pod Security level {LEVELS[needed]}, and no part records why: {objections}"
        hint = f"{security.KEY}: {{level: {LEVELS[needed]}, reason: …}} in the Krmfile of the part that causes it"
        yield Problem(message, file=place[0], line=place[1], hint=hint)
    for excuse in excuses if needed < recorded else ():
        if LEVELS.index(excuse.level) > needed:
            message = f"{security.KEY}: {what} does not need the level {excuse.level}, but {LEVELS[needed]} alone"
            yield excuse.problem(message, f"level: {LEVELS[needed]}" if needed else "take the record away")


def _added(option: Option) -> list[object]:
    """Return the volumes that an option brings, of all that it does to pods what a level may object to."""
    volumes: list[object] = []
    for name, data in option.files.items():
        if not name.endswith(PATCH_SUFFIX) or b"/volumes/" not in data:
            continue
        for document in parse_shared(Source(name, data.decode())):
            operations = to_value(document.root) if document.root else None
            volumes += [each.get("value") for each in mappings(operations) if "/volumes/" in text(each.get("path"))]
    return volumes


def _tags(package: Package, item: Composed, specs: Sequence[Object]) -> Iterator[Problem]:
    """Yield images whose tag moves and for which there is no reason, or which nodes would not pull again."""
    seen: set[str] = set()
    for container in (container for pod in specs for container in containers(pod)):
        image = text(container.get("image"))
        if not image or image in seen or not is_moving(image):
            continue
        seen.add(image)
        given = next((value for value in item.use_case.setters.values() if _moves(value.text, image)), None)
        file, line = (given.file, given.line) if given else (package.file, item.use_case.line)
        if text(container.get("imagePullPolicy")) != "Always":
            message = f"the tag of {image} moves, and {item.use_case.path} does not pull it again each time"
            yield Problem(message, file=file, line=line, hint="imagePullPolicy: Always, or another tag")
        if not any(fnmatchcase(image, pattern) for pattern in package.moving_tags):
            message = f"the tag of {image} moves, for a reason that nobody records"
            yield Problem(message, file=file, line=line, hint='movingTags: {"PATTERN": REASON} in package.yaml')


def _moves(value: str, image: str) -> bool:
    """Say whether a value is where the tag of an image begins, and lets it move."""
    return bool(value) and image.rpartition("/")[2].partition(":")[2].startswith(value) and is_moving(f"a:{value}")


def of_tags(package: Package, images: Sequence[str]) -> Mapping[str, str]:
    """Return the recorded reason of each image whose tag moves."""
    found = {}
    for image in images:
        for pattern, reason in package.moving_tags.items():
            if is_moving(image) and fnmatchcase(image, pattern):
                found[image] = reason
    return found
