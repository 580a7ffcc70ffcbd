"""`packyard doctor` of a use case, and its own calls of kubectl one after the other; see `make bench`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import real
from bench.measuring import compare, process, void
from controlplane.api import Api
from packyard.running import doctor
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.rendered import Rendered
from packyard.writing.build.assemble import assemble
from packyard.writing.source import workspace

_PACKYARD = Path(sys.executable).with_name("packyard")
_NAME, _USE_CASE = "mnist-fp32-training-k8s", "quickstart/mlops/first-run/none"
_AMOUNTS = {"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "110"}
_NODES = 50
#: Calls kubectl, and writes down with which words and what on standard input.
_RECORDING = """\
#!{python}
import json, subprocess, sys
data = sys.stdin.buffer.read()
with open({log!r}, "a") as log:
    log.write(json.dumps([sys.argv[1:], data.decode()]) + "\\n")
sys.exit(subprocess.run([{kubectl!r}, *sys.argv[1:]], input=data).returncode)
"""


def measure(api: Api, client: Kubectl, folder: Path, runs: int) -> None:
    """Print the lines of the table, in a cluster with some nodes."""
    for number in range(_NODES):
        _add_node(api, f"node-{number}")
    directory = assemble(workspace.read(real.REPOSITORY), _NAME, "1.0.0").unpack(folder) / _USE_CASE
    ready = Rendered.of(directory, {}, path=os.environ["PATH"])
    whole = _calls(client, lambda recording: void(doctor.examine(recording, ready)))
    verb = process(_PACKYARD, "doctor", directory, *client.flags, f"--namespace={client.namespace}", "-q")
    for what, ours, calls in (
        ("packyard doctor", verb, whole),
        ("the same without rendering", lambda: void(doctor.examine(client, ready)), whole),
    ):
        named = f"{what}, {len(calls)} calls by kubectl"
        compare(named, ours, partial(_repeat, client, calls), goal="2 x the time", runs=runs)


def _add_node(api: Api, name: str) -> None:
    """Add a node that is ready, on an API server where nothing acts."""
    labels = {"kubernetes.io/os": "linux", "kubernetes.io/hostname": name}
    status = {"capacity": _AMOUNTS, "allocatable": _AMOUNTS, "conditions": [{"type": "Ready", "status": "True"}]}
    item = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}
    api.create(item).expect_done()
    api.merge({**item, "spec": {"taints": None}}).expect_done()


def _calls(client: Kubectl, look: Callable[[Kubectl], None]) -> list[tuple[list[str], str]]:
    """Return the calls of kubectl that something makes, with what each has on its standard input."""
    with tempfile.TemporaryDirectory() as folder:
        log, program = Path(folder, "log"), Path(folder, "kubectl")
        program.write_text(_RECORDING.format(python=sys.executable, log=str(log), kubectl=client.program))
        program.chmod(0o755)
        look(replace(client, program=str(program)))
        return [json.loads(line) for line in log.read_text().splitlines()]


def _repeat(client: Kubectl, calls: list[tuple[list[str], str]]) -> None:
    for words, data in calls:
        subprocess.run([client.program, *words], input=data.encode(), capture_output=True)
