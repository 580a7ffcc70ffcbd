"""What users may add to servers of language models, at work in a cluster: GPUs by claims, autoscaling, who is asked."""

import pytest

from catalogue.nightly.test_runs import apply, of_kind, provide
from catalogue.usecases import USE_CASES, shipped
from controlplane.api import Api, Object, wait
from controlplane.stored import condition
from real import Kustomize

CASES = {each.name: (item, each) for item, each in USE_CASES if item.name == "llm-serving"}
each_server = pytest.mark.parametrize("name", ["one-node", "several-nodes"])


def with_claims(kustomize5: Kustomize, namespace: str, name: str, **values: str) -> list[Object]:
    """Return servers whose GPUs come by claims, and all else that users may add."""
    directory = shipped(*CASES[name])
    ready = directory.set({**directory.examples, **values})
    return [*ready.build(kustomize5, namespace, ["gpu-claim"]), *ready.beside()]


def running(cluster: Api, namespace: str) -> tuple[list[Object], list[int]]:
    """Return all pods of one moment in which each has its GPUs, and how many; controllers may make one again."""
    pods: list[Object] = []
    gpus: list[int] = []

    def left() -> list[str]:
        pods[:] = cluster.list("v1", "Pod", namespace)
        claims = cluster.list("resource.k8s.io/v1", "ResourceClaim", namespace)
        given = {claim["metadata"]["name"]: claim.get("status", {}).get("allocation") for claim in claims}
        used = [each["resourceClaimName"] for pod in pods for each in pod["status"].get("resourceClaimStatuses", ())]
        unready = [pod["metadata"]["name"] for pod in pods if not condition(pod, "Ready")]
        lacking = [claim for claim in used if not given.get(claim)]
        gpus[:] = [len(given[claim]["devices"]["results"]) for claim in used if given.get(claim)]
        return [*unready, *lacking]

    wait(left)
    return pods, gpus


@each_server
def test_servers_get_gpus_by_claims_and_what_users_add_finds_those_that_answer(
    name: str, cluster: Api, kustomize5: Kustomize
) -> None:
    namespace = cluster.create_namespace("restricted")
    objects = with_claims(kustomize5, namespace, name)
    provide(cluster, namespace, objects)
    apply(cluster, namespace, [objects])
    pods, gpus = running(cluster, namespace)
    assert gpus == {"one-node": [1], "several-nodes": [8, 8]}[name]
    assert all("nvidia.com/gpu" not in pod["spec"]["containers"][0]["resources"]["limits"] for pod in pods)
    for item in objects:
        selector = item.get("spec", {}).get("selector")
        if selector and item["kind"] != "Deployment":
            wanted = selector.get("matchLabels", selector).items()
            found = [pod for pod in pods if wanted <= pod["metadata"]["labels"].items()]
            names = [pod["spec"]["containers"][0]["name"] for pod in found]
            assert [name for name in names if name != "worker"] == ["serving"], item["kind"]
            assert "worker" not in names or item["kind"] == "PodDisruptionBudget"
    (scaler,) = of_kind(objects, "HorizontalPodAutoscaler")
    wait(lambda: [] if condition(cluster.read(scaler, namespace).expect_done(), "AbleToScale") else ["no scale"])


@each_server
def test_gpus_with_less_memory_are_not_taken(name: str, cluster: Api, kustomize5: Kustomize) -> None:
    namespace = cluster.create_namespace("restricted")
    objects = with_claims(kustomize5, namespace, name, GPU_MEMORY="96Gi")
    provide(cluster, namespace, objects)
    cluster.create_all(objects, namespace)

    def left() -> list[str]:
        pods = cluster.list("v1", "Pod", namespace)
        conditions = [each for pod in pods for each in pod["status"].get("conditions", ())]
        messages = [each.get("message", "") for each in conditions if each["type"] == "PodScheduled"]
        return (
            []
            if messages and all("cannot allocate all claims" in message for message in messages)
            else messages or ["no pod"]
        )

    wait(left)
