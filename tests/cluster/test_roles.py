"""Roles of users, on a real API server: with them all verbs work, and nothing in them can be left out."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from controlplane import people
from controlplane.api import Api, Object, wait
from packyard.cluster import apply as applying
from packyard.cluster import kubectl, roles, undeploy
from packyard.cluster import record as records
from packyard.cluster.deploy import deploy
from packyard.cluster.kubectl import Kubectl
from packyard.cluster.prepared import Prepared, prepare
from packyard.cluster.roles import Right
from packyard.errors import PackyardError
from running import done, packyard

WHEN = "2026-01-01T00:00:00Z"
#: A right that no verb asks for, and that a Role of the package gives.
GIVEN = Right("argoproj.io", "workflowtaskresults", "patch")


@pytest.fixture
def prepared(untarred: Callable[[str], Path]) -> Prepared:
    """A use case, and a Role that it might bring."""
    found = prepare(untarred("mnist-fp32-training-k8s") / "first-run/none", {}, path=os.environ["PATH"])
    rules = [{"apiGroups": [GIVEN.group], "resources": [GIVEN.resource], "verbs": [GIVEN.verb]}]
    metadata = {"name": found.run}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata, "rules": rules}
    binding = {**roles.binding(role, [], []), "subjects": [{"kind": "ServiceAccount", "name": found.run}]}
    return replace(found, objects=[*found.objects, role, binding])


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
    prepared: Prepared, cluster: Api, namespace: str, user: Kubectl
) -> None:
    rights, beyond = roles.needed(prepared.objects)
    assert not beyond
    give(cluster, namespace, rights)
    wait(lambda: [] if Right("", "pods", "watch") in allowed(user) else ["the role is not known yet"])
    assert {each for each in allowed(user) if each.resource and not is_everybodys(each)} == rights
    use(user, prepared)
    asked = {each for event in people.requests(cluster, namespace) if not is_everybodys(each := right_of(event))}
    refused = [event for event in people.requests(cluster, namespace) if event["responseStatus"]["code"] == 403]
    assert refused == []
    assert asked <= rights
    created = {each for each in rights if each.verb == "create" and each.resource in OWN}  # asked for by a patch
    unasked = rights - asked - created
    assert unasked - roles.needed([])[0] == {GIVEN}


OWN = ("configmaps", "jobs", "rolebindings", "roles", "serviceaccounts")


def use(user: Kubectl, prepared: Prepared) -> None:
    """Do all that users do with runs."""
    deploy(user, prepared, who="ann", when=WHEN)
    removal = undeploy.find(user, records.read_all(user))
    undeploy.delete(user, removal, claims=False)
    undeploy.forget(user, removal)


def allowed(user: Kubectl) -> set[Right]:
    """Return what `kubectl auth can-i` says of the namespace."""
    words = [user.program, *user.flags, "auth", "can-i", "--list"]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()[1:]
    found = set()
    for line in lines:
        resource, names, verbs = re.fullmatch(r"(\S*)\s+\[.*?\]\s+\[(.*?)\]\s+\[(.*?)\]", line).groups()  # type: ignore[union-attr]
        whole, _, inner = resource.partition("/")
        name, _, group = whole.partition(".")
        for verb in verbs.split():
            found |= {Right(group, f"{name}/{inner}" if inner else name, verb, each) for each in names.split() or [""]}
    return found


def is_everybodys(right: Right) -> bool:
    """Say whether everybody has a right, to ask for his own."""
    return right.resource.startswith("selfsubject")


def right_of(event: Object) -> Right:
    of = event["objectRef"]
    resource = "/".join(filter(None, (of["resource"], of.get("subresource"))))
    return Right(of.get("apiGroup", ""), resource, event["verb"])


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
    wait(lambda: [] if Right("", "pods", "watch") in allowed(user) else ["the role is not known yet"])
    with pytest.raises(PackyardError, match=resource):
        applying.apply(user, prepared.run, prepared.objects, dry_run=True)


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
