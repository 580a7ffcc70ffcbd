"""Which versions of an operator have all fields of objects, by the definitions of several that packyard carries.

spec: {replicatedJobs: [{groupName: workers, …}]}    JobSet 0.8 drops `groupName`, 0.9 has it: 0.9 or later
spec: {mlPolicy: {torch: {numProcPerNode: 1}}}       Trainer 2.2 took it away: 2.0 to 2.1
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from packyard.core.kubernetes import groups, operators, schemas
from packyard.core.kubernetes.lenient import type_of
from packyard.core.kubernetes.operators import OPERATORS, Operator
from packyard.core.kubernetes.schemas import Judge

#: What the image of an operator is called whose definitions go by another name.
_IMAGES = {"trainer": "trainer-controller-manager", "argo-workflows": "workflow-controller"}
_REPOSITORY = re.compile(r"https://github\.com/[\w-]+/[\w-]+")


def table(objects: Iterable[Mapping[str, Any]]) -> list[Operator]:
    """Return packyard's table of operators, each in the versions that have all fields of objects."""
    by_name = {operator.name: operator for operator in OPERATORS}
    for item in objects:
        version, kind = type_of(item)
        if operator := operators.of(groups.definition(version, kind)):
            by_name[operator.name] = _narrowed(by_name[operator.name], f"{version} {kind}", item)
    return [_installing(operator) for operator in by_name.values()]


def _narrowed(operator: Operator, kind: str, item: Mapping[str, Any]) -> Operator:
    """Return an operator in those of its versions that have all fields of an object, too."""
    judges = [judge for judge in schemas.operators() if kind in judge.kinds and _image(judge) == operator.image]
    faults = [list(judge.faults(judge.kinds[kind], item)) for judge in judges]
    if not any(faults):
        return operator
    least = min(faults, key=len)
    if any(fault.rule == "unknown-field" and not fault.is_slip for fault in least):
        return replace(operator, above=judges[-1].version)
    fitting = [judge.version for judge, unserved in zip(judges, faults, strict=True) if len(unserved) == len(least)]
    if fitting[0] != judges[0].version and _number(fitting[0]) > _number(operator.oldest):
        operator = replace(operator, oldest=fitting[0])
    if _number(fitting[-1]) < _number(operator.newest):
        operator = replace(operator, newest=fitting[-1], ends=True)
    return operator


def _installing(operator: Operator) -> Operator:
    """Return an operator with commands that install one of its versions, or none where none is known to do."""
    if operator.above:
        return replace(operator, oldest="", tested="", install=(), link=_releases(operator))
    tested = operators.version_of(operator.tested)
    if tested is None or operator.admits(tested):
        return operator
    version = operator.newest if tested >= _number(operator.oldest) else operator.oldest
    install = tuple(command.replace(operator.tested, f"{version}.0") for command in operator.install)
    return replace(operator, tested="", install=install)


def _image(judge: Judge) -> str:
    return _IMAGES.get(judge.name, judge.name)


def _releases(operator: Operator) -> str:
    return next((f"{match[0]}/releases" for command in operator.install if (match := _REPOSITORY.search(command))), "")


def _number(version: str) -> operators.Version:
    return operators.version_of(version) or ()
