"""One fault of a package, and the place where it has to be fixed."""

from dataclasses import dataclass, replace

from packyard.core.errors import Problem
from packyard.core.yaml.node import Entry, Node, Source
from packyard.writing.checks.explanation import Severity, table

#: A node, an entry with its key, or a character of a file.
Place = Node | Entry | tuple[Source, int]
#: The fix that takes away what a finding is about.
REMOVE = "remove"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault; ``rule`` is the stable name of the rule that it breaks, such as ``unresolved-comment``.

    Where file and line are those of a source, ``composed`` is the place of what was composed from it: ``FILE:LINE``.
    ``fix`` is what is to stand there, a name or a value, or `REMOVE`; it is empty where a person has to decide.
    """

    file: str
    line: int
    column: int
    rule: str
    severity: Severity
    message: str
    hint: str = ""
    composed: str = ""
    fix: str = ""

    @property
    def problem(self) -> Problem:
        """The fault, as an error has it."""
        return Problem(self.message, file=self.file, line=self.line, column=self.column, hint=self.hint)

    @property
    def named(self) -> Problem:
        """The fault with its rule, for those who say themselves how severe it is."""
        return self.problem._replace(message=f"{self.message} [{self.rule}]")

    def __str__(self) -> str:
        return str(self.problem._replace(message=f"{self.severity}: {self.message} [{self.rule}]"))


def finding(rule: str, problem: Problem, severity: Severity | None = None) -> Finding:
    """Make a finding of a problem that has its place already, as severe as its rule if nothing else is said."""
    return Finding(
        file=problem.file,
        line=problem.line,
        column=problem.column,
        rule=rule,
        severity=severity or table()[rule].severity,
        message=problem.message,
        hint=problem.hint,
    )


def breach(
    rule: str, place: Place, message: str, hint: str = "", fix: str = "", *, severity: Severity | None = None
) -> Finding:
    """Make a finding at a place of a file, as severe as its rule if nothing else is said."""
    if isinstance(place, Entry):
        is_made = place.key.start == 0 and place.key.end == len(place.key.source.text)  # by a patch: no file has it
        place = place.value if is_made else (place.key.source, place.start)
    source, position = (place.source, place.start) if isinstance(place, Node) else place
    line, column = source.locate(position)
    problem = Problem(message, file=source.name, line=line, column=column, hint=hint)
    return replace(finding(rule, problem, severity), fix=fix)
