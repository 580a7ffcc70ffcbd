"""Roles of users, on a real API server: with them all verbs work, and nothing in them can be left out."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from controlplane import people
from controlplane.api import Api, Object, wait
from packyard.core.errors import PackyardError
from packyard.running import doctor
from packyard.running.doctor import rights as held
from packyard.running.runs import apply as applying
from packyard.running.runs import kubectl, roles
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.prepared import Prepared, prepare
from packyard.running.runs.roles import Right
from tiny import COMMAND, done, environment, packyard

#: A right that no verb asks for, and that a Role of the package gives.
GIVEN = Right("argoproj.io", "workflowtaskresults", "patch")


@pytest.fixture
def directory(untarred: Callable[[str], Path]) -> Path:
    """A use case, to which a server, a Role for its account and a reference to a Secret were added."""
    found = untarred("mnist-fp32-training-k8s") / "first-run/none"
    labels = {"app": "server"}
    container = {
        "name": "server",
        "image": "example/server:1",
        "ports": [{"containerPort": 8080}],
        "env": [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "a"}}}],
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    context = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    pod = {"containers": [container], "securityContext": context}
    spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    role: Object = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "reporter"},
        "rules": [{"apiGroups": [GIVEN.group], "resources": [GIVEN.resource], "verbs": [GIVEN.verb]}],
    }
    items = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "server"}, "spec": spec},
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "server"},
            "spec": {"selector": labels, "ports": [{"port": 8080}]},
        },
        role,
        {**roles.binding(role, [], []), "subjects": [{"kind": "ServiceAccount", "name": "default"}]},
    ]
    (found / "more.yaml").write_text(yaml.safe_dump_all(items))
    kustomization = found / "kustomization.yaml"
    kustomization.write_text(kustomization.read_text().replace("resources:\n", "resources:\n- more.yaml\n"))
    return found


@pytest.fixture
def prepared(directory: Path) -> Prepared:
    return prepare(directory, {}, path=os.environ["PATH"])


@pytest.fixture
def user(cluster: Api, namespace: str, tmp_path: Path) -> Kubectl:
    """kubectl as a user who has no rights but those of his role, and is called like the namespace."""
    config = people.kubeconfig(cluster, namespace, namespace, tmp_path)
    return kubectl.find(os.environ["PATH"], kubeconfig=str(config))


def give(cluster: Api, namespace: str, rights: Iterable[Right]) -> None:
    """Let the user have just these rights."""
    role = roles.role(set(rights), "packyard", namespace)
    for each in (role, roles.binding(role, [namespace], [])):
        cluster.apply(each, namespace).expect_done()


def test_a_user_runs_packages_and_asks_for_just_what_the_role_gives(
    directory: Path, prepared: Prepared, cluster: Api, namespace: str, user: Kubectl
) -> None:
    rights, beyond = roles.needed(prepared.objects)
    inside, everywhere = held.to_read(doctor.questions(prepared.objects))
    rights |= inside
    assert not beyond
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "stringData": {"a": "b"}}
    cluster.create(secret, namespace).expect_done()
    give(cluster, namespace, rights)
    wait(lambda: [] if Right("", "pods", "list") in allowed(user) else ["the role is not known yet"])
    assert {each for each in allowed(user) if each.resource and not is_everybodys(each)} == rights
    use(user, directory, prepared.run)
    events = list(people.requests(cluster, namespace))
    asked = {each for event in events if not is_everybodys(each := right_of(event, rights))}
    refused = {right_of(event, rights) for event in events if event["responseStatus"]["code"] == 403}
    assert refused <= everywhere | FIRST_TRIES
    created = {each for each in rights if each.verb == "create" and each.resource in OWN}  # asked for by a patch
    assert asked - refused <= rights
    assert rights - asked - created == {GIVEN, *UNMET}


#: The kinds of the use case.
OWN = ("configmaps", "deployments", "jobs", "rolebindings", "roles", "serviceaccounts", "services")
#: What kubectl tries before it does what every server admits.
FIRST_TRIES = {Right("", f"pods/{name}", "get") for name in ("exec", "portforward")}
#: What is asked for only where a use case has a claim.
UNMET = {Right("", "persistentvolumeclaims", "get")}


def use(user: Kubectl, directory: Path, run: str) -> None:
    """Do all that users do with runs; nodes are simulated, so that some of it fails after it was admitted."""
    flags = (user.flags[0], "-n", user.namespace)
    packyard("doctor", directory, "--probe", *flags)
    assert packyard("deploy", directory, *flags).returncode == 0
    for words in (["status", run], ["logs", run], ["logs", run, "--events"], ["rollback", run, "--list"]):
        packyard(*words, *flags)
    packyard("exec", run, "--role", "server", *flags, "--", "true")
    forward(run, *flags)
    assert packyard("rollback", run, "1", "--no-wait", *flags).returncode == 0
    assert packyard("undeploy", run, *flags).returncode == 0


def forward(*words: str) -> None:
    """Forward the port of the server, and stop."""
    command = [*COMMAND, "forward", *words]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate()


def allowed(user: Kubectl) -> set[Right]:
    """Return what `kubectl auth can-i` says of the namespace."""
    words = [user.program, *user.flags, "auth", "can-i", "--list"]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()[1:]
    found = set()
    for line in lines:
        ((resource, names, verbs),) = re.findall(r"^(\S*)\s+\[.*?\]\s+\[(.*?)\]\s+\[(.*?)\]$", line)
        whole, _, inner = resource.partition("/")
        name, _, group = whole.partition(".")
        for verb in verbs.split():
            found |= {Right(group, f"{name}/{inner}" if inner else name, verb, each) for each in names.split() or [""]}
    return found


def is_everybodys(right: Right) -> bool:
    """Say whether everybody has a right, to ask for his own."""
    return right.resource.startswith("selfsubject")


def right_of(event: Object, rights: set[Right]) -> Right:
    """Return what was asked for: of one object, if there is a right on it alone."""
    of = event["objectRef"]
    resource = "/".join(filter(None, (of["resource"], of.get("subresource"))))
    found = Right(of.get("apiGroup", ""), resource, event["verb"])
    named = replace(found, name=of.get("name", ""))
    return named if named in rights else found


@pytest.mark.parametrize("resource", [*OWN, GIVEN.resource])
def test_without_a_right_to_create_or_to_give_a_package_is_refused(
    resource: str, prepared: Prepared, cluster: Api, namespace: str, user: Kubectl
) -> None:
    rights, _ = roles.needed(prepared.objects)
    lacking = (
        GIVEN
        if resource == GIVEN.resource
        else next(each for each in rights if (each.resource, each.verb) == (resource, "create"))
    )
    give(cluster, namespace, rights - {lacking})
    wait(lambda: [] if Right("", "pods", "list") in allowed(user) else ["the role is not known yet"])
    with pytest.raises(PackyardError, match=resource):
        applying.attempt(user, prepared.run, prepared.objects)


@pytest.mark.nightly
def test_rules_are_few_and_have_no_wildcard(untarred: Callable[[str], Path]) -> None:
    directory = untarred("wide-deep-large-ds-fp32-training-k8s")
    (role, binding) = yaml.safe_load_all(done("roles", directory, "-n", "ml", "--user", "ann", "--group", "team"))
    assert (role["metadata"]["name"], role["metadata"]["namespace"]) == ("packyard", "ml")
    assert [each["name"] for each in binding["subjects"]] == ["ann", "team"]
    assert not any("*" in texts for rule in role["rules"] for texts in rule.values())
    keys = [(rule["apiGroups"], rule.get("resourceNames"), rule["verbs"]) for rule in role["rules"]]
    assert len(keys) == len({repr(each) for each in keys})
    given = [rule for rule in role["rules"] if "workflowtaskresults" in rule["resources"]]
    assert given == [{"apiGroups": ["argoproj.io"], "resources": ["workflowtaskresults"], "verbs": ["create", "patch"]}]


def test_what_is_left_to_administrators_is_said(tmp_path: Path) -> None:
    (tmp_path / "kustomization.yaml").write_text("resources: [all.yaml]\n")
    rules = [{"apiGroups": ["", "apps"], "resources": ["pods"], "verbs": ["*"]}]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "all"}, "rules": rules}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "data"}}
    (tmp_path / "all.yaml").write_text(yaml.safe_dump_all([role, volume]))
    told = packyard("roles", tmp_path)
    assert "PersistentVolume, which has no namespace" in told.stderr
    assert "Role all, which gives all rights on something" in told.stderr
    assert not {"roles", "persistentvolumes"} & {
        name for rule in yaml.safe_load(told.stdout)["rules"] for name in rule["resources"]
    }
    (_, cluster_role) = yaml.safe_load_all(done("roles", tmp_path, "--cluster"))
    assert {verb for rule in cluster_role["rules"] for verb in rule["verbs"]} <= {"get", "list"}
