"""The language of rules: CEL, in which Kubernetes' own validation rules are written, as Google's library evaluates it.

    EPOCHS_BETWEEN_EVALS <= TRAIN_EPOCHS
    quantity(CPU_REQUEST) <= quantity(CPU_LIMIT)
    GLOBAL_BATCH_SIZE % (WORKERS * SLOTS_PER_WORKER) == 0
    !(DEPLOY && CREATE_VOLUME_INSPECTOR)
    has(S3_ENDPOINT) == has(S3_SECRET_NAME)

A name is a setter. What differs from CEL: ``has`` takes a setter and says whether it has a value, a quantity is a whole
number of thousandths, and texts have no order (``"16" < "4"`` is nearly always a slip). Strangers write rules: there
are no comprehensions, so that the length of an expression and of its values bounds its time and memory.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from packyard.core.kubernetes import quantity

if TYPE_CHECKING:
    from cel_expr_python import cel

_CONFIGURATION = """\
stdlib:
  disable_macros: true
  exclude_functions:
  - {name: _<_, overloads: [{id: less_string}, {id: less_bytes}]}
  - {name: _<=_, overloads: [{id: less_equals_string}, {id: less_equals_bytes}]}
  - {name: _>_, overloads: [{id: greater_string}, {id: greater_bytes}]}
  - {name: _>=_, overloads: [{id: greater_equals_string}, {id: greater_equals_bytes}]}
"""
_LONGEST, _LONGEST_VALUE = 2_000, 1 << 16
_TOKEN = re.compile(
    r"""[rR]?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<has>\bhas\(\s*(?P<asked>[A-Za-z_]\w*)\s*\))
      | (?<![\w.])(?P<name>[A-Za-z_]\w*)\b(?!\s*\()""",
    re.VERBOSE,
)
_WORDS = frozenset({"false", "in", "null", "true"})
# Patterns of what goes wrong are compiled on first use, so that `set` starts without them.
_FAULT = r"<input>:(?P<line>\d+):(?P<column>\d+): (?:Syntax error: )?(?P<message>.*)"
#: What the library says is wrong with an expression, and how we say it.
_MESSAGES = (
    (r"(?:mismatched|extraneous) input (.*?)(?: expecting .*)?", r"\1 is not expected here"),
    (r"token recognition error at: '(.*?)\s*'", r"'\1' is not expected here"),
    (r"missing (.*?) at (.*)", r"\1 is expected here, not \2"),
    (r"undeclared reference to 'has'.*", "has takes the name of one setter"),
    (r"undeclared reference to ('\w+').*", r"no function \1 takes this"),
)
_MISFIT = r"found no matching overload for '[_@]?(?P<operator>.*?)_?' applied to '\((?P<kinds>.*)\)'"
_KINDS = {"int": "a whole number", "double": "a number with a fraction", "bool": "true or false", "string": "a text"}
_NO_VALUE = r'No value with name "(\w+)"'
_MISTYPED = r"Unexpected value type for '(\w+)'.*"


class ExpressionError(Exception):
    """An expression is wrong at one of its characters."""

    def __init__(self, message: str, position: int, hint: str = "") -> None:
        self.message = message
        self.position = position
        self.hint = hint
        super().__init__(message)


class UndecidedError(Exception):
    """A number that the answer depends on has no value."""


class AnswerError(Exception):
    """There is no answer for these values: a division by zero, a text that is not a quantity."""


def names(text: str) -> Iterator[tuple[str, int]]:
    """Yield every name of a setter with its position, in the order of the text."""
    for token in _TOKEN.finditer(text):
        group = "asked" if token["asked"] else "name"
        if token[group] and token[group] not in _WORDS:
            yield token[group], token.start(group)


def check(text: str, types: Mapping[str, str]) -> str:
    """Return the type, in CEL's word, of an expression whose names have these types, or raise `ExpressionError`."""
    return str(_compile(text, tuple(types.items())).return_type().name())


def evaluate(text: str, types: Mapping[str, str], values: Mapping[str, object]) -> object:
    """Return what a checked expression is for these values; None stands for a number or a boolean that has none.

    As in CEL ``&&`` and ``||`` look at both sides, so that one that decides makes up for one that cannot be answered,
    also for a text where another type is wanted.
    """
    for name, value in values.items():
        if isinstance(value, str | list) and len(str(value)) > _LONGEST_VALUE:
            raise AnswerError(f"{name} is longer than {_LONGEST_VALUE} characters")
    data = {name: value for name, value in values.items() if value is not None}
    has = {_has(name): value not in (None, "", []) for name, value in values.items()}
    try:
        answer = _compile(text, tuple(types.items())).eval(data={**data, **has})
    except RuntimeError as error:  # a text that is no Unicode
        raise AnswerError(str(error)) from error
    if answer.type().name() != "ERROR":
        return answer.plain_value()
    reason = str(answer.value()).partition(": ")[2]
    if missing := re.search(_NO_VALUE, reason):
        raise UndecidedError(missing[1])
    raise AnswerError(re.sub(_MISTYPED, r"\1 is not of its type", reason))


def _has(name: str) -> str:
    return f"has_{name}_"  # as long as ``has(NAME)``, so that places stay


@cache
def _compile(text: str, types: tuple[tuple[str, str], ...]) -> "cel.Expression":
    from cel_expr_python import cel  # most packages have no rule

    if len(text) > _LONGEST:
        raise ExpressionError(f"the expression is longer than {_LONGEST} characters", 0, "make it several rules")
    variables = {name: cel.Type(kind) for name, kind in types} | {_has(name): cel.Type.BOOL for name, _ in types}
    overload = cel.Overload("quantity", cel.Type.INT, [cel.Type.STRING], impl=quantity.thousandths)
    # The library imports protobuf where it is installed, which takes ten times as long as all else, and is not needed.
    sys.modules.setdefault("google.protobuf", None)  # type: ignore[arg-type]
    try:
        environment = cel.NewEnv(
            config=cel.NewEnvConfigFromYaml(_CONFIGURATION),
            variables=variables,
            functions=[cel.FunctionDecl("quantity", [overload])],
        )
        return environment.compile(
            _TOKEN.sub(lambda token: re.sub(r"\W", "_", token[0]) if token["has"] else token[0], text)
        )
    except RuntimeError as error:
        raise _described(text, str(error)) from error
    finally:
        if sys.modules["google.protobuf"] is None:
            del sys.modules["google.protobuf"]


def _described(text: str, error: str) -> ExpressionError:
    fault = re.search(_FAULT, error)
    if fault is None:
        return ExpressionError("the expression is too deep", 0, "make it several rules")
    message, hint = fault["message"].replace("'<EOF>'", "the end"), ""
    if misfit := re.fullmatch(_MISFIT, message):
        operator, kinds = misfit["operator"].replace("_", ""), misfit["kinds"].split(", ")
        message = f"{operator} does not take {' and '.join(_KINDS.get(kind, kind) for kind in kinds)}"
        if "string" in kinds and operator in ("<", "<=", ">", ">=", "+", "-", "*", "/", "%"):
            hint = "quantity(NAME) reads an amount; a definition's type: integer makes a number"
        elif set(kinds) == {"int", "double"}:
            hint = "double(NAME) makes a whole number fit"
    message = next((hit.expand(words) for form, words in _MESSAGES if (hit := re.fullmatch(form, message))), message)
    lines = text.split("\n")[: int(fault["line"]) - 1]
    return ExpressionError(message, sum(len(line) + 1 for line in lines) + int(fault["column"]) - 1, hint)
