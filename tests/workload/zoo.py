"""What images have where packages look for it: scripts, programs, an archive and code, all of them small.

A script does with files what the one that it stands for does, and then notes what it was given, by `program.py`.
"""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from catalogue.pods import as_pods
from real import free_port
from workload import volume
from workload.cluster import Cluster
from workload.environment import environment
from workload.models import ADAPTER, MODEL
from workload.objects import Object

#: Where the image that makes records of COCO has its script.
PREPROCESSING = "/workspace/preprocess-coco-val/scripts/preprocess_coco_val.sh"

_NOTE = "/opt/note.py"
#: Programs that a shell starts.
_NOTED = ("/usr/local/bin/packyard", "/usr/local/bin/vllm")
#: The address of the node in the network of its pods.
_NODE = "10.0.0.1"
_NOBODY: Object = {"metadata": {"name": "", "labels": {}}}
_MODEL = "rfcn_resnet101_coco_2018_01_28"
_GRAPH = f"{_MODEL}/frozen_inference_graph.pb"

#: Goes on from the checkpoint and exports the model. Its accuracy is 0.70 and 0.01 for each try; below the target it
#: fails.
_TRAIN = f"""\
#!/usr/bin/env bash
set -eu
ls "$DATASET_DIR" >/dev/null
try=$(($(cat "$CHECKPOINT_DIR/try" 2>/dev/null || echo 0) + 1))
echo "$try" >"$CHECKPOINT_DIR/try"
export_dir=$OUTPUT_DIR/model_WIDE_AND_DEEP/exports/$((1700000000 + try))
mkdir -p "$export_dir/variables"
echo "$try" >"$export_dir/saved_model.pb"
echo "$try" >"$export_dir/variables/variables.index"
python3 {_NOTE} "$@"
python3 -c "import sys; sys.exit(not 0.70 + $try / 100 >= $TARGET_ACCURACY)"
"""
#: datasets/coco/preprocess_coco_val.sh of the zoo's 2.7.0, whose lines the numbers are. Like it, it takes no notice of
#: VAL_IMAGE_DIR and ANNOTATIONS_DIR. Before 2.7.0 it wrote to OUTPUT_DIR (lines 76 to 101).
_PREPROCESS = f"""\
set -eu
there() {{ test -d "$1" || {{ echo "ERROR: $1 does not exist"; exit 1; }}; }}
there "$DATASET_DIR"  # 33
VAL_IMAGE_DIR=$DATASET_DIR/val2017  # 38
ANNOTATIONS_DIR=$DATASET_DIR/annotations  # 39
there "$VAL_IMAGE_DIR"  # 43
there "$ANNOTATIONS_DIR"  # 49
there "$TF_MODELS_DIR"  # 55
python3 {_NOTE} "$@"
cd "$TF_MODELS_DIR/research"  # 67
mkdir -p "$records/empty_dir"  # 74
echo "{{}}" >"$records/empty.json"  # 75
cat "$ANNOTATIONS_DIR/instances_val2017.json" >/dev/null  # 83
ls "$VAL_IMAGE_DIR" >"$records/coco_val.record"  # 80 and 85
rm -rf "$records/empty_dir" "$records/empty.json"  # 88
"""
#: quickstart/object_detection/tensorflow/rfcn/inference/cpu/fp32/fp32_accuracy.sh of the zoo's 2.7.0, and what it
#: starts: benchmarks/object_detection/tensorflow/rfcn/inference/fp32/model_init.py, which starts
#: models/object_detection/tensorflow/rfcn/inference/fp32/coco_mAP.sh. The last writes where it is started.
_ACCURACY = f"""\
#!/usr/bin/env bash
set -eu
mkdir -p "$OUTPUT_DIR"  # 26
model_dir=$OUTPUT_DIR/pretrained_model/{_MODEL}  # 41
if [ ! -d "$model_dir" ]; then
  mkdir -p "$OUTPUT_DIR/pretrained_model"  # 44
  tar -C "$OUTPUT_DIR/pretrained_model" -xf pretrained_model/rfcn_fp32_model.tar.gz  # 45
fi
python3 {_NOTE} "$@"
cd "$TF_MODELS_DIR/research"  # model_init.py 163
records=$(ls -d "$DATASET_DIR"/*.record*)  # model_init.py 129
detections=accuracy_message_detections.tfrecord
cat "$model_dir/frozen_inference_graph.pb" $records object_detection/code.py >"$detections"  # coco_mAP.sh 41
mkdir -p accuracy_message_eval_metrics  # coco_mAP.sh 48
echo " Average Precision  (AP) @[ IoU=0.50:0.95 ] = 0.347" >"$OUTPUT_DIR/benchmark_rfcn_inference_fp32.log"
cat "$detections"
"""
#: Copies one file from every bucket.
_AWS = f"""\
#!/usr/bin/env bash
set -eu
python3 {_NOTE} "$@"
echo content >"${{@: -1}}/file"
"""


def preprocessing(records: str = "$DATASET_DIR") -> bytes:
    """Return the script that makes records of COCO, and writes them there."""
    return f"#!/usr/bin/env bash\nrecords={records}\n{_PREPROCESS}".encode()


def _archive() -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        member = tarfile.TarInfo(_GRAPH)
        member.size = len(b"graph\n")
        archive.addfile(member, io.BytesIO(b"graph\n"))
    return gzip.compress(data.getvalue())


def furnish(cluster: Cluster) -> None:
    """Put all of it into the image of pods that start from now on."""
    wide_deep = "/workspace/wide-deep-large-ds-fp32-training"
    files = {
        _NOTE: Path(__file__).with_name("program.py").read_bytes(),
        f"{wide_deep}/quickstart/fp32_training_check_accuracy.sh": _TRAIN.encode(),
        "/usr/local/bin/aws": _AWS.encode(),
        **dict.fromkeys(_NOTED, f'#!/bin/sh\nexec python3 {_NOTE} "$@"\n'.encode()),
        "/tensorflow/models/research/object_detection/code.py": b"code\n",
    }
    for path, data in files.items():
        cluster.put(path, data)
    furnish_rfcn(cluster, PREPROCESSING, "/workspace/rfcn-fp32-inference", "fp32_accuracy.sh")
    serve_hub(cluster)


def serve_hub(cluster: Cluster) -> None:
    """Have what copies models find them on the node, as those who set HF_ENDPOINT do."""
    for item in cluster.objects.of_kind("ConfigMap"):
        source = item["data"].get("MODEL_SOURCE", "")
        if source.startswith("hf://"):
            port = free_port()
            item["data"]["HF_ENDPOINT"] = f"http://{_NODE}:{port}"
            name = source.removeprefix("hf://").partition("@")[0]
            words = (sys.executable, "-m", "workload.hub", _NODE, str(port), name)
            cluster.serve(*words, cwd=Path(__file__).parents[1])


def furnish_rfcn(cluster: Cluster, preprocessing_file: str, model_dir: str, script: str) -> None:
    """Put what the images of R-FCN have where its parameters may say it is."""
    cluster.put(preprocessing_file, preprocessing())
    cluster.put(f"{model_dir}/quickstart/{script}", _ACCURACY.encode())
    cluster.put(f"{model_dir}/pretrained_model/rfcn_fp32_model.tar.gz", _archive())


def store_copies(cluster: Cluster, jobs: Sequence[Object]) -> None:
    """Write what says that staging has copied the input data to the node, where the pods of jobs wait for it."""
    for spec in (item["spec"]["template"]["spec"] for item in jobs):
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        for container in spec.get("initContainers", []):
            if container["name"] != "wait-for-data":
                continue
            dataset_dir = environment(container, _NOBODY, cluster.objects)["DATASET_DIR"]
            for mount in container["volumeMounts"]:
                if PurePosixPath(dataset_dir).is_relative_to(mount["mountPath"]):
                    below = PurePosixPath(dataset_dir).relative_to(mount["mountPath"])
                    file = cluster.storage(volumes[mount["name"]]) / below / ".staged"
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text("s3://bucket\n")


def store_data(cluster: Cluster, objects: Sequence[Object]) -> None:
    """Make the directories of the input data on every storage of some objects, where their environment says."""
    environments = [item["data"] for item in objects if item["kind"] == "ConfigMap" and "data" in item]
    paths = [each.get(name, "") for each in environments for name in ("DATASET_DIR", "MODEL_PATH")]
    named = [path for path in paths if path.startswith("/data/")]
    for each in _volumes(list(objects)):
        if each["name"] == "storage" and volume.source(each) in volume.STORAGE:
            for path in named:
                (cluster.storage(each) / PurePosixPath(path).relative_to("/data")).mkdir(parents=True, exist_ok=True)


def _volumes(value: Any) -> Iterator[Object]:
    """Yield the volumes of all pods in a workload."""
    if isinstance(value, dict) and isinstance(value.get("volumes"), list):
        yield from value["volumes"]
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from _volumes(each)


def store_files(cluster: Cluster, server: Object, path: str, files: Mapping[str, bytes]) -> None:
    """Put files where the pods of a server see a directory of their storage."""
    for each in _volumes(server):
        if each["name"] == "storage" and volume.source(each) in volume.STORAGE:
            folder = cluster.storage(each) / PurePosixPath(path).relative_to("/data")
            folder.mkdir(parents=True, exist_ok=True)
            for name, data in files.items():
                (folder / name).write_bytes(data)


def store_models(cluster: Cluster, servers: Sequence[Object]) -> None:
    """Put version 1 of a model on the storage of servers that serve what somebody put there, or a language model."""
    for spec in (pod["spec"] for _, pod in as_pods(list(servers))):
        for container in spec.get("initContainers", ()):
            variables = environment(container, _NOBODY, cluster.objects)
            for name, files in (("MODEL_PATH", MODEL), ("ADAPTER_PATH", ADAPTER)):
                if name in variables:
                    store_files(cluster, spec, variables[name], files)
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        for container in spec["containers"]:
            base_path = environment(container, {}, cluster.objects).get("MODEL_BASE_PATH")
            for mount in container["volumeMounts"] if base_path else []:
                if mount.get("readOnly") and PurePosixPath(base_path).is_relative_to(mount["mountPath"]):
                    below = PurePosixPath(base_path).relative_to(mount["mountPath"])
                    version = cluster.storage(volumes[mount["name"]]) / below / "1"
                    version.mkdir(parents=True, exist_ok=True)
                    (version / "saved_model.pb").write_text("model\n")
