"""What `packyard status` of 200 runs, `deploy` and `doctor` take, against kubectl doing the same; see `make bench`."""

from __future__ import annotations

import json
import os
import sys
from functools import partial
from pathlib import Path

from bench import doctor, measuring
from bench.measuring import process
from controlplane import shared
from controlplane.api import Api
from packyard.running.runs import kubectl
from packyard.running.runs.apply import apply
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import NUMBER
from packyard.running.runs.run import LABEL, labelled
from running import made

_PACKYARD = Path(sys.executable).with_name("packyard")
_RUNS, _OBJECTS = 200, 20


def measure(folder: Path, runs: int) -> None:
    """Show the runs of a namespace with a Job and three pods each, on an API server where nothing acts."""
    folder = folder / "operating"
    with shared.use(folder, "-m", "controlplane.service", "api", str(folder)):
        api = Api(folder)
        namespace = api.create_namespace("privileged")
        api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}, namespace)
        flags = (f"--kubeconfig={folder / 'kubeconfig'}", f"--namespace={namespace}")
        client = kubectl.find(os.environ["PATH"], kubeconfig=str(folder / "kubeconfig"), namespace=namespace)
        pods = {f"run-{run}": [made.pod(f"run-{run}-{pod}", "run") for pod in range(3)] for run in range(_RUNS)}
        made.put(client, {run: [made.job(run, "run"), *items] for run, items in pods.items()})
        objects = ("get", "Job.v1.batch,Pod.v1.", f"--selector={LABEL},!{NUMBER}", "--chunk-size=0")
        calls = [
            client.words("get", "configmaps", f"--selector={NUMBER}", "--output=json"),
            client.words(*objects, "--output=json"),
            client.words("get", "events", "--field-selector=type=Warning", "--output=json"),
        ]
        script = " && ".join(" ".join(f"'{word}'" for word in words) for words in calls)
        compare = partial(measuring.compare, runs=runs)
        compare(f"packyard status, {_RUNS} runs, its calls by kubectl", process(_PACKYARD, "status", *flags),
                process("sh", "-c", script), goal="2 x the time")  # fmt: skip
        _apply(client, folder, runs)
        doctor.measure(api, client, folder, runs)


def _apply(client: Kubectl, folder: Path, runs: int) -> None:
    """Apply the objects of a run as `packyard deploy` does, once it has asked all that can refuse them."""
    ours = labelled([made.job(f"ours-{number}", "run") for number in range(_OBJECTS)], "ours", client.namespace)
    theirs = folder / "theirs.json"
    items = [made.job(f"theirs-{number}", "run") for number in range(_OBJECTS)]
    theirs.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    measuring.compare(
        f"deploy applies {_OBJECTS} Jobs, kubectl apply",
        lambda: measuring.void(apply(client, "ours", ours)),
        process(*client.words("apply", f"--filename={theirs}")),
        goal="1.5 x the time",
        runs=runs,
    )


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory(prefix="packyard-bench-") as made_dir:
        measure(Path(made_dir), int(sys.argv[1]) if len(sys.argv) > 1 else 5)
