"""Verbs of clusters as users type them, with a kubectl that keeps objects in a file."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from packyard.running.runs.logs import Reading
from running import made, stub
from running.wanted import config_map, job
from tiny import packyard, process


class Cluster:
    """A use case in the working directory, and kubectl alone on PATH."""

    def __init__(self, folder: Path) -> None:
        self.path = str(stub.install(folder / "bin"))
        self.folder = folder

    def write(self, *objects: dict[str, Any]) -> None:
        """Write the use case, of a run ``first``."""
        names = [f"{number}.yaml" for number in range(len(objects))]
        for name, each in zip(names, objects, strict=True):
            each["metadata"].setdefault("labels", {})["app.kubernetes.io/instance"] = "first"
            (self.folder / name).write_text(json.dumps(each), "utf-8")
        (self.folder / "kustomization.yaml").write_text("resources:\n" + "".join(f"- {name}\n" for name in names))

    def run(self, line: str, code: int = 0) -> str:
        """Type a verb; return what it prints."""
        done = packyard(*line.split(), cwd=self.folder, PATH=self.path)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def deployed(tmp_path: Path) -> Cluster:
    """A run of a Job and of its settings."""
    cluster = Cluster(tmp_path)
    work = job("first")
    work["spec"]["template"]["metadata"]["labels"] = {"app.kubernetes.io/instance": "first"}
    cluster.write(config_map("first", OUTPUT_DIR="output"), work)
    cluster.run("deploy . --no-doctor")
    return cluster


def test_a_rollback_leaves_the_data_of_a_secret_as_they_are(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"}, "stringData": {"token": "x"}}
    cluster.write(job("first"), secret)
    for line in ("deploy . --no-doctor --no-wait", "deploy . --no-doctor --no-wait", "rollback first 1 --no-wait"):
        cluster.run(line)
    stored = json.loads((tmp_path / "bin/objects.json").read_text())
    assert [each["stringData"] for each in stored if each["kind"] == "Secret"] == [{"token": "x"}]


def test_undeploy_ends_when_the_objects_are_gone_and_names_who_holds_them(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    held = job("held")
    held["metadata"]["finalizers"] = ["kueue.x-k8s.io/managed"]
    cluster.write(held)
    cluster.run("deploy . --no-doctor")
    said = cluster.run("undeploy first --yes --timeout 0s", code=1)
    assert "Job held is held by its finalizer kueue.x-k8s.io/managed (whoever set it" in said
    assert "objects may be left, and the records are; packyard undeploy first -n ml deletes the rest" in said
    assert "Job held is being deleted, and held by its finalizer kueue" in cluster.run("status first")


def test_an_output_that_is_no_absolute_path_is_shown_as_it_is(deployed: Cluster) -> None:
    assert "results   output in the pods" in deployed.run("status first")
    assert "no volume of its pods is known to hold that" in deployed.run("results first")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("logs first --events --index 0", "--index has no meaning beside --events; packyard logs --help"),
        ("logs first --follow --previous", "--previous has no meaning beside --follow; packyard logs --help"),
        ("doctor . --timeout 5m", "--timeout has no meaning without --probe; packyard doctor --help"),
        ("rollback first --list --dry-run", "--dry-run has no meaning beside --list; packyard rollback --help"),
        ("deploy . --dry-run --no-wait", "--no-wait has no meaning beside --dry-run; packyard deploy --help"),
        ("results first --pod -o json", "--output has no meaning beside --pod; packyard results --help"),
    ],
)
def test_a_flag_that_would_do_nothing_is_refused(line: str, said: str, deployed: Cluster) -> None:
    assert said in deployed.run(line, code=2)


def test_verbose_prints_each_command_of_kubectl_which_does_the_same_when_it_is_typed(deployed: Cluster) -> None:
    done = process("-v", "logs", "first", cwd=deployed.folder, PATH=deployed.path)
    commands = [line.removeprefix("runs ") for line in done.stderr.splitlines() if line.startswith("runs ")]
    assert commands[-1].endswith("/kubectl --context=test --namespace=ml logs first-x7k2p --tail=-1")
    assert (
        subprocess.run(shlex.split(commands[-1]), capture_output=True, text=True, check=True).stdout
        == done.stdout
        == "Epoch 1/1\n"
    )


def test_a_log_that_is_followed_ends_with_the_run_and_fails_where_that_failed(
    deployed: Cluster, capfd: pytest.CaptureFixture[str]
) -> None:
    said = deployed.run("logs first -f", code=1)
    assert capfd.readouterr().out == "Epoch 1/1\n"
    assert said.endswith("run first has failed: exit code 7\n")


def test_run_deploys_and_follows_the_log(deployed: Cluster, capfd: pytest.CaptureFixture[str]) -> None:
    deployed.run("undeploy first --yes")
    said = deployed.run("run . --no-doctor", code=1)
    assert re.findall(r"\$ (.*)", said) == ["packyard deploy . --no-doctor -n ml", "packyard logs first --follow -n ml"]
    assert (capfd.readouterr().out, "run first has failed: exit code 7" in said) == ("Epoch 1/1\n", True)


def test_ctrl_c_ends_the_log_and_says_that_the_run_goes_on(deployed: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Reading, "finish", interrupted)
    said = deployed.run("run . --no-doctor", code=130)
    assert "run first goes on; packyard logs first --follow -n ml follows it again, packyard undeploy first -n" in said


def test_a_port_is_one_that_a_pod_announces_the_first_that_speaks_http_or_a_number(
    deployed: Cluster, capfd: pytest.CaptureFixture[str]
) -> None:
    assert "announces no port (packyard forward RUN PORT" in deployed.run("forward first", code=1)
    deployed.run("forward first 6006")
    assert capfd.readouterr().out == "Forwarding pod/first-x7k2p 6006\n"
    work = job("first")
    ports = [{"name": "grpc", "containerPort": 8500}, {"name": "http", "containerPort": 8501}]
    work["spec"]["template"]["spec"]["containers"][0]["ports"] = ports
    work["spec"]["template"]["metadata"]["labels"] = {"app.kubernetes.io/instance": "first"}
    deployed.run("undeploy first --yes")
    deployed.write(work)
    deployed.run("deploy . --no-doctor")
    deployed.run("forward first")
    deployed.run("forward first grpc")
    assert capfd.readouterr().out == "Forwarding pod/first-x7k2p 8501\nForwarding pod/first-x7k2p grpc\n"


def test_what_pods_that_are_there_take_no_notice_of_is_refused(deployed: Cluster) -> None:
    settings = json.loads((deployed.folder / "0.yaml").read_text("utf-8"))
    deployed.write({**settings, "data": {"OUTPUT_DIR": "other"}}, json.loads((deployed.folder / "1.yaml").read_text()))
    said = deployed.run("deploy . --no-doctor", code=1)
    assert (
        "nothing is applied\nerror: ConfigMap first changes, and the pods of Job first stay as they were made" in said
    )
    assert "(packyard undeploy first -n ml deletes it, then deploy it again)" in said


def test_a_workload_that_would_take_a_change_in_vain_is_refused_and_may_be_suspended(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    cluster.write(made.mpi_job("first", "run"))
    cluster.run("deploy . --no-doctor --no-wait")
    cluster.write(made.mpi_job("first", "crash"))
    said = cluster.run("deploy . --no-doctor --no-wait", code=1)
    assert "MPIJob first changes, and the pods of MPIJob first stay as they were made" in said
    suspended = made.mpi_job("first", "run")
    suspended["spec"]["runPolicy"]["suspend"] = True
    cluster.write(suspended)
    assert "MPIJob first configured" in cluster.run("deploy . --no-doctor --no-wait")


def test_what_looks_like_a_secret_is_refused_unless_somebody_insists(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    work = job("work")
    (container,) = work["spec"]["template"]["spec"]["containers"]
    container["args"] = ["--token=t0p"]
    cluster.write(config_map("a", WANDB_API_KEY="0123456789abcdef", EPOCHS="3", TOKEN_FILE="/run/token"), work)
    said = cluster.run("deploy . --no-doctor", code=1)
    assert said.count("looks like a secret") == 2
    assert "ConfigMap a: data.WANDB_API_KEY looks like a secret" in said
    assert "Job work: spec.template.spec.containers.0.args.0 looks like a secret" in said
    assert "0123456789abcdef" not in said
    assert "ConfigMap a created" in cluster.run("deploy . --no-doctor --force")
