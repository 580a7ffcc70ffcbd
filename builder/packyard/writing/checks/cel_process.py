"""The process that evaluates expressions in CEL, which strangers wrote, about objects, which others wrote.

Each line that it reads is, as JSON, an object, places in it, and a list of ``[place, expression]``. A place is the path
of ``self``, and those of the pod around it and of the item that it is a part of, or null. It answers each expression
with a line: ``{"value": …}`` or ``{"error": …}``. It may take `MEMORY`, and `SECONDS` of a processor for a line; what
takes more ends it.

Beyond CEL and its extensions there are functions that Kubernetes has: of quantities, which are whole thousandths here,
of URLs, and of addresses.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, reduce
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

from cel_expr_python import cel
from cel_expr_python.ext import ext_bindings, ext_math, ext_optional, ext_strings

from packyard.core.kubernetes import quantity
from packyard.core.kubernetes.pods import Path

MEMORY, SECONDS = 512 << 20, 2
#: A place, its key or index, what stands before it in its list, the item and the pod around it, and the whole object.
VARIABLES = ("self", "key", "earlier", "item", "pod", "object")
_MOST = 2_000  # characters of a value, which becomes a part of a message


def main() -> None:
    """Answer until the input ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for line in sys.stdin:
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 1 + SECONDS, resource.RLIM_INFINITY))
        root, places, asked = json.loads(line)
        activations = [_environment().Activation(_variables(root, *place)) for place in places]
        for place, expression in asked:
            print(json.dumps(_answer(expression, activations[place])), flush=True)


def _variables(root: Any, path: Path, pod: Path | None, item: Path | None) -> dict[str, object]:
    holder: Any = _at(root, path[:-1]) if path else [root]
    key: Any = path[-1] if path else 0
    earlier = holder[:key] if isinstance(key, int) else None
    around = {name: at if at is None else _at(root, at) for name, at in (("pod", pod), ("item", item))}
    return {"self": holder[key], "key": key, "earlier": earlier, "object": root, **around}


def _at(root: Any, path: Path) -> Any:
    return reduce(lambda value, step: value[step], path, root)


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
            _function("quantity", _thousandths, cel.Type.INT),
            _function("isQuantity", lambda text: quantity.parse(text) is not None, cel.Type.BOOL),
            _function("isCIDR", _is_network, cel.Type.BOOL),
            _function("containsCIDR", _contains, cel.Type.BOOL, is_member=True, takes=2),
            _function("url", str, cel.Type.STRING),
            _function("isURL", lambda text: bool(urlsplit(text).scheme), cel.Type.BOOL),
            _function("getScheme", lambda text: urlsplit(text).scheme, cel.Type.STRING, is_member=True),
            _function("getHost", lambda text: urlsplit(text).netloc, cel.Type.STRING, is_member=True),
            _function("getHostname", lambda text: urlsplit(text).hostname or "", cel.Type.STRING, is_member=True),
            _function("getEscapedPath", lambda text: urlsplit(text).path, cel.Type.STRING, is_member=True),
        ],
    )


def _function(
    name: str, code: Callable[..., object], returns: cel.Type, *, is_member: bool = False, takes: int = 1
) -> cel.FunctionDecl:
    texts = [cel.Type.STRING] * takes
    overload = cel.Overload(f"{name}_of", return_type=returns, parameters=texts, is_member=is_member, impl=code)
    return cel.FunctionDecl(name, [overload])


def _is_network(text: str) -> bool:
    with suppress(ValueError):
        return bool(ip_network(text, strict=False))
    return False


def _contains(network: str, other: str) -> bool:
    outer, inner = ip_network(network, strict=False), ip_network(other, strict=False)
    # Of one version, which mypy does not see.
    return outer.version == inner.version and inner.subnet_of(outer)  # type: ignore[arg-type]


def _thousandths(text: str) -> int:
    amount = quantity.parse(text)
    if amount is None:
        raise ValueError(f"{text!r} is not a quantity")
    return -(-amount // 10**6)


if __name__ == "__main__":
    main()
