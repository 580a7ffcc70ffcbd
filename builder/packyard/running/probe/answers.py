"""What the pods of a probe found, as findings: their last words, or why they do not run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from packyard.core.kubernetes.lenient import labels_of, mapping, mappings, text
from packyard.running.doctor.finding import Finding, error, passed, unknown, warning
from packyard.running.probe.contract import Check
from packyard.running.probe.jobs import Probe
from packyard.running.runs import status as statuses
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord
from packyard.running.runs.run import LABEL, Reference

_CHECK = "probe"
_OF_JOB = "batch.kubernetes.io/job-name"
_LINE = re.compile(r"(\d{1,3}) ([a-z-]{1,20})(?: (\d{1,15}))?")
#: What a container waits for that no time mends; one whose pod has ended will not start.
_HOPELESS = frozenset(
    (
        *("CreateContainerConfigError", "CreateContainerError", "ErrImageNeverPull", "ImagePullBackOff"),
        *("InvalidImageName", "Failed"),
    )
)
_ENDS = "the pod ends as soon as it starts"
_READS = "the program finds no data, unless the run waits for it or makes it"
_WRITES = "the run ends when it writes its results"
#: What a check and its result mean, and what comes of it.
_FAULTS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("program", "missing"): ("the image has no such program", _ENDS),
    ("file", "missing"): ("there is no such file", _ENDS),
    ("file", "unreadable"): ("the user of the run may not read it", _ENDS),
    ("file", "empty"): ("it is empty, or a folder", _ENDS),
    ("read", "missing"): ("is not there", _READS),
    ("read", "empty"): ("is empty", _READS),
    ("read", "unreadable"): ("the user of the run may not read it, or a folder above it", _READS),
    ("read", "closed"): ("the user of the run may not read what is in it", _READS),
    ("write", "unwritable"): ("the user of the run may not write there", _WRITES),
    ("write", "read-only"): ("is on a file system that is read-only", _WRITES),
    ("write", "full"): ("there is no space left, or a quota is used up", _WRITES),
    ("write", "file"): ("a file is in the way of the folder", _WRITES),
    ("write", "failed"): ("nothing can be written there", _WRITES),
    ("name", "missing"): ("the name is not resolved in a pod", "the run cannot connect to it"),
}


@dataclass(frozen=True, slots=True)
class Seen:
    """What a probe found so far; ``waiting`` are its Jobs whose pod has not ended, with its reason where it has one."""

    findings: Sequence[Finding]
    waiting: Mapping[str, str]

    @property
    def is_over(self) -> bool:
        """Whether there is nothing to wait for: what still waits will not start by itself."""
        return all(reason in _HOPELESS for reason in self.waiting.values())


def look(kubectl: Kubectl, probe: Probe) -> Seen:
    """Look at what the pods of a probe found so far, by one call."""
    pods = kubectl.read("get", "pods", f"--selector={LABEL}={probe.name}")
    of_job = {text(labels_of(pod).get(_OF_JOB)): pod for pod in pods}
    findings, waiting = list[Finding](), dict[str, str]()
    for (job, container), checks in probe.checks.items():
        status = mapping(mapping(of_job.get(job)).get("status"))
        named = (each for each in mappings(status.get("containerStatuses")) if each.get("name") == container)
        said = next(named, {})
        state = mapping(said.get("state"))
        if "terminated" in state:
            findings += read(checks, mapping(state["terminated"]), text(said.get("image")))
        else:
            failed = "Failed" if status.get("phase") == "Failed" else ""
            waiting[job] = failed or text(mapping(state.get("waiting")).get("reason"))
    return Seen(list(dict.fromkeys(findings)), waiting)


def conclude(kubectl: Kubectl, probe: Probe, seen: Seen, when: str) -> list[Finding]:
    """Return all findings in the end: what was seen, why pods did not run, and what nobody could look at."""
    findings = [*seen.findings]
    if not probe.checks:
        findings.append(unknown(_CHECK, "pods", "this use case has none that could be tried"))
    if seen.waiting:
        objects = tuple(Reference.of(each, kubectl.namespace) for each in probe.objects)
        status = statuses.read_one(kubectl, RunRecord(run=probe.name, number=1, when=when, objects=objects))
        message = f"did not run to its end: {status.reason or 'the time was up'}"
        findings.append(error(_CHECK, "pod", message, why="the run's own pods would wait as well"))
    return findings


def read(checks: Sequence[Check], ended: Mapping[str, Any], image: str) -> Iterator[Finding]:
    """Yield what a container said; lines that it cannot have said are passed over."""
    lines = filter(None, map(_LINE.fullmatch, text(ended.get("message")).splitlines()))
    by_number = {int(line[1]): (line[2], int(line[3] or -1)) for line in lines}
    if not by_number and checks:
        reason = text(ended.get("message")) or text(ended.get("reason"))
        yield unknown(_CHECK, f"image {image}", f"cannot be looked into: its /bin/sh says nothing, but: {reason}")
        return
    yield passed(_CHECK, f"image {image}")
    yield from (_judged(check, *by_number.get(number, ("", -1))) for number, check in enumerate(checks))


def _judged(check: Check, result: str, free: int) -> Finding:
    message, why = _FAULTS.get((check.kind, result), ("", ""))
    if result == "found":
        return replace(passed(_CHECK, check.about), message=f"{free / 2**20:.1f} GiB free" if free >= 0 else "")
    if message:
        make = warning if check.kind == "read" and result in ("missing", "empty") else error
        return make(_CHECK, check.about, message, why=why)
    return unknown(_CHECK, check.about, "could not be looked for")
