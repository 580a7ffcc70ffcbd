"""Runs whose records somebody deleted: they are shown, can be deleted, and nothing that only looks like them is."""

from __future__ import annotations

import json

import pytest

from commandline import done, packyard
from controlplane.api import Api, wait
from packyard.running.runs import record as records
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.run import LABEL, MANAGED
from running import made
from running.wanted import config_map, deploy, item, prepared


@pytest.fixture
def flags(cluster: Api, namespace: str) -> tuple[str, ...]:
    return (f"--namespace={namespace}", f"--kubeconfig={cluster.folder / 'kubeconfig'}")


def forget(client: Kubectl, run: str) -> None:
    client.run("delete", "configmaps", f"--selector={records.NUMBER},{LABEL}={run}")


def test_is_shown_alone_and_among_others_and_undeployed(
    client: Kubectl, cluster: Api, namespace: str, flags: tuple[str, ...]
) -> None:
    deploy(client, prepared(made.job("lost", "run"), config_map("a", x="1"), run="lost"))
    deploy(client, prepared(made.mpi_job("mpi", "run"), run="mpi"))
    copied = config_map("copied", x="1")
    copied["metadata"]["labels"] = {LABEL: "lost", **MANAGED}
    cluster.create(copied, namespace).expect_done()
    forget(client, "lost")

    def states(*words: str) -> dict[str, str]:
        return {each["run"]: each["state"] for each in json.loads(done("status", "-o", "json", *words, *flags))}

    assert states()["lost"] == "unrecorded"
    assert states("lost") == {"lost": "unrecorded"}
    forget(client, "mpi")
    assert states() == {"lost": "unrecorded", "mpi": "unrecorded"}
    page = packyard("status", "--limit", "1", *flags)
    assert (page.stdout.count("unrecorded"), "1 more, which are older: --limit 2 shows all" in page.stderr) == (1, True)
    shown = packyard("status", "lost", *flags).stdout
    assert "undeploy deletes it, and deploy of its directory records it" in shown
    asked = packyard("undeploy", "lost", *flags)
    assert (asked.returncode, "its records are gone" in asked.stderr) == (1, True)
    (gone,) = json.loads(packyard("undeploy", "lost", "--yes", "-o", "json", *flags).stdout)
    assert [each["name"] for each in gone["deleted"]] == ["lost", "a"]
    (gone,) = json.loads(packyard("undeploy", "--all", "--yes", "-o", "json", *flags).stdout)
    assert [each["kind"] for each in gone["deleted"]] == ["MPIJob"]
    left = {"copied", "kube-root-ca.crt"}
    # What mpi-operator made is deleted after its MPIJob.
    wait(lambda: sorted({each["metadata"]["name"] for each in cluster.list("v1", "ConfigMap", namespace)} ^ left))
    refused = packyard("undeploy", "lost", "--yes", *flags)
    assert (refused.returncode, "there is no run 'lost'" in refused.stderr) == (1, True)


def test_what_a_verb_made_for_itself_is_no_run(cluster: Api, namespace: str, flags: tuple[str, ...]) -> None:
    probe = item("v1", "ConfigMap", "x-probe", data={})
    probe["metadata"]["labels"] = {LABEL: "x-probe", "packyard/purpose": "probe", **MANAGED}
    cluster.create(probe, namespace).expect_done()
    assert "no runs" in packyard("status", *flags).stderr
