"""What `status` says of runs on a real control plane whose pods end as each test wants."""

import pytest

from controlplane.api import wait
from packyard.cli import complete
from packyard.running.runs import record as records
from packyard.running.runs import status
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.run import Object
from packyard.running.runs.status import RunStatus
from running import made

IMAGE = "image cannot be pulled: the registry does not have registry.example/training:1"
#: Runs by what they are called: their objects, the state and the reason, and of each role how many pods are wanted,
#: ready, done and failed.
RUNS: dict[str, tuple[list[Object], str, str, list[tuple[str, int, int, int, int]]]] = {
    "sweep": (
        [made.job("sweep", "run", completionMode="Indexed", completions=5, parallelism=2)],
        "running",
        "",
        [("training", 5, 2, 0, 0)],
    ),
    "servers": ([made.lasting("Deployment", "servers", "run")], "running", "", [("training", 2, 2, 0, 0)]),
    "no-servers": (
        [made.lasting("Deployment", "no-servers", "unpullable")],
        "failing",
        f"training 0: {IMAGE} (and 1 more like it)",
        [("training", 2, 0, 0, 0)],
    ),
    "set": ([made.lasting("StatefulSet", "set", "run")], "running", "", [("training", 2, 2, 0, 0)]),
    "mpi": ([made.mpi_job("mpi", "run")], "running", "", [("launcher", 1, 1, 0, 0), ("worker", 2, 2, 0, 0)]),
    "mpi-done": (
        [made.mpi_job("mpi-done", "complete")],
        "succeeded",
        "",
        [("launcher", 1, 0, 1, 0), ("worker", 2, 2, 0, 0)],
    ),
    "mpi-fails": (
        [made.mpi_job("mpi-fails", "fail")],
        "failed",
        "launcher: exit code 7",
        [("launcher", 1, 0, 0, 1), ("worker", 2, 2, 0, 0)],
    ),
    "job-set": (
        [made.job_set("job-set", ("ps", "run"), ("worker", "run"))],
        "running",
        "",
        [("ps", 4, 4, 0, 0), ("worker", 4, 4, 0, 0)],
    ),
    "job-set-done": ([made.job_set("job-set-done", ("worker", "complete"))], "succeeded", "", [("worker", 4, 0, 4, 0)]),
    "groups": (
        [made.leader_worker_set("groups")],
        "running",
        "",
        [("leader", 2, 2, 0, 0), ("worker", 4, 4, 0, 0)],
    ),
    "parts": (
        [made.job("parts-chief", "run"), made.job("parts-ps", "crash"), made.pod("parts", "run")],
        "failing",
        "ps: crash loop: exit code 7, started again 3 times",
        [("chief", 1, 1, 0, 0), ("ps", 1, 0, 0, 0), ("training", 1, 1, 0, 0)],
    ),
    "nothing-runs": ([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}], "succeeded", "", []),
}


def test_a_run_says_its_state_its_roles_and_what_is_wrong_in_words(client: Kubectl) -> None:
    made.put(client, {run: objects for run, (objects, *_) in RUNS.items()})
    wait(lambda: [f"{each}" for each in look(client) if said(each) != expected(each)])
    over = {each.run for each in look(client) if each.is_over}
    assert over == {run for run, (_, state, *_) in RUNS.items() if state in ("succeeded", "failed")}


def test_shells_complete_the_names_of_runs(client: Kubectl, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    item = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
    made.put(client, {run: [item] for run in ("first", "fifth", "second")})
    where = (*client.flags, "-n", client.namespace)
    for words, found in (
        (("logs", *where, "fi"), "fifth first"),
        (("undeploy", *where, "first", ""), "fifth first second"),
        (("logs", *where, "first", ""), ""),
        (("status", "--context=none", ""), ""),
    ):
        assert complete.main(["--", *words]) == 0
        assert capfdbinary.readouterr() == ("".join(f"{name}\n" for name in found.split()).encode(), b"")


def expected(each: RunStatus) -> object:
    return RUNS[each.run][1:]


def said(each: RunStatus) -> object:
    roles = [(role.name, role.wanted, role.ready, role.done, role.failed) for role in each.roles]
    return each.state, each.reason, roles


def look(client: Kubectl) -> list[RunStatus]:
    return status.read(client, records.read_all(client))
