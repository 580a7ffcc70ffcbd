"""What `--watch` draws on a terminal: lines that fit it, of all runs of a namespace, or of one with its pods in time.

POD        -14m                                     now
launcher   ░░░████████████████████████████████████████   ready
worker 0   ░░░░██████████✗ ░░█████████████████████████   ready
worker 1   ░░░░███████████████████████████████████████   ready

A pod waits (░), runs (█), and ends well (✓) or not (✗); pods that took each other's place share a line. What a screen
has no room for is counted in its last line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells

from packyard.cli import colors, output
from packyard.cli import columns as layout
from packyard.cli.running import clusters
from packyard.cli.running.ages import age, seconds_since, words
from packyard.core.errors import on_one_line
from packyard.running.runs import choose
from packyard.running.runs.pod_status import PodStatus
from packyard.running.runs.progress import Progress
from packyard.running.runs.status import FAILING, RunStatus

_COLUMNS = ("RUN", "STATE", "PODS", "AGE", "REASON")
_WELL = ("ready", "done")
_TITLE, _STATE, _LEAST = 24, 20, 8  # columns of a pod's title, of its state, and of its line in time
_BAR, _REASON = 30, 3  # columns of a bar, lines of a reason
#: Signs for waiting, running, well and badly ended, done and left of a bar, cut; and for terminals without these.
_SIGNS, _PLAIN_SIGNS = "░█✓✗━─…", ".#+x#-~"


@dataclass(frozen=True, slots=True)
class Size:
    """The room of a terminal; its last column stays free, so that no line wraps."""

    columns: int
    rows: int


def of_runs(statuses: Sequence[RunStatus], where: str, size: Size) -> list[str]:
    """Return the runs of a namespace, those that go on first, as many as there is room for."""
    ordered = sorted(statuses, key=lambda each: each.is_over)
    head = [cut(f"{where}: {_counted(each.state for each in statuses)}", size), ""]
    for count in range(min(len(ordered), size.rows), -1, -1):
        left = ordered[count:]
        more = [cut(f"{_sign(6)} {len(left)} more: {_counted(each.state for each in left)}", size)] if left else []
        lines = [*head, *_table(ordered[:count], size), *more]
        if len(lines) <= size.rows:
            return lines
    return head[: size.rows]


def of_run(run_status: RunStatus, progress: Sequence[Progress], left: float, size: Size) -> list[str]:
    """Return one run: its state and why, how far it is, and its pods in time; ``left`` are seconds, 0 if unknown."""
    record = run_status.record
    state = colors.painted(run_status.state, colors.STATES.get(run_status.state, ""))
    name = cut(record.run, Size(max(_LEAST, size.columns - len(run_status.state) - 4), 1))
    lines = [f"{colors.painted(name, 'name')}  {state}"]
    deployed = f"deployed {age(record.when)} ago by {record.who or 'somebody'}, record {record.number}"
    lines.append(cut(f"{record.package} {record.version}  {deployed}".strip(), size))
    reason = layout.broken(on_one_line(run_status.reason), size.columns - 1)[:_REASON] if run_status.reason else []
    lines += [colors.painted(each, _tone(run_status)) for each in reason]
    lines += [cut(clusters.counted(run_status.roles), size)]
    lines += [_bar(progress, left, size)] if progress else []
    return [*lines[: size.rows], *_pods(run_status, Size(size.columns, size.rows - len(lines) - 1))]


def _table(statuses: Sequence[RunStatus], size: Size) -> list[str]:
    rows = [
        (each.run, each.state, clusters.counted(each.roles), age(each.record.when), each.reason) for each in statuses
    ]
    header, *lines = layout.lines(_COLUMNS, lambda: rows, prose=1, room=size.columns - 1, paint=output.painted_cell)
    return [colors.painted(header, "heading"), *lines]


def _bar(progress: Sequence[Progress], left: float, size: Size) -> str:
    """Return how far a program is: ``epoch 2/5, step 40/100 ━━━━━━──── 40 %, about 2m left``."""
    last = progress[-1]
    steps = ", ".join(map(str, progress))
    if not last.total:
        return cut(steps, size)
    about = f", about {words(left)} left" if left else ""
    tail = f" {last.share:.0%}{about}"
    room = size.columns - 2 - cell_len(steps) - cell_len(tail)
    if room < _LEAST:
        return cut(f"{steps}{tail}", size)
    width = min(_BAR, room)
    full = int(width * last.share)
    return f"{steps} {colors.painted(_sign(4) * full, 'good')}{_sign(5) * (width - full)}{tail}"


def _pods(run_status: RunStatus, size: Size) -> list[str]:
    """Return the pods in time, those first that are not well, and how many more there are."""
    places: dict[tuple[str, int], list[PodStatus]] = {}
    for pod in sorted(run_status.pods, key=lambda pod: pod.created):
        places.setdefault((pod.role, pod.index), []).append(pod)
    newest = [pods[-1] for pods in places.values()]
    titles = {key: choose.title(pods[-1], newest) for key, pods in places.items()}
    order = sorted(places, key=lambda key: places[key][-1].state in _WELL)
    if size.rows < 2 or not places:
        return []
    whole = max((seconds_since(pod.created) for pod in run_status.pods), default=0)
    width = min(_TITLE, max(map(cell_len, titles.values())))
    time = max(_LEAST, size.columns - 1 - width - _STATE - 4)
    kept = order if len(order) < size.rows else order[: size.rows - 2]
    lines = ["", _axis(width, time, whole, size)]
    lines += [_pod(titles[key], places[key], whole, width, time, size) for key in kept]
    if rest := order[len(kept) :]:
        counts = _counted(places[key][-1].state for key in rest)
        lines.append(cut(f"{_sign(6)} {len(rest)} more pods: {counts}", size))
    return lines


def _axis(width: int, time: int, whole: float, size: Size) -> str:
    since = f"-{words(whole)}"
    return colors.painted(cut(f"{'POD':<{width}}  {since:<{time - 3}}now  STATE", size), "heading")


def _pod(title: str, pods: Sequence[PodStatus], whole: float, width: int, time: int, size: Size) -> str:
    last = pods[-1]
    line = [" "] * time
    for pod in pods:
        for place, sign, tone in _segments(pod, whole, time):
            line[place] = colors.painted(sign, tone)
    name = cut(title, Size(width + 1, 1))
    again = f", {last.restarts} restarts" if last.restarts else ""
    state = cut(f"{last.state}{again}", Size(max(2, size.columns - width - time - 4), 1))
    tone = colors.STATES.get(last.state, "")
    return f"{name}{' ' * (width - cell_len(name))}  {''.join(line)}  {colors.painted(state, tone)}"


def _segments(pod: PodStatus, whole: float, time: int) -> Iterator[tuple[int, str, str]]:
    """Yield the places of a pod in a line of ``time`` signs for ``whole`` seconds, with a sign and a style."""
    created, started, ended = (_place(moment, whole, time) for moment in (pod.created, pod.started, pod.ended))
    start = time if started is None else started
    end = time if ended is None else ended
    is_bad = pod.state == "failed" or (pod.restarts > 0 and pod.state != "ready")
    for place in range(created or 0, min(start, end)):
        yield place, _sign(0), "waiting"
    for place in range(start, max(end, start + 1) if started is not None else start):
        yield min(place, time - 1), _sign(1), "bad" if is_bad else "good"
    if ended is not None and pod.state in ("done", "failed"):
        is_well = pod.state == "done"
        yield min(end, time - 1), _sign(2 if is_well else 3), "good" if is_well else "bad"


def _place(moment: str, whole: float, time: int) -> int | None:
    """Return where in a line a moment is; None where there was none."""
    ago = seconds_since(moment)
    if not moment or ago == float("inf"):
        return None
    return max(0, min(time - 1, int((whole - ago) / max(whole, 1) * time)))


def _counted(states: Iterable[str]) -> str:
    return ", ".join(f"{count} {state}" for state, count in Counter(states).most_common()) or "no runs"


def _tone(run_status: RunStatus) -> str:
    return "bad" if run_status.state in ("failed", FAILING) else ""


def cut(text: str, size: Size) -> str:
    """Return a text that fits a line, with a sign where it is cut."""
    whole, room = on_one_line(text), max(1, size.columns - 1)
    if cell_len(whole) <= room:
        return whole
    return chop_cells(whole, max(1, room - 1))[0] + _sign(6)


def _sign(number: int) -> str:
    return (_SIGNS if output.is_utf8() else _PLAIN_SIGNS)[number]
