"""Schedules as Kubernetes reads them: minute, hour, day of the month, month and weekday, or a name such as ``@daily``.

0 3 * * 1-5         at three on weekdays
*/15 8-18 * jan *   each quarter of an hour by day in January
"""

import re
from collections.abc import Sequence

_NAMED = re.compile(r"@(yearly|annually|monthly|weekly|daily|midnight|hourly|every ([0-9]+(\.[0-9]+)?(ms|[smh]))+)")
_RANGE = re.compile(r"(?:[*?]|([0-9]{1,4}|[a-z]+)(?:-([0-9]{1,4}|[a-z]+))?)(?:/0*[1-9][0-9]*)?")
_NONE: Sequence[str] = ()
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
#: The least and the most of each field, and names of its numbers from the least on.
_FIELDS = ((0, 59, _NONE), (0, 23, _NONE), (1, 31, _NONE), (1, 12, _MONTHS), (0, 6, _WEEKDAYS))


def is_valid(text: str) -> bool:
    """Say whether a text is a schedule of a CronJob."""
    fields = text.lower().split()
    if text.startswith("@"):
        return _NAMED.fullmatch(text) is not None
    return len(fields) == len(_FIELDS) and all(
        _is_range(part, *bounds) for field, bounds in zip(fields, _FIELDS, strict=True) for part in field.split(",")
    )


def _is_range(text: str, least: int, most: int, names: Sequence[str]) -> bool:
    match = _RANGE.fullmatch(text)
    ends = [word for word in match.groups() if word] if match else [""]
    numbers = [names.index(word) + least if word in names else int(word) if word.isdecimal() else -1 for word in ends]
    return numbers == sorted(numbers) and all(least <= number <= most for number in numbers)
