"""What each operator and function of rules takes and gives: its pairs of argument types and the result's type.

``size("abc")`` is a function, ``"abc".size()`` a method. `expression` knows the names from here, `types` checks the
arguments, `evaluation` has the code.
"""

from __future__ import annotations

from collections.abc import Mapping

Signatures = tuple[tuple[tuple[str, ...], str], ...]

ORDER = ("<", "<=", ">", ">=")
NUMBERS = ("int", "double")
_SAME = tuple((kind, kind) for kind in ("int", "double", "quantity"))
_MIXED = (*((one, other) for one in NUMBERS for other in NUMBERS), ("quantity", "quantity"))
_EQUAL = ("int", "double", "quantity", "string", "bool")
_TEXTS = ((("string", "string"), "bool"),)
_OPERATORS: Mapping[str, Signatures] = {
    **dict.fromkeys(("||", "&&"), ((("bool", "bool"), "bool"),)),
    **dict.fromkeys(ORDER, tuple((kinds, "bool") for kinds in _MIXED)),
    **dict.fromkeys(("==", "!="), tuple(((kind, kind), "bool") for kind in _EQUAL)),
    "in": tuple(((kind, f"list of {kind}"), "bool") for kind in ("int", "double", "string")),
    "!": ((("bool",), "bool"),),
    "negate": tuple(((kind,), kind) for kind in NUMBERS),
    "+": (*((kinds, kinds[0]) for kinds in _SAME), (("string", "string"), "string")),
    "-": tuple((kinds, kinds[0]) for kinds in _SAME),
    "*": (
        *((kinds, kinds[0]) for kinds in _SAME[:2]),
        (("quantity", "int"), "quantity"),
        (("int", "quantity"), "quantity"),
    ),
    "/": tuple((kinds, kinds[0]) for kinds in _SAME[:2]),
    "%": ((("int", "int"), "int"),),
    "?:": tuple((("bool", kind, kind), kind) for kind in ("bool", "int", "double", "string", "quantity")),
}
_EITHER: Mapping[str, Signatures] = {
    "size": tuple(((kind,), "int") for kind in ("string", "list of string", "list of int", "list of double")),
    "matches": _TEXTS,
}
#: Those that are called with all their arguments in brackets; ``has``, which takes a name, is the only other.
FUNCTIONS: Mapping[str, Signatures] = {
    **_EITHER,
    "quantity": ((("string",), "quantity"),),
    "int": tuple(((kind,), "int") for kind in ("string", *NUMBERS)),
    "double": tuple(((kind,), "double") for kind in ("string", *NUMBERS)),
}
#: Those that are called behind their first argument and a dot.
METHODS: Mapping[str, Signatures] = {**_EITHER, **dict.fromkeys(("startsWith", "endsWith", "contains"), _TEXTS)}
SIGNATURES: Mapping[str, Signatures] = {**_OPERATORS, **FUNCTIONS, **METHODS}
