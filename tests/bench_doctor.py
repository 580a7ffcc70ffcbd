"""`packyard doctor` of a use case, and its own calls of kubectl one after the other.

bench_doctor.py KUBECONFIG NAMESPACE DIR RUNS
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import real
from measuring import compare, process, void
from packyard.cluster import doctor, kubectl
from packyard.cluster.kubectl import Kubectl
from packyard.cluster.prepared import prepare

PACKYARD = Path(sys.executable).with_name("packyard")
#: Calls kubectl, and writes down with which words and what on standard input.
_RECORDING = """\
#!{python}
import json, subprocess, sys
data = sys.stdin.buffer.read()
with open({log!r}, "a") as log:
    log.write(json.dumps([sys.argv[1:], data.decode()]) + "\\n")
sys.exit(subprocess.run([{kubectl!r}, *sys.argv[1:]], input=data).returncode)
"""


def measure(kubeconfig: Path, namespace: str, directory: Path, runs: int) -> None:
    """Print the lines of the table; what DIR requires is set."""
    client = kubectl.find(os.environ["PATH"], kubeconfig=str(kubeconfig), namespace=namespace)
    ready = prepare(directory, {}, path=os.environ["PATH"])
    calls = _calls(client, lambda recording: void(doctor.examine(recording, ready)))
    quick = _calls(client, lambda recording: void(doctor.quick(recording, ready)))
    flags = ("--kubeconfig", kubeconfig, "-n", namespace, "-q")
    for what, ours, theirs in (
        ("packyard doctor, the whole process", process(PACKYARD, "doctor", directory, *flags), calls),
        ("the library's part of it", lambda: void(doctor.examine(client, ready)), calls),
        ("its quick part", lambda: void(doctor.quick(client, ready)), quick),
    ):
        named = f"{what}; {len(theirs)} calls of kubectl"
        compare(named, ours, lambda made=theirs: _repeat(client, made), goal="2 x the time", runs=runs)


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


if __name__ == "__main__":
    real.program("kubectl")
    measure(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
