"""What each option does to the objects of a use case, said once more: by the names of containers, not by their places.

An effect changes objects as a kustomization with the option builds them; it returns nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]

#: The containers that train, or measure, in pods that read the input data.
COMPUTING = ("training", "benchmark", "mpi-worker", "node", "pytorch")
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
        serves = item["kind"] == "Deployment" and item["spec"]["template"]["spec"]["containers"][0]["name"] == "serving"
        if serves or item["kind"] in ("Job", "MPIJob", "JobSet", "TrainJob", "PyTorchJob", "LeaderWorkerSet"):
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
        spec["tolerations"].append(TOLERATION)


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
            found.spec["tolerations"].append({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"})


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


_WITH_VARIABLES = (
    *("training", "benchmark", "node", "pytorch", "server", "mpi-launcher", "serving", "worker", "notebook"),
)


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
        elif found.name in _WITH_VARIABLES:
            found.container.setdefault("envFrom", []).append(VARIABLES)
    for _, step in steps(objects):
        if step["name"] != "publish":
            step["container"]["envFrom"].append(VARIABLES)


def _debug(objects: list[Object]) -> None:
    names = ("training", "benchmark", "node", "pytorch", "server", "mpi-launcher")
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
    for found in _with_gpus(objects):
        found.container["resources"]["limits"] |= {"vpc.amazonaws.com/efa": 4, "hugepages-2Mi": "5120Mi"}
    for found in templates(objects):
        if found.name == "mpi-launcher":
            found.container["args"][:0] = ["env", "FI_PROVIDER=efa", "FI_EFA_USE_DEVICE_RDMA=1"]


def _rdma(objects: list[Object]) -> None:
    for found in _with_gpus(objects):
        found.container["resources"]["limits"]["rdma/rdma_shared_device_a"] = 1


def _with_gpus(objects: list[Object]) -> Iterator[Template]:
    """Yield the pods of kinds for several nodes."""
    for found in templates(objects):
        if found.name == "mpi-worker" or found.owner["kind"] in _ON_SEVERAL_NODES:
            yield found


_ON_SEVERAL_NODES = ("LeaderWorkerSet", "PyTorchJob", "TrainingRuntime", "JobSet")


def _servers(objects: list[Object]) -> Iterator[Template]:
    """Yield the pods of language models, those that answer and those that compute with them."""
    yield from (found for found in templates(objects) if found.name in ("serving", "worker"))


def _api_key(objects: list[Object]) -> None:
    for found in templates(objects):
        if found.name == "serving":
            found.container["args"].append("--middleware=only_v1.OnlyV1")
            key = {"valueFrom": {"secretKeyRef": {"name": "api-key", "key": "key"}}}
            found.container["env"] += [{"name": "PYTHONPATH", "value": "/check"}, {"name": "VLLM_API_KEY", **key}]


def _adapter(objects: list[Object]) -> None:
    for found in _servers(objects):
        found.begins[0]["env"] = [
            {"name": "ADAPTER_PATH", "value": "/data/adapters/tuned"},
            {"name": "MAX_LORA_RANK", "value": "64"},
        ]
        first = ["--enable-lora", "--max-lora-rank=64", "--max-loras=4", "--lora-modules=tuned=/data/adapters/tuned"]
        found.container["args"] += first
        found.container["env"] += [
            {"name": "VLLM_ALLOW_RUNTIME_LORA_UPDATING", "value": "True"},
            {"name": "VLLM_LORA_RESOLVER_CACHE_DIR", "value": "/data/adapters"},
        ]


def _amd(objects: list[Object]) -> None:
    for found in _servers(objects):
        for container in (found.container, found.begins[0]):
            container["image"] = "docker.io/vllm/vllm-openai-rocm:v0.33.0"
        limits = found.container["resources"]["limits"]
        limits["amd.com/gpu"] = limits.pop("nvidia.com/gpu")
        found.spec["securityContext"]["supplementalGroups"] = [44, 109]


def _compile_cache(objects: list[Object]) -> None:
    for found in _servers(objects):
        found.container["env"].append({"name": "VLLM_CACHE_ROOT", "value": "/cache/caches/vllm"})
        found.container["volumeMounts"].append({"name": "storage", "mountPath": "/cache"})


def _expert_parallel(objects: list[Object]) -> None:
    for found in _servers(objects):
        words, begin = found.container["args"], found.begins[0]["args"]
        if found.owner["kind"] == "Deployment":
            words[3] = begin[3] = "--data-parallel-size=$(GPUS)"
        else:
            found.container["env"].append({"name": "GROUPS_SHARE", "value": "data-parallel"})
            begin.append("--enable-expert-parallel")
        words.append("--enable-expert-parallel")
        words += ["--api-server-count=1"] if found.name == "serving" else []


def _trust_remote_code(objects: list[Object]) -> None:
    for item in objects:
        if item["kind"] == "ConfigMap" and "TRUST_REMOTE_CODE" in item["data"]:
            item["data"]["TRUST_REMOTE_CODE"] = "true"
    for found in _servers(objects):
        for container in (found.container, found.begins[0]):
            container["args"].append("--trust-remote-code")


def _cpu(objects: list[Object]) -> None:
    for item in objects:
        if item["kind"] == "ConfigMap" and "SHARDING" in item["data"]:
            item["data"]["DEVICE"] = "cpu"
    for found in templates(objects):
        if found.computes:
            del found.container["resources"]["limits"]["nvidia.com/gpu"]


def _gpu_claim(objects: list[Object]) -> None:
    for found in _servers(objects):
        del found.container["resources"]["limits"]["nvidia.com/gpu"]
        found.container["resources"]["claims"] = [{"name": "gpus"}]
        template = {"resourceClaimTemplateName": found.owner["metadata"]["name"]}
        found.spec["resourceClaims"] = [{"name": "gpus", **template}]


#: Kinds of operators that say what holds for the whole run in a field of its own.
_WITH_POLICY = ("MPIJob", "PyTorchJob")


def _job_specs(objects: list[Object]) -> Iterator[Object]:
    """Yield the specs of Jobs, and of those that JobSets are made of."""
    for item in objects:
        inner = item["spec"]["template"] if item["kind"] == "TrainingRuntime" else item
        if item["kind"] in ("JobSet", "TrainingRuntime"):
            yield from (each["template"]["spec"] for each in inner["spec"]["replicatedJobs"])
        elif item["kind"] == "Job":
            yield item["spec"]


def _deadline(objects: list[Object]) -> None:
    whole = [item["spec"]["runPolicy"] for item in objects if item["kind"] in _WITH_POLICY]
    for spec in (*_job_specs(objects), *whole, *(item["spec"] for item in workflows(objects))):
        spec["activeDeadlineSeconds"] = 31536000


def _ttl(objects: list[Object]) -> None:
    for item in objects:
        if item["kind"] in ("Job", "JobSet", *_WITH_POLICY):
            spec = item["spec"]["runPolicy"] if item["kind"] in _WITH_POLICY else item["spec"]
            spec["ttlSecondsAfterFinished"] = 31536000
    for item in workflows(objects):
        item["spec"]["ttlStrategy"] = {"secondsAfterCompletion": 31536000}


def _limits(objects: list[Object]) -> None:
    _deadline(objects)
    _ttl(objects)


def _scheduling(objects: list[Object]) -> None:
    for found in templates(objects):
        found.spec.update(priorityClassName="", schedulerName="default-scheduler")
    for item in workflows(objects):
        item["spec"].update(podPriorityClassName="", schedulerName="default-scheduler")


def _writable_root(objects: list[Object]) -> None:
    for found in templates(objects):
        serves = found.owner["kind"] == "LeaderWorkerSet" or found.container.get("command", [""])[0] == "vllm"
        if found.computes or serves:
            found.container["securityContext"]["readOnlyRootFilesystem"] = False


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
        "amd": _amd,
        "api-key": _api_key,
        "compile-cache": _compile_cache,
        "cpu": _cpu,
        "dataset-bucket": _dataset(bucket["volumes"][0], "bucket", bucket["initContainers"][-1]),
        "dataset-claim": _dataset(CLAIM, "claim"),
        "dataset-host-path": _dataset(HOST_PATH, "host-path"),
        "debug": _debug,
        "do-not-disrupt": _do_not_disrupt,
        "efa": _efa,
        "environment": _environment,
        "expert-parallel": _expert_parallel,
        "gpu-claim": _gpu_claim,
        "gpus": _gpus,
        "limits": _limits,
        "node-pool": _node_pool,
        "pull-secret": _pull_secret,
        "queue": _queue,
        "rdma": _rdma,
        "spread": _spread,
        "trust-remote-code": _trust_remote_code,
        "scheduling": _scheduling,
        "writable-root": _writable_root,
    }
