"""Why pods need a lower Pod Security level than ``restricted``: what the Krmfile of the part that causes it records.

    podSecurity:
      level: baseline
      reason: The volume stands in the pods themselves.

Use cases inherit the records of their parts. Whether their pods need the level is not judged here.
"""

from __future__ import annotations

from dataclasses import dataclass

from packyard.errors import Problem, refuse
from packyard.source.fields import Fields
from packyard.source.parts import Part
from packyard.text.document import parse_one
from packyard.text.node import Mapping

#: The strictest first.
LEVELS = ("restricted", "baseline", "privileged")
KEY = "podSecurity"


@dataclass(frozen=True, slots=True)
class Excuse:
    """A level that is lower than ``restricted``, its reason, and where both are recorded."""

    level: str
    reason: str
    file: str
    line: int

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the record, by its place."""
        return Problem(message, file=self.file, line=self.line, hint=hint)


def gather(part: Part) -> list[Excuse]:
    """Return the records of a part and of all that it is made of; every fault of form is named at once."""
    found: list[Excuse] = []
    problems: list[Problem] = []
    for path, data in dict.fromkeys(part.krmfiles()):
        if f"{KEY}:".encode() not in data:
            continue
        root = parse_one(data, path).root
        node = root.get(KEY) if isinstance(root, Mapping) else None
        if node is None:
            continue
        fields = Fields(node, path, KEY, problems)
        excuse = Excuse(fields.text("level"), fields.text("reason"), path, node.source.locate(node.start)[0])
        fields.done()
        if excuse.level and excuse.level not in LEVELS[1:]:
            fields.fault(node, "level", f"has to be one of {', '.join(LEVELS[1:])}, is {excuse.level!r}")
        if not excuse.reason.strip() and fields.node and fields.node.get("reason"):
            fields.fault(node, "reason", "says nothing")
        found.append(excuse)
    refuse(problems)
    return found


def lowest(excuses: list[Excuse] | tuple[Excuse, ...]) -> str:
    """Return the lowest level of all records, ``restricted`` where there is none."""
    return max((excuse.level for excuse in excuses), key=LEVELS.index, default=LEVELS[0])
