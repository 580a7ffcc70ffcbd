"""The lines of a sweep: an Indexed Job, each pod of which takes the line of its index of a file in a ConfigMap.

    --expid 1 --dropout 0.2     line 0   done   expid 1, dropout 0.2   accuracy=0.91

Empty lines of the file, and those that begin with #, do not count. The result of a line is what its container left as
its termination message, as Kubernetes has it: the program writes it into /dev/termination-log.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import BATCH, CORE
from packyard.core.kubernetes.lenient import kind_of, mapping, mappings, name_of, text
from packyard.running.runs.pod_status import PodStatus
from packyard.running.runs.run import Object

_LONGEST = 200  # characters of a result
_MOST = 1000  # lines that are shown
_MEASURE = re.compile(r"[A-Za-z][\w/.-]* ?[:=] ?-?\d")
_PROGRAM = re.compile(r"#!|.*\.(py|sh)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line: its ``number``, which is the index of its pods, its ``arguments``, and these by their names.

    ``state`` and ``reason`` are those of its newest ``pod``; without one it is waiting.
    """

    number: int
    arguments: str
    parameters: Mapping[str, str]
    state: str
    reason: str
    pod: str
    tries: int
    result: str


def find(objects: Sequence[Object], of_run: Sequence[PodStatus]) -> list[Line]:
    """Return the lines of a run; none where it is no sweep."""
    maps = {name_of(item): mapping(item.get("data")) for item in objects if kind_of(item) == (CORE, "ConfigMap")}
    return [
        line
        for item in objects
        if kind_of(item) == (BATCH, "Job") and mapping(item.get("spec")).get("completionMode") == "Indexed"
        for line in _lines(item, maps, of_run)
    ]


def varied(lines: Sequence[Line]) -> list[str]:
    """Return the names of parameters that are not the same in all lines."""
    names = dict.fromkeys(name for line in lines for name in line.parameters)
    return [name for name in names if len({line.parameters.get(name) for line in lines}) > 1]


def measured(printed: Sequence[str]) -> str:
    """Return the last line of a log that has a measure, ``loss: 0.2 - accuracy: 0.91``, or nothing."""
    return next((" ".join(line.split())[:_LONGEST] for line in reversed(printed) if _MEASURE.search(line)), "")


def _lines(job: Object, maps: Mapping[str, Mapping[str, Any]], of_run: Sequence[PodStatus]) -> Iterator[Line]:
    texts = next(_texts(job, maps), [])
    count = mapping(job.get("spec")).get("completions")
    for number in range(min(count if isinstance(count, int) else 1, _MOST) if texts else 0):
        arguments = texts[number] if number < len(texts) else ""
        of_line = re.compile(rf"{re.escape(name_of(job))}-{number}-[a-z0-9]+")
        own = sorted((pod for pod in of_run if of_line.fullmatch(pod.name)), key=lambda pod: pod.created)
        yield Line(
            number=number,
            arguments=arguments,
            parameters=parameters(arguments),
            state=own[-1].state if own else "waiting",
            reason=(own[-1].reason if own else "") or ("" if arguments else "the file has no line for it"),
            pod=own[-1].name if own else "",
            tries=len(own),
            result=own[-1].message if own else "",
        )


def _texts(job: Object, maps: Mapping[str, Mapping[str, Any]]) -> Iterator[list[str]]:
    """Yield the lines of each file in a ConfigMap that a container names, but for programs."""
    for pod in pods.find(job):
        named = {text(each.get("name")): text(mapping(each.get("configMap")).get("name")) for each in pod.volumes}
        volumes = {name: maps.get(held, {}) for name, held in named.items()}
        for container in pod.containers:
            mounts = mappings(container.get("volumeMounts"))
            for word in (word for key in ("command", "args") for word in container.get(key) or ()):
                data = next((data for each in mounts if (data := _file(each, str(word), volumes))), "")
                lines = [each for line in data.splitlines() if (each := line.strip()) and not each.startswith("#")]
                if lines and not _PROGRAM.match(data) and not _PROGRAM.match(str(word)):
                    yield lines


def _file(mount: Mapping[str, Any], word: str, volumes: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of the file that a word names in a mount."""
    data, root = volumes.get(text(mount.get("name")), {}), text(mount.get("mountPath"))
    if not root or not PurePosixPath(word).is_relative_to(root):
        return ""
    inside = str(PurePosixPath(word).relative_to(root))
    return text(data.get(text(mount.get("subPath")) if inside == "." else inside))


def parameters(arguments: str) -> dict[str, str]:
    """Return the arguments of a line by their names: ``--lr 0.1``, ``--lr=0.1`` and ``lr=0.1`` are ``lr``."""
    try:
        words = shlex.split(arguments)
    except ValueError:
        words = arguments.split()
    values: dict[str, str] = {}
    name = ""
    for word in words:
        is_flag = re.match(r"--?[A-Za-z]", word) is not None
        key, equals, value = word.lstrip("-").partition("=") if is_flag or "=" in word else ("", "", word)
        if is_flag and not equals:
            name = key
            values[name] = "yes"
        elif equals:
            values[key], name = value, ""
        else:
            values[name or f"argument {len(values) + 1}"] = value
            name = ""
    return values
