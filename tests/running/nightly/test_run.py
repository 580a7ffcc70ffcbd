"""`run`: from an empty folder to the log of a job, in one command."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from controlplane import fates
from controlplane.api import Api, wait
from running.nightly.test_reading import started
from tiny import inside

PACKAGE = "mnist-fp32-training-k8s"


@pytest.fixture
def here(cluster: Api, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and a kubeconfig of the administrator for the namespace."""
    config = json.loads((cluster.folder / "kubeconfig").read_text())
    config["contexts"][0]["context"]["namespace"] = namespace
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_ctrl_c_ends_the_log_and_says_that_the_run_goes_on(here: Path, cluster: Api, namespace: str) -> None:
    assert inside("get", PACKAGE).returncode == 0
    job = here / PACKAGE / "quickstart/mlops/first-run/none/job.yaml"
    before = '        sidecar.istio.io/inject: "false"\n'
    job.write_text(job.read_text().replace(before, f"{before}        {fates.ANNOTATION}: run\n"))
    with started("run", f"{PACKAGE}/first-run/none", "RUN_NAME=lasts") as process:
        while "$ packyard logs" not in process.stderr.readline():
            assert process.poll() is None
        wait(lambda: [] if cluster.list("v1", "Pod", namespace) else ["no pod"])
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        # `python -m` kills itself where it came while a class was made, which shells tell as 130 as well.
        assert process.wait() in (130, -signal.SIGINT)
    run = "mnist-fp32-training-lasts"
    assert f"run {run} goes on; packyard logs {run} --follow follows it again, packyard undeploy {run} ends it" in said
    assert cluster.list("batch/v1", "Job", namespace)
