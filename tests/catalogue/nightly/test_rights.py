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
