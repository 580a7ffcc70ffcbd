"""What keeps pods from nodes, volumes, schedulers, the network and the API server itself: each cause by its name."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import real
from catalogue.usecases import Object
from controlplane import shared, stored, webhooks
from controlplane.api import Api, wait
from packyard.running import doctor
from packyard.running.doctor.finding import Finding
from packyard.running.runs import kubectl
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.prepared import Prepared
from running.nightly.test_doctor_faults import CLAIM, add_volume, create, define, mounting, node, phases
from running.patients import deployed, examine, pod, prepared, read, told

TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


def test_nodes_are_counted_by_what_keeps_pods_away_and_a_taint_by_the_command_that_mends_it(
    operated: Api, client: Kubectl, namespace: str
) -> None:
    node(
        operated,
        f"{namespace}-1",
        {"pool": namespace},
        taints=[TAINT],
        cpu="4",
        memory="8Gi",
        **{"example.com_gpu": "8"},
    )
    resources = {"limits": {"cpu": "1", "memory": "1Gi", "example.com/gpu": "1"}}
    run = [deployed("run", pod(main_resources=resources))]
    (found,) = examine(client, run)
    assert re.fullmatch(
        r"none of \d+ nodes takes its pods: \d+ have no example.com/gpu, 1 has the taint"
        " nvidia.com/gpu=present:NoSchedule",
        found.message,
    )
    ready = prepared(run)
    (offered,) = faults(client, replace(ready, offered=["node-pool"]))
    assert offered.fix == "packyard enable . node-pool && packyard set . NODE_TAINT=nvidia.com/gpu"
    (enabled,) = faults(client, replace(ready, setters=frozenset({"NODE_TAINT"})))
    assert enabled.fix == "packyard set . NODE_TAINT=nvidia.com/gpu"


def test_nobody_is_told_to_tolerate_that_a_node_is_about_to_go(operated: Api, client: Kubectl, namespace: str) -> None:
    going = {"key": "ToBeDeletedByClusterAutoscaler", "value": "1", "effect": "NoSchedule"}
    node(operated, f"{namespace}-1", {"pool": namespace}, taints=[going, TAINT], cpu="4", memory="8Gi")
    ready = replace(
        prepared([deployed("run", pod(nodeSelector={"pool": namespace}))]), setters=frozenset({"NODE_TAINT"})
    )
    (found,) = faults(client, ready)
    assert "1 has the taint ToBeDeletedByClusterAutoscaler=1:NoSchedule" in found.message
    assert "NODE_TAINT" not in found.fix


def faults(client: Kubectl, ready: Prepared, *, autoscaled: bool = False) -> list[Finding]:
    """Return what is said of nodes."""
    found = doctor.examine(client, ready, autoscaled=autoscaled)
    return [each for each in found if each.severity != "passed" and each.check == "nodes"]


@pytest.mark.nightly
@pytest.mark.usefixtures("kubectl")
def test_where_nodes_are_added_on_demand_their_absence_is_a_warning(tmp_path: Path) -> None:
    """On a control plane of its own: what adds nodes is seen by everybody."""
    real.pinned_program("kubernetes")
    with shared.use(tmp_path, "-m", "controlplane.service", "bare", str(tmp_path)):
        api = Api(tmp_path)
        client = kubectl.find(os.environ["PATH"], kubeconfig=str(tmp_path / "kubeconfig"), namespace="default")
        resources = {"limits": {"cpu": "1", "memory": "1Gi", "example.com/tpu": "1"}}
        run = prepared([deployed("run", pod(main_resources=resources, nodeSelector={"pool": "tpu"}))])
        (none,) = faults(client, run)
        assert (none.severity, none.message) == ("error", "there is no node")
        (said,) = faults(client, run, autoscaled=True)
        by = "nodes are added on demand, as --autoscaled or the site's file says"
        assert (said.severity, said.why) == ("warning", f"its pods stay Pending, unless nodes come: {by}")
        status = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "cluster-autoscaler-status"},
            "data": {"status": CLUSTER_AUTOSCALER},
        }
        api.create(status, "kube-system").expect_done()
        (scaled,) = faults(client, run)
        api.delete(status, "kube-system").expect_done()
        assert scaled.severity == "warning"
        assert scaled.why.endswith("autoscaler may add nodes: 2 of its groups of nodes have at most 15 nodes")
        define(api, "karpenter.sh/v1", "NodePool")
        other = pool("other", labels={"pool": "cpu"})
        tainted = pool("tainted", labels={"pool": "tpu"}, taints=[TAINT])
        for each in (other, tainted):
            api.create(each, "default").expect_done()
        (refused,) = faults(client, run)
        assert refused.severity == "error"
        assert refused.message.endswith(
            "; no NodePool of Karpenter makes such a node: other lacks the label pool=tpu, tainted has the taint"
            " nvidia.com/gpu=present:NoSchedule"
        )
        rule = {"key": "pool", "operator": "In", "values": ["tpu"]}
        api.create(pool("fits", requirements=[rule]), "default").expect_done()
        (fits,) = faults(client, run)
        assert fits.severity == "warning"
        assert fits.why.endswith("Karpenter may add nodes of NodePool fits")


#: The form of the cluster autoscaler's status, by its documentation (FAQ.md, "How to see status").
CLUSTER_AUTOSCALER = """\
autoscalerStatus: Running
nodeGroups:
- name: cpu
  health: {status: Healthy, cloudProviderTarget: 2, minSize: 1, maxSize: 5}
- name: gpu
  health: {status: Healthy, cloudProviderTarget: 0, minSize: 0, maxSize: 10}
"""


def pool(name: str, labels: Object | None = None, **made: Any) -> Object:
    """Return a NodePool of Karpenter, whose nodes have labels and what ``made`` says."""
    template = {"metadata": {"labels": labels or {}}, "spec": made}
    spec = {"template": template}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec}


def test_a_volume_of_another_zone_keeps_pods_away(operated: Api, client: Kubectl, namespace: str) -> None:
    (claim,) = read(CLAIM, name="far", mode="ReadWriteMany", storage_class="", size="1Gi")
    rule = {"matchExpressions": [{"key": "zone", "operator": "In", "values": [f"{namespace}-b"]}]}
    volume = stored.volume(namespace, claim)
    spec = {**volume["spec"], "nodeAffinity": {"required": {"nodeSelectorTerms": [rule]}}}
    add_volume(operated, {**volume, "spec": spec})
    operated.create(claim, namespace).expect_done()
    wait(lambda: [] if phases(operated, namespace) == {"far": "Bound"} else ["far"])
    (found,) = examine(client, mounting("far"))
    assert (found.severity, re.sub(r"\d+ ", "N ", found.message.partition(": ")[2])) == (
        "error",
        "N cannot reach the volume of claim far",
    )


def test_a_claim_for_one_pod_that_another_run_mounts(operated: Api, client: Kubectl, namespace: str) -> None:
    (claim,) = read(CLAIM, name="mine", mode="ReadWriteOncePod", storage_class="", size="1Gi")
    operated.create(stored.volume(namespace, claim)).expect_done()
    operated.create(claim, namespace).expect_done()
    wait(lambda: [] if phases(operated, namespace) == {"mine": "Bound"} else ["mine"])
    volumes = [{"name": "mine", "persistentVolumeClaim": {"claimName": "mine"}}]
    mounts = [{"name": "mine", "mountPath": "/mine"}]
    spec = pod(volumes=volumes, main_volumeMounts=mounts)
    holder = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "first"}, "spec": spec}
    assert told(examine(client, [deployed("run", spec)])) == []
    operated.create(holder, namespace).expect_done()
    assert told(examine(client, [deployed("run", spec)])) == [
        "error: PersistentVolumeClaim mine: is ReadWriteOncePod, and pod first mounts it"
    ]


def test_a_scheduler_that_nothing_shows(operated: Api, client: Kubectl, namespace: str) -> None:
    (found,) = examine(client, [deployed("run", pod(schedulerName=f"{namespace}-scheduler"))])
    assert str(found) == (
        f"scheduler {namespace}-scheduler: nothing shows that it is there: it has placed no pod, and no pod is called"
        " so (Deployment run)"
    )
    own = pod(main_args=[f"--scheduler-name={namespace}-scheduler"])
    operated.create(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "own"}, "spec": own}, namespace
    ).expect_done()
    assert told(examine(client, [deployed("run", pod(schedulerName=f"{namespace}-scheduler"))])) == []


def test_policies_without_a_rule_are_told_by_what_they_cut(operated: Api, client: Kubectl, namespace: str) -> None:
    deny = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: deny}
spec: {podSelector: {}, policyTypes: [Ingress, Egress]}
"""
    create(operated, namespace, deny)
    several = [deployed("run", pod(), 2)]
    assert told(examine(client, several)) == [
        "warning: NetworkPolicy deny: lets nothing out of the pods of Deployment run",
        "warning: NetworkPolicy deny: lets nothing reach the pods of Deployment run",
    ]
    own = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: run}
spec:
  podSelector: {matchLabels: {app: run}}
  policyTypes: [Ingress, Egress]
  ingress: [{from: [{podSelector: {matchLabels: {app: run}}}]}]
  egress: [{}]
"""
    assert told(examine(client, [*several, *read(own)])) == []


def test_pods_that_the_server_would_refuse_are_told_by_a_dry_run(
    operated: Api, client: Kubectl, namespace: str
) -> None:
    run = [deployed("run", pod())]
    with webhooks.registered(operated, namespace, ["pods"], 1):
        (found,) = examine(client, run)
    assert found.severity == "error"
    assert str(found).startswith(
        "Deployment run: its pods are not made: webhook tests.packyard.example cannot be called: "
    )
    with webhooks.asked(operated, namespace, ["pods"], lambda _: "no pods today"):
        assert told(examine(client, run)) == [
            "error: Deployment run: its pods are refused by webhook tests.packyard.example: no pods today"
        ]
