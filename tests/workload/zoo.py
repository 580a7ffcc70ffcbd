"""What images have where packages look for it: scripts, programs, an archive and code, all of them small.

A script does with files what the one that it stands for does, and then notes what it was given, by `program.py`.
"""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from workload.cluster import Cluster
from workload.environment import environment
from workload.objects import Object

_NOTE = "/opt/note.py"
_NOBODY: Object = {"metadata": {"name": "", "labels": {}}}
_RFCN = "/workspace/rfcn-fp32-inference"
_GRAPH = "rfcn_resnet101_coco_2018_01_28/frozen_inference_graph.pb"

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
#: Writes to DATASET_DIR, as the script of 2.7 does; later ones write to OUTPUT_DIR.
_PREPROCESS = f"""\
#!/usr/bin/env bash
set -eu
ls "$VAL_IMAGE_DIR" "$ANNOTATIONS_DIR/instances_val2017.json" >/dev/null
test "$DATASET_DIR" = "$OUTPUT_DIR"
mkdir -p "$DATASET_DIR/empty_dir"
ls "$VAL_IMAGE_DIR" >"$DATASET_DIR/coco_val.record"
rm -r "$DATASET_DIR/empty_dir"
python3 {_NOTE} "$@"
"""
#: Unpacks the model, and writes its detections beside the code, where it is started.
_ACCURACY = f"""\
#!/usr/bin/env bash
set -eu
python3 {_NOTE} "$@"
mkdir -p "$OUTPUT_DIR/pretrained_model"
tar -C "$OUTPUT_DIR/pretrained_model" -xf pretrained_model/rfcn_fp32_model.tar.gz
cd "$TF_MODELS_DIR/research"
graph=$OUTPUT_DIR/pretrained_model/{_GRAPH}
cat "$graph" "$DATASET_DIR"/*.record object_detection/code.py >accuracy_detections.tfrecord
cat accuracy_detections.tfrecord
"""
#: Copies one file from every bucket.
_AWS = f"""\
#!/usr/bin/env bash
set -eu
python3 {_NOTE} "$@"
echo content >"${{@: -1}}/file"
"""


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
        "/workspace/preprocess-coco-val/scripts/preprocess_coco_val.sh": _PREPROCESS.encode(),
        f"{_RFCN}/quickstart/fp32_accuracy.sh": _ACCURACY.encode(),
        f"{_RFCN}/pretrained_model/rfcn_fp32_model.tar.gz": _archive(),
        "/usr/local/bin/aws": _AWS.encode(),
        "/tensorflow/models/research/object_detection/code.py": b"code\n",
    }
    for path, data in files.items():
        cluster.put(path, data)


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


def store_models(cluster: Cluster, servers: Sequence[Object]) -> None:
    """Put version 1 of a model on the storage of servers that serve what somebody put there."""
    for spec in (item["spec"]["template"]["spec"] for item in servers):
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        for container in spec["containers"]:
            base_path = {each["name"]: each.get("value") for each in container.get("env", [])}.get("MODEL_BASE_PATH")
            for mount in container["volumeMounts"]:
                if mount["mountPath"] == base_path:
                    version = cluster.storage(volumes[mount["name"]]) / mount["subPath"] / "1"
                    version.mkdir(parents=True, exist_ok=True)
                    (version / "saved_model.pb").write_text("model\n")
