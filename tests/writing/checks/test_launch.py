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
