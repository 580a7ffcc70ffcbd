"""The faults that a run may meet: each with the cluster as it is then, what is deployed, and what has to be said.

Of a fault ``before`` is what is said before anything is applied: by the doctor, or by the plan of `deploy`; ``after``
what `status` says of a run that was applied all the same. Both are patterns; an empty one asks for nothing.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass
from typing import Any

from controlplane import webhooks
from controlplane.api import Api, Object
from running.patients import pod
from running.setups import (
    DISK,
    HERE,
    LARGE,
    MODEL,
    QUEUE,
    RANGE,
    STORAGE_CLASS,
    TAINT,
    Setup,
    all_of,
    asking,
    claiming,
    claims,
    create,
    custom,
    deleted,
    env,
    event,
    failed,
    going_claim,
    job,
    kueue,
    nothing,
    nowhere,
    of_container,
    one,
    pool,
    queue,
    quota,
    says,
    starting,
    waits,
    warning,
)


@dataclass(frozen=True)
class Fault:
    """``run`` is made for a namespace; ``during`` holds as long as the fault is judged, ``then`` befalls a run."""

    name: str
    before: str = ""
    after: str = ""
    there: Setup = nothing
    _: KW_ONLY
    run: Callable[[str], list[Object]]
    then: Setup = nothing
    during: Callable[[Api, str], AbstractContextManager[None]] = nowhere
    level: str = "restricted"
    namespace: Callable[[str], str] = str
    user: str = ""


def fault(
    name: str, before: str = "", after: str = "", there: Setup = nothing, *, status: Object | None = None, **more: Any
) -> Fault:
    """Return a fault of a Job whose pods have more fields, and ask for ``cpu`` or ``gpu``.

    ``status`` is what a kubelet says of them.
    """
    own = {key: more.pop(key) for key in ("run", "then", "during", "level", "namespace", "user") if key in more}
    if amounts := {key: more.pop(key) for key in ("cpu", "gpu") if key in more}:
        more["main_resources"] = asking(**amounts)
    if status:
        more["fate"], own["then"] = "held", says(status)
    return Fault(name, before, after, there, **{"run": one(**more), **own})


def both(name: str, said: str, there: Setup = nothing, **more: Any) -> Fault:
    """Return a fault that is told in the same words before and after."""
    return fault(name, said, said, there, **more)


def later(name: str, after: str, there: Setup = nothing, **more: Any) -> Fault:
    """Return a fault that nobody can tell before."""
    return fault(name, "", after, there, **more)


FAULTS: Sequence[Fault] = (
    fault("claim missing", r"Claim disk: is not there", r"disk", **DISK),
    fault("claim deleting", r"disk: is being deleted", "disk", going_claim, **DISK),
    fault(
        "claim lost",
        r"disk: has lost its volume",
        "disk",
        claims(
            bound=False,
            metadata={"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
            spec={"volumeName": "<ns>-gone"},
            phase="Lost",
        ),
        **DISK,
    ),
    fault("claim without volume", "disk: is not bound", "disk", claims(bound=False), **DISK),
    fault("claim read only", "is ReadOnlyMany", "", claims(mode="ReadOnlyMany"), **DISK),
    fault(
        "claim for one node",
        "is ReadWriteOnce, and 2 pods",
        "",
        all_of(pool({}, {}), claims(mode="ReadWriteOnce")),
        count=2,
        **DISK,
    ),
    fault("quota of pods", "pods: 1 needed, 0 of 0 free", "beyond quota small", quota('{pods: "0"}')),
    fault(
        "quota of jobs", "exceeded quota: small, requested: count/jobs.batch=1", "", quota('{count/jobs.batch: "0"}')
    ),
    both(
        "limit of containers",
        "maximum cpu usage per Container is 50m",
        create(RANGE % "{type: Container, max: {cpu: 50m}}"),
    ),
    both(
        "security level",
        "refused by the namespace's Pod Security level restricted",
        volumes=[{"name": "a", "nfs": {"server": "nfs.example", "path": "/a"}}],
    ),
    fault("larger than any node", "with too little cpu", "too little cpu", pool({}), cpu="40", **HERE),
    fault(
        "secret missing",
        "Secret keys: is not there",
        'secret "keys" not found',
        main_env=env("secret", "keys", "a"),
        status=waits("CreateContainerConfigError", 'secret "keys" not found'),
    ),
    fault(
        "key missing",
        "Secret keys: has no key a",
        "couldn't find key a",
        create("{apiVersion: v1, kind: Secret, metadata: {name: keys}, stringData: {b: x}}"),
        main_env=env("secret", "keys", "a"),
        status=waits("CreateContainerConfigError", "couldn't find key a in Secret x/keys"),
    ),
    fault(
        "pull secret missing",
        "Secret pull: is not there",
        "image cannot be pulled",
        fate="unpullable",
        imagePullSecrets=[{"name": "pull"}],
    ),
    fault("account missing", "ServiceAccount nobody: is not there", "nobody", serviceAccountName="nobody"),
    both("priority class missing", "nope", priorityClassName="nope"),
    fault(
        "kind missing",
        "Thing of nobody.example/v1: is not known to the cluster",
        run=custom("nobody.example/v1", "Thing"),
    ),
    fault("namespace missing", "Namespace .*-none: is not there", namespace=lambda name: f"{name}-none"),
    fault("no rights", 'cannot list resource "configmaps".*for the Role of docs/operating.md', user="eve"),
    fault(
        "queue missing",
        "LocalQueue team: is not there",
        "waits in queue team.*LocalQueue team doesn't exist",
        labels=QUEUE,
    ),
    fault(
        "cluster queue missing",
        "LocalQueue team: is not active",
        "waits in queue team.*ClusterQueue .* doesn't exist|waits in queue team",
        kueue("LocalQueue", "team", {"clusterQueue": "<ns>-none"}),
        labels=QUEUE,
    ),
    later("queue used up", "insufficient quota for cpu", queue("1"), labels=QUEUE, cpu="2"),
    fault(
        "label of no node",
        "without the labels node.kubernetes.io/instance-type=p4d-",
        "didn't match Pod's node affinity/selector",
        nodeSelector={"node.kubernetes.io/instance-type": "p4d-<ns>"},
    ),
    fault(
        "devices behind a taint",
        "1 with the taint nvidia.com/gpu=present:NoSchedule",
        "untolerated taint",
        pool({"taints": [TAINT]}, gpu="8"),
        gpu="1",
        **HERE,
    ),
    later("scheduler missing", "volcano|scheduler", schedulerName="volcano-<ns>"),
    both(
        "webhook down",
        "webhook tests.packyard.example cannot be called",
        during=lambda api, namespace: webhooks.registered(api, namespace, ["pods"], 1),
    ),
    fault(
        "name taken",
        "Job run is there, and belongs to no run",
        "",
        lambda api, namespace: api.create(job(pod()), namespace).expect_done() and None,
    ),
    later("exit code", "exit code 7", fate="fail"),
    later("out of memory", "out of memory: more than its limit of 64Mi", fate="out-of-memory"),
    later("evicted", "evicted: The node was low on resource: memory", fate="evict"),
    later("crash loop", "crash loop: exit code 7, started again 3 times", fate="crash"),
    later("unpullable", "image cannot be pulled: the registry does not have", fate="unpullable"),
    later("never ready", "runs, and is not ready", fate="never-ready"),
    later(
        "object deleted",
        "ConfigMap run is missing",
        then=deleted("ConfigMap", "run"),
        run=lambda ns: [*one()(ns), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "run"}}],
    ),
    fault(
        "quota of devices",
        "requests.nvidia.com/gpu: 2 needed, 1 of 1 free",
        "beyond quota small",
        all_of(pool({}, gpu="8"), quota('{requests.nvidia.com/gpu: "1"}')),
        gpu="2",
        **HERE,
    ),
    fault("class of a new claim missing", "is of the class nope, which is not there", "disk", run=claiming("nope")),
    both(
        "webhook refuses pods",
        "refused by webhook .*: no pods today",
        during=lambda api, namespace: webhooks.asked(api, namespace, ["pods"], lambda _: "no pods today"),
    ),
    fault(
        "preparing container too large",
        "with too little cpu",
        "too little cpu",
        pool({}),
        initContainers=[LARGE],
        **HERE,
    ),
    later(
        "preparing container fails",
        "exit code 3",
        status={
            "phase": "Failed",
            "initContainerStatuses": [of_container(terminated={"exitCode": 3})["containerStatuses"][0]],
        },
    ),
    later(
        "program not in the image",
        'it cannot be started: .*"trian.py": executable file not found',
        status=failed(127, reason="StartError", message='exec: "trian.py": executable file not found in $PATH'),
    ),
    later("deadline", "active longer than|deadline", run=lambda _: [job(pod(), activeDeadlineSeconds=1)]),
    later(
        "mount fails",
        "access denied by server",
        fate="held",
        then=all_of(starting, event("FailedMount", "MountVolume.SetUp failed: mount.nfs: access denied by server")),
    ),
    later(
        "probe fails",
        "Readiness probe failed",
        fate="never-ready",
        then=event("Unhealthy", "Readiness probe failed: connection refused"),
    ),
    fault(
        "class of a waiting claim missing",
        "its class nope-.* is not there",
        "disk has no volume yet; it is of class nope-",
        claims(bound=False, storage_class="nope-<ns>", spec={"storageClassName": "nope-<ns>"}),
        **DISK,
    ),
    later(
        "resource claim missing",
        "waits for ResourceClaim gone",
        resourceClaims=[{"name": "gpu", "resourceClaimName": "gone"}],
    ),
    later(
        "template of resource claims missing",
        "waits for a ResourceClaim by ResourceClaimTemplate gone",
        resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gone"}],
    ),
    fault("volume of an image", r"the API server drops .*spec.volumes\[model\].image", level="privileged", **MODEL),
    fault("node that is not there", "without the labels metadata.name=gone-", nodeName="gone-<ns>"),
    later(
        "gate that nobody lifts",
        "waits until its gate team.example/gate is lifted",
        schedulingGates=[{"name": "team.example/gate"}],
    ),
    later(
        "priority in a queue missing",
        "no Workload of Kueue is made for it",
        queue("8"),
        labels={**QUEUE, "kueue.x-k8s.io/priority-class": "nope"},
    ),
    later("node lost", "NodeLost|lost its node", status={"phase": "Running", "reason": "NodeLost"}),
    later(
        "what a program left as it failed", "exit code 1: CUDA error", status=failed(1, message="step 3\nCUDA error\n")
    ),
    later(
        "volume cannot be made",
        "ebs.csi.aws.com is to make one of class .*: volume quota exceeded",
        all_of(
            create(STORAGE_CLASS),
            claims(bound=False, storage_class="<ns>", spec={"storageClassName": "<ns>"}),
        ),
        **DISK,
        then=warning("PersistentVolumeClaim", "disk", "ProvisioningFailed", "volume quota exceeded"),
    ),
)
