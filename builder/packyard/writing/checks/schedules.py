"""Schedules of CronJobs, as Kubernetes reads them by robfig/cron, and the time zones that they are in."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Iterator

from packyard.core.errors import suggest
from packyard.core.kubernetes.kinds import BATCH, is_kind
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed
from packyard.writing.checks.variables import is_filled_in

_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
_CRON = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("day of the week", 0, 6))
_CRON_NAMES = {
    **{name: number for number, name in enumerate(_MONTHS, 1)},
    **{name: number for number, name in enumerate(_DAYS)},
}
_MACRO = re.compile(r"@(yearly|annually|monthly|weekly|daily|midnight|hourly|every \S+)\Z")
_PART = re.compile(r"(?:[*?]|(\w+)(?:-(\w+))?)(?:/(\d+))?\Z")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find schedules and time zones that an API server refuses."""
    for spec in (root.mapping("spec") for root in parsed.fresh if is_kind(root, BATCH, "CronJob")):
        schedule, zone = (spec.scalar("schedule"), spec.scalar("timeZone")) if spec else (None, None)
        if schedule and schedule.value and not is_filled_in(schedule.value) and (message := _fault(schedule.value)):
            hint = "minute hour day-of-month month day-of-week, as in 0 3 * * 1-5"
            yield breach("server-refuses", schedule, message, hint)
        zones = zoneinfo.available_timezones()  # none where the system has no table of them
        if zone and zone.value and not is_filled_in(zone.value) and zones and zone.value not in zones:
            hint = suggest(zone.value, zones) or "Etc/UTC, or Europe/Berlin"
            yield breach("server-refuses", zone, f"there is no time zone {zone.value!r}", hint)


def _fault(text: str) -> str:
    """Return what is wrong with a schedule, or nothing."""
    fields = text.split()
    if _MACRO.match(text):
        return ""
    if len(fields) != len(_CRON):
        return f"the schedule {text!r} has {len(fields)} fields, and not {len(_CRON)}"
    for field, (what, least, most) in zip(fields, _CRON, strict=True):
        for part in field.split(","):
            match = _PART.match(part)
            ends = [_CRON_NAMES.get(end.upper(), end) for end in match.groups()[:2] if end] if match else [""]
            numbers = [int(end) if str(end).isdecimal() else most + 1 for end in ends]
            if not all(least <= number <= most for number in numbers) or numbers != sorted(numbers):
                return f"{part!r} in the schedule {text!r} is no {what} from {least} to {most}"
    return ""
