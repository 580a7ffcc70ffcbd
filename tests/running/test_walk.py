"""A user's walk on a cluster of Kubernetes alone: a plain Job, from nothing to nothing."""

import json
from pathlib import Path

import pytest

from controlplane.api import Api, wait
from tiny import done

pytestmark = pytest.mark.oracle


@pytest.mark.usefixtures("kubectl")
def test_a_job_is_run_looked_at_read_and_taken_down(
    job_cluster: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    namespace = job_cluster.create_namespace("restricted")
    wait(lambda: [] if job_cluster.list("v1", "ServiceAccount", namespace) else ["no service account"])
    job_cluster.print(namespace, "Epoch 1/1")
    monkeypatch.setenv("KUBECONFIG", str(job_cluster.folder / "kubeconfig"))
    flags = ("-n", namespace)
    done("run", "mnist-fp32-training-k8s/first-run/none", *flags, cwd=tmp_path)
    assert "Epoch 1/1" in capfd.readouterr().out  # kubectl prints it
    wait(lambda: [] if states(namespace) == ["succeeded"] else states(namespace))
    (run,) = json.loads(done("status", "-o", "json", *flags))
    done("logs", run["run"], *flags)
    assert "Epoch 1/1" in capfd.readouterr().out
    done("undeploy", run["run"], "--yes", *flags)
    assert [job_cluster.list(*kind, namespace) for kind in (("batch/v1", "Job"), ("v1", "Pod"))] == [[], []]


def states(namespace: str) -> list[str]:
    return [run["state"] for run in json.loads(done("status", "-o", "json", "-n", namespace))]
