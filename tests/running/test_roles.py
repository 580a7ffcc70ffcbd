"""The Role of docs/operating.md: in step with the catalogue, and enough for all that users do with runs."""

import re
import signal
import subprocess
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import yaml

import real
from controlplane import people
from controlplane.api import Api
from packyard.core.kubernetes.groups import is_cluster_scoped, resource_of
from packyard.core.kubernetes.kinds import group_of, kind_of
from packyard.core.kubernetes.lenient import type_of
from packyard.running.runs.roles import made_of
from running.patients import deployed, pod
from tiny import COMMAND, environment, packyard

Object = dict[str, Any]

_PAGE = real.REPOSITORY / "docs/operating.md"
#: What is a source of packages, and no object.
_SOURCES = ("kustomize.config.k8s.io/v1alpha1", "kustomize.config.k8s.io/v1beta1", "packyard/v1", "any/v1")
_OWN = ("create", "delete", "get", "list", "patch")


@cache
def role(kind: str) -> Object:
    """Return the Role or ClusterRole that the page has."""
    blocks = re.findall(r"```yaml\n(.*?)```", _PAGE.read_text("utf-8"), re.DOTALL)
    objects = [item for text in blocks for item in yaml.safe_load_all(text)]
    return next(item for item in objects if item.get("kind") == kind)


def rights(of: Object) -> set[tuple[str, str, str]]:
    """Return the rights of a role: apiGroup, resource, verb."""
    fields = ("apiGroups", "resources", "verbs")
    return {right for rule in of["rules"] for right in product(*(rule[field] for field in fields))}


@cache
def catalogue() -> list[Object]:
    """Return all objects in the sources of packages."""
    files = [
        file for folder in ("bases", "overlays", "packages") for file in (real.REPOSITORY / folder).rglob("*.yaml")
    ]
    found = [item for file in files for item in yaml.load_all(file.read_text("utf-8"), Loader=yaml.CSafeLoader)]
    return [
        each for each in found if isinstance(each, dict) and all(type_of(each)) and each["apiVersion"] not in _SOURCES
    ]


def test_the_role_has_every_kind_of_the_catalogue_and_what_it_is_made_into() -> None:
    has = rights(role("Role"))
    kinds = {type_of(item) for item in catalogue()}
    own = {(group_of(v), resource_of(k), verb) for v, k in kinds if not is_cluster_scoped(v, k) for verb in _OWN}
    assert sorted(own - has) == []
    made = {each for item in catalogue() for each in made_of(kind_of(item))}
    assert sorted({(group_of(v), resource_of(k), "list") for v, k in made} - has) == []
    own_resources = {resource for _, resource, verb in has if verb == "patch"} - {"workflowtaskresults"}
    assert sorted(own_resources - {resource for _, resource, _ in own}) == []


def test_the_role_has_the_rights_that_roles_of_the_catalogue_give_and_no_wildcard() -> None:
    given = {right for item in catalogue() if item["kind"] == "Role" for right in rights(item)}
    assert sorted(given - rights(role("Role"))) == []
    for kind in ("Role", "ClusterRole"):
        assert not any("*" in right for right in rights(role(kind)))
    assert {verb for _, _, verb in rights(role("ClusterRole"))} == {"list"}


def test_a_user_with_the_roles_is_refused_nothing(
    untarred: Callable[[str], Path], cluster: Api, namespace: str, tmp_path: Path
) -> None:
    """Nodes are simulated, so that some of it fails after it was admitted."""
    directory = served(untarred("mnist-fp32-training-k8s") / "first-run/none")
    config = people.kubeconfig(cluster, namespace, namespace, tmp_path)
    for kind, name in (("Role", "packyard"), ("ClusterRole", namespace)):
        given = {**role(kind), "metadata": {"name": name}}
        bound = {
            "apiVersion": given["apiVersion"],
            "kind": f"{kind}Binding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": namespace}],
        }
        for item in (given, bound):
            cluster.create(item, namespace if kind == "Role" else "").expect_done()
    people.await_right(cluster, namespace, namespace, verb="list", resource="pods", group="")
    people.await_right(cluster, namespace, verb="list", resource="nodes", group="")
    use("--kubeconfig", str(config), directory=directory)
    events = [*people.requests(cluster, namespace)]
    assert [event["objectRef"] for event in events if event["responseStatus"]["code"] == 403] == []


def served(directory: Path) -> Path:
    """Add a server to a use case, with a port to be forwarded, and a Role for its account."""
    rules = [{"apiGroups": ["argoproj.io"], "resources": ["workflowtaskresults"], "verbs": ["create", "patch"]}]
    reporter = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "reporter"}}
    items = [deployed("server", pod(main_ports=[{"containerPort": 8080}])), {**reporter, "rules": rules}]
    (directory / "more.yaml").write_text(yaml.safe_dump_all(items))
    kustomization = directory / "kustomization.yaml"
    kustomization.write_text(kustomization.read_text().replace("resources:\n", "resources:\n- more.yaml\n"))
    return directory


def use(*flags: str, directory: Path) -> None:
    """Do all that users do with runs."""
    packyard("doctor", directory, "--probe", *flags)
    deployed = packyard("deploy", directory, "RUN_NAME=first", *flags)
    assert deployed.returncode == 0, deployed.stderr
    run = "mnist-fp32-training-first"
    for words in (
        ["status", run],
        ["logs", run],
        ["logs", run, "--events"],
        ["rollback", run, "--list"],
        ["results", run],
    ):
        packyard(words[0], run, *words[1:], *flags)
    packyard("exec", run, "--role", "server", *flags, "--", "true")
    command = [*COMMAND, "forward", run, "--role", "server", *flags]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert packyard("rollback", run, "1", "--no-wait", *flags).returncode == 0
    assert packyard("undeploy", run, *flags).returncode == 0
