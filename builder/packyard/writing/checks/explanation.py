"""The table of rules: what each is about, how severe it is, why it matters, and an example of the fault.

The rows are data, a file for each family in ``explained/``. Checks name a rule by its key there; a test holds that
every rule that a check yields has a row, and that each row's example has the fault and loses it by its change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from packyard.core.yaml.document import parse_one
from packyard.core.yaml.values import to_value

#: An error breaks the package when it is set or applied; a warning should be looked at.
Severity = Literal["error", "warning"]

#: Rules whose errors neither kustomize nor the API server refuses: a package that is imported was used with them.
IN_USE = (
    *("plain-secret", "no-such-key", "probe-port", "port-not-told", "process-count", "no-such-port"),
    *("empty-storage-class", "results-read-only", "root-with-fs-group", "reference-left-behind"),
)

#: What the name of a workspace's own rule has, ``acme/pinned-images``, and none of packyard's.
OWN = "/"
_FOLDER = Path(__file__).with_name("explained")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Where a rule that is data judges, and by which expression: see `rows`; ``needs`` is its ``with``."""

    on: tuple[str, ...]
    message: str
    rule: str = "false"
    needs: tuple[str, ...] = ()
    hint: str = ""
    field: str = ""
    severity: Severity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. Findings of an error may be warnings where the fault is not certain, as its summary says.

    What is ``taste`` is not told of manifests that were not made with packyard. ``fix`` says what ``--fix`` writes; it
    is empty where a person has to decide. ``example`` is a change that takes the fault away: files below
    lines ``--- NAME``, with ``-`` and ``+`` before lines that go and come.
    """

    name: str
    family: str
    severity: Severity
    summary: str
    why: str
    hint: str
    example: str
    fix: str = ""
    taste: bool = False
    rows: tuple[Row, ...] = ()

    def files(self, mark: str) -> dict[str, str]:
        """Return the files of the example: ``-`` gives those with the fault, ``+`` those without."""
        files: dict[str, str] = {}
        name = ""
        for line in self.example.splitlines(keepends=True):
            if line.startswith("--- "):
                name = line[4:].strip()
                files[name] = ""
            elif line[0] in (" ", mark):
                files[name] += line[1:]
        return files


@cache
def table() -> Mapping[str, Rule]:
    """Return every rule by its name, family by family."""
    rules: dict[str, Rule] = {}
    for file in sorted(_FOLDER.glob("*.yaml")):
        document: Any = to_value(parse_one(file.read_bytes(), file.name).root)
        for name, row in document["rules"].items():
            rules[name] = rule(name, document["title"], **row)
    return rules


def rule(name: str, family: str, *, rows: Sequence[dict[str, Any]] = (), **row: Any) -> Rule:
    return Rule(name=name, family=family, rows=tuple(_row(**fields) for fields in rows), **row)


def _row(*, on: str | list[str], **row: Any) -> Row:
    needs = row.pop("with", [])
    return Row(on=_listed(on), needs=_listed(needs), **row)


def _listed(texts: str | list[str]) -> tuple[str, ...]:
    return tuple(texts) if isinstance(texts, list) else (texts,)
