"""The oldest version of an operator that has all fields of objects, by the definitions of those that packyard carries.

spec: {replicatedJobs: [{groupName: workers, …}]}    JobSet 0.8 drops `groupName`, 0.9 has it: 0.9 or later
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from packyard.core.bundle.required import Version, version_of
from packyard.core.kubernetes import groups, operators, schemas
from packyard.core.kubernetes.lenient import type_of
from packyard.core.kubernetes.operators import OPERATORS, Operator

#: What the image of an operator is called whose definitions go by another name.
_IMAGES = {"trainer": "trainer-controller-manager", "argo-workflows": "workflow-controller"}


def table(objects: Iterable[Mapping[str, Any]]) -> list[Operator]:
    """Return packyard's table of operators, each from the version on that has all fields of objects."""
    by_name = {operator.operator: operator for operator in OPERATORS}
    for item in objects:
        version, kind = type_of(item)
        if operator := operators.of(groups.definition(version, kind)):
            by_name[operator.operator] = _raised(by_name[operator.operator], f"{version} {kind}", item)
    return [_installing(operator) for operator in by_name.values()]


def _raised(operator: Operator, kind: str, item: Mapping[str, Any]) -> Operator:
    """Return an operator from that of its versions on that has all fields of an object, or most of them, too."""
    judges = [
        judge
        for judge in schemas.operators()
        if kind in judge.kinds and _IMAGES.get(judge.name, judge.name) == operator.image
    ]
    if not judges:
        return operator
    fitting = min(judges, key=lambda judge: len(list(judge.faults(judge.kinds[kind], item))))
    is_older = fitting is judges[0] or _number(fitting.version) <= _number(operator.oldest)
    return operator if is_older else replace(operator, oldest=fitting.version)


def _installing(operator: Operator) -> Operator:
    """Return an operator with commands that install one of its versions."""
    tested = version_of(operator.tested)
    if tested is None or operator.admits(tested):
        return operator
    install = tuple(command.replace(operator.tested, f"{operator.oldest}.0") for command in operator.install)
    return replace(operator, tested="", install=install)


def _number(version: str) -> Version:
    return version_of(version) or ()
