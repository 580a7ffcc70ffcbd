"""The process that evaluates expressions in CEL, which strangers wrote, about objects, which others wrote.

Each line that it reads is, as JSON, a list of variables for each place, and a list of ``[place, expression]``. It
answers each of these with a line: ``{"value": …}`` or ``{"error": …}``. It may take `MEMORY`, and `SECONDS` of a
processor for a line; what takes more ends it.

Beyond CEL and its extensions there are ``quantity``, in thousandths, and ``isQuantity``; Kubernetes has both.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from functools import cache

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_math, ext_optional, ext_strings

from packyard.core.kubernetes import quantity

MEMORY, SECONDS = 512 << 20, 2
VARIABLES = ("self", "earlier", "pod", "object")
_MOST = 2_000  # characters of a value, which becomes a part of a message


def main() -> None:
    """Answer until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 1 + SECONDS, resource.RLIM_INFINITY))
        places, asked = json.loads(line)
        activations = [_environment().Activation({**dict.fromkeys(VARIABLES), **variables}) for variables in places]
        for place, expression in asked:
            print(json.dumps(_answer(expression, activations[place])), flush=True)


def _answer(expression: str, activation: cel.Activation) -> dict[str, object]:
    try:
        value = _compiled(expression).eval(activation=activation)
    except RuntimeError as error:  # of the compiler
        return {"error": " ".join(str(error).split("|")[0].split())}
    if value.type() == cel.Type.ERROR:
        return {"error": str(value.value())}
    plain = value.plain_value()
    if isinstance(plain, list):
        plain = ", ".join(map(str, plain))
    return {"value": plain if isinstance(plain, bool | int | float) else str(plain)[:_MOST]}


@cache
def _compiled(expression: str) -> cel.Expression:
    return _environment().compile(expression)


@cache
def _environment() -> cel.Env:
    bindings, math = ext_bindings.ExtBindings(), ext_math.ExtMath()
    return cel.NewEnv(
        variables=dict.fromkeys(VARIABLES, cel.Type.DYN),
        extensions=[bindings, math, ext_optional.ExtOptional(), ext_strings.ExtStrings()],
        functions=[
            _function("quantity", cel.Type.INT, _thousandths),
            _function("isQuantity", cel.Type.BOOL, lambda text: quantity.parse(text) is not None),
        ],
    )


def _function(name: str, returns: cel.Type, code: Callable[[str], object]) -> cel.FunctionDecl:
    overload = cel.Overload(f"{name}_of_text", return_type=returns, parameters=[cel.Type.STRING], impl=code)
    return cel.FunctionDecl(name, [overload])


def _thousandths(text: str) -> int:
    amount = quantity.parse(text)
    if amount is None:
        raise ValueError(f"{text!r} is not a quantity")
    return -(-amount // 10**6)


if __name__ == "__main__":
    main()
