"""The pods that controllers make of workloads, and what else they add to the namespace.

Of mpi-operator 0.8.0, `pkg/controller/mpi_job_controller.go`, of JobSet 0.8.0, `pkg/controllers/jobset_controller.go`,
of LeaderWorkerSet 0.7.0, `pkg/controllers/leaderworkerset_controller.go` and `pkg/utils/pod/pod_utils.go`, of Kubeflow
Trainer 2.3.0, `pkg/runtime/core/trainingruntime.go`, of training-operator 1.9.3, `pkg/controller.v1/pytorch/envvar.go`,
and of the Job controller of Kubernetes 1.34.
"""

from __future__ import annotations

import base64
import subprocess
import tempfile
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import real
from workload.objects import Object

NAMESPACE = "ml"

_OPERATOR = "training.kubeflow.org"
_JOB_SET = "jobset.sigs.k8s.io"
_LWS = "leaderworkerset.sigs.k8s.io"
_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
_CONFIG_DIR = "/etc/mpi"
#: The environment that the operator adds to the launcher (`ompiEnvVars`, `nvidiaDisableEnvVars`).
_LAUNCHER = {
    "K_MPI_JOB_ROLE": "launcher",
    "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
    "OMPI_MCA_orte_default_hostfile": f"{_CONFIG_DIR}/hostfile",
    "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
}
#: What a Workflow of Argo says for the pods of all its templates, or a template for its own.
_OF_WORKFLOW = ("securityContext", "serviceAccountName", "volumes")
#: Where Argo notes which step a pod is, and which try of it: ``NAME[0].preprocess(1)``.
NODE_NAME = "workflows.argoproj.io/node-name"
_NO_GPU = {"NVIDIA_VISIBLE_DEVICES": "", "NVIDIA_DRIVER_CAPABILITIES": ""}


@dataclass(frozen=True)
class MpiPods:
    """What becomes of an MPIJob: the launcher starts when all workers are ready, if its policy says so."""

    objects: list[Object]
    workers: list[Object]
    launcher: Object


def mpi_job(job: Object) -> MpiPods:
    """Return what the MPI operator makes of a job for Open MPI."""
    spec, name = job["spec"], job["metadata"]["name"]
    if spec["mpiImplementation"] != "OpenMPI" or spec.get("runLauncherAsWorker"):
        raise NotImplementedError(f"{name}: only Open MPI, and launchers that only launch")
    slots = spec.get("slotsPerWorker", 1)
    replicas = spec["mpiReplicaSpecs"]
    workers = [
        _mpi_pod(job, "Worker", f"{name}-worker-{index}", {"K_MPI_JOB_ROLE": "worker"}, index)
        for index in range(replicas["Worker"].get("replicas", 0))
    ]
    for worker in workers:
        search = f"{name}.{NAMESPACE}.svc.cluster.local"
        worker["spec"].setdefault("dnsConfig", {}).setdefault("searches", []).append(search)
        container = worker["spec"]["containers"][0]
        if not container.get("command") and not container.get("args"):
            container["command"] = ["/usr/sbin/sshd", "-De"]
    environment = {**_LAUNCHER, "OMPI_MCA_orte_set_default_slots": str(slots), **_NO_GPU}
    launcher = _mpi_pod(job, "Launcher", f"{name}-launcher", environment)
    hosts = [f"{worker['metadata']['name']}.{name}.{NAMESPACE}.svc" for worker in workers]
    files = {
        "hostfile": "".join(f"{host} slots={slots}\n" for host in hosts),
        "discover_hosts.sh": "#!/bin/sh\n" + "".join(f"echo {host}\n" for host in hosts),
    }
    items = [{"key": key, "path": key, "mode": 0o444 if key == "hostfile" else 0o555} for key in files]
    config = {"name": "mpi-job-config", "configMap": {"name": f"{name}-config", "items": items}}
    launcher["spec"]["volumes"].append(config)
    launcher["spec"]["containers"][0]["volumeMounts"].append({"name": config["name"], "mountPath": _CONFIG_DIR})
    objects = [
        _object("ConfigMap", f"{name}-config", data=files),
        _object("Secret", f"{name}-ssh", data=_keys()),
        _object("Service", name, spec={"clusterIP": "None", "selector": _labels(name)}),
    ]
    return MpiPods(objects, workers, launcher)


def _mpi_pod(job: Object, role: str, name: str, environment: dict[str, str], index: int | None = None) -> Object:
    job_name = job["metadata"]["name"]
    replica = job["spec"]["mpiReplicaSpecs"][role]
    pod = _pod(name, replica["template"])
    pod["metadata"]["labels"] |= {**_labels(job_name), f"{_OPERATOR}/job-role": role.lower()}
    if index is not None:
        pod["metadata"]["labels"][f"{_OPERATOR}/replica-index"] = str(index)
    spec = pod["spec"]
    spec |= {"hostname": name, "subdomain": job_name, "restartPolicy": replica["restartPolicy"]}
    container = spec["containers"][0]
    container.setdefault("env", []).extend({"name": key, "value": value} for key, value in environment.items())
    secret: Object = {
        "secretName": f"{job_name}-ssh",
        "items": [
            {"key": "ssh-privatekey", "path": "id_rsa"},
            {"key": "ssh-publickey", "path": "id_rsa.pub"},
            {"key": "ssh-publickey", "path": "authorized_keys"},
        ],
    }
    mount_path = job["spec"].get("sshAuthMountPath", "/root/.ssh")
    if mount_path == "/root/.ssh":
        secret["defaultMode"] = 0o600
    spec.setdefault("volumes", []).append({"name": "ssh-auth", "secret": secret})
    container.setdefault("volumeMounts", []).append({"name": "ssh-auth", "mountPath": mount_path})
    return pod


def _labels(job_name: str) -> dict[str, str]:
    return {f"{_OPERATOR}/operator-name": "mpi-operator", f"{_OPERATOR}/job-name": job_name}


def _keys() -> dict[str, str]:
    """Return the Secret's data: a key of the operator's kind and form, and its public half."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "key"
        words = [
            real.program("ssh-keygen"),
            "-q",
            "-t",
            "ecdsa",
            "-b",
            "521",
            "-m",
            "PEM",
            "-N",
            "",
            "-C",
            "",
            "-f",
            file,
        ]
        subprocess.run(words, check=True)
        private, public = file.read_bytes(), file.with_suffix(".pub").read_bytes()
    return {"ssh-privatekey": _coded(private), "ssh-publickey": _coded(public)}


def _coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def job(item: Object) -> list[Object]:
    """Return the pods of a Job: of an Indexed one a pod for each completion, else one."""
    name, spec = item["metadata"]["name"], item["spec"]
    if spec.get("completionMode") != "Indexed":
        if spec.get("completions", 1) != 1:
            raise NotImplementedError(f"{name}: several completions, and no indexes")
        return [_job_pod(name, f"{name}-x7k2p", spec)]
    return [indexed_pod(item, index) for index in range(spec["completions"])]


def indexed_pod(item: Object, index: int, suffix: str = "x7k2p") -> Object:
    """Return the pod of one index; one that replaces another has another suffix."""
    name = item["metadata"]["name"]
    pod = _job_pod(name, f"{name}-{index}-{suffix}", item["spec"])
    label = "batch.kubernetes.io/job-completion-index"
    pod["metadata"]["labels"][label] = pod["metadata"]["annotations"][label] = str(index)
    pod["spec"]["hostname"] = f"{name}-{index}"
    for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
        variables = container.setdefault("env", [])
        if not any(variable["name"] == "JOB_COMPLETION_INDEX" for variable in variables):
            reference = {"fieldRef": {"fieldPath": f"metadata.labels['{label}']"}}
            variables.append({"name": "JOB_COMPLETION_INDEX", "valueFrom": reference})
    return pod


def _job_pod(name: str, pod_name: str, spec: Object) -> Object:
    pod = _pod(pod_name, spec["template"])
    for key in ("job-name", "batch.kubernetes.io/job-name"):
        pod["metadata"]["labels"][key] = name
    return pod


def job_set(item: Object, restarts: int = 0) -> tuple[list[Object], list[Object]]:
    """Return the Service of a JobSet, and its Jobs, those of the first try or of a later one."""
    name, spec = item["metadata"]["name"], item["spec"]
    network = {"subdomain": name, "publishNotReadyAddresses": True, **spec.get("network", {})}
    selector = {f"{_JOB_SET}/jobset-name": name}
    service = {"clusterIP": "None", "selector": selector}
    service["publishNotReadyAddresses"] = network["publishNotReadyAddresses"]
    jobs = []
    for replicated in spec["replicatedJobs"]:
        for index in range(replicated.get("replicas", 1)):
            job = deepcopy(replicated["template"])
            template = job["spec"]["template"]
            template["metadata"]["labels"] |= selector | {
                f"{_JOB_SET}/job-index": str(index),
                f"{_JOB_SET}/replicatedjob-name": replicated["name"],
                f"{_JOB_SET}/restart-attempt": str(restarts),
            }
            template["spec"]["subdomain"] = network["subdomain"]
            metadata = {"name": f"{name}-{replicated['name']}-{index}", "namespace": NAMESPACE}
            jobs.append({"apiVersion": "batch/v1", "kind": "Job", **job, "metadata": metadata})
    return [_object("Service", network["subdomain"], spec=service)], jobs


def train_job(item: Object, runtimes: list[Object]) -> Object:
    """Return the JobSet of a TrainJob whose runtime is one of these; the runtime's trainers are as many as it says."""
    spec, name = item["spec"], item["metadata"]["name"]
    (runtime,) = [each for each in runtimes if each["metadata"]["name"] == spec["runtimeRef"]["name"]]
    made = deepcopy(runtime["spec"]["template"])
    for replicated in made["spec"]["replicatedJobs"]:
        if replicated["template"]["metadata"]["labels"].get(_STEP) == "trainer":
            count = spec["trainer"]["numNodes"]
            replicated["template"]["spec"] |= {"completions": count, "parallelism": count}
            if "torch" in runtime["spec"].get("mlPolicy", {}):
                processes = spec["trainer"]["numProcPerNode"]
                _meet(replicated["template"]["spec"]["template"]["spec"], name, count, processes)
    metadata = {**made["metadata"], "name": name, "namespace": NAMESPACE}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", **made, "metadata": metadata}


def _meet(pod: Object, name: str, nodes: int, processes: object) -> None:
    """Tell torchrun of a TrainJob what Trainer does; the first pod of its job `node` is where all meet."""
    rank = {"fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}
    told: list[Object] = [
        {"name": "PET_NNODES", "value": str(nodes)},
        {"name": "PET_NPROC_PER_NODE", "value": str(processes)},
        {"name": "PET_NODE_RANK", "valueFrom": rank},
        {"name": "PET_MASTER_ADDR", "value": f"{name}-node-0-0.{name}"},
        {"name": "PET_MASTER_PORT", "value": "29500"},
    ]
    (container,) = [each for each in pod["containers"] if each["name"] == "node"]
    container["env"] = [*container.get("env", []), *told]


def leader_worker_set(item: Object) -> tuple[Object, list[Object]]:
    """Return the Service of a LeaderWorkerSet, and its pods, those of a group one after the other, the leader first."""
    name, spec = item["metadata"]["name"], item["spec"]
    made, size = spec["leaderWorkerTemplate"], spec["leaderWorkerTemplate"]["size"]
    pods = []
    for group in range(spec.get("replicas", 1)):
        for index in range(size):
            called = f"{name}-{group}-{index}" if index else f"{name}-{group}"
            pod = _pod(called, made["workerTemplate" if index else "leaderTemplate"])
            pod["metadata"]["labels"] |= {
                f"{_LWS}/name": name,
                f"{_LWS}/group-index": str(group),
                f"{_LWS}/worker-index": str(index),
            }
            pod["spec"] |= {"hostname": called, "subdomain": name}
            known = {
                "LWS_LEADER_ADDRESS": f"{name}-{group}.{name}.{NAMESPACE}",
                "LWS_GROUP_SIZE": str(size),
                "LWS_WORKER_INDEX": str(index),
            }
            for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
                variables = [{"name": key, "value": value} for key, value in known.items()]
                container["env"] = [*variables, *container.get("env", [])]
            pods.append(pod)
    service = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {f"{_LWS}/name": name}}
    return _object("Service", name, spec=service), pods


def torch_job(item: Object) -> tuple[list[Object], list[Object]]:
    """Return the Services of a PyTorchJob without a Master, and its pods: each has one with its name."""
    name, (spec,) = item["metadata"]["name"], item["spec"]["pytorchReplicaSpecs"].values()
    added = {"PYTHONUNBUFFERED": "1", "PET_NPROC_PER_NODE": "auto", "PET_NNODES": str(spec["replicas"])}
    services, pods = [], []
    for index in range(spec["replicas"]):
        labels = {f"{_OPERATOR}/job-name": name, f"{_OPERATOR}/replica-type": "worker"}
        labels[f"{_OPERATOR}/replica-index"] = str(index)
        pod = _pod(f"{name}-worker-{index}", spec["template"])
        pod["metadata"]["labels"] |= labels
        pod["spec"]["restartPolicy"] = spec["restartPolicy"]
        for container in pod["spec"]["containers"]:
            container.setdefault("env", []).extend({"name": key, "value": value} for key, value in added.items())
        pods.append(pod)
        services.append(_object("Service", pod["metadata"]["name"], spec={"clusterIP": "None", "selector": labels}))
    return services, pods


def pod(item: Object) -> list[Object]:
    """Return a pod that nobody but its user makes."""
    return [_pod(item["metadata"]["name"], item)]


def workflow_pod(item: Object, step: Object, number: int, tries: int) -> Object:
    """Return the pod of a step of a Workflow, the ``number``-th of all, without what Argo adds to it."""
    name, workflow = item["metadata"]["name"], item["spec"]
    (template,) = [each for each in workflow["templates"] if each["name"] == step["template"]]
    spec = {key: each[key] for each in (workflow, template) for key in _OF_WORKFLOW if key in each}
    spec["initContainers"] = template.get("initContainers", [])
    spec |= {"restartPolicy": "Never", "containers": [{**template["container"], "name": "main"}]}
    pod = _pod(f"{name}-{template['name']}-{number}", {"metadata": workflow.get("podMetadata", {}), "spec": spec})
    for field in ("labels", "annotations"):
        pod["metadata"][field] |= template.get("metadata", {}).get(field, {})
    pod["metadata"]["labels"]["workflows.argoproj.io/workflow"] = name
    pod["metadata"]["annotations"][NODE_NAME] = f"{name}[0].{step['name']}({tries})"
    return pod


def deployment(item: Object) -> list[Object]:
    """Return the pods of a Deployment."""
    name, spec = item["metadata"]["name"], item["spec"]
    return [_pod(f"{name}-6b7f9c-{index}", spec["template"]) for index in range(spec.get("replicas", 1))]


def _pod(name: str, template: Object) -> Object:
    pod: Object = deepcopy({**template, "apiVersion": "v1", "kind": "Pod"})
    metadata = pod.setdefault("metadata", {})
    metadata |= {"name": name, "namespace": NAMESPACE}
    for field in ("labels", "annotations"):
        metadata.setdefault(field, {})
    return pod


def _object(kind: str, name: str, **fields: Object) -> Object:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, **fields}
