"""Which use cases have which options: those that users of earlier releases know stay."""

from __future__ import annotations

import pytest

from using.options.shipped import DATASETS, Catalogue

_ALL = {"do-not-disrupt", "node-pool", "pull-secret", "queue"}
_RUN = {*_ALL, *DATASETS, "environment"}
_SERVER = {"node-pool", "pull-secret"}
_MODEL = {*_SERVER, "adapter", "api-key", "environment", "gpu-claim"}
FITTING = {
    "bert-large-fp32-training-k8s/multi-node/user-mounted-nfs": {*_RUN, "debug", "gpus", "spread"},
    "bert-large-fp32-training-k8s/single-node/user-mounted-nfs": {*_RUN, "debug", "gpus"},
    "image-classification-fp32-training-k8s/single-node/object-storage": {*_ALL, "debug", "environment", "gpus"},
    "image-classification-fp32-training-k8s/sweep/object-storage": {*_ALL, "debug", "environment", "gpus", "spread"},
    "llm-serving/one-node/user-allocated-pvc": {*_MODEL, "spread"},
    "llm-serving/several-nodes/user-allocated-pvc": {*_MODEL, "queue"},
    "llm-serving/staging/user-allocated-pvc": _ALL,
    "mask-rcnn-fp32-training-k8s/inspector/user-allocated-pvc": _SERVER,
    "mask-rcnn-fp32-training-k8s/multi-node-optimized/user-allocated-pvc": {*_RUN, "debug", "efa", "spread"},
    "mask-rcnn-fp32-training-k8s/notebook/user-allocated-pvc": {*_SERVER, "environment"},
    "mask-rcnn-fp32-training-k8s/staging/user-allocated-pvc": _ALL,
    "mask-rcnn-fp32-training-k8s/tensorboard/user-allocated-pvc": _SERVER,
    "mnist-fp32-training-k8s/first-run/none": {*_ALL, "debug", "environment", "gpus"},
    "mnist-fp32-training-k8s/multi-node-job-set/user-allocated-pvc": {*_RUN, "debug", "gpus", "spread"},
    "mnist-fp32-training-k8s/multi-node-train-job/user-allocated-pvc": {*_RUN, "debug", "gpus", "spread"},
    "release-job/publish/none": {*_ALL, "spread"},
    "resnet50v1-5-fp32-inference-k8s/serving/user-mounted-nfs": {*_SERVER, "environment", "spread"},
    "rfcn-fp32-inference-k8s/pipeline/user-mounted-nfs": {*_RUN, "debug"},
    "rfcn-fp32-inference-k8s/serving/user-mounted-nfs": {*_RUN, "debug", "gpus"},
    "unet-fp32-training-k8s/node-staging/node-local": {"do-not-disrupt", "node-pool", "pull-secret"},
    "unet-fp32-training-k8s/parameter-server/node-local": {*_ALL, "debug", "environment", "gpus", "spread"},
    "unet-fp32-training-k8s/ps-job-set/user-allocated-pvc": {*_RUN, "debug", "gpus", "spread"},
    "wide-deep-large-ds-fp32-training-k8s/pipeline/user-mounted-nfs": {*_RUN, "debug", "spread"},
}


@pytest.mark.parametrize("name", FITTING)
def test_a_use_case_has_its_options(name: str, catalogue: Catalogue) -> None:
    assert {*catalogue.place(name).options} == FITTING[name]


def test_options_take_at_most_520_lines_of_a_package(catalogue: Catalogue) -> None:
    for package in sorted({place.package for place in catalogue.places}):
        files = (catalogue.root / package / "options").rglob("*")
        lines = sum(file.read_bytes().count(b"\n") for file in files if file.is_file())
        assert lines <= 520, package
