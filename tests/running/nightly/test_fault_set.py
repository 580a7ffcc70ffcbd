"""All faults of `fault_set`, on a real control plane: told before anything is applied, and explained of what was.

`make nightly-clusters ARGS=tests/running/nightly/test_fault_set.py` judges them alone, and records what kubectl answers
with PACKYARD_RECORD=1. Kubeconfigs are judged by test_kubeconfigs.
"""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from controlplane import people, shared
from controlplane.api import Api, wait
from packyard.running.runs import kubectl
from packyard.running.runs.kubectl import Kubectl
from running import made, recordings
from running.fault_set import FAULTS, Fault
from running.patients import rendered

pytestmark = pytest.mark.nightly("clusters")
_PATIENCE = 60  # seconds until a fault shows


@pytest.fixture(scope="module")
def plane(shared_dir: Path) -> Iterator[Api]:
    """A control plane of its own: some faults are of the whole cluster."""
    folder = shared_dir / "fault-plane"
    with shared.use(folder, "api"), shared.use(folder / "jobs", "jobs"), shared.use(folder / "operators", "operators"):
        yield Api(folder)


@pytest.fixture
def there(plane: Api, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace that has the fault of the test, and nothing of it afterwards."""
    fault: Fault = request.getfixturevalue("fault")
    namespace = plane.create_namespace(fault.level)
    for kind in ("ServiceAccount", "ConfigMap"):  # that every namespace has, and that a quota counts
        wait(lambda kind=kind: [] if plane.list("v1", kind, namespace) else [f"no {kind}"])
    fault.there(plane, namespace)
    with fault.during(plane, namespace):
        yield namespace
    plane.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    for node in plane.list("v1", "Node"):
        if node["metadata"].get("labels", {}).get("pool") == namespace:
            plane.delete({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node["metadata"]["name"]}})


def client(plane: Api, namespace: str, folder: Path, user: str = "") -> Kubectl:
    own = people.kubeconfig(plane, user, namespace, folder) if user else plane.folder / "kubeconfig"
    return kubectl.find(os.environ["PATH"], kubeconfig=str(own), namespace=namespace)


@pytest.mark.usefixtures("kubectl")
@pytest.mark.parametrize("fault", [each for each in FAULTS if each.before], ids=lambda each: each.name)
def test_it_is_told_before_anything_is_applied(fault: Fault, plane: Api, there: str, tmp_path: Path) -> None:
    found = client(plane, fault.namespace(there), tmp_path, fault.user and f"{fault.user}-{there}")
    ready, calls = rendered(fault.run(there)), recordings.Calls()
    recorded = recordings.recording(found, calls)
    told = recordings.said(recordings.findings(recorded, ready), recordings.planned(recorded, ready))
    assert re.search(fault.before, told, re.DOTALL), told
    if recordings.IS_RECORDING:
        recordings.keep(calls, "before", fault, there)


@pytest.mark.usefixtures("kubectl")
@pytest.mark.parametrize("fault", [each for each in FAULTS if each.after], ids=lambda each: each.name)
def test_it_is_explained_of_a_run_that_has_it(fault: Fault, plane: Api, there: str, tmp_path: Path) -> None:
    found = client(plane, there, tmp_path)
    made.put(found, {recordings.RUN: fault.run(there)})
    fault.then(plane, there)
    end = time.monotonic() + _PATIENCE
    said = ""
    while not re.search(fault.after, said, re.DOTALL):
        assert time.monotonic() < end, said
        calls = recordings.Calls()
        said = recordings.after(recordings.recording(found, calls), fault)
    if recordings.IS_RECORDING:
        recordings.keep(calls, "after", fault, there)
