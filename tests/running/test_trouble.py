"""What is wrong with pods, in words, where no fault of `fault_set` shows it."""

import pytest

from packyard.running.runs import trouble

Object = dict[str, object]


def pod(*states: Object, phase: str = "Running", **status: object) -> Object:
    """Return a pod with a container for each state."""
    names = [f"c{number}" for number in range(len(states))]
    containers = [{"name": name, "resources": {"limits": {"memory": "4Gi"}}} for name in names]
    statuses = [{"name": name, "image": "r.example/a:1", **state} for name, state in zip(names, states, strict=True)]
    return {"spec": {"containers": containers}, "status": {"phase": phase, "containerStatuses": statuses, **status}}


def waits(reason: str, message: str = "") -> Object:
    return {"state": {"waiting": {"reason": reason, "message": message}}}


def ended(code: int, reason: str = "Error", message: str = "") -> Object:
    return {"state": {"terminated": {"exitCode": code, "reason": reason, "message": message}}}


def scheduled(message: str) -> Object:
    return pod(phase="Pending", conditions=[{"type": "PodScheduled", "status": "False", "message": message}])


def preparing(**fields: object) -> Object:
    """Return a pod whose first container runs before all others."""
    item = pod(waits("PodInitializing"), phase="Pending", initContainerStatuses=[{"name": "stage", **RUNS}])
    return {**item, "spec": {"initContainers": [{"name": "stage", **fields}]}}


RUNS = {"state": {"running": {}}}
IMAGE = "image cannot be pulled: "


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (pod({"state": {"running": {}}}, conditions=[{"type": "Ready", "status": "True"}]), ""),
        (pod(ended(0), phase="Succeeded"), ""),
        (pod(waits("ContainerCreating"), phase="Pending"), ""),
        (pod({"state": {"running": {}}}), "runs, and is not ready"),
        (pod({"state": {"running": {}}}, conditions=[
            {"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady", "message": "no condition x"}]),
         "runs, and is not ready: no condition x"),
        (preparing(), "its init container stage has not ended yet"),
        (preparing(restartPolicy="Always"), ""),
        (pod(ended(139), phase="Failed"), "exit code 139 (signal 11)"),
        (pod(ended(0), ended(3), phase="Failed"), "container c1: exit code 3"),
        (pod({**waits("CrashLoopBackOff"), "lastState": ended(0)["state"], "restartCount": 2}),
         "crash loop: it ended well, and must not end, started again 2 times"),
        (pod(waits("ErrImagePull", "failed to unpack: no match for platform in manifest: not found")),
         f"{IMAGE}there is none for the architecture of the node: r.example/a:1"),
        (pod(waits("ErrImagePull", "unauthorized: authentication required")),
         f"{IMAGE}the registry refuses r.example/a:1"),
        (pod({**waits("ErrImagePull", "desc = r.example/denied:1: not found"), "image": "r.example/denied:1"}),
         f"{IMAGE}the registry does not have r.example/denied:1"),  # its name is not taken for a cause
        (pod(waits("ErrImageNeverPull")), f"{IMAGE}the node lacks r.example/a:1, and must not pull it"),
        (pod(waits("ImagePullBackOff", "Back-off")), f"{IMAGE}r.example/a:1: Back-off"),
        (scheduled("0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had taint {a: b}. preemption: 0/5"),
         "no node fits: of 5, 3 have too little cpu, 2 had taint {a: b}"),
        (scheduled("0/0 nodes are available: ."), "no node fits: there are none"),
        (scheduled('persistentvolumeclaim "x" not found'), 'no node fits: persistentvolumeclaim "x" not found'),
    ],
)  # fmt: skip
def test_a_pod_says_what_is_wrong(item: Object, said: str) -> None:
    assert trouble.of_pod(item) == said


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (ended(1, message="Traceback:\nCUDA error: no kernel image\n\n"), "CUDA error: no kernel image"),
        ({**waits("CrashLoopBackOff"), "lastState": ended(1, message="401: gated repo")["state"]}, "401: gated repo"),
        (ended(1), ""),
        (ended(0, message="accuracy=0.9"), ""),
        (ended(128, "StartError", "no such file"), ""),
        ({**RUNS, "lastState": ended(1, message="of the last try")["state"]}, ""),
    ],
)
def test_the_last_line_that_a_container_left_as_it_failed(state: Object, said: str) -> None:
    assert trouble.last_words(pod(RUNS, state)) == said
