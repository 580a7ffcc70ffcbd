"""The rows that a verb prints: it declares their fields once, and hands rows that have these to one printer.

    ROWS = Rows("finding", "kind, key, message, hint", line="{kind:<8} {key}: {message} ({hint})")

From this follow ``-o`` with its help and completion, JSON, the lines or the table for people, and what
the reference in docs/ says of the verb. A field is called as JSON has it, and is that attribute in snake case,
or of the path behind ``=``: ``name, useCase, digest=bundle.digest, setBy?, pods (name, restarts)``. ``?`` makes null of
what is empty, and the fields of a list's items are in brackets, those of a list in these in brackets inside. A tuple
has its fields in this order, and a mapping is printed as it is.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, reduce
from typing import Any, NamedTuple

from packyard.cli import output

Cells = Mapping[str, Callable[[Mapping[str, Any]], str]]

#: The forms of a result; the first is the default.
FORMS = ("text", "json")
_FIELD = re.compile(r"(\w+)(?:=([\w.]+))?(\?)?(?: \(((?:[^()]|\([^()]*\))*)\))?")


class Field(NamedTuple):
    """A field of a row; ``items`` are those of the items of a list."""

    name: str
    path: str
    is_optional: bool
    items: Sequence["Field"]


@cache
def fields(text: str) -> Sequence[Field]:
    """Read a declaration."""
    return [
        Field(name, path or _snake(name), bool(optional), fields(items))
        for name, path, optional, items in _FIELD.findall(text)
    ]


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", name)


def _values(declared: Sequence[Field], row: Any) -> Mapping[str, Any]:
    if isinstance(row, Mapping):
        return row
    if type(row) is tuple:  # and no object with names
        return {field.name: value for field, value in zip(declared, row, strict=True)}
    values = ((field, reduce(_attribute, field.path.split("."), row)) for field in declared)
    return {field.name: value or None if field.is_optional else value for field, value in values}


def _attribute(value: Any, name: str) -> Any:
    return None if value is None else getattr(value, name)


def document(declared: Sequence[Field], row: Any) -> dict[str, Any]:
    """Return a row as JSON has it."""
    values = _values(declared, row)
    items = {field.name: field.items for field in declared if field.items}
    return {
        name: [document(items[name], item) for item in value] if name in items else value
        for name, value in values.items()
    }


class Rows(NamedTuple):
    """What is printed for ``each`` of something; ``when`` tells the declarations of one verb apart.

    Text is a ``line`` for each row, a format of its fields, or a table of ``columns``, called as their fields in
    capitals, or ``BYTES=size``.
    """

    each: str
    fields: str
    when: str = ""
    line: str = ""
    columns: str = ""
    forms: Sequence[str] = FORMS

    def show(self, rows: Iterable[Any], form: str, *, cells: Cells | None = None) -> bool:
        """Print rows, and return whether that was for people: then the verb itself prints what no line or table says.

        ``cells`` are columns that follow from several fields.
        """
        if form == "json":
            output.json([document(fields(self.fields), row) for row in rows])
            return False
        if self.columns:
            columns = [column.partition("=") for column in self.columns.split(", ")]
            table = [_cells(columns, _values(fields(self.fields), row), cells or {}) for row in rows]
            output.table([name for name, _, _ in columns], table)
        elif self.line:
            for row in rows:
                output.line(self.line.format_map(_values(fields(self.fields), row)))
        return True


def _cells(columns: Sequence[tuple[str, str, str]], row: Mapping[str, Any], cells: Cells) -> list[str]:
    return [cells[name](row) if name in cells else _cell(row[field or name.lower()]) for name, _, field in columns]


def _cell(value: object) -> str:
    """Return a value as a table shows it."""
    if value is None or isinstance(value, bool):
        return "yes" if value else ""
    return ", ".join(map(str, value)) if isinstance(value, list) or type(value) is tuple else str(value)
