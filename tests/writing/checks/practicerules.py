"""The names of rules that packages of a few lines break, as the code of their families has them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from types import ModuleType

from packyard.writing.checks import (
    arguments,
    claims,
    definitions,
    image,
    keys,
    kustomizations,
    launch,
    mounts,
    port_numbers,
    practice,
    secret_texts,
    security,
    vocabulary,
)
from packyard.writing.checks.explanation import table
from packyard.writing.checks.finding import Finding


def _rules(*families: ModuleType) -> frozenset[str]:
    texts = "".join(inspect.getsource(family) for family in families)
    return frozenset(re.findall(r'breach\(\s*"([-a-z]+)"', texts))


#: Those of good practice.
RULES = _rules(practice, secret_texts) | {*("untyped-host-path", "args-without-command")}
#: Those of families whose cases are the examples of the table and the defects.
OTHERS = (
    _rules(arguments, claims, definitions, image, keys, kustomizations, launch)
    | _rules(mounts, port_numbers, security, vocabulary)
) | {*("kustomize-refuses", "no-readiness-probe")}
OTHERS |= {rule.name for rule in table().values() if rule.rows}
OTHERS -= RULES | {"wrong-value", "wrong-type", "unknown-field", "missing-field", "server-refuses"}


def without(found: Iterable[Finding]) -> list[Finding]:
    """Return findings without those of `OTHERS`."""
    return [finding for finding in found if finding.rule not in OTHERS]
