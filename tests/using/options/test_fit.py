"""Which use cases have which options: those that users of earlier releases know stay."""

from __future__ import annotations

import pytest

from catalogue.usecases import PACKAGES, composed_package

DATASETS = ("dataset-bucket", "dataset-claim", "dataset-host-path")

_ALL = {"do-not-disrupt", "limits", "node-pool", "pull-secret", "queue", "scheduling"}
_RUN = {*_ALL, *DATASETS, "environment", "writable-root"}
_ALONE = {*_ALL, "debug", "environment", "gpus", "writable-root"}
_SERVER = {"node-pool", "pull-secret", "scheduling"}
_ASKED = {*_SERVER, "api-key", "chat-template", "environment", "queue", "reasoning", "tool-calling"}
_MODEL = {*_ASKED, "adapter", "compile-cache", "trust-remote-code"}
_GPUS = {"amd", "expert-parallel", "gpu-claim"}
FITTING = {
    "bert-large-fp32-training-k8s/multi-node/user-mounted-nfs": {*_RUN, "debug", "gpus", "spread"},
    "bert-large-fp32-training-k8s/single-node/user-mounted-nfs": {*_RUN, "debug", "gpus"},
    "image-classification-fp32-training-k8s/single-node/object-storage": _ALONE,
    "image-classification-fp32-training-k8s/sweep/object-storage": {*_ALONE, "spread"},
    "llm-serving/from-image/model-image": {*_ASKED, *_GPUS, "spread", "trust-remote-code", "writable-root"},
    "llm-serving/on-cpu/user-allocated-pvc": {*_MODEL, "spread", "writable-root"},
    "llm-serving/one-node/user-allocated-pvc": {*_MODEL, *_GPUS, "spread", "writable-root"},
    "llm-serving/several-nodes/user-allocated-pvc": {*_MODEL, *_GPUS, "efa", "rdma", "writable-root"},
    "llm-serving/smoke-test": _ALL,
    "llm-serving/staging/user-allocated-pvc": {*_ALL, "from-bucket", "from-registry", "trust-remote-code"},
    "mask-rcnn-fp32-training-k8s/inspector/user-allocated-pvc": _SERVER,
    "mask-rcnn-fp32-training-k8s/multi-node-optimized/user-allocated-pvc": {*_RUN, "debug", "efa", "rdma", "spread"},
    "mask-rcnn-fp32-training-k8s/notebook/user-allocated-pvc": {*_SERVER, "environment"},
    "mask-rcnn-fp32-training-k8s/staging/user-allocated-pvc": _ALL,
    "mask-rcnn-fp32-training-k8s/tensorboard/user-allocated-pvc": _SERVER,
    "mnist-fp32-training-k8s/first-run/none": _ALONE,
    "mnist-fp32-training-k8s/multi-node-job-set/user-allocated-pvc": {*_RUN, "debug", "gpus", "spread"},
    "mnist-fp32-training-k8s/multi-node-train-job/user-allocated-pvc": {*_RUN, "debug", "gpus", "spread"},
    "release-job/publish/none": {*_ALL, "spread"},
    "resnet50v1-5-fp32-inference-k8s/serving/user-mounted-nfs": {*_SERVER, "environment", "queue", "spread"},
    "rfcn-fp32-inference-k8s/pipeline/user-mounted-nfs": {*_RUN, "debug"} - {"writable-root"},
    "rfcn-fp32-inference-k8s/benchmark/user-mounted-nfs": {*_RUN, "debug", "gpus"},
    "unet-fp32-training-k8s/node-staging/node-local": {"do-not-disrupt", "node-pool", "pull-secret", "scheduling"},
    "unet-fp32-training-k8s/parameter-server/node-local": {
        *_ALL,
        "debug",
        "environment",
        "gpus",
        "writable-root",
        "spread",
    },
    "unet-fp32-training-k8s/ps-job-set/user-allocated-pvc": {*_RUN, "debug", "gpus", "spread"},
    "wide-deep-large-ds-fp32-training-k8s/pipeline/user-mounted-nfs": {*_RUN, "debug", "spread"} - {"writable-root"},
}


@pytest.mark.parametrize("name", FITTING)
def test_a_use_case_has_its_options(name: str) -> None:
    package, _, path = name.partition("/")
    options = composed_package(next(each for each in PACKAGES if each.name == package)).options
    assert {each.name for each in options.all if path in each.use_cases} == FITTING[name]
