"""The Jinja2 environment of fragments: they can format what they are given, within bounds, and reach nothing else.

A fragment may come from a library that was fetched. So what it makes is measured: each value, the text as a whole, and
the turns of its loops, where work on large values counts for more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

_LARGEST = 1000  # operand of a multiplication; width, or text to insert, of a filter
_MOST_TURNS = 100_000  # turns of loops, and calls, of one fragment
_MOST_COPIES = 100  # of lists in lists
_LONGEST = 100_000  # characters of a value
_ROOM = 1_000_000  # characters that are printed
_WORK = 100  # characters of a value that count as a turn

#: What makes a short text long, or differs from one run to the next.
_NO_FILTERS = {"format", "center", "random", "xmlattr", "urlize"}
_PADS = {"center", "ljust", "rjust", "zfill", "expandtabs"}
_NO_METHODS = {"format", "format_map", "replace", "join", "translate", *_PADS}
_NO_NAMES = {"lipsum"}
_WIDENS = {"replace", "join", "indent", "wordwrap", "truncate", "batch", "slice"}
_MADE = (nodes.Concat, nodes.List, nodes.Tuple, nodes.Dict)
_READS = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


class Bounded(ImmutableSandboxedEnvironment):
    """An environment that renders one fragment at a time, after `begin`."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})  # by which a few signs may stand for gigabytes
    _turns = _room = _copies = 0

    def __init__(self, filters: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__(
            undefined=StrictUndefined,
            autoescape=False,
            keep_trailing_newline=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        functions = {**self.filters, **filters}
        self.filters = {
            name: self._measured(name, function) for name, function in functions.items() if name not in _NO_FILTERS
        }
        self.filters |= {
            "turns": self.turns,
            "printed": _late(self._printed),
            "whole": _late(self._whole),
        }
        self.globals = {name: value for name, value in self.globals.items() if name not in _NO_NAMES}
        self.begin()

    def begin(self) -> None:
        """Begin a fragment, which has all turns and all room."""
        self._turns, self._room, self._copies = _MOST_TURNS, _ROOM, 1

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Refuse also methods of texts that pad them."""
        return not (isinstance(obj, str) and attr in _NO_METHODS) and super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Refuse the formatting of texts, which Jinja2 would replace by its own."""
        if super().wrap_str_format(value):
            raise SecurityError("format of a text is unsafe")
        return None

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Bound the operands."""
        if operator == "+":
            return self._measure(super().call_binop(context, operator, left, right))
        for operand in (left, right):
            size = len(operand) if isinstance(operand, str) and operator == "*" else operand
            if not isinstance(size, int | float) or abs(size) > _LARGEST:
                raise OverflowError(f"{operator} takes numbers up to {_LARGEST}, and texts no longer")
        return super().call_binop(context, operator, left, right)

    def call(self, *given: Any, **named: Any) -> Any:
        """Count a call."""
        self._count()
        return super().call(*given, **named)

    def turns(self, items: Iterable[object]) -> Iterator[object]:
        """Count the turns of a loop."""
        for item in items:
            self._count()
            yield item

    def _generate(self, source: nodes.Template, *given: Any, **named: Any) -> str:
        """Have loops counted, and what is made and printed measured."""
        for read in source.find_all(_READS):
            raise TemplateSyntaxError("a fragment cannot include, import or extend another one", read.lineno)
        for loop in list(source.find_all(nodes.For)):
            loop.iter = _filtered("turns", loop.iter)
        for output in list(source.find_all(nodes.Output)):
            output.nodes = [_filtered("printed", each) for each in output.nodes]
        _wrap(source)
        return super()._generate(source, *given, **named)

    def _count(self, size: int = 0) -> None:
        self._turns -= 1 + size // _WORK
        if self._turns < 0:
            raise OverflowError(f"a fragment may take {_MOST_TURNS} turns of loops, and calls")

    def _measured(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        first = 1 + hasattr(function, "jinja_pass_arg")  # behind what Jinja2 gives it, and the value

        @wraps(function)
        def measured(*given: Any, **named: Any) -> Any:
            for each in (*given[first:], *named.values()) if name in _WIDENS else ():
                if (len(each) if isinstance(each, str) else each if isinstance(each, int) else 0) > _LARGEST:
                    raise OverflowError(f"{name} takes numbers up to {_LARGEST}, and texts no longer")
            return self._measure(function(*given, **named))

        return measured

    def _measure(self, value: object) -> object:
        size = len(value) if isinstance(value, str) else 0
        if isinstance(value, list | tuple):
            size = sum(len(each) if isinstance(each, str) else 1 for each in value)
        if size > _LONGEST:
            raise OverflowError(f"a value may have {_LONGEST} characters or items")
        self._count(size)
        return value

    def _whole(self, value: object) -> object:
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
        self._copies *= max(1, sum(isinstance(each, list | tuple | dict) for each in parts))
        if self._copies > _MOST_COPIES:
            raise OverflowError(f"a fragment may put {_MOST_COPIES} lists into others")
        return self._measure(value)

    def _printed(self, value: object) -> str:
        if value is None:
            raise ValueError("this has no value, and would be printed as None")
        text = str(value)
        self._room -= len(text)
        if self._room < 0:
            raise OverflowError(f"a fragment may have {_ROOM} characters")
        return text


def _late(measure: Callable[[object], object]) -> Callable[..., object]:
    """Return a filter that is asked when a fragment is rendered, and not only when it is compiled."""

    @pass_context
    def filtered(_: Context, value: object) -> object:
        return measure(value)

    return filtered


def _filtered(name: str, node: Any) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _wrap(node: nodes.Node) -> None:
    """Measure each value that is put together below a node."""
    for name, value in node.iter_fields():
        if isinstance(value, list):
            setattr(node, name, [_wrapped(each) for each in value])
        elif isinstance(value, nodes.Node):
            setattr(node, name, _wrapped(value))


def _wrapped(node: Any) -> Any:
    if isinstance(node, nodes.Node):
        _wrap(node)
    is_made = isinstance(node, _MADE) and getattr(node, "ctx", "load") == "load"
    return _filtered("whole", node) if is_made else node
