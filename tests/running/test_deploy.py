"""Deploying on a real control plane: what is there afterwards, and whose it is; what is refused, and why."""

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from controlplane.api import Api, Object, await_quota, wait
from packyard.core.bundle.record import FaultError, object_of
from packyard.core.errors import PackyardError
from packyard.core.files.tree import Tree
from packyard.running.runs import plan as deploying
from packyard.running.runs import record as records
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.rendering import Rendered
from packyard.running.runs.run import LABEL, Reference
from running.made import WHEN
from running.wanted import claim, config_map, deploy, deployment, item, job, made, names, rendered, secret


def refused(client: Kubectl, *objects: Object, force: bool = False, run: str = "first") -> str:
    """Return why objects are not deployed."""
    with pytest.raises(PackyardError) as caught:
        deploying.plan(client, rendered(*objects, run=run), who="ann", when=WHEN, force=force)
    return str(caught.value)


def planned(client: Kubectl, *objects: Object, force: bool = False, run: str = "first") -> deploying.Plan:
    return deploying.plan(client, rendered(*objects, run=run), who="ann", when=WHEN, force=force)


def test_a_run_has_its_name_on_all_objects_and_pods_and_a_record(
    untarred: Callable[[str], Path], client: Kubectl, cluster: Api, namespace: str
) -> None:
    directory = untarred("mnist-fp32-training-k8s") / "first-run/none"
    made = deploy(client, Rendered.of(Tree(directory), {}, path=os.environ["PATH"]))
    wait(partial(unfinished, cluster, namespace))
    run = "mnist-fp32-training-first-run"
    assert made.run == run
    assert [len(found) for found in (made.objects, cluster.list("v1", "Pod", namespace))] == [4, 1]
    bearing = [each for each in cluster.everything(namespace) if each["metadata"].get("labels", {}).get(LABEL) == run]
    assert {each.kind for each in made.objects} | {"ConfigMap", "Pod"} == {each["kind"] for each in bearing}
    managed = [each for each in bearing if "app.kubernetes.io/managed-by" in each["metadata"]["labels"]]
    assert {each["kind"] for each in bearing} - {each["kind"] for each in managed} == {"Pod"}
    assert records.read_all(client) == {run: [records.read_last(client, run)]}
    assert records.read_last(client, run).read_objects()[0]["metadata"]["labels"][LABEL] == run


def unfinished(api: Api, namespace: str) -> list[str]:
    jobs = api.list("batch/v1", "Job", namespace)
    return [each["metadata"]["name"] for each in jobs if not each["status"].get("succeeded")]


def test_a_deployment_is_updated_in_place_and_what_a_run_no_longer_has_is_deleted_but_claims(
    client: Kubectl, cluster: Api, namespace: str
) -> None:
    made(client, deployment(cpu="1"), config_map(a="1"), config_map("old", a="1"), claim())
    uid = cluster.read(deployment(), namespace).body["metadata"]["uid"]
    again = made(client, deployment(cpu="2"), config_map(a="2"))
    found = cluster.read(deployment(), namespace).body
    assert (again.number, found["metadata"]["uid"]) == (2, uid)
    assert found["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "2"}
    assert "old" not in names(cluster, namespace, "ConfigMap")
    assert names(cluster, namespace, "PersistentVolumeClaim") == ["disk"]


def test_a_job_that_is_there_is_not_changed_nor_what_its_pods_have_read(client: Kubectl) -> None:
    made(client, job(cpu="1"), config_map(BATCH_SIZE="64", odd="\u2028\U0001f600"), deployment(cpu="1"))
    said = refused(client, job(cpu="2"), config_map(BATCH_SIZE="128"), deployment(cpu="1"))
    is_fixed = (
        'The Job "work" is invalid: spec.template: field is immutable (what is there stays as it is; packyard undepl'
    )
    assert said.startswith(is_fixed)
    settings = config_map(BATCH_SIZE="64", odd="\u2028\U0001f600")
    assert made(client, job(cpu="1"), settings, deployment(cpu="2")).number == 2  # a server beside it may change
    suspended = job(cpu="1")
    suspended["spec"]["suspend"] = True
    assert planned(client, suspended, settings, deployment(cpu="2")).record.number == 3
    made(client, item("v1", "Service", "web", spec={"ports": [{"port": 80}]}), run="web")
    headless = item("v1", "Service", "web", spec={"ports": [{"port": 80}], "clusterIP": "None"})
    assert "may not change once set (what is there stays as it is; pack" in refused(client, headless, run="web")


@pytest.mark.parametrize("force", [False, True])
def test_what_is_of_no_run_is_only_taken_over_by_force_and_what_is_of_another_run_never(
    client: Kubectl, cluster: Api, namespace: str, force: bool
) -> None:
    cluster.create(config_map("taken", a="1"), namespace).expect_done()
    made(client, config_map("theirs", a="1"), run="other")
    said = refused(client, config_map("taken", a="2"), config_map("theirs", a="2"), force=force)
    assert "ConfigMap theirs belongs to run other (RUN_NAME=NAME deploys another run beside it)" in said
    assert ("ConfigMap taken is there, and belongs to no run (--force makes it the run's" in said) is not force
    assert cluster.read(config_map("taken"), namespace).body["data"] == {"a": "1"}
    assert cluster.read(config_map("theirs"), namespace).body["data"] == {"a": "1"}
    if force:
        deploying.carry_out(client, planned(client, config_map("taken", a="2"), force=True))
        assert cluster.read(config_map("taken"), namespace).body["data"] == {"a": "2"}


def test_claims_that_are_there_are_used_as_they_are(client: Kubectl, cluster: Api, namespace: str) -> None:
    cluster.create(claim(), namespace).expect_done()
    made(client, claim("theirs"), config_map("of-theirs"), run="other")
    plan = planned(client, claim(), claim("theirs"), claim("own"), config_map())
    assert [str(each) for each in plan.used] == ["PersistentVolumeClaim disk", "PersistentVolumeClaim theirs"]
    deploying.carry_out(client, plan)
    assert [each.name for each in records.read_last(client, "first").objects] == ["own", "settings"]
    assert LABEL not in cluster.read(claim(), namespace).body["metadata"].get("labels", {})
    assert [each.name for each in planned(client, claim(), config_map()).record.objects] == ["settings"]


def test_a_field_that_somebody_else_has_set_is_named_with_its_object(
    client: Kubectl, cluster: Api, namespace: str
) -> None:
    made(client, config_map(a="1"), config_map("more", b="1"))
    cluster.merge(config_map("more", b="2"), namespace).expect_done()
    said = refused(client, config_map(a="1"), config_map("more", b="1"))
    assert said.startswith('ConfigMap more: Apply failed with 1 conflict: conflict with "packyard-tests"')
    assert ".data.b (--force takes over" in said
    assert "Please review" not in said
    deploying.carry_out(client, planned(client, config_map(a="1"), config_map("more", b="1"), force=True))
    assert cluster.read(config_map("more"), namespace).body["data"] == {"b": "1"}


def test_all_that_the_server_refuses_is_named_at_once_and_nothing_is_stored(
    client: Kubectl, cluster: Api, namespace: str
) -> None:
    wrong = job()
    wrong["spec"]["backofLimit"] = 3
    quota = item("v1", "ResourceQuota", "few", spec={"hard": {"count/secrets": "0"}})
    cluster.create(quota, namespace).expect_done()
    await_quota(cluster, "few", namespace)
    said = refused(client, config_map(a="1"), wrong, secret(a="1"), deployment(cpu="many"))
    patterns = (
        r"Job work: .*: \.spec\.backofLimit: field not declared in schema",
        r'secrets "key" is forbidden: exceeded quota: few, .*',
        r"Deployment server: .*: quantities must match the regular expression .*",
    )
    for text, pattern in zip(said.splitlines(), patterns, strict=True):
        assert re.fullmatch(pattern, text), text
    assert names(cluster, namespace, "ConfigMap", "Secret", "Job", "Deployment") == []


def test_a_value_of_another_type_may_be_a_secret_and_is_not_repeated(client: Kubectl) -> None:
    number = config_map()
    number["data"] = {"PORT": 8080}
    key = secret()
    key["stringData"] = {"password": 123456789}
    said = refused(client, number, key, {**config_map("listed"), "data": ["hunter2"]})
    for value in ("123456789", "8080", "hunter2", "value."):
        assert value not in said
    assert ".stringData.password: expected string, found another type: write it in quotes" in said


def test_objects_that_refer_to_others_of_the_run_are_applied_after_them(
    client: Kubectl, cluster: Api, namespace: str, untarred: Callable[[str], Path]
) -> None:
    directory = untarred("mnist-fp32-training-k8s") / "multi-node-train-job/user-allocated-pvc"
    cluster.create(claim(), namespace).expect_done()
    run = Rendered.of(Tree(directory), {"PVC_NAME": ["disk"]}, path=os.environ["PATH"])
    plan = deploying.plan(client, run, who="ann", when=WHEN)
    assert [each.kind for each in plan.unseen] == ["TrainJob"]
    applied: list[Reference] = []
    deploying.carry_out(client, plan, applied.append)
    assert [each.kind for each in applied][-1] == "TrainJob"
    assert len(applied) == len(plan.objects) == 5
    assert deploying.plan(client, run, who="ann", when=WHEN).unseen == []


def test_the_same_run_of_another_namespace_does_not_own_what_has_no_namespace(client: Kubectl, cluster: Api) -> None:
    other = Kubectl(
        program=client.program,
        flags=client.flags,
        context=client.context,
        namespace=cluster.create_namespace("restricted"),
    )
    rules = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]
    role = item("rbac.authorization.k8s.io/v1", "ClusterRole", client.namespace, rules=rules)
    made(client, role, config_map(a="1"))
    assert f"belongs to run first in namespace {client.namespace}" in refused(other, role, config_map(a="1"))
    cluster.delete(role).expect_done()


def test_secrets_are_never_recorded_and_may_change(client: Kubectl) -> None:
    made(client, secret(password="one"), job())
    stored = records.read_last(client, "first").read_objects()
    assert [set(each) for each in stored if each["kind"] == "Secret"] == [{"apiVersion", "kind", "metadata"}]
    made(client, secret(password="two"), job())
    shown = deploying.difference(client, planned(client, secret(password="four"), job())).decode()
    assert "***" in shown
    assert "Zm91cg" not in shown


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("kind", "--server=https://example.org/?"),
        ("name", "-n"),
        ("namespace", "a b"),
    ],
)
def test_a_record_names_nothing_that_kubectl_takes_for_something_else(field: str, text: str) -> None:
    names = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "", "name": "x"}
    assert object_of(Reference)(names).kind == "ConfigMap"
    with pytest.raises(FaultError, match=r"names nothing on a cluster"):
        object_of(Reference)({**names, field: text})
