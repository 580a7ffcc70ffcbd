"""The doctor on a real control plane: each seeded fault is found and named, and nothing is where all is sound."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from packyard.cluster import doctor
from packyard.cluster.kubectl import Kubectl
from packyard.cluster.prepared import prepare


def test_the_quick_part_names_what_is_missing(untarred: Callable[[str], Path], client: Kubectl) -> None:
    directory = untarred("bert-large-fp32-training-k8s") / "multi-node/user-allocated-pvc"
    prepared = prepare(directory, {"PVC_NAME": ["data"]}, path=os.environ["PATH"])
    (found,) = doctor.quick(client, prepared)
    assert (found.severity, str(found)) == ("error", "PersistentVolumeClaim data: is not there")
    assert f"--namespace={client.namespace}" in found.fix
