"""The process that renders the fragments of a README: one may come from a library that was fetched.

They can format what they are given, and reach nothing else. A README that takes more than `answerer` allows ends it.
Each pickle that it reads has fragments, pairs of file name and text, and what these may ask. It answers each with a
line of JSON: ``[text, fault, line of the fault]``.
"""

import json
import pickle
import re
import sys
import traceback
from contextlib import suppress
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from packyard.core.work.answerer import bound

_DIFFERS = ("random", "lipsum")  # from one run to the next


def main() -> None:
    """Answer until the input ends."""
    bound()
    environment = _environment()
    with suppress(EOFError):
        while True:
            fragments, context = pickle.load(sys.stdin.buffer)
            bound()
            for file, text in fragments:
                print(json.dumps(_render(environment, file, text, context)), flush=True)


def _render(
    environment: ImmutableSandboxedEnvironment, file: str, text: str, context: dict[str, object]
) -> tuple[str, str, int]:
    try:
        code = environment.compile(text, filename=file)
        template = environment.template_class.from_code(environment, code, dict(environment.globals))
        return template.render(context), "", 0
    except MemoryError:
        return "", "takes too much memory", 1
    except Exception as error:  # an expression in a fragment can raise anything: 1/0, a wrong argument, …
        return "", str(error) or type(error).__name__, _line(error, file)


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        finalize=_printed,
        autoescape=False,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"code": _code_span, "cell": cell}
    for name in _DIFFERS:
        environment.filters.pop(name, None)
        environment.globals.pop(name, None)
    return environment


def cell(value: object) -> str:
    """Return a value for a cell of a Markdown table: on one line, with no bar that would end it."""
    return " ".join(str(value or "").split()).replace("|", "\\|")


def _printed(value: Any) -> Any:
    if value is None:
        raise ValueError("this has no value, and would be printed as None")
    return value


def _line(error: Exception, file: str) -> int:
    """Return the line of the fragment in which ``error`` was raised; Jinja2 puts it into the traceback."""
    if isinstance(error, TemplateSyntaxError):
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return (lines[-1] or 0) if lines else 0


def _code_span(value: object) -> str:
    """Return a value as a Markdown code span that backticks inside do not end (CommonMark 6.1); nothing as nothing."""
    text = "" if value is None else str(value)
    if not text:
        return ""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


if __name__ == "__main__":
    main()
