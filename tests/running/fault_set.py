"""The faults that a run may meet: each with the cluster as it is then, what is deployed, and what has to be said.

Of a fault ``before`` is what is said before anything is applied: by the doctor, or by the plan of `deploy`; ``after``
what `status` says of a run that was applied all the same. Both are patterns; an empty one asks for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from controlplane import webhooks
from controlplane.api import Api, Object
from running.patients import pod, read
from running.setups import (
    APART,
    BESIDE,
    CLAIM,
    DEVICES,
    DISK,
    GPU,
    HERE,
    QUEUE,
    RANGE,
    SPREAD,
    STORAGE_CLASS,
    TAINT,
    Setup,
    all_of,
    asking,
    checked,
    claims,
    crd,
    create,
    custom,
    define,
    deleted,
    ending,
    env,
    event,
    going_claim,
    going_job,
    holder,
    job,
    kueue,
    mpi,
    nothing,
    nowhere,
    of_container,
    one,
    operator,
    policy,
    pool,
    queue,
    quota,
    says,
    scoped,
    silent,
    starting,
    stop,
    thing,
    waits,
    warning,
)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """``run`` is made for a namespace; ``during`` holds as long as the fault is judged, ``then`` befalls a run."""

    name: str
    run: Callable[[str], list[Object]]
    before: str = ""
    after: str = ""
    there: Setup = nothing
    then: Setup = nothing
    during: Callable[[Api, str], AbstractContextManager[None]] = nowhere
    level: str = "restricted"
    namespace: Callable[[str], str] = str
    user: str = ""


FAULTS: Sequence[Fault] = (
    Fault(name="claim missing", run=one(**DISK), before=r"Claim disk: is not there", after=r"disk"),
    Fault(name="claim deleting", there=going_claim, run=one(**DISK), before=r"disk: is being deleted", after="disk"),
    Fault(
        name="claim lost",
        there=claims(
            bound=False,
            metadata={"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
            spec={"volumeName": "<ns>-gone"},
            phase="Lost",
        ),
        run=one(**DISK),
        before=r"disk: has lost its volume",
        after="disk",
    ),
    Fault(
        name="claim without volume",
        there=claims(bound=False),
        run=one(**DISK),
        before="disk: is not bound",
        after="disk",
    ),
    Fault(name="claim read only", there=claims(mode="ReadOnlyMany"), run=one(**DISK), before="is ReadOnlyMany"),
    Fault(
        name="claim for one node",
        there=all_of(pool({}, {}), claims(mode="ReadWriteOnce")),
        run=one(count=2, **DISK),
        before="is ReadWriteOnce, and 2 pods",
    ),
    Fault(
        name="quota of pods",
        there=quota('{pods: "0"}'),
        run=one(),
        before="pods: 1 needed, 0 of 0 free",
        after="beyond quota small",
    ),
    Fault(name="quota of jobs", there=quota('{count/jobs.batch: "0"}'), run=one(), before="count/jobs.batch: 1 needed"),
    Fault(
        name="quota of config maps",
        there=quota('{configmaps: "1"}'),
        run=one(),
        before="configmaps: 1 needed, 0 of 1 free",
    ),
    Fault(
        name="limit of containers",
        there=create(RANGE % "{type: Container, max: {cpu: 50m}}"),
        run=one(),
        before="maximum cpu usage per Container is 50m",
        after="maximum cpu usage per Container is 50m",
    ),
    Fault(
        name="least of containers",
        there=create(RANGE % "{type: Container, min: {memory: 1Gi}}"),
        run=one(),
        before="minimum memory usage per Container is 1Gi",
        after="minimum memory usage per Container is 1Gi",
    ),
    Fault(
        name="limit of pods",
        there=create(RANGE % "{type: Pod, max: {memory: 1Mi}}"),
        run=one(),
        before="maximum memory usage per Pod is 1Mi",
        after="maximum memory usage per Pod is 1Mi",
    ),
    Fault(
        name="security level",
        run=one(volumes=[{"name": "a", "nfs": {"server": "nfs.example", "path": "/a"}}]),
        before="refused by the namespace's Pod Security level restricted",
        after="refused by the namespace's Pod Security level restricted",
    ),
    Fault(
        name="larger than any node",
        there=pool({}),
        run=one(main_resources=asking(cpu="40"), **HERE),
        before="has too little cpu",
        after="too little cpu",
    ),
    Fault(
        name="not all at once",
        there=pool({}),
        run=one(count=6, main_resources=asking(), **HERE),
        after="too little cpu",
    ),
    Fault(
        name="secret missing",
        run=one(fate="held", main_env=env("secret", "keys", "a")),
        before="Secret keys: is not there",
        then=says(waits("CreateContainerConfigError", 'secret "keys" not found')),
        after='secret "keys" not found',
    ),
    Fault(
        name="key missing",
        there=create("{apiVersion: v1, kind: Secret, metadata: {name: keys}, stringData: {b: x}}"),
        run=one(fate="held", main_env=env("secret", "keys", "a")),
        before="Secret keys: has no key a",
        then=says(waits("CreateContainerConfigError", "couldn't find key a in Secret x/keys")),
        after="couldn't find key a",
    ),
    Fault(
        name="pull secret missing",
        run=one(fate="unpullable", imagePullSecrets=[{"name": "pull"}]),
        before="Secret pull: is not there",
        after="image cannot be pulled",
    ),
    Fault(
        name="config map missing",
        run=one(fate="held", main_env=env("configMap", "set", "a")),
        before="ConfigMap set: is not there",
        then=says(waits("CreateContainerConfigError", 'configmap "set" not found')),
        after='configmap "set" not found',
    ),
    Fault(
        name="account missing",
        run=one(serviceAccountName="nobody"),
        before="ServiceAccount nobody: is not there",
        after="nobody",
    ),
    Fault(
        name="priority class missing",
        run=one(priorityClassName="nope"),
        before="nope",
        after="nope",
    ),
    Fault(
        name="runtime class missing",
        run=one(runtimeClassName="nope"),
        before="nope",
        after="nope",
    ),
    Fault(
        name="kind missing",
        run=custom("nobody.example/v1", "Thing"),
        before="Thing of nobody.example/v1: is not known to the cluster",
    ),
    Fault(
        name="operator too old",
        there=operator("mpi-operator", "0.3.0", 1),
        run=lambda _: [mpi()],
        before="MPI operator 0.3.0: is too old",
    ),
    Fault(
        name="operator without pods",
        there=operator("mpi-operator", "0.8.0", 0),
        run=lambda _: [mpi()],
        before="no pod of Deployment .* is ready",
    ),
    Fault(
        name="namespace missing",
        run=one(),
        namespace=lambda name: f"{name}-none",
        before="Namespace .*-none: is not there",
    ),
    Fault(
        name="namespace terminating",
        there=ending,
        run=one(),
        namespace=lambda name: f"{name}-going",
        before="Namespace .*-going: is being deleted",
    ),
    Fault(
        name="no rights",
        run=one(),
        user="eve",
        before=r"you may not create configmaps, list configmaps, create jobs\.batch",
    ),
    Fault(
        name="queue missing",
        run=one(labels=QUEUE),
        before="LocalQueue team: is not there",
        after="waits in queue team.*LocalQueue team doesn't exist",
    ),
    Fault(
        name="cluster queue missing",
        there=kueue("LocalQueue", "team", {"clusterQueue": "<ns>-none"}),
        run=one(labels=QUEUE),
        before="LocalQueue team: is not active",
        after="waits in queue team.*ClusterQueue .* doesn't exist|waits in queue team",
    ),
    Fault(
        name="queue used up",
        there=queue("1"),
        run=one(labels=QUEUE, main_resources=asking(cpu="2")),
        after="insufficient quota for cpu",
    ),
    Fault(
        name="all tainted",
        there=pool({"taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}),
        run=one(**HERE),
        before="has the taint team=a:NoSchedule",
        after="untolerated taint",
    ),
    Fault(
        name="label of no node",
        run=one(nodeSelector={"node.kubernetes.io/instance-type": "p4d-<ns>"}),
        before="lacks? the labels node.kubernetes.io/instance-type=p4d-",
        after="didn't match Pod's node affinity/selector",
    ),
    Fault(
        name="more devices than a node has",
        there=pool({}, nvidia_com__gpu="8"),
        run=one(main_resources=asking(nvidia_com__gpu="16"), **HERE),
        before="has too little nvidia.com/gpu",
        after="too little nvidia.com/gpu",
    ),
    Fault(
        name="devices behind a taint",
        there=pool({"taints": [TAINT]}, nvidia_com__gpu="8"),
        run=one(main_resources=asking(nvidia_com__gpu="1"), **HERE),
        before="1 has the taint nvidia.com/gpu=present:NoSchedule",
        after="untolerated taint",
    ),
    Fault(
        name="cordoned and tainted",
        there=pool({"cordoned": True}, {"taints": [TAINT]}),
        run=one(**HERE),
        before="1 is cordoned, 1 has the taint",
        after="unschedulable|untolerated taint",
    ),
    Fault(
        name="scheduler missing",
        run=one(schedulerName="volcano-<ns>"),
        after="volcano|scheduler",
    ),
    Fault(
        name="provisioner missing",
        there=all_of(
            create(STORAGE_CLASS), claims(bound=False, storage_class="<ns>", spec={"storageClassName": "<ns>"})
        ),
        run=one(**DISK),
        after="disk has no volume yet; ebs.csi.aws.com is to make one",
    ),
    Fault(
        name="volume of another zone",
        there=claims(
            volume={
                "nodeAffinity": {
                    "required": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}
                        ]
                    }
                }
            }
        ),
        run=one(**DISK),
        after="volume node affinity conflict|didn't match PersistentVolume's node affinity",
    ),
    Fault(
        name="claim of one pod in use",
        there=holder,
        run=one(**DISK),
        after="ReadWriteOncePod",
    ),
    Fault(name="policy on jobs", there=policy("false", "no jobs today"), run=one(), before="no jobs today"),
    Fault(
        name="webhook down",
        during=lambda api, namespace: webhooks.registered(api, namespace, ["pods"], 1),
        run=one(),
        before="webhook tests.packyard.example cannot be called",
        after="webhook tests.packyard.example cannot be called",
    ),
    Fault(
        name="name taken",
        there=lambda api, namespace: api.create(job(pod()), namespace).expect_done() and None,
        run=one(),
        before="Job run is there, and belongs to no run",
    ),
    Fault(name="exit code", run=one(fate="fail"), after="exit code 7"),
    Fault(name="out of memory", run=one(fate="out-of-memory"), after="out of memory: more than its limit of 64Mi"),
    Fault(name="evicted", run=one(fate="evict"), after="evicted: The node was low on resource: memory"),
    Fault(name="crash loop", run=one(fate="crash"), after="crash loop: exit code 7, started again 3 times"),
    Fault(name="unpullable", run=one(fate="unpullable"), after="image cannot be pulled: the registry does not have"),
    Fault(name="never ready", run=one(fate="never-ready"), after="runs, and is not ready"),
    Fault(
        name="object deleted",
        run=lambda ns: [*one()(ns), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "run"}}],
        then=deleted("ConfigMap", "run"),
        after="ConfigMap run is missing",
    ),
    Fault(
        name="definition removed",
        there=lambda api, namespace: define(api, f"{namespace}.example/v1", "Thing"),
        run=thing,
        then=crd,
        after="Thing run is missing",
    ),
    # Those that were added.
    Fault(
        name="fraction of a device",
        run=one(main_resources={"limits": {GPU: "500m"}}),
        before="must be an integer",
    ),
    Fault(
        name="request beyond the limit",
        run=one(main_resources={"limits": {"cpu": "1"}, "requests": {"cpu": "2"}}),
        before="must be less than or equal to cpu limit",
    ),
    Fault(
        name="image without a valid name",
        run=one(fate="held", main_image="Registry.example/UPPER:1"),
        then=says(waits("InvalidImageName", 'Failed to apply default image tag "Registry.example/UPPER:1"')),
        after="its name is not valid",
    ),
    Fault(
        name="quota has pods say",
        there=quota("{limits.memory: 1Gi}"),
        run=one(main_resources={"limits": {"cpu": "100m"}}),
        before="must specify limits.memory",
        after="must specify limits.memory",
    ),
    Fault(
        name="quota of devices",
        there=all_of(pool({}, nvidia_com__gpu="8"), quota('{requests.nvidia.com/gpu: "1"}')),
        run=one(main_resources=asking(nvidia_com__gpu="2"), **HERE),
        before="requests.nvidia.com/gpu: 2 needed, 1 of 1 free",
        after="beyond quota small",
    ),
    Fault(
        name="more pods apart than nodes",
        there=pool({}),
        run=one(count=2, affinity=APART, **HERE),
        after="didn't match pod anti-affinity rules",
    ),
    Fault(
        name="class of a new claim missing",
        run=lambda ns: [
            *one(**DISK)(ns),
            *read(CLAIM, name="disk", mode="ReadWriteMany", storage_class="nope", size="1Gi"),
        ],
        before="is of the class nope, which is not there",
        after="disk",
    ),
    Fault(
        name="driver of a volume missing",
        level="privileged",
        run=one(fate="held", volumes=[{"name": "a", "csi": {"driver": "s3.nobody.example"}}]),
        then=all_of(
            starting,
            event("FailedMount", "driver name s3.nobody.example not found in the list of registered CSI drivers"),
        ),
        after="s3.nobody.example not found",
    ),
    Fault(
        name="policy on images",
        there=policy(
            "object.spec.containers.all(c, c.image.startsWith('trusted/'))", "images must be from trusted", "pods", ""
        ),
        run=one(),
        before="images must be from trusted",
        after="images must be from trusted",
    ),
    Fault(
        name="webhook refuses pods",
        during=lambda api, namespace: webhooks.asked(api, namespace, ["pods"], lambda _: "no pods today"),
        run=one(),
        before="refused by webhook .*: no pods today",
        after="refused by webhook .*: no pods today",
    ),
    Fault(
        name="preparing container too large",
        there=pool({}),
        run=one(
            initContainers=[
                {
                    "name": "first",
                    "image": "registry.example/first:1",
                    "resources": asking(cpu="30"),
                    "securityContext": pod()["containers"][0]["securityContext"],
                }
            ],
            **HERE,
        ),
        before="has too little cpu",
        after="too little cpu",
    ),
    Fault(
        name="no huge pages",
        run=one(main_resources=asking(**{"hugepages-1Gi": "1Gi"})),
        before="hugepages-1Gi",
        after="too little hugepages-1Gi",
    ),
    Fault(
        name="preparing container fails",
        run=one(fate="held"),
        then=says(
            {
                "phase": "Failed",
                "initContainerStatuses": [
                    {
                        "name": "first",
                        "image": "a",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "state": {"terminated": {"exitCode": 3, "reason": "Error"}},
                    }
                ],
            }
        ),
        after="exit code 3",
    ),
    Fault(
        name="program not in the image",
        run=one(fate="held"),
        then=says(
            {
                **of_container(
                    terminated={
                        "exitCode": 127,
                        "reason": "StartError",
                        "message": 'exec: "trian.py": executable file not found in $PATH',
                    }
                ),
                "phase": "Failed",
            }
        ),
        after='it cannot be started: .*"trian.py": executable file not found',
    ),
    Fault(
        name="deadline",
        run=lambda _: [job(pod(), activeDeadlineSeconds=1)],
        after="active longer than|deadline",
    ),
    Fault(
        name="registry refuses",
        run=one(fate="held"),
        then=says(
            waits(
                "ImagePullBackOff",
                'Back-off pulling image "registry.example/main:1": ErrImagePull: unauthorized: authentication required',
            )
        ),
        after="the registry refuses registry.example/main:1",
    ),
    Fault(
        name="mount fails",
        run=one(fate="held"),
        then=all_of(starting, event("FailedMount", "MountVolume.SetUp failed: mount.nfs: access denied by server")),
        after="access denied by server",
    ),
    Fault(
        name="probe fails",
        run=one(fate="never-ready"),
        then=event("Unhealthy", "Readiness probe failed: connection refused"),
        after="Readiness probe failed",
    ),
    Fault(
        name="preempted",
        run=one(fate="held"),
        then=says(
            {
                "phase": "Failed",
                "reason": "Preempted",
                "message": "preempted by a pod with higher priority",
                "conditions": [
                    {
                        "type": "DisruptionTarget",
                        "status": "True",
                        "reason": "PreemptionByScheduler",
                        "message": "default-scheduler: preempting to accommodate a higher priority pod",
                    }
                ],
            }
        ),
        after="preempt",
    ),
    Fault(
        name="killed by a signal",
        run=one(fate="held"),
        then=says({**of_container(terminated={"exitCode": 139, "reason": "Error"}), "phase": "Failed"}),
        after=r"exit code 139 \(signal 11\)",
    ),
    # Those of a later round.
    Fault(
        name="part of a device",
        there=pool({}, nvidia_com__gpu="8"),
        run=one(main_resources=asking(**{"nvidia.com/mig-1g.5gb": "1"}), **HERE),
        before=r"1 has no nvidia.com/mig-1g.5gb.*nodes offer nvidia.com/gpu",
        after="too little nvidia.com/mig-1g.5gb",
    ),
    Fault(
        name="toleration of another effect",
        there=pool({"taints": [{**TAINT, "effect": "NoExecute"}]}, nvidia_com__gpu="8"),
        run=one(
            main_resources=asking(nvidia_com__gpu="1"),
            tolerations=[{"key": GPU, "operator": "Exists", "effect": "NoSchedule"}],
            **HERE,
        ),
        before="1 has the taint nvidia.com/gpu=present:NoExecute",
        after="untolerated taint",
    ),
    Fault(
        name="class of a waiting claim missing",
        there=claims(bound=False, storage_class="nope-<ns>", spec={"storageClassName": "nope-<ns>"}),
        run=one(**DISK),
        before="its class nope-.* is not there",
        after="disk has no volume yet; it is of class nope-",
    ),
    Fault(
        name="class of volumes for one node",
        there=create(STORAGE_CLASS),
        run=lambda ns: [
            *one(count=2, **DISK)(ns),
            *read(CLAIM, name="disk", mode="ReadWriteMany", storage_class=ns, size="1Gi"),
        ],
        after="disk has no volume yet",
    ),
    Fault(
        name="quota of a scope",
        there=scoped,
        run=one(),
        before="beyond quota scoped",
        after="beyond quota scoped",
    ),
    Fault(
        name="quota of a class",
        there=all_of(create(STORAGE_CLASS), quota('{<ns>.storageclass.storage.k8s.io/requests.storage: "1Gi"}')),
        run=lambda ns: [
            *one(**DISK)(ns),
            *read(CLAIM, name="disk", mode="ReadWriteOnce", storage_class=ns, size="2Gi"),
        ],
        before="exceeded quota|requests.storage: 2Gi needed",
    ),
    Fault(
        name="ratio of limits",
        there=create(RANGE % "{type: Container, maxLimitRequestRatio: {cpu: 2}}"),
        run=one(main_resources={"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m"}}),
        before="cpu max limit to request ratio per Container is 2",
        after="cpu max limit to request ratio per Container is 2",
    ),
    Fault(
        name="root is not allowed",
        run=one(main_securityContext={"runAsUser": 0, "allowPrivilegeEscalation": True}),
        before="restricted",
        after="refused by the namespace's Pod Security level restricted: .*allowPrivilegeEscalation",
    ),
    Fault(
        name="held by a finalizer",
        there=going_job,
        run=one(),
        before="Job run is being deleted .*metadata.finalizers",
    ),
    Fault(
        name="webhook does not answer",
        during=silent,
        run=one(),
        before="webhook tests.packyard.example.*deadline exceeded",
        after="webhook tests.packyard.example cannot be called",
    ),
    Fault(
        name="queue for other namespaces",
        there=queue("8", matchLabels={"team": "other"}),
        run=one(labels=QUEUE),
        after="waits in queue team.*namespace doesn't match",
    ),
    Fault(
        name="queue without devices",
        there=queue("8"),
        run=one(labels=QUEUE, main_resources=asking(nvidia_com__gpu="1")),
        after="nvidia.com/gpu unavailable in ClusterQueue",
    ),
    Fault(
        name="queue of small flavors",
        there=queue("4", "4"),
        run=one(count=6, labels=QUEUE, main_resources=asking()),
        after="insufficient quota for cpu in flavor",
    ),
    Fault(
        name="queue of tainted flavors",
        there=queue("8", flavor={"nodeTaints": [{"key": "rented", "value": "yes", "effect": "NoSchedule"}]}),
        run=one(labels=QUEUE),
        after="untolerated taint",
    ),
    Fault(
        name="queue of flavors with other labels",
        there=queue("8", flavor={"nodeLabels": {"pool": "other"}}),
        run=one(labels=QUEUE, nodeSelector={"pool": "own"}),
        after="match node affinity",
    ),
    Fault(
        name="queue stopped",
        there=all_of(queue("8"), stop),
        run=one(labels=QUEUE),
        before="is not active",
        after="waits in queue team.*(inactive|stopped)",
    ),
    Fault(
        name="resource claim missing",
        run=one(resourceClaims=[{"name": "gpu", "resourceClaimName": "gone"}]),
        after="waits for ResourceClaim gone",
    ),
    Fault(
        name="template of resource claims missing",
        run=one(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gone"}]),
        after="waits for a ResourceClaim by ResourceClaimTemplate gone",
    ),
    Fault(
        name="class of devices missing",
        there=create(DEVICES),
        run=one(resourceClaims=[{"name": "gpu", "resourceClaimName": "devices"}]),
        after="nope-.* does not exist|nope-.* not found",
    ),
    Fault(
        name="node that is not there",
        run=one(nodeName="gone-<ns>"),
        before="lacks? the labels metadata.name=gone-",
    ),
    Fault(
        name="gate that nobody lifts",
        run=one(schedulingGates=[{"name": "team.example/gate"}]),
        after="waits until its gate team.example/gate is lifted",
    ),
    Fault(
        name="port of a node twice",
        level="privileged",
        there=pool({}),
        run=one(count=2, main_ports=[{"containerPort": 80, "hostPort": 8080}], **HERE),
        after="didn't have free ports",
    ),
    Fault(
        name="beside pods that are not there",
        run=one(affinity=BESIDE),
        after="didn't match pod affinity rules",
    ),
    Fault(
        name="spread over a label of no node",
        run=one(topologySpreadConstraints=[SPREAD]),
        after="missing required label",
    ),
    Fault(
        name="priority in a queue missing",
        there=queue("8"),
        run=one(labels={**QUEUE, "kueue.x-k8s.io/priority-class": "nope"}),
        after="no Workload of Kueue is made for it",
    ),
    Fault(
        name="device mounted as files",
        there=claims(spec={"volumeMode": "Block"}, volume={"volumeMode": "Block"}),
        run=one(**DISK),
        before="disk: is a block device",
    ),
    Fault(
        name="image must not be pulled",
        run=one(fate="held", main_imagePullPolicy="Never"),
        then=says(waits("ErrImageNeverPull", "Container image is not present with pull policy of Never")),
        after="the node lacks registry.example/main:1, and must not pull it",
    ),
    Fault(
        name="node lost",
        run=one(fate="held"),
        then=says(
            {
                "phase": "Running",
                "reason": "NodeLost",
                "conditions": [
                    {"type": "Ready", "status": "False", "reason": "NodeLost"},
                ],
            }
        ),
        after="NodeLost|lost its node",
    ),
    Fault(
        name="what a program left as it failed",
        run=one(fate="held"),
        then=says({**of_container(terminated={"exitCode": 1, "message": "step 3\nCUDA error\n"}), "phase": "Failed"}),
        after="exit code 1: CUDA error",
    ),
    Fault(
        name="devices cannot be prepared",
        run=one(fate="held"),
        then=all_of(starting, event("FailedPrepareDynamicResources", "no driver gpu.nvidia.com")),
        after="no driver gpu.nvidia.com",
    ),
    Fault(
        name="volume cannot be made",
        there=all_of(
            create(STORAGE_CLASS.replace("WaitForFirstConsumer", "Immediate")),
            claims(bound=False, storage_class="<ns>", spec={"storageClassName": "<ns>"}),
        ),
        run=one(**DISK),
        then=warning("PersistentVolumeClaim", "disk", "ProvisioningFailed", "volume quota exceeded"),
        after="ebs.csi.aws.com is to make one of class .*: volume quota exceeded",
    ),
    Fault(
        name="check of a queue",
        there=checked,
        run=one(labels=QUEUE),
        after="waits in queue team: admission check test-",
    ),
    Fault(
        name="job of Ray fails",
        there=lambda api, _: define(api, "ray.io/v1", "RayJob"),
        run=lambda _: [
            {
                "apiVersion": "ray.io/v1",
                "kind": "RayJob",
                "metadata": {"name": "run"},
                "spec": {"rayClusterSpec": {"headGroupSpec": {"template": {"spec": pod()}}}},
            }
        ],
        then=lambda api, namespace: (
            api.merge(
                {
                    "apiVersion": "ray.io/v1",
                    "kind": "RayJob",
                    "metadata": {"name": "run"},
                    "status": {"jobDeploymentStatus": "Failed", "jobStatus": "FAILED", "message": "exited with 1"},
                },
                namespace,
                subresource="status",
            ).expect_done()
            and None
        ),
        after="failed: exited with 1",
    ),
)
