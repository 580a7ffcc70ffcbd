"""Schedules of CronJobs, as Kubernetes reads them by robfig/cron."""

from __future__ import annotations

import re

_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
_CRON = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("day of the week", 0, 6))
_CRON_NAMES = {
    **{name: number for number, name in enumerate(_MONTHS, 1)},
    **{name: number for number, name in enumerate(_DAYS)},
}
_MACRO = re.compile(r"@(yearly|annually|monthly|weekly|daily|midnight|hourly|every \S+)\Z")
_PART = re.compile(r"(?:[*?]|(\w+)(?:-(\w+))?)(?:/(\d+))?\Z")


def fault(text: str) -> str:
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
