"""Which version of an operator has all fields of objects, by the definitions of several versions that packyard carries.

spec: {replicatedJobs: [{groupName: workers, …}]}    JobSet 0.8 drops `groupName`, 0.9 has it: 0.9 or later
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
    """Return packyard's table of operators, each in the oldest version that has all fields of objects."""
    by_name = {each.name: each for each in OPERATORS}
    for item in objects:
        version, kind = type_of(item)
        operator = operators.of(groups.definition(version, kind))
        raised = _raised(operator, f"{version} {kind}", item) if operator else None
        if raised and _order(by_name[raised.name]) < _order(raised):
            by_name[raised.name] = raised
    return list(by_name.values())


def _raised(operator: Operator, kind: str, item: Mapping[str, Any]) -> Operator | None:
    """Return an operator in the version that has all fields of an object; None where that of the table has."""
    judges = [each for each in schemas.operators() if kind in each.kinds and _image(each) == operator.image]
    faults = [list(each.faults(each.kinds[kind], item)) for each in judges]
    if not any(faults):
        return None
    least = min(faults, key=len)
    if any(each.rule == "unknown-field" and not each.is_slip for each in least):
        return replace(operator, oldest="", above=judges[-1].version, tested="", install=(), link=_releases(operator))
    oldest = judges[faults.index(least)].version
    is_later = faults.index(least) and _number(oldest) > _number(operator.oldest)
    return _at_least(operator, oldest) if is_later else None


def _at_least(operator: Operator, version: str) -> Operator:
    """Return an operator in a later version; the commands install that where they install an earlier one."""
    if _number(operator.tested) >= _number(version):
        return replace(operator, oldest=version)
    install = tuple(each.replace(operator.tested, f"{version}.0") for each in operator.install)
    return replace(operator, oldest=version, tested="", install=install)


def _image(judge: Judge) -> str:
    return _IMAGES.get(judge.name, judge.name)


def _releases(operator: Operator) -> str:
    return next((f"{match[0]}/releases" for each in operator.install if (match := _REPOSITORY.search(each))), "")


def _order(operator: Operator) -> tuple[bool, operators.Version]:
    return bool(operator.above), _number(operator.above or operator.oldest)


def _number(version: str) -> operators.Version:
    return operators.version_of(version) or ()
