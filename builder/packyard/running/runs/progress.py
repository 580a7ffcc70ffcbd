"""How far a program is, by the last lines that it printed: in the forms that training programs print.

step 40/100, loss 0.31              epoch 3: loss 0.31                  (of how many its ConfigMap says)
 40%|████      | 40/100 [00:10<00:15,  4.00it/s]                        tqdm
Epoch 2/5 … 40/100 ━━━━━━━━━━━━━━━━━━━━ 2s 48ms/step - loss: 0.31       Keras
w.bin: from 10 of 400 bytes                                            packyard's model staging

What is printed is anybody's: it only fills a line of a screen, and numbers that do not fit each other are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.errors import PackyardError
from packyard.core.kubernetes.kinds import CORE
from packyard.core.kubernetes.lenient import kind_of, mapping, text
from packyard.running.runs import choose
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.run import Object
from packyard.running.runs.status import RunStatus

_LINES = 40  # of a log that are read, the last
_LONGEST = 64 * 1024  # bytes of it, from the end
_NUMBER = r"(\d{1,12})(?!\d)"
_OF = rf"{_NUMBER}\s*(?:/|of)\s*{_NUMBER}"
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x08\x07]")
#: A unit and how much of it is done, of how many or not; the units as they are shown.
_UNITS = {"epoch": "epoch", "step": "step", "global_step": "step", "iteration": "step", "iter": "step", "batch": "step"}
_SAID = re.compile(rf"(?i)\b({'|'.join(_UNITS)})s?\b\s*[:=#]?\s*\[?\s*{_NUMBER}(?:\s*(?:/|of)\s*{_NUMBER})?")
_BAR = re.compile(rf"{_OF}\s*(?:\[|[━─]|\|)|\|\s*{_OF}\s*\[")
_SAMPLES = re.compile(rf"\[{_OF} \(\d+%\)\]")
_PERCENT = re.compile(r"\b(\d{1,3})%\|")
_BYTES = re.compile(rf"(?:from )?{_OF} bytes\b")
_ORDER = ("epoch", "step", "sample", "bytes", "percent")
#: What a ConfigMap of a run says there are in all.
_TOTALS = {
    "epoch": ("TRAIN_EPOCHS", "EPOCHS", "NUM_EPOCHS", "MAX_EPOCHS"),
    "step": ("TRAIN_STEPS", "STEPS", "MAX_STEPS", "NUM_STEPS", "BENCHMARK_STEPS"),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """So much of a ``unit`` of `_ORDER` is done; ``total`` is 0 where nobody says how many there are."""

    unit: str
    done: int
    total: int

    def __str__(self) -> str:
        return f"{self.unit} {self.done}/{self.total}" if self.total else f"{self.unit} {self.done}"

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0


def read(kubectl: Kubectl, status: RunStatus) -> list[Progress]:
    """Return how far a run is that runs, by the log of the pod that counts; nothing where that cannot be read."""
    pods = [each for each in choose.pods(status) if each.running]
    if not pods:
        return []
    words = (pods[0].name, f"--container={pods[0].running[0]}", f"--tail={_LINES}")
    try:
        printed = kubectl.run("logs", *words)
    except PackyardError:  # it only adds to what is seen; a pod may be gone by now
        return []
    return parse(printed[-_LONGEST:].decode("utf-8", "replace"), totals(status.record.read_objects()))


def totals(objects: Sequence[Object]) -> Mapping[str, int]:
    """Return how many epochs and steps there are, as a ConfigMap among objects says."""
    data = [mapping(item.get("data")) for item in objects if kind_of(item) == (CORE, "ConfigMap")]
    counts = {}
    for unit, names in _TOTALS.items():
        texts = [text(each.get(name)) for name in names for each in data]
        counts[unit] = next((int(value) for value in texts if value.isascii() and value.isdecimal()), 0)
    return counts


def parse(printed: str, known: Mapping[str, int] | None = None) -> list[Progress]:
    """Return the last of each unit that is printed, the larger unit first; ``known`` are totals of units."""
    by_unit: dict[str, Progress] = {}
    for line in re.split(r"[\r\n]+", _ESCAPES.sub("", printed)):
        for each in _of_line(line):
            total = each.total or (known or {}).get(each.unit, 0)
            if each.done <= total or not each.total:
                by_unit[each.unit] = Progress(each.unit, each.done, total if each.done <= total else 0)
    return [by_unit[unit] for unit in _ORDER if unit in by_unit]


def _of_line(line: str) -> Iterator[Progress]:
    for unit, done, total in _SAID.findall(line):
        yield Progress(_UNITS[unit.lower()], int(done), int(total or 0))
    if bar := _BAR.search(line):
        first = [int(each) for each in bar.groups() if each]
        yield Progress("epoch" if re.match(r"(?i)\s*epochs?:?\s+\d+%", line) else "step", *first)
    elif percent := _PERCENT.search(line):
        yield Progress("percent", int(percent[1]), 100)
    if samples := _SAMPLES.search(line):
        yield Progress("sample", int(samples[1]), int(samples[2]))
    if size := _BYTES.search(line):
        yield Progress("bytes", int(size[1]), int(size[2]))
