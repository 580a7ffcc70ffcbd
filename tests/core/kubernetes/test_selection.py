"""Selectors, affinity to nodes and taints, as Kubernetes' documentation has them."""

from typing import Any

import pytest
import yaml

from packyard.core.kubernetes import selection

LABELS = {"app": "run", "zone": "a", "size": "5"}


@pytest.mark.parametrize(
    ("rule", "admits"),
    [
        ("{nodeSelector: {zone: b}}", False),
        ("[{matchExpressions: [{key: size, operator: Gt, values: ['4']}]}]", True),
        ("[{matchExpressions: [{key: zone, operator: Gt, values: ['4']}]}]", False),
        ("[{matchExpressions: [{key: zone, operator: In, values: [b]}]}, {matchFields: [{key: metadata.name, "
         "operator: In, values: [one]}]}]", True),
        ("[{matchFields: [{key: metadata.name, operator: In, values: [two]}]}]", False),
        ("[]", False),
    ],
)  # fmt: skip
def test_labels_that_a_pod_asks_of_a_node(rule: str, admits: bool) -> None:
    read: Any = yaml.safe_load(rule)
    hard = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": read}}
    pod = read if isinstance(read, dict) else {"affinity": {"nodeAffinity": hard}}
    assert selection.admits(pod, {"metadata": {"name": "one", "labels": LABELS}}) is admits


@pytest.mark.parametrize(
    ("tolerations", "taints"),
    [
        ("[]", ["gpu=yes:NoSchedule", "old:NoExecute"]),
        ("[{operator: Exists}]", []),
        ("[{key: gpu, operator: Exists}]", ["old:NoExecute"]),
        ("[{key: gpu, value: 'yes'}, {key: old, effect: NoExecute}]", []),
        ("[{key: gpu, value: 'no'}, {key: old, effect: NoSchedule}]", ["gpu=yes:NoSchedule", "old:NoExecute"]),
    ],
)
def test_taints_that_a_pod_does_not_tolerate(tolerations: str, taints: list[str]) -> None:
    node = """
spec:
  taints:
  - {key: gpu, value: "yes", effect: NoSchedule}
  - {key: old, effect: NoExecute}
  - {key: soft, effect: PreferNoSchedule}
"""
    assert selection.intolerable({"tolerations": yaml.safe_load(tolerations)}, yaml.safe_load(node)) == taints
