"""Reading runs on a real control plane by the verbs: `status`, `events`, `exec` and `forward`."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from controlplane.api import Api, wait
from packyard.running.runs import events, status
from packyard.running.runs import record as records
from packyard.running.runs.kubectl import Kubectl
from running import made
from tiny import COMMAND, environment, packyard


@contextmanager
def started(*words: object, text: bool = True) -> Iterator[Any]:
    """Run packyard as a process; it is killed in the end."""
    command = [*COMMAND, *map(str, words)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment(), text=text, stdout=pipe, stderr=pipe) as process:
        try:
            yield process
        finally:
            process.kill()


def settled(client: Kubectl, **states: str) -> None:
    """Return when runs are in these states."""

    def left() -> list[str]:
        return [str(each) for each in status.read(client, records.read_all(client)) if states[each.run] != each.state]

    wait(left)


def settle(api: Api, namespace: str, pod: str, fate: str) -> None:
    """Change the fate of a pod."""
    api.merge(made.fated(pod, fate), namespace).expect_done()


def test_events_are_those_of_one_run_also_of_what_is_gone(
    client: Kubectl, cluster: Api, namespace: str, flags: tuple[str, ...]
) -> None:
    runs = {
        "a": [made.lasting("Deployment", "a", "run")],
        "a-b": [made.job("a-b", "run"), made.job_set("a-b", ("w", "run"))],
    }
    made.put(client, runs)
    settled(client, **{"a": "running", "a-b": "running"})
    gone = next(
        each["metadata"]["name"]
        for each in cluster.list("v1", "Pod", namespace)
        if "a-b-w-0-0" in each["metadata"]["name"]
    )
    cluster.delete({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": gone}}, namespace).expect_done()
    known = records.read_all(client)

    def abouts(run: str) -> set[str]:
        return {each["object"] for each in events.read(client, known, run)}

    # Events come after what they tell.
    wait(lambda: sorted({"Deployment a", "ReplicaSet a", "Pod a"} - {each.split("-")[0] for each in abouts("a")}))
    wait(lambda: sorted({"Job a-b", f"Pod {gone}"} - abouts("a-b")))
    assert {each.split("-")[0] for each in abouts("a")} == {"Deployment a", "ReplicaSet a", "Pod a"}
    assert not [each for each in abouts("a") if "a-b" in each]
    printed = packyard("logs", "a", "--events", *flags)
    assert "ScalingReplicaSet" in printed.stdout
    assert "packyard status a -n" in printed.stderr


def test_exec_runs_a_command_in_the_pod_that_is_meant(client: Kubectl, flags: tuple[str, ...]) -> None:
    made.put(client, {"mpi": [made.mpi_job("mpi", "run")], "stuck": [made.job("stuck", "unpullable")]})
    settled(client, mpi="running", stuck="failing")
    wait(
        lambda: [
            str(each)
            for each in status.read(client, records.read_all(client))
            if each.run == "stuck" and not each.reason
        ]
    )
    with started("exec", "mpi", *flags, "--", "sh", "-c", "echo $0 $1", "--", "-o") as process:
        assert process.communicate()[0] == "-- -o\n"
        assert process.returncode == 0
    with started("exec", "mpi", "--role=worker", "--index=1", *flags, "--", "false") as process:
        assert "in pod mpi-worker-1, container training" in process.communicate()[1]
        assert process.returncode == 1
    for words, said in (
        (["stuck"], "is waiting: image cannot be pulled"),
        (["mpi", "--role=wroker"], "did you mean 'worker'?"),
        (["mpi", "--role=worker", "--index=7"], "they are counted from 0 to 1"),
        (["mpi", "--container=trainig"], "did you mean 'training'?"),
    ):
        refused = packyard("exec", *words, *flags)
        assert (refused.returncode, said in refused.stderr) == (1, True), refused.stderr


def children(pid: int, verb: str) -> list[int]:
    """Return what a process has started of kubectl with this verb."""
    found = []
    for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since
            program, *words = Path(f"/proc/{each}/cmdline").read_text().split("\0")
            if Path(program).name == "kubectl" and verb in words:
                found.append(int(each))
    return found
