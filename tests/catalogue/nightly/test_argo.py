"""Workflows of the catalogue as Argo 3.7.0 runs them, in a namespace that enforces their level of Pod Security.

Its controller is the real one. There is no node: the test ends each pod, and reports for it as the executor beside the
program does, by the account of the pod.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from catalogue.usecases import Object, level, of_bases, shipped
from controlplane import argo
from controlplane.api import Api, wait
from packyard.writing.source.package import Package, UseCase
from real import Kustomize

_WORKFLOW = "workflows.argoproj.io/workflow"
_NODE_NAME = "workflows.argoproj.io/node-name"
_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"
_EXECUTOR = ("init", "wait")
_HAS_ENDED = ("Succeeded", "Failed", "Error")


@of_bases("preprocess-and-test", "train-and-serve")
@pytest.mark.parametrize("fails_first", [False, True])
def test_argo_runs_every_step_and_gives_no_program_a_token(
    package: Package, use_case: UseCase, fails_first: bool, api_server: Api, kustomize5: Kustomize, tmp_path: Path
) -> None:
    """A step that fails is tried again where it has a ``retryStrategy``; else the workflow fails."""
    directory = shipped(package, use_case)
    namespace = api_server.create_namespace(level(directory.parse()))
    objects = directory.set(directory.examples).build(kustomize5, namespace)
    (workflow,) = [item for item in objects if item["kind"] == "Workflow"]
    shorten_pauses(workflow)
    # The nodes of other tests, if there are any, are to leave the pods alone.
    with argo.run(api_server, namespace, tmp_path, {"schedulerName": "none"}):
        for item in objects:
            api_server.create(item, namespace).expect_done()
        exit_codes = [1, 0, 0, 0] if fails_first else [0, 0, 0]
        pods = run(api_server, namespace, workflow, exit_codes)
    expected = list(outcome(workflow, exit_codes))
    assert [step(pod) for pod in pods] == expected
    phase = "Failed" if fails_first and len(expected) == 1 else "Succeeded"
    assert api_server.read(workflow, namespace).expect_done()["status"]["phase"] == phase
    assert [text for pod in pods for text in faults(pod)] == []


def shorten_pauses(workflow: Object) -> None:
    """Let a workflow pause between tries for a second, where it does for a minute."""
    for each in [each for each in workflow["spec"]["templates"] if "backoff" in str(each)]:
        assert each["retryStrategy"]["backoff"] == {"duration": "1m"}
        each["retryStrategy"]["backoff"] = {"duration": "1s"}


def outcome(workflow: Object, exit_codes: list[int]) -> Iterator[str]:
    """Yield the step of each pod that there has to be."""
    templates = {template["name"]: template for template in workflow["spec"]["templates"]}
    codes = iter(exit_codes)
    for (step,) in templates[workflow["spec"]["entrypoint"]]["steps"]:
        template = templates[step["template"]]
        for _ in range(1 + template.get("retryStrategy", {}).get("limit", 0)):
            yield str(step["name"])
            if next(codes) == 0:
                break
        else:
            return


def step(pod: Object) -> str:
    """Return the step of a workflow that a pod is a try of: ``NAME[0].preprocess(1)``."""
    return str(pod["metadata"]["annotations"][_NODE_NAME].partition(".")[2].partition("(")[0])


def run(api: Api, namespace: str, workflow: Object, exit_codes: list[int]) -> list[Object]:
    """End each pod that Argo makes with the next exit code, until the workflow has ended; return the pods."""
    pods: list[Object] = []
    wait(partial(_advance, api, namespace, workflow, iter(exit_codes), pods))
    return pods


def _advance(api: Api, namespace: str, workflow: Object, exit_codes: Iterator[int], pods: list[Object]) -> list[str]:
    ended = {pod["metadata"]["name"] for pod in pods}
    for pod in api.list("v1", "Pod", namespace):
        if _WORKFLOW in pod["metadata"]["labels"] and pod["metadata"]["name"] not in ended:
            pods.append(pod)
            _report(api, namespace, pod)
            _end(api, namespace, pod, next(exit_codes))
    phase = api.read(workflow, namespace).expect_done().get("status", {}).get("phase")
    return [] if phase in _HAS_ENDED else [f"{workflow['metadata']['name']} is {phase}"]


def _report(api: Api, namespace: str, pod: Object) -> None:
    account = replace(api, user=f"system:serviceaccount:{namespace}:{pod['spec']['serviceAccountName']}")
    labels = {_WORKFLOW: pod["metadata"]["labels"][_WORKFLOW], "workflows.argoproj.io/report-outputs-completed": "true"}
    metadata = {"name": pod["metadata"]["annotations"]["workflows.argoproj.io/node-id"], "labels": labels}
    result = {"apiVersion": "argoproj.io/v1alpha1", "kind": "WorkflowTaskResult", "metadata": metadata}

    def refusals() -> list[str]:
        answer = account.create(result, namespace)
        return [] if answer.status in (201, 409) else [answer.refusal]

    wait(refusals)  # the server takes a moment to know of a new Role


def _end(api: Api, namespace: str, pod: Object, exit_code: int) -> None:
    now = dict.fromkeys(("startedAt", "finishedAt"), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    statuses = [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": {"terminated": {"exitCode": exit_code if container["name"] == "main" else 0, **now}},
        }
        for container in pod["spec"]["containers"]
    ]
    status = {"phase": "Failed" if exit_code else "Succeeded", "containerStatuses": statuses}
    named = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod["metadata"]["name"]}, "status": status}
    api.merge(named, namespace, subresource="status").expect_done()


def faults(pod: Object) -> Iterator[str]:
    """Yield which containers may speak to the API server or may not, as they should not, and what they lack."""
    spec = pod["spec"]
    if spec.get("automountServiceAccountToken") is not False:
        yield "every container gets a token"
    for container in (*spec["initContainers"], *spec["containers"]):
        name = container["name"]
        if (_TOKEN in [mount["mountPath"] for mount in container["volumeMounts"]]) is not (name in _EXECUTOR):
            yield f"{name} gets a token, or lacks one"
        if not {"requests", "limits"} <= container["resources"].keys():
            yield f"{name} has no requests or no limits"
    if {*_EXECUTOR, "main"} - {item["name"] for item in (*spec["initContainers"], *spec["containers"])}:
        yield "a container of Argo is missing"
