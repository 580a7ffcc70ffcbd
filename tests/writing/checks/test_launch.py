"""Programs that are told to use more GPUs than their container has."""

from __future__ import annotations

import pytest

from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.lint import lint

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: a
    image: a/b:1
    command: COMMAND
    env: [{name: SIZE, value: "4"}]
    resources: {limits: {memory: 1Gi, nvidia.com/gpu: 2}}
"""


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("[vllm, serve, a, --tensor-parallel-size=4]", "8:31"),
        ("[vllm, serve, a, --tensor-parallel-size, '4']", "8:55"),
        ("[vllm, serve, a, --tensor-parallel-size=$(SIZE)]", "8:31"),
        ("[vllm, serve, a, -tp, '2', -pp=2]", "8:36"),
        ("[sh, -c, 'exec python3 -m vllm.entrypoints.openai.api_server --tensor-parallel-size 4']", "8:23"),
        ("[torchrun, --nproc_per_node=4, train.py]", "8:25"),
        ("[python3, -m, torch.distributed.run, --nproc-per-node, '4', train.py]", "8:69"),
        ("[vllm, serve, a, --tensor_parallel_size=4]", "8:31"),
        ("[vllm, serve, a, --tensor-parallel-size=2, --data-parallel-size=2]", "8:31"),
        ("[vllm, serve, a, --tensor-parallel-size=1]", "8:31"),
        ("[vllm, serve, a, --tensor-parallel-size=1, --data-parallel-size=2]", ""),
        ("[vllm, serve, a, --tensor-parallel-size=1, --pipeline-parallel-size=$(OTHER)]", ""),
        ("[sh, -c, 'exec vllm serve a -tp 1 $MORE']", ""),
        ("[sh, -c, 'torchrun --nproc-per-node=1 train.py & vllm serve a -tp 1']", ""),
        ("[vllm, serve, a, --tensor-parallel-size=2]", ""),
        ("[vllm, serve, a, --tensor-parallel-size=4, --nnodes=2]", ""),
        ("[vllm, serve, a, --tensor-parallel-size=4, --distributed-executor-backend, ray]", ""),
        ("[vllm, serve, a, --tensor-parallel-size=$(OTHER)]", ""),
        ("[torchrun, --nproc_per_node=gpu, train.py]", ""),
        ("[serve, --tensor-parallel-size=4]", ""),
    ],
)
def test_finds_processes_that_have_no_gpu(command: str, place: str) -> None:
    def places(pod: str) -> list[str]:
        files = {"a.yaml": pod.replace("COMMAND", command).encode()}
        return [f"{each.line}:{each.column}" for each in lint(PackageFiles(b"kind: Krmfile\n", files))
                if each.rule == "process-count"]  # fmt: skip

    assert places(POD) == ([place] if place else [])
    assert places(POD.replace(", nvidia.com/gpu: 2", "")) == []  # claims of DRA, or a whole node


def _processes(text: str) -> list[str]:
    return [each.severity for each in lint(PackageFiles(b"kind: Krmfile\n", {"a.yaml": text.encode()}))
            if each.rule == "process-count"]  # fmt: skip


GPUS = "containers: [{name: a, image: 'a:1', command: COMMAND, resources: {limits: {nvidia.com/gpu: 2}}}]"
OBJECT = "apiVersion: {}\nkind: {}\nmetadata: {{name: a}}\nspec:\n"
PYTORCH_JOB = OBJECT.format("kubeflow.org/v1", "PyTorchJob") + "  nprocPerNode: '2'\n  pytorchReplicaSpecs:\n"
PYTORCH_JOB += f"    Worker: {{template: {{spec: {{{GPUS}}}}}}}\n"
TRAIN_JOB = OBJECT.format("trainer.kubeflow.org/v1alpha1", "TrainJob") + "  runtimeRef: {name: a}\n"
TRAIN_JOB += "  trainer: {numProcPerNode: 2, resourcesPerNode: {limits: {nvidia.com/gpu: 2}}}\n"
RAY = OBJECT.format("ray.io/v1", "RayCluster") + "  headGroupSpec: {template: {spec: {containers: []}}}\n"
RAY += "  workerGroupSpecs:\n  - groupName: a\n    rayStartParams: {num-gpus: '2'}\n"
RAY += f"    template: {{spec: {{{GPUS}}}}}\n"
VLLM = "[vllm, serve, a, -tp, '2', -pp, '3', --distributed-executor-backend, ray]"
GROUP = OBJECT.format("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet") + "  leaderWorkerTemplate:\n    size: 3\n"
GROUP += f"    workerTemplate: {{spec: {{{GPUS.replace('COMMAND', VLLM)}}}}}\n"
JOB = OBJECT.format("batch/v1", "Job") + "  completionMode: Indexed\n  completions: 2\n  parallelism: 2\n"
JOB += f"  template: {{spec: {{{GPUS.replace('COMMAND', '[torchrun, --nnodes=2, a.py]')}}}}}\n"
JOB_SET = OBJECT.format("jobset.x-k8s.io/v1alpha2", "JobSet") + "  replicatedJobs:\n  - name: a\n    replicas: 1\n"
JOB_SET += "    template: {spec: {completions: 2, parallelism: 2, template: {spec: {"
JOB_SET += GPUS.replace("COMMAND", "[torchrun, --nnodes=2, a.py]") + "}}}}\n"


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (PYTORCH_JOB, "nprocPerNode: '2'", "nprocPerNode: '4'"),
        (TRAIN_JOB, "numProcPerNode: 2", "numProcPerNode: 4"),
        (RAY, "num-gpus: '2'", "num-gpus: '4'"),
        (GROUP, "size: 3", "size: 2"),
        (GROUP.replace(", --distributed-executor-backend, ray", ""), "size: 3", "size: 2"),
        (JOB, "parallelism: 2", "parallelism: 1"),
        (JOB_SET, "parallelism: 2", "parallelism: 1"),
        (JOB_SET, "--nnodes=2", "--nnodes=4"),
        (JOB, "image: 'a:1'", "image: 'a:1', env: [{name: CUDA_VISIBLE_DEVICES, value: '0,1,2'}]"),
    ],
)
def test_finds_more_processes_than_the_gpus_or_pods_of_a_run(text: str, old: str, new: str) -> None:
    assert old in text
    assert _processes(text) == []
    assert _processes(text.replace(old, new)) == ["error"]
    assert (
        _processes(text.replace("image: 'a:1'", "image: 'a:1', env: [{name: CUDA_VISIBLE_DEVICES, value: '0'}]")) == []
    )
