"""The pods that controllers make of workloads, and what else they add to the namespace."""

import base64
import subprocess
import tempfile
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

from real import program
from workload.environment import Object

NAMESPACE = "ml"

_OPERATOR = "training.kubeflow.org"
_JOB_SET = "jobset.sigs.k8s.io"
_INDEX = "batch.kubernetes.io/job-completion-index"
#: The environment that the MPI operator adds to launchers.
LAUNCHER = {
    "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
    "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
    "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
    "NVIDIA_VISIBLE_DEVICES": "",
    "NVIDIA_DRIVER_CAPABILITIES": "",
}


def of_kind(objects: Sequence[Object], *kinds: str) -> list[Object]:
    """Return the objects of these kinds, in their order."""
    return [item for item in objects if item["kind"] in kinds]


def mpi_job(item: Object) -> tuple[list[Object], list[Object]]:
    """Return what the MPI operator adds for a job of Open MPI, and its pods: the launcher, and then the workers."""
    spec, name = item["spec"], item["metadata"]["name"]
    slots, replicas = spec.get("slotsPerWorker", 1), spec["mpiReplicaSpecs"]
    names = [f"{name}-worker-{index}" for index in range(replicas["Worker"]["replicas"])]
    hosts = [f"{worker}.{name}.{NAMESPACE}.svc" for worker in names]
    environment = {**LAUNCHER, "OMPI_MCA_orte_set_default_slots": str(slots)}
    launcher = _mpi_pod(item, "Launcher", f"{name}-launcher", environment)
    launcher["spec"]["volumes"].append({"name": "mpi-job-config", "configMap": {"name": f"{name}-config"}})
    mounts = launcher["spec"]["containers"][0]["volumeMounts"]
    mounts.append({"name": "mpi-job-config", "mountPath": "/etc/mpi"})
    workers = [_mpi_pod(item, "Worker", worker, {}) for worker in names]
    for worker in workers:
        worker["spec"]["dnsConfig"] = {"searches": [f"{name}.{NAMESPACE}.svc.cluster.local"]}
    hostfile = "".join(f"{host} slots={slots}\n" for host in hosts)
    return [
        _object("ConfigMap", f"{name}-config", data={"hostfile": hostfile}),
        _object("Secret", f"{name}-ssh", data=_keys()),
        _service(name, {f"{_OPERATOR}/job-name": name}),
    ], [launcher, *workers]


def _mpi_pod(item: Object, role: str, name: str, environment: dict[str, str]) -> Object:
    job_name, replica = item["metadata"]["name"], item["spec"]["mpiReplicaSpecs"][role]
    pod = _pod(name, replica["template"], {f"{_OPERATOR}/job-name": job_name, f"{_OPERATOR}/job-role": role.lower()})
    pod["spec"] |= {"hostname": name, "subdomain": job_name, "restartPolicy": replica["restartPolicy"]}
    secret: Object = {"secretName": f"{job_name}-ssh"}
    paths = {"id_rsa": "ssh-privatekey", "id_rsa.pub": "ssh-publickey", "authorized_keys": "ssh-publickey"}
    secret["items"] = [{"key": key, "path": path} for path, key in paths.items()]
    container = pod["spec"]["containers"][0]
    _add_variables(pod, environment)
    pod["spec"].setdefault("volumes", []).append({"name": "ssh-auth", "secret": secret})
    mount = {"name": "ssh-auth", "mountPath": item["spec"]["sshAuthMountPath"]}
    container.setdefault("volumeMounts", []).append(mount)
    return pod


def _keys() -> dict[str, str]:
    """Return the Secret's data: a key of the operator's kind and form, and its public half."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "key")
        words = ["-q", "-t", "ecdsa", "-b", "521", "-m", "PEM", "-N", "", "-f", file]
        subprocess.run([program("ssh-keygen"), *words], check=True)
        pair = {"ssh-privatekey": file, "ssh-publickey": file.with_suffix(".pub")}
        return {name: base64.b64encode(each.read_bytes()).decode() for name, each in pair.items()}


def job(item: Object) -> list[Object]:
    """Return the pods of a Job: of an Indexed one a pod for each completion, else one."""
    name, spec = item["metadata"]["name"], item["spec"]
    labels = dict.fromkeys(("job-name", "batch.kubernetes.io/job-name"), name)
    pods = [_pod(f"{name}-{index}", spec["template"], labels) for index in range(spec.get("completions", 1))]
    if spec.get("completionMode") == "Indexed":
        for index, pod in enumerate(pods):
            pod["metadata"]["labels"][_INDEX] = pod["metadata"]["annotations"][_INDEX] = str(index)
            pod["spec"]["hostname"] = f"{name}-{index}"
            _add_variables(pod, {"JOB_COMPLETION_INDEX": str(index)})
    return pods


def job_set(item: Object) -> tuple[list[Object], list[Object]]:
    """Return the Service of a JobSet, and its Jobs."""
    name, spec = item["metadata"]["name"], item["spec"]
    subdomain, labels = spec.get("network", {}).get("subdomain", name), {f"{_JOB_SET}/jobset-name": name}
    jobs = []
    for replicated in spec["replicatedJobs"]:
        for index in range(replicated.get("replicas", 1)):
            made = deepcopy(replicated["template"])
            made["spec"]["template"].setdefault("metadata", {}).setdefault("labels", {}).update(labels)
            made["spec"]["template"]["spec"]["subdomain"] = subdomain
            jobs.append(_object("Job", f"{name}-{replicated['name']}-{index}", spec=made["spec"]))
    return [_service(subdomain, labels)], jobs


def train_job(item: Object, runtimes: Sequence[Object]) -> Object:
    """Return the JobSet of a TrainJob whose runtime is one of these."""
    name, trainer = item["metadata"]["name"], item["spec"]["trainer"]
    (runtime,) = [each for each in runtimes if each["metadata"]["name"] == item["spec"]["runtimeRef"]["name"]]
    made = deepcopy(runtime["spec"]["template"])
    for replicated in made["spec"]["replicatedJobs"]:
        template = replicated["template"]
        if template["metadata"]["labels"].get("trainer.kubeflow.org/trainjob-ancestor-step") == "trainer":
            template["spec"] |= {"completions": trainer["numNodes"], "parallelism": trainer["numNodes"]}
            if "torch" in runtime["spec"].get("mlPolicy", {}):
                rank = {"fieldRef": {"fieldPath": f"metadata.annotations['{_INDEX}']"}}
                values = {"PET_NNODES": trainer["numNodes"], "PET_NPROC_PER_NODE": trainer["numProcPerNode"]}
                values |= {"PET_MASTER_ADDR": f"{name}-node-0-0.{name}", "PET_MASTER_PORT": 29500}
                _add_variables(template["spec"]["template"], {key: str(value) for key, value in values.items()})
                variables = template["spec"]["template"]["spec"]["containers"][0]["env"]
                variables.append({"name": "PET_NODE_RANK", "valueFrom": rank})
    return _object("JobSet", name, spec=made["spec"])


def pods_of(objects: Sequence[Object]) -> tuple[list[Object], list[list[Object]]]:
    """Return what the controllers of JobSets, TrainJobs, Jobs and Deployments add, and the pods of each workload."""
    added: list[Object] = []
    runtimes = of_kind(objects, "TrainingRuntime")
    sets = [*of_kind(objects, "JobSet"), *(train_job(item, runtimes) for item in of_kind(objects, "TrainJob"))]
    jobs = of_kind(objects, "Job")
    for services, made in map(job_set, sets):
        added, jobs = added + services, jobs + made
    return added, [*map(job, jobs), *map(deployment, of_kind(objects, "Deployment"))]


def deployment(item: Object) -> list[Object]:
    name, spec = item["metadata"]["name"], item["spec"]
    return [_pod(f"{name}-6b7f9c-{index}", spec["template"], {}) for index in range(spec.get("replicas", 1))]


def _pod(name: str, template: Object, labels: dict[str, str]) -> Object:
    pod: Object = deepcopy({**template, "apiVersion": "v1", "kind": "Pod"})
    metadata = pod.setdefault("metadata", {})
    metadata |= {"name": name, "namespace": NAMESPACE}
    metadata.setdefault("annotations", {})
    metadata.setdefault("labels", {}).update(labels)
    return pod


def _add_variables(pod: Object, variables: dict[str, str]) -> None:
    added = [{"name": name, "value": value} for name, value in variables.items()]
    for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
        container["env"] = [*container.get("env", []), *added]


def _service(name: str, selector: dict[str, str]) -> Object:
    return _object("Service", name, spec={"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector})


def _object(kind: str, name: str, **fields: Object) -> Object:
    return {"kind": kind, "metadata": {"name": name, "namespace": NAMESPACE}, **fields}
