"""What each option does to the objects of a use case, said once more: by the names of containers, not by their places.

An effect changes objects as a kustomization with the option builds them; it returns nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]

#: The containers that train, or measure, in pods that read the input data.
COMPUTING = ("training", "mpi-worker", "node", "pytorch")
#: The steps of workflows that read the input data.
READING = ("preprocess", "train")

TOLERATION = {"operator": "Exists", "key": "dedicated"}
AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}]}
        ]
    }
}
CLAIM = {"name": "dataset", "persistentVolumeClaim": {"claimName": "datasets"}}
HOST_PATH = {"name": "dataset", "hostPath": {"path": "/mnt/datasets", "type": "Directory"}}
MOUNT = {"name": "dataset", "mountPath": "/dataset", "readOnly": True}
VARIABLES = {"configMapRef": {"name": "environment"}}


@dataclass(frozen=True)
class Template:
    """A pod template, the object that it belongs to, and the name of its first container, or of a workflow's step."""

    owner: Object
    metadata: Object
    spec: Object
    name: str
    container: Object

    @property
    def computes(self) -> bool:
        return self.name in COMPUTING

    @property
    def begins(self) -> list[Object]:
        """The containers that run before, in a workflow those of the step."""
        found: list[Object] = self.spec.setdefault("initContainers", [])
        return found


def templates(objects: list[Object]) -> Iterator[Template]:
    """Yield the pod templates of all kinds but workflows."""
    for owner in objects:
        for metadata, spec in _pods(owner if owner["kind"] == "Pod" else owner.get("spec")):
            yield Template(owner, metadata, spec, spec["containers"][0]["name"], spec["containers"][0])


def _pods(value: object) -> Iterator[tuple[Object, Object]]:
    if isinstance(value, dict):
        spec = value.get("spec")
        if isinstance(spec, dict) and "containers" in spec:
            yield value.setdefault("metadata", {}), spec
        for item in value.values():
            yield from _pods(item)
    elif isinstance(value, list):
        for item in value:
            yield from _pods(item)


def workflows(objects: list[Object]) -> Iterator[Object]:
    yield from (item for item in objects if item["kind"] == "Workflow")


def steps(objects: list[Object]) -> Iterator[tuple[Object, Object]]:
    """Yield the steps of workflows that run a container, each with its workflow."""
    for item in workflows(objects):
        yield from ((item, step) for step in item["spec"]["templates"] if "container" in step)


def _queue(objects: list[Object]) -> None:
    for item in objects:
        if item["kind"] in ("Job", "MPIJob", "JobSet", "TrainJob", "PyTorchJob", "LeaderWorkerSet"):
            item["metadata"].setdefault("labels", {})["kueue.x-k8s.io/queue-name"] = "default"
    for item in workflows(objects):
        item["spec"]["podMetadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "default"


def _pull_secret(objects: list[Object]) -> None:
    for item in objects:
        if item["kind"] == "ServiceAccount":
            item["imagePullSecrets"] = [{"name": "registry-secret"}]


def _node_pool(objects: list[Object]) -> None:
    specs = [found.spec for found in templates(objects)] + [item["spec"] for item in workflows(objects)]
    for spec in specs:
        spec.setdefault("affinity", {})["nodeAffinity"] = AFFINITY
        spec.setdefault("tolerations", []).append(TOLERATION)


def _spread(objects: list[Object]) -> None:
    for found in templates(objects):
        serves = found.name == "serving"
        if found.owner["kind"] == "LeaderWorkerSet" or (found.owner["kind"] == "Deployment" and not serves):
            continue
        if found.name in (*COMPUTING, "server", "publish") or serves:
            selector = {"matchLabels": {"training.kubeflow.org/job-role": "worker"}}
            found.spec["topologySpreadConstraints"] = [
                {
                    "maxSkew": 1,
                    "topologyKey": "kubernetes.io/hostname",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": selector if found.owner["kind"] == "MPIJob" else {},
                    "matchLabelKeys": ["app.kubernetes.io/instance"],
                }
            ]


def _gpus(objects: list[Object]) -> None:
    for found in templates(objects):
        if found.computes:
            found.container["resources"]["limits"]["nvidia.com/gpu"] = 1


def _dataset(volume: Object, source: str, begin: Object | None = None) -> Callable[[list[Object]], None]:
    def change(objects: list[Object]) -> None:
        for item in objects:
            if item["kind"] == "ConfigMap" and "DATASET_DIR" in item.get("data", {}):
                item["data"]["DATASET_DIR"] = "/dataset"
        for found in templates(objects):
            if found.computes:
                found.metadata["annotations"]["dataset"] = source
                found.spec["volumes"].append(volume)
                found.container["volumeMounts"].append(MOUNT)
                if begin:
                    found.begins.append(begin)
        for item in workflows(objects):
            item["spec"]["podMetadata"]["annotations"]["dataset"] = source
            item["spec"]["volumes"].append(volume)
        for _, step in steps(objects):
            if step["name"] in READING:
                step["container"]["volumeMounts"].append(MOUNT)
                if begin:
                    step["initContainers"].append(begin)

    return change


def _environment(objects: list[Object]) -> None:
    for found in templates(objects):
        if found.name == "mpi-worker":
            identity = {"items": [{"path": "profile", "fieldRef": {"fieldPath": "metadata.annotations['profile']"}}]}
            found.spec["volumes"] += [
                {"name": "environment", "configMap": {"name": "environment"}},
                {"name": "profile", "downwardAPI": identity},
            ]
            found.container["volumeMounts"] += [
                {"name": "environment", "mountPath": "/run/environment"},
                {"name": "profile", "mountPath": "/home/user/.profile", "subPath": "profile"},
            ]
            found.metadata["annotations"]["profile"] = PROFILE
        elif found.name in ("training", "node", "pytorch", "server", "mpi-launcher", "serving", "worker", "notebook"):
            found.container.setdefault("envFrom", []).append(VARIABLES)
    for _, step in steps(objects):
        if step["name"] != "publish":
            step["container"]["envFrom"].append(VARIABLES)


def _debug(objects: list[Object]) -> None:
    names = ("training", "node", "pytorch", "server", "mpi-launcher")
    sleeping = [found.container for found in templates(objects) if found.name in names]
    for container in sleeping + [step["container"] for _, step in steps(objects)]:
        container["command"] = ["sh", "-c", "sleep 3600"]


def _do_not_disrupt(objects: list[Object]) -> None:
    marks = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}
    for found in templates(objects):
        staging = found.owner["metadata"]["labels"].get("app.kubernetes.io/component") == "node-staging"
        if found.owner["kind"] not in ("Deployment", "LeaderWorkerSet", "Pod") or staging:
            found.metadata.setdefault("annotations", {}).update(marks)
    for item in workflows(objects):
        item["spec"]["podMetadata"]["annotations"].update(marks)


def _efa(objects: list[Object]) -> None:
    for found in templates(objects):
        if found.name == "mpi-worker":
            found.container["resources"]["limits"] |= {"vpc.amazonaws.com/efa": 4, "hugepages-2Mi": "5120Mi"}
        if found.name == "mpi-launcher":
            found.container["args"][:0] = ["env", "FI_PROVIDER=efa", "FI_EFA_USE_DEVICE_RDMA=1"]


def _api_key(objects: list[Object]) -> None:
    for found in templates(objects):
        if found.name == "serving":
            key = {"valueFrom": {"secretKeyRef": {"name": "api-key", "key": "key"}}}
            found.container.setdefault("env", []).append({"name": "VLLM_API_KEY", **key})


def _adapter(objects: list[Object]) -> None:
    for found in templates(objects):
        if found.name in ("serving", "worker"):
            found.begins[0]["env"] = [
                {"name": "ADAPTER_PATH", "value": "/data/adapters/tuned"},
                {"name": "MAX_LORA_RANK", "value": "64"},
            ]
        if found.name == "serving":
            adapter = ["--enable-lora", "--max-lora-rank=64", "--lora-modules=tuned=/data/adapters/tuned"]
            found.container["args"] += adapter


def _gpu_claim(objects: list[Object]) -> None:
    for found in templates(objects):
        if found.name in ("serving", "worker"):
            del found.container["resources"]["limits"]["nvidia.com/gpu"]
            found.container["resources"]["claims"] = [{"name": "gpus"}]
            template = {"resourceClaimTemplateName": found.owner["metadata"]["name"]}
            found.spec["resourceClaims"] = [{"name": "gpus", **template}]


PROFILE = """\
for file in /run/environment/*; do
  case ${file##*/} in
  [!A-Za-z_]* | *[!A-Za-z0-9_]*) ;;
  *) export "${file##*/}=$(cat "$file")" ;;
  esac
done"""


def effects(bucket: Object) -> dict[str, Callable[[list[Object]], None]]:
    """Return the effect of each option by its name; ``bucket`` is what dataset-bucket brings, as its file says."""
    return {
        "adapter": _adapter,
        "api-key": _api_key,
        "dataset-bucket": _dataset(bucket["volumes"][0], "bucket", bucket["initContainers"][0]),
        "dataset-claim": _dataset(CLAIM, "claim"),
        "dataset-host-path": _dataset(HOST_PATH, "host-path"),
        "debug": _debug,
        "do-not-disrupt": _do_not_disrupt,
        "efa": _efa,
        "environment": _environment,
        "gpu-claim": _gpu_claim,
        "gpus": _gpus,
        "node-pool": _node_pool,
        "pull-secret": _pull_secret,
        "queue": _queue,
        "spread": _spread,
    }
