"""Reads the values files that a command line names."""

from __future__ import annotations

from collections.abc import Sequence

from packyard.cli import output
from packyard.core.errors import Problem, UnavailableError
from packyard.core.files.regular import LIMIT
from packyard.using.setters import valuesfile


def read(file: str) -> dict[str, Sequence[str]]:
    """Read a values file, or standard input by the name ``-``; a pipe may be one, as the shell makes of ``<(…)``.

    A value that is empty is none: it empties a setter.
    """
    if file == "-":
        data, file = output.read("values"), "stdin"
    else:
        try:
            with open(file, "rb") as opened:  # noqa: PTH123  # a text: where it is shown, it is shown as given
                data = opened.read(LIMIT)
        except OSError as error:
            raise UnavailableError(Problem(error.strerror or str(error), file=file)) from error
    return {
        name: [] if setting.texts == [""] else setting.texts
        for name, setting in valuesfile.parse(data, file, any_list=True).by_name.items()
    }
