"""What the accounts of a use case may do: what its Roles say and no more, and all that its Workflows need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product

from catalogue.usecases import Object, each_use_case, level, shipped
from controlplane.api import Api, wait
from packyard.writing.source.package import Package, UseCase
from real import Served

#: apiGroup, resource, verb, and the name of the only object that it is about, if there is one.
Right = tuple[str, str, str, str]

# How Argo's executor, which runs as the pod's account, reports, and what it runs for each action on a resource.
_REPORT = ("argoproj.io", "workflowtaskresults", ("create", "patch"))
_VERBS = {
    "get": ("get",),
    "create": ("create",),
    "apply": ("get", "create", "patch"),
    "replace": ("get", "update"),
    "patch": ("get", "patch"),
    "delete": ("get", "list", "watch", "delete"),
}


@each_use_case
def test_accounts_may_do_what_their_roles_say_and_their_workflows_need(
    package: Package, use_case: UseCase, api_server: Api, served5: Served
) -> None:
    directory = shipped(package, use_case)
    namespace = api_server.create_namespace(level(directory.parse()))
    objects = directory.set(directory.examples).build(served5, namespace)
    assert faults(api_server, namespace, objects) == []


def faults(api: Api, namespace: str, objects: list[Object]) -> list[str]:
    """Create the accounts and their roles, and return what the server grants beyond the roles, and not for a need."""
    for item in objects:
        if item["kind"] in ("ServiceAccount", "Role", "RoleBinding"):
            api.create(item, namespace).expect_done()
    found = []
    everyone = granted(api, namespace, "nobody")
    for account in sorted(accounts(objects)):
        said = set(of_roles(objects, account))
        wait(partial(lacking, api, namespace, account, said))
        rights = granted(api, namespace, account) - everyone
        found += [f"{account} may {right}" for right in sorted(rights - said)]
        found += lacking(api, namespace, account, set(needs(api, objects, account)))
    return found


def lacking(api: Api, namespace: str, account: str, wanted: set[Right]) -> list[str]:
    """Return which of the rights wanted an account does not have; the server takes a moment to know of new Roles."""
    return [f"{account} may not {right}" for right in sorted(wanted - granted(api, namespace, account))]


def accounts(objects: list[Object]) -> set[str]:
    return {item["metadata"]["name"] for item in objects if item["kind"] == "ServiceAccount"}


def granted(api: Api, namespace: str, account: str) -> set[Right]:
    """Return what the server lets an account do in its namespace."""
    own = replace(api, user=f"system:serviceaccount:{namespace}:{account}")
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "metadata": {},
        "spec": {"namespace": namespace},
    }
    return set(rights(own.create(review).expect_done()["status"]["resourceRules"]))


def rights(rules: Iterable[Object]) -> Iterator[Right]:
    for rule in rules:
        names = rule.get("resourceNames") or [""]
        yield from product(rule.get("apiGroups", ()), rule.get("resources", ()), rule["verbs"], names)


def of_roles(objects: list[Object], account: str) -> Iterator[Right]:
    """Yield what the Roles say that are bound to an account."""
    for binding in objects:
        if binding["kind"] == "RoleBinding" and account in (subject["name"] for subject in binding["subjects"]):
            for role in objects:
                if role["kind"] == "Role" and role["metadata"]["name"] == binding["roleRef"]["name"]:
                    yield from rights(role["rules"])


def needs(api: Api, objects: list[Object], account: str) -> Iterator[Right]:
    """Yield what the Workflows that run as an account do with the API server."""
    for item in objects:
        if item["kind"] == "Workflow" and item["spec"].get("serviceAccountName") == account:
            group, resource, verbs = _REPORT
            yield from ((group, resource, verb, "") for verb in verbs)
            for template in item["spec"]["templates"]:
                if "resource" in template:
                    yield from _of_resource(api, template["resource"])


def _of_resource(api: Api, resource: Object) -> Iterator[Right]:
    verbs = set(_VERBS[resource["action"]])
    if "successCondition" in resource or "failureCondition" in resource:
        verbs.add("get")
    for text in re.split(r"^---$", resource["manifest"], flags=re.MULTILINE):
        api_version, kind = (re.findall(rf"^{key}: *(\S+)", text, re.MULTILINE)[0] for key in ("apiVersion", "kind"))
        plural = api.path(api_version, kind).rpartition("/")[2]
        yield from ((api_version.rpartition("/")[0], plural, verb, "") for verb in verbs)


ROLE: Object = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {"name": "pipeline"},
    "rules": [
        {"apiGroups": ["argoproj.io"], "resources": ["workflowtaskresults"], "verbs": ["create", "patch"]},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["create", "get"]},
    ],
}
WORKFLOW: Object = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "Workflow",
    "metadata": {"name": "pipeline"},
    "spec": {
        "serviceAccountName": "pipeline",
        "templates": [
            {
                "resource": {
                    "action": "create",
                    "successCondition": "status.readyReplicas > 0",
                    "manifest": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{workflow.name}}\n",
                }
            }
        ],
    },
}


def _pipeline(namespace: str, rules: list[Object]) -> list[Object]:
    metadata = {"name": "pipeline"}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {**ROLE, "rules": rules},
        {
            "apiVersion": ROLE["apiVersion"],
            "kind": "RoleBinding",
            "metadata": metadata,
            "subjects": [{"kind": "ServiceAccount", "name": "pipeline", "namespace": namespace}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "pipeline"},
        },
        WORKFLOW,
    ]


def test_these_tests_see_rights_that_a_workflow_lacks(api_server: Api) -> None:
    namespace = api_server.create_namespace("restricted")
    assert faults(api_server, namespace, _pipeline(namespace, ROLE["rules"])) == []
    namespace = api_server.create_namespace("restricted")
    without_get = [ROLE["rules"][0], {**ROLE["rules"][1], "verbs": ["create"]}]
    assert faults(api_server, namespace, _pipeline(namespace, without_get)) == [
        "pipeline may not ('apps', 'deployments', 'get', '')"
    ]


def test_these_tests_see_rights_that_no_role_of_the_use_case_gives(api_server: Api) -> None:
    namespace = api_server.create_namespace("restricted")
    pipeline = _pipeline(namespace, ROLE["rules"])
    other = {"metadata": {"name": "other"}}
    extra = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}
    api_server.create({**ROLE, **other, "rules": [extra]}, namespace).expect_done()
    reference = {**pipeline[2]["roleRef"], "name": "other"}
    api_server.create({**pipeline[2], **other, "roleRef": reference}, namespace).expect_done()
    wait(partial(lacking, api_server, namespace, "pipeline", {("", "secrets", "get", "")}))
    assert faults(api_server, namespace, pipeline) == ["pipeline may ('', 'secrets', 'get', '')"]
