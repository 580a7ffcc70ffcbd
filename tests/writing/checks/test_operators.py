"""Objects of operators with one mistake: each tree is sound without it."""

import pytest

import tiny
from packyard.core.kubernetes import schemas
from writing.checks.linting import lint, package

FILES = {path.partition(".")[0]: text for path, text in tiny.read_tree("checks/operators").items()}
CASES = [
    ("kueue", "clusterQueue: team", "clusterQueue: teams", "dangling-reference"),
    ("kueue", "    - name: h100", "    - name: h200", "dangling-reference"),
    ("kueue", "queue-name: team", "queue-name: tem", "dangling-reference"),
    ("kueue", "{name: cpu, nominalQuota: 64}, ", "", "server-refuses"),
    (
        "pool",
        "matchLabels: {app: model}}\n  targetPorts",
        "matchLabels: {app: modl}}\n  targetPorts",
        "selects-nothing",
    ),
    ("ray", "shutdownAfterJobFinishes: true", "shutdownAfterJobFinishes: false", "server-refuses"),
    ("ray", "ttlSecondsAfterFinished: 600", "ttlSecondAfterFinished: 600", "unknown-field"),
    ("ray", "headGroupSpec:", "headGroup:", "unknown-field"),
    ("ray", 'num-cpus: "0"', "num-cpus: 0", "wrong-type"),
    ("ray", "minReplicas: 1", "minReplicas: 3", "wrong-value"),
    ("ray", "  replicas: 2", "  replicas: 3", "wrong-value"),
    ("training", "ancestor-step: trainer", "ancestor-step: training", "wrong-value"),
    ("training", "rdzvBackend: c10d", "rdzvBackend: c10", "wrong-value"),
    ("training", "minReplicas: 1, maxReplicas: 3", "minReplicas: 4, maxReplicas: 3", "wrong-value"),
    ("training", "minReplicas: 1, maxReplicas: 2", "minReplicas: 3, maxReplicas: 2", "wrong-value"),
    ("training", "storageUri:", "storageURI:", "unknown-field"),
    ("training", "pvc://models", "pvc:/models", "wrong-value"),
    ("training", "pvc://models", "hf://org", ""),
    ("training", "modelFormat: {name: onnx}", "modelFormat: onnx", "wrong-type"),
    ("training", "[pytorchjobs]", "[PyTorchJob]", "role-without-effect"),
    ("training", "[pytorchjobs]", "[jobs]", "role-without-effect"),
    ("training", "[kubeflow.org], resources: [pytorchjobs]", "[serving.knative.dev], resources: [services]", ""),
]


def found(file: str, text: str) -> set[str]:
    return {each.rule for each in lint(package({f"{file}.yaml": text}), judges=schemas.choose(("1.31",)))}


@pytest.mark.parametrize(("file", "old", "new", "rule"), CASES)
def test_finds_one_mistake_of_an_object_of_an_operator(file: str, old: str, new: str, rule: str) -> None:
    assert old in FILES[file]
    more = found(file, FILES[file].replace(old, new, 1)) - found(file, FILES[file])
    assert more == {rule} if rule else not more  # and nothing else of the same fault


def test_says_nothing_of_queues_where_the_package_has_none() -> None:
    job = FILES["kueue"].rpartition("---\n")[2]
    assert "dangling-reference" not in found("kueue", job)
