"""Undeploying on a real control plane: what goes, what stays, and that nobody else's is touched."""

from dataclasses import replace

from controlplane.api import Api, wait
from packyard.running.runs import look, undeploy
from packyard.running.runs import record as records
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.run import LABEL
from packyard.running.runs.undeploy import Removal
from running.wanted import claim, config_map, deployment, item, made, secret


def found(client: Kubectl, *runs: str) -> Removal:
    known = records.read_all(client)
    return undeploy.find(client, {run: known[run] for run in runs})


def names(api: Api, namespace: str) -> set[str]:
    """Return what there is but what every namespace has, and what controllers made of the rest."""
    listed = (each for each in api.everything(namespace) if not each["metadata"].get("ownerReferences"))
    return {
        f"{each['kind']} {name}"
        for each in listed
        if (name := each["metadata"]["name"]) not in ("kube-root-ca.crt", "default")
    }


def test_a_run_goes_with_its_records_and_no_other_is_touched(client: Kubectl, cluster: Api, namespace: str) -> None:
    made(client, deployment("one"), config_map("a", x="1"), secret("s", x="1"))
    made(client, deployment("one"), config_map("b", x="1"), secret("s", x="1"))
    made(client, deployment("two"), config_map("c", x="1"), run="second")
    labelled = config_map("mine", x="1")
    labelled["metadata"]["labels"] = {LABEL: "first"}  # by hand: no record names it
    cluster.create(labelled, namespace).expect_done()
    removal = found(client, "first")
    wait(lambda: [] if undeploy.left(client, removal) else ["no pod yet"])
    look.delete(client, removal.objects)
    assert sorted(map(str, removal.objects)) == ["ConfigMap b", "Deployment one", "Secret s"]
    wait(lambda: [str(each) for each in undeploy.left(client, removal)])
    look.delete(client, removal.records)
    kept = {"ConfigMap c", "ConfigMap mine", "ConfigMap packyard.second.1", "Deployment two"}
    assert names(cluster, namespace) == kept
    wait(lambda: [] if undeploy.left(client, found(client, "second")) else ["no pod of the second"])


def test_what_bears_no_label_of_the_run_is_left_whatever_its_record_names(
    client: Kubectl, cluster: Api, namespace: str
) -> None:
    made(client, config_map("a", x="1"), config_map("b", x="1"))
    for name, run in (("a", "other"), ("b", None)):
        change = config_map(name)
        change["metadata"]["labels"] = {LABEL: run}
        cluster.merge(change, namespace).expect_done()
    removal = found(client, "first")
    assert (removal.objects, removal.lasting) == ([], [])
    assert {"ConfigMap a", "ConfigMap b"} <= names(cluster, namespace)


def test_a_record_reaches_nothing_of_the_same_run_in_another_namespace(
    client: Kubectl, cluster: Api, namespace: str
) -> None:
    role = item("rbac.authorization.k8s.io/v1", "ClusterRole", namespace, rules=[])
    made(client, role, config_map("a", x="1"))
    other = replace(client, namespace=cluster.create_namespace("restricted"))
    records.create(other, records.read_last(client, "first"))
    assert found(other, "first").objects == []
    assert "ClusterRole" in [each.kind for each in found(client, "first").objects]
    cluster.delete(role).expect_done()


def test_claims_stay_and_another_run_uses_them(client: Kubectl, cluster: Api, namespace: str) -> None:
    made(client, claim(), config_map("a", x="1"))
    removal = found(client, "first")
    assert [str(each) for each in removal.objects] == ["ConfigMap a"]
    look.delete(client, removal.objects)
    look.delete(client, removal.records)
    made(client, claim(), config_map("a", x="1"), run="second")
    assert [str(each) for each in records.read_last(client, "second").objects] == ["ConfigMap a"]
    assert cluster.read(claim(), namespace).status == 200
