"""The language of rules: the part of CEL, which Kubernetes' own validation rules are written in, that setters need.

    EPOCHS_BETWEEN_EVALS <= TRAIN_EPOCHS
    quantity(CPU_REQUEST) <= quantity(CPU_LIMIT)
    GLOBAL_BATCH_SIZE % (WORKERS * SLOTS_PER_WORKER) == 0
    !(DEPLOY && CREATE_VOLUME_INSPECTOR)
    has(S3_ENDPOINT) == has(S3_SECRET_NAME)

A name is a setter. What differs from CEL: ``has`` takes a setter and says whether it has a value, operators compare and
add quantities, and texts have no order (``"16" < "4"`` is nearly always a slip). This is its grammar alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from packyard.using.setters.rules.signatures import FUNCTIONS, METHODS, ORDER

_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)
      | (?P<text>[rR](?:"[^"\n]*"|'[^'\n]*')|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<sign>\|\||&&|[=!<>]=|[-+*/%!<>?:()\[\],.])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
_LEVELS = (("||",), ("&&",), ("==", "!=", *ORDER, "in"), ("+", "-"), ("*", "/", "%"))
_LONGEST, _DEEPEST = 2000, 40

_FUNCTIONS = (*FUNCTIONS, "has")


class ExpressionError(Exception):
    """An expression is wrong at one of its characters."""

    def __init__(self, message: str, position: int, hint: str = "") -> None:
        self.message = message
        self.position = position
        self.hint = hint
        super().__init__(message)


class Expression:
    """A literal (its ``value``), a name (likewise), or an operator or function with its arguments."""

    __slots__ = ("arguments", "depth", "operator", "position", "value")

    def __init__(self, operator: str, arguments: tuple[Expression, ...], position: int, value: Any = None) -> None:
        self.operator = operator
        self.arguments = arguments
        self.position = position
        self.value = value
        self.depth: int = 1 + max((argument.depth for argument in arguments), default=0)
        if self.depth > _DEEPEST:
            raise ExpressionError("the expression is too deep", position, "make it several rules")

    def names(self) -> Iterator[Expression]:
        """Yield every name, in the order of the text."""
        if self.operator == "name":
            yield self
        for argument in self.arguments:
            yield from argument.names()


def parse(text: str) -> Expression:
    """Parse an expression; `ExpressionError` says what is wrong, and at which character."""
    if len(text) > _LONGEST:
        raise ExpressionError(f"the expression is longer than {_LONGEST} characters", 0, "make it several rules")
    parser = _Parser(text)
    expression = parser.conditional()
    if parser.kind != "end":
        raise ExpressionError(f"{parser.text!r} is not expected here", parser.position)
    return expression


class _Parser:
    """Recursive descent over the tokens; ``kind``, ``text`` and ``position`` are those of the next one."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._depth = 0
        self._advance()

    def _advance(self) -> None:
        self.kind, self.text, self.position = next(self._tokens)

    def _take(self, *texts: str) -> str:
        """Take the next token if it is one of these signs or words, else return an empty text."""
        if self.kind in ("sign", "name") and self.text in texts:
            token = self.text
            self._advance()
            return token
        return ""

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            actual = repr(self.text) if self.text else "the end"
            raise ExpressionError(f"{sign!r} is expected here, not {actual}", self.position)

    def conditional(self) -> Expression:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ExpressionError("the expression is too deep", self.position, "make it several rules")
        expression = self._binary(0)
        position = self.position
        if self._take("?"):
            then = self._binary(0)
            self._expect(":")
            expression = Expression("?:", (expression, then, self.conditional()), position)
        self._depth -= 1
        return expression

    def _binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        position = self.position
        while operator := self._take(*_LEVELS[level]):
            left = Expression(operator, (left, self._binary(level + 1)), position)
            position = self.position
        return left

    def _unary(self) -> Expression:
        signs: list[tuple[str, int]] = []
        position = self.position
        while sign := self._take("!", "-"):
            signs.append((sign, position))
            position = self.position
        expression = self._primary()
        position = self.position
        while self._take("."):
            expression = self._call(tuple(METHODS), (expression,))
        for sign, place in reversed(signs):
            expression = Expression("negate" if sign == "-" else sign, (expression,), place)
        return expression

    def _primary(self) -> Expression:
        kind, text, position = self.kind, self.text, self.position
        if kind == "name" and text in ("true", "false"):
            self._advance()
            return Expression("literal", (), position, text == "true")
        if kind == "name" and text != "in":
            return self._name()
        if kind in ("number", "text"):
            self._advance()
            return Expression("literal", (), position, _literal(kind, text, position))
        if self._take("("):
            expression = self.conditional()
            self._expect(")")
            return expression
        if self._take("["):
            return Expression("list", self._until("]"), position)
        raise ExpressionError(f"a value is expected here, not {repr(text) if text else 'the end'}", position)

    def _name(self) -> Expression:
        text, position = self.text, self.position
        self._advance()
        if self.kind == "sign" and self.text == "(":
            return self._call(_FUNCTIONS, (), text, position)
        return Expression("name", (), position, text)

    def _call(
        self, functions: tuple[str, ...], target: tuple[Expression, ...], name: str = "", position: int = 0
    ) -> Expression:
        if not name:
            name, position = self.text, self.position
            self._advance()
        if name not in functions:
            raise ExpressionError(f"there is no function {name!r} here", position, f"there are {', '.join(functions)}")
        self._expect("(")
        return Expression(name, (*target, *self._until(")")), position)

    def _until(self, end: str) -> tuple[Expression, ...]:
        expressions: list[Expression] = []
        while not self._take(end):
            if expressions:
                self._expect(",")
            expressions.append(self.conditional())
        return tuple(expressions)


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            hint = "== compares" if text[position] == "=" else ""
            raise ExpressionError(f"{text[position]!r} is not expected in an expression", position, hint)
        if match.lastgroup != "space":
            yield str(match.lastgroup), match.group(), position
        position = match.end()
    yield "end", "", position


def _literal(kind: str, text: str, position: int) -> int | float | str:
    if kind == "number":
        number = int(text, 16) if text[:2] in ("0x", "0X") else int(text) if text.isdigit() else float(text)
        if number > (1 << 63 if isinstance(number, int) else 1e308):
            raise ExpressionError("the number does not fit into 64 bits", position)
        return number
    if text[0] in "rR":
        return text[2:-1]

    def unescaped(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise ExpressionError(
                f"{match[0]!r} is not a known escape", position + 1 + match.start(), r"\\ is a backslash"
            )
        return _ESCAPES[match[1]]

    return _ESCAPE.sub(unescaped, text[1:-1])
