"""The process that evaluates expressions in CEL, which strangers wrote, about objects, which others wrote.

Each line that it reads is, as JSON, a list of ``[expression, values of variables]``. It answers each of them with a
line: ``{"value": …}`` or ``{"error": …}``. What takes more than `answerer` allows ends it.

Beyond CEL and its extensions there are functions that Kubernetes has: of quantities, which are whole thousandths here,
of URLs, and of addresses; and ``near(TEXT, WORDS)`` is a hint at the word that was meant.
"""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from ipaddress import ip_network
from urllib.parse import urlsplit

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_math, ext_optional, ext_strings

from packyard.core.errors import suggest
from packyard.core.kubernetes import quantity
from packyard.core.work.answerer import bound
from packyard.writing.checks.cel import VARIABLES

_MOST = 2_000  # characters of a value, which becomes a part of a message


_TEXT = cel.Type.STRING


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        for expression, values in json.loads(line):
            bound()
            print(json.dumps(_answer(expression, _environment().Activation(values))), flush=True)


def _answer(expression: str, activation: cel.Activation) -> dict[str, object]:
    try:
        value = _compiled(expression).eval(activation=activation)
    except RuntimeError as error:  # of the compiler
        return {"error": " ".join(str(error).split("|")[0].split())}
    if value.type() == cel.Type.ERROR:
        return {"error": str(value.value())}
    plain = value.plain_value()
    if isinstance(plain, list):
        plain = ", ".join(sorted(map(str, plain)))  # keys have no order
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
            _function("quantity", quantity.thousandths, cel.Type.INT),
            _function("isQuantity", lambda text: quantity.parse(text) is not None, cel.Type.BOOL),
            _function("near", _near, cel.Type.STRING, takes=(_TEXT, cel.Type.LIST)),
            _function("isCIDR", _is_network, cel.Type.BOOL),
            _function("containsCIDR", _contains, cel.Type.BOOL, is_member=True, takes=(_TEXT, _TEXT)),
            _function("url", str, cel.Type.STRING),
            _function("isURL", lambda text: bool(urlsplit(text).scheme), cel.Type.BOOL),
            _function("getScheme", lambda text: urlsplit(text).scheme, cel.Type.STRING, is_member=True),
            _function("getHost", lambda text: urlsplit(text).netloc, cel.Type.STRING, is_member=True),
            _function("getHostname", lambda text: urlsplit(text).hostname or "", cel.Type.STRING, is_member=True),
            _function("getEscapedPath", lambda text: urlsplit(text).path, cel.Type.STRING, is_member=True),
        ],
    )


def _function(
    name: str,
    code: Callable[..., object],
    returns: cel.Type,
    *,
    is_member: bool = False,
    takes: Sequence[cel.Type] = (_TEXT,),
) -> cel.FunctionDecl:
    overload = cel.Overload(f"{name}_of", return_type=returns, parameters=list(takes), is_member=is_member, impl=code)
    return cel.FunctionDecl(name, [overload])


def _near(text: str, words: Iterable[str]) -> str:
    """Return a hint where a text is none of the words, and nearly one."""
    choices = list(words)
    return "" if text in choices else suggest(text, choices)


def _is_network(text: str) -> bool:
    with suppress(ValueError):
        return bool(ip_network(text, strict=False))
    return False


def _contains(network: str, candidate: str) -> bool:
    outer, inner = ip_network(network, strict=False), ip_network(candidate, strict=False)
    # Of one version, which mypy does not see.
    return outer.version == inner.version and inner.subnet_of(outer)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
