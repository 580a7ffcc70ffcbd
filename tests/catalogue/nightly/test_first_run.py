"""The first run of the MNIST package fits the only node of a laptop's cluster, with no value set."""

import pytest

from catalogue.usecases import PACKAGES, level, shipped
from packyard.core.kubernetes import quantity, requirements

#: What a node of 2 CPUs and 4 GiB has left beside what kind asks for on it, the control plane among it.
_ROOM = {"cpu": "1050m", "memory": "3800Mi"}


@pytest.mark.nightly
def test_a_first_run_needs_nothing_that_a_new_cluster_lacks() -> None:
    (package,) = [item for item in PACKAGES if item.name == "mnist-fp32-training-k8s"]
    (use_case,) = [item for item in package.use_cases if item.path == "first-run/none"]
    objects = shipped(package, use_case).parse()
    assert level(objects) == "restricted"
    assert [text for text in requirements.find(objects) if not text.startswith("PodSecurity ")] == []
    (job,) = [item for item in objects if item["kind"] == "Job"]
    needed = [container["resources"] for container in job["spec"]["template"]["spec"]["containers"]]
    for resource, room in _ROOM.items():
        asked = [{**each["limits"], **each.get("requests", {})}[resource] for each in needed]
        assert sum(quantity.parse(amount) or 0 for amount in asked) <= (quantity.parse(room) or 0)
