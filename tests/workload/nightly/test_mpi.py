"""What each odd line of an MPIJob is for: without it, the real sshd, ssh and mpirun refuse.

The MPIJob is the first of the catalogue's, composed and set, with two processes on each worker; a test takes one thing
out, or puts one in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from catalogue.usecases import PACKAGES, shipped
from packyard.core.errors import InputError
from real import Served
from workload import catalogue, controllers, deploy
from workload.cluster import Cluster
from workload.deploy import MpiRun
from workload.objects import Object

NewCluster = Callable[[list[Object]], Cluster]

pytestmark = pytest.mark.usefixtures("open_mpi")


@pytest.fixture(scope="session")
def use_case() -> tuple[Any, Any]:
    """A use case with an MPIJob that keeps its results in a claim."""
    for package in PACKAGES:
        for use_case in package.use_cases:
            objects = catalogue.set_objects(package, use_case)
            if "persistentVolumeClaim" in str(deploy.of_kind(objects, "MPIJob")):
                return package, use_case
    raise AssertionError("no use case has an MPIJob and a claim")


@pytest.fixture
def objects(use_case: tuple[Any, Any]) -> list[Object]:
    return two_slots(catalogue.set_objects(*use_case))


def two_slots(objects: list[Object]) -> list[Object]:
    """Return objects whose MPIJob has two processes on each worker, and shares nothing by an alias."""
    found: list[Object] = json.loads(json.dumps(objects))
    mpi_job(found)["spec"]["slotsPerWorker"] = 2
    return found


@pytest.fixture
def run(objects: list[Object], new_cluster: NewCluster) -> Callable[[], MpiRun]:
    """Start what became of the MPIJob, and return it."""
    return lambda: deploy.run_mpi_job(new_cluster(objects), mpi_job(objects))


def mpi_job(objects: list[Object]) -> Object:
    (job,) = deploy.of_kind(objects, "MPIJob")
    return job


def pod(objects: list[Object], role: str) -> Object:
    spec = mpi_job(objects)["spec"]["mpiReplicaSpecs"][role]["template"]["spec"]
    assert isinstance(spec, dict)
    return spec


def container(objects: list[Object], role: str) -> Object:
    (first,) = pod(objects, role)["containers"]
    assert isinstance(first, dict)
    return first


def environment(objects: list[Object]) -> dict[str, str]:
    """Return what the containers read from their ConfigMap."""
    name = container(objects, "Launcher")["envFrom"][0]["configMapRef"]["name"]
    (found,) = [item for item in deploy.of_kind(objects, "ConfigMap") if item["metadata"]["name"] == name]
    data = found["data"]
    assert isinstance(data, dict)
    return data


def unmount(objects: list[Object], role: str, volume: str) -> None:
    mounts = container(objects, role)["volumeMounts"]
    mounts[:] = [mount for mount in mounts if mount["name"] != volume]


@pytest.mark.parametrize(("workers", "slots"), [(1, 1), (3, 1), (1, 3)])
def test_as_many_processes_start_as_the_hostfile_has_slots(
    workers: int, slots: int, use_case: tuple[Any, Any], of_each_open_mpi: NewCluster
) -> None:
    objects = catalogue.set_objects(*use_case, WORKERS=workers)
    mpi_job(objects)["spec"]["slotsPerWorker"] = slots
    run = deploy.run_mpi_job(of_each_open_mpi(objects), mpi_job(objects))
    assert run.launcher.wait() == 0, run.log
    assert [len(worker.records) for worker in run.workers] == [slots] * workers
    assert {record["mpi"]["size"] for record in run.ranks} == {workers * slots}


def test_on_another_port(objects: list[Object], of_each_open_mpi: NewCluster) -> None:
    """Where somebody edits the places that say it."""
    text = json.dumps(objects)
    assert text.count("2222") == 4
    objects = json.loads(text.replace("2222", "2345"))
    run = deploy.run_mpi_job(of_each_open_mpi(objects), mpi_job(objects))
    assert run.launcher.wait() == 0, run.log
    assert "Server listening on 0.0.0.0 port 2345." in run.workers[0].log


# Who the user is.


def test_ssh_refuses_a_user_without_a_passwd_line(objects: list[Object], run: Callable[[], MpiRun]) -> None:
    unmount(objects, "Launcher", "identity")
    started = run()
    assert started.launcher.wait() != 0
    assert f"No user exists for uid {catalogue.USER}" in started.launcher.log


def test_sshd_refuses_a_user_without_a_passwd_line(objects: list[Object], run: Callable[[], MpiRun]) -> None:
    """Whichever worker answers first says so: mpirun then hangs up on the other."""
    unmount(objects, "Worker", "identity")
    started = run()
    assert started.launcher.wait() != 0
    assert "Invalid user nobody-here" in started.log


def test_user_0_is_no_value_of_the_setter(use_case: tuple[Any, Any]) -> None:
    with pytest.raises(InputError, match="USER_ID"):
        catalogue.set_objects(*use_case, USER_ID=0)


@pytest.mark.parametrize("fs_group", [None, catalogue.FS_GROUP])
def test_ssh_ignores_the_key_of_user_0_that_fsgroup_made_readable(
    fs_group: int | None, objects: list[Object], new_cluster: NewCluster
) -> None:
    """Without the group all is well: the operator's mode 0600 is what the key then has."""
    mpi_job(objects)["spec"]["sshAuthMountPath"] = "/root/.ssh"
    for role in ("Launcher", "Worker"):
        context = pod(objects, role)["securityContext"]
        context |= {"runAsNonRoot": False, "runAsUser": 0, "runAsGroup": 0}
        context |= {"fsGroup": fs_group} if fs_group else {}
        if not fs_group:
            del context["fsGroup"]
        unmount(objects, role, "identity")
        unmount(objects, role, "storage")
    made = controllers.mpi_job(mpi_job(objects))
    worker = made.workers[0]
    worker["spec"]["containers"][0]["command"] = ["ssh-keygen", "-y", "-f", "/root/.ssh/id_rsa"]
    cluster = new_cluster([*objects, *made.objects])
    started = cluster.start(worker)
    if fs_group:
        assert started.wait() != 0
        assert "Permissions 0640 for '/root/.ssh/id_rsa' are too open." in started.log
    else:
        assert started.wait() == 0, started.log


# sshd without privileges.


def test_the_operators_own_sshd_finds_no_host_key(objects: list[Object], run: Callable[[], MpiRun]) -> None:
    del container(objects, "Worker")["command"]
    with pytest.raises(AssertionError, match="does not become ready") as caught:
        run()
    assert "sshd: no hostkeys available -- exiting." in str(caught.value)


def test_sshd_refuses_the_modes_of_the_home_unless_told(objects: list[Object], run: Callable[[], MpiRun]) -> None:
    container(objects, "Worker")["command"].remove("-oStrictModes=no")
    started = run()
    assert started.launcher.wait() != 0
    assert "Authentication refused: bad ownership or modes for directory /home/user" in started.log


def test_sshd_may_not_listen_on_a_low_port(objects: list[Object], run: Callable[[], MpiRun]) -> None:
    command = container(objects, "Worker")["command"]
    command[command.index("-p2222")] = "-p22"
    with pytest.raises(AssertionError, match=r"Bind to port 22 on 0\.0\.0\.0 failed: Permission denied"):
        run()


@pytest.mark.parametrize("kept", [[], ["NET_BIND_SERVICE"]])
def test_an_sshd_with_a_file_capability_starts_only_where_that_is_kept(
    kept: list[str], objects: list[Object], new_cluster: NewCluster
) -> None:
    """As mpioperator's images have it; the `restricted` level lets a pod keep this one."""
    worker = container(objects, "Worker")
    worker["securityContext"]["capabilities"]["add"] = kept
    worker["command"][0] = "/opt/sshd"
    made = controllers.mpi_job(mpi_job(objects))
    cluster = new_cluster([*objects, *made.objects])
    sshd_file = cluster.put("/opt/sshd", Path("/usr/sbin/sshd").read_bytes())
    net_bind_service = (0x02000001).to_bytes(4, "little") + (1 << 10).to_bytes(8, "little") + bytes(8)
    os.setxattr(sshd_file, "security.capability", net_bind_service)
    started = cluster.start(made.workers[0])
    if kept:
        cluster.wait_ready(started)
    else:
        assert started.wait() != 0
        assert "Operation not permitted" in started.log


def test_a_worker_is_ready_when_its_sshd_answers(objects: list[Object], new_cluster: NewCluster) -> None:
    """Not before: that is what the launcher waits for."""
    worker = container(objects, "Worker")
    worker["command"] = ["sh", "-c", 'until [ -e /tmp/go ]; do sleep 0.05; done; exec "$@"', "-", *worker["command"]]
    made = controllers.mpi_job(mpi_job(objects))
    cluster = new_cluster([*objects, *made.objects])
    started = cluster.start(made.workers[0])
    assert not cluster.probe(started)
    (started.volumes["tmp"] / "go").touch()
    cluster.wait_ready(started)


# What mpirun starts.


def test_processes_do_not_see_variables_that_are_not_exported(objects: list[Object], run: Callable[[], MpiRun]) -> None:
    listed = environment(objects)["OMPI_MCA_mca_base_env_list"]
    environment(objects)["OMPI_MCA_mca_base_env_list"] = listed.replace("DATASET_DIR;", "")
    started = run()
    assert started.launcher.wait() == 0, started.log
    assert [record["environment"].get("DATASET_DIR") for record in started.ranks] == [None] * len(started.ranks)


def test_mpirun_hands_on_no_variable_behind_one_that_is_not_there(
    objects: list[Object], run: Callable[[], MpiRun]
) -> None:
    """So a list ends with what an image need not have."""
    environment(objects)["OMPI_MCA_mca_base_env_list"] = "HOME;NOT_THERE;DATASET_DIR"
    started = run()
    assert started.launcher.wait() == 0, started.log
    seen = [record["environment"] for record in started.ranks]
    assert {(each["HOME"], each.get("DATASET_DIR")) for each in seen} == {("/home/user", None)}
    assert "NOT_THERE" in started.launcher.log


def test_the_option_environment_reaches_every_process_and_mpirun(
    use_case: tuple[Any, Any], served5: Served, of_each_open_mpi: NewCluster
) -> None:
    """Two processes on each worker see the variables; a key that no shell can export does no harm."""
    objects = two_slots(catalogue.with_option(served5, *use_case, "environment"))
    objects[-1]["data"] = {**catalogue.ENVIRONMENT, "not a variable": "1"}
    run = deploy.run_mpi_job(of_each_open_mpi(objects), mpi_job(objects))
    assert run.launcher.wait() == 0, run.log
    assert len(run.ranks) == 4
    for record in run.ranks:
        assert record["environment"].items() >= catalogue.ENVIRONMENT.items()


def test_the_agent_wins_over_the_ssh_options_of_the_operator(
    objects: list[Object], run: Callable[[], MpiRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With options of the operator that lead nowhere, and, to see that they do, without those of the agent."""
    monkeypatch.setitem(controllers._LAUNCHER, "OMPI_MCA_plm_rsh_args", "-p 9 -o ConnectionAttempts=1")
    started = run()
    assert started.launcher.wait() == 0, started.log
    del environment(objects)["OMPI_MCA_plm_rsh_agent"]
    started = run()
    assert started.launcher.wait() != 0
    assert "port 9: Connection refused" in started.launcher.log


def test_without_its_options_ssh_asks_for_a_host_key_that_nobody_knows(
    objects: list[Object], run: Callable[[], MpiRun]
) -> None:
    agent = environment(objects)["OMPI_MCA_plm_rsh_agent"]
    environment(objects)["OMPI_MCA_plm_rsh_agent"] = agent.replace("-o StrictHostKeyChecking=no", "")
    started = run()
    assert started.launcher.wait() != 0
    assert "Host key verification failed." in started.launcher.log


@pytest.mark.parametrize("role", ["Launcher", "Worker"])
def test_open_mpi_needs_a_tmp_where_it_can_write(role: str, objects: list[Object], run: Callable[[], MpiRun]) -> None:
    unmount(objects, role, "tmp")
    started = run()
    assert started.launcher.wait() != 0
    assert "mkdir was unable to create the desired directory" in started.launcher.log


# A run and its neighbors, and its end.


def test_a_process_that_fails_ends_the_run_and_its_last_words_are_kept(
    objects: list[Object], of_each_open_mpi: NewCluster
) -> None:
    container(objects, "Launcher")["args"] = ["sh", "-c", "echo last words >&2; exit 3"]
    started = deploy.run_mpi_job(of_each_open_mpi(objects), mpi_job(objects))
    assert started.launcher.wait() == 3, started.log
    assert "last words\n" in started.launcher.log
    (storage,) = (started.workers[0].folder.parent / "storage").iterdir()
    assert "last words\n" in [file.read_text() for file in storage.rglob("rank.*")]


def test_a_killed_worker_ends_the_run(objects: list[Object], of_each_open_mpi: NewCluster) -> None:
    """The launcher fails, rather than wait for ever, and the Job of the operator may try again."""
    cluster = of_each_open_mpi(objects)
    cluster.hold = True
    started = deploy.run_mpi_job(cluster, mpi_job(objects))
    deploy.wait_until(lambda: started.launcher.log.count("record of") == 4, [started.launcher])
    started.workers[1].kill()
    assert started.launcher.wait() != 0, started.log


def test_the_network_policy_beside_the_others_lets_a_run_talk_and_nobody_else_connect(
    use_case: tuple[Any, Any], objects: list[Object], new_cluster: NewCluster
) -> None:
    objects.append(yaml.safe_load(shipped(*use_case).files["network-policy.yaml"]))
    cluster = new_cluster(objects)
    cluster.hold = True
    run = deploy.run_mpi_job(cluster, mpi_job(objects))
    deploy.wait_until(lambda: run.launcher.log.count("record of") == 4, [run.launcher])
    connect = "import socket, sys; socket.create_connection((sys.argv[1], 2222), 1)"
    for name, labels in (("friend", run.workers[1].described["metadata"]["labels"]), ("stranger", {})):
        container = {"name": "c", "command": ["python3", "-c", connect, run.workers[0].address]}
        spec = {"restartPolicy": "Never", "containers": [container]}
        asking = cluster.start({"metadata": {"name": name, "labels": labels}, "spec": spec})
        assert (asking.wait() == 0) is (name == "friend"), asking.log


def test_two_runs_share_a_claim_side_by_side(use_case: tuple[Any, Any], of_each_open_mpi: NewCluster) -> None:
    first, second = (two_slots(catalogue.set_objects(*use_case, RUN_NAME=name)) for name in ("one", "two"))
    cluster = of_each_open_mpi([*first, *second])
    runs = [deploy.run_mpi_job(cluster, mpi_job(objects)) for objects in (first, second)]
    assert [run.launcher.wait() for run in runs] == [0, 0]
    assert len({record["environment"]["OUTPUT_DIR"] for run in runs for record in run.ranks}) == 2
    assert [len(run.ranks) for run in runs] == [4, 4]
