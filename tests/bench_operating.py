"""What `packyard status` of 200 runs and `packyard doctor` take, against kubectl reading the same; see `make bench`."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import bench_doctor
import measuring
from cluster import made
from controlplane import shared
from controlplane.api import Api
from measuring import process
from packyard.cluster import kubectl
from packyard.cluster.record import NUMBER
from packyard.cluster.run import LABEL

_PACKYARD = Path(sys.executable).with_name("packyard")
_RUNS = 200


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
        bench_doctor.measure(api, client, folder, runs)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory(prefix="packyard-bench-") as made_dir:
        measure(Path(made_dir), int(sys.argv[1]) if len(sys.argv) > 1 else 5)
