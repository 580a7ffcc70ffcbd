"""Words and variables, by the rules of Kubernetes; the table is that of its own `expand_test.go`."""

from __future__ import annotations

import pytest

from workload.environment import environment, expand, words
from workload.objects import Objects, RefusedError

VARIABLES = {"VAR_A": "A", "VAR_B": "B", "VAR_C": "C", "VAR_REF": "$(VAR_A)", "VAR_EMPTY": ""}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$(VAR_A)", "A"),
        ("$(VAR_A)-$(VAR_A)", "A-A"),
        ("___$(VAR_B)___", "___B___"),
        ("$(VAR_A)_$(VAR_B)_$(VAR_C)", "A_B_C"),
        ("$$(VAR_B)_$(VAR_A)", "$(VAR_B)_A"),
        ("$$(VAR_A)_$$(VAR_B)", "$(VAR_A)_$(VAR_B)"),
        ("f000-$$VAR_A", "f000-$VAR_A"),
        ("foo\\$(VAR_C)bar", "foo\\Cbar"),
        ("foo\\\\\\\\$(VAR_A)bar", "foo\\\\\\\\Abar"),
        ("$(VAR_A$(VAR_B))", "$(VAR_A$(VAR_B))"),
        ("$(VAR_A$(VAR_B)", "$(VAR_A$(VAR_B)"),
        ("$(VAR_REF)", "$(VAR_A)"),
        ("%%$(VAR_REF)--$(VAR_REF)%%", "%%$(VAR_A)--$(VAR_A)%%"),
        ("foo$(VAR_EMPTY)bar", "foobar"),
        ("foo$(VAR_Awhoops!", "foo$(VAR_Awhoops!"),
        ("f00__(VAR_A)__", "f00__(VAR_A)__"),
        ("$?_boo_$!", "$?_boo_$!"),
        ("$VAR_A", "$VAR_A"),
        ("$(VAR_DNE)", "$(VAR_DNE)"),
        ("$$$$$$(BIG_MONEY)", "$$$(BIG_MONEY)"),
        ("$$$$$$(VAR_A)", "$$$(VAR_A)"),
        ("$$$$$$$(GOOD_ODDS)", "$$$$(GOOD_ODDS)"),
        ("$$$$$$$(VAR_A)", "$$$A"),
        ("$VAR_A)", "$VAR_A)"),
        ("${VAR_A}", "${VAR_A}"),
        ("$(VAR_B)_______$(A", "B_______$(A"),
        ("$(VAR_C)_______$(", "C_______$("),
        ("$(VAR_A)foobarzab$", "Afoobarzab$"),
        ("foo-\\$(VAR_A", "foo-\\$(VAR_A"),
        ("--$($($($($--", "--$($($($($--"),
        ("$($($($($--foo$(", "$($($($($--foo$("),
        ("foo0--$($($($(", "foo0--$($($($("),
        ("$(foo$$var)", "$(foo$$var)"),
        ("\n", "\n"),
        ("$£FOO", "$£FOO"),
        ("$中文", "$中文"),
    ],
)
def test_expands_as_kubernetes_does(text: str, expected: str) -> None:
    assert expand(text, VARIABLES) == expected


OBJECTS = Objects(
    [
        {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"DIR": "/data", "REF": "$(DIR)"}},
        {"kind": "Secret", "metadata": {"name": "s"}, "data": {"password": "c2VjcmV0"}, "stringData": {"DIR": "/s"}},
    ]
)


def test_variables_refer_to_those_before_them_and_to_envfrom_once() -> None:
    container = {
        "envFrom": [{"configMapRef": {"name": "c"}}, {"prefix": "P_", "secretRef": {"name": "s"}}],
        "env": [
            {"name": "EARLY", "value": "$(LATE)"},
            {"name": "LATE", "value": "$(REF)/$(P_password)"},
            {"name": "DIR", "value": "$(DIR)/own"},
            {"name": "INDEX", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a.b/c']"}}},
            {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "DIR"}}},
            {"name": "NONE", "valueFrom": {"configMapKeyRef": {"name": "none", "key": "x", "optional": True}}},
        ],
        "command": ["run", "$(DIR)", "$(NONE)"],
    }
    pod = {"metadata": {"name": "p", "labels": {"a.b/c": "3"}}}
    found = environment(container, pod, OBJECTS)
    assert found == {
        "DIR": "/data/own",
        "REF": "$(DIR)",
        "P_password": "secret",
        "P_DIR": "/s",
        "EARLY": "$(LATE)",
        "LATE": "$(DIR)/secret",
        "INDEX": "3",
        "KEY": "/s",
    }
    assert words(container, found) == ["run", "/data/own", "$(NONE)"]


@pytest.mark.parametrize(
    "container",
    [
        {"envFrom": [{"configMapRef": {"name": "none"}}]},
        {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "none"}}}]},
        {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata"}}}]},
    ],
)
def test_refuses_what_a_kubelet_refuses(container: dict[str, object]) -> None:
    with pytest.raises(RefusedError):
        environment(container, {"metadata": {}}, OBJECTS)
