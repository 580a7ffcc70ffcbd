"""Linting rules between setters."""

from __future__ import annotations

from collections.abc import Callable

import tiny

KRMFILE = tiny.text("checks/rules/Krmfile")
FILE = 'n: 1 # {"$openapi":"N"}\n'


def test_a_users_copy_has_to_keep_the_rules_by_its_values_alone(found: Callable[..., list[str]]) -> None:
    assert found(f"{KRMFILE}  rule: N < 4\n", a_yaml=FILE, shipped=False) == []
    assert found(f"{KRMFILE}  rule: N > 1\n", a_yaml=FILE, shipped=False) == ["Krmfile:10:9 error broken-rule"]
