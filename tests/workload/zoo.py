"""What the images of Intel's model zoo have, whose scripts the numbers are lines of, and what storage holds."""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from real import free_port
from workload import volumes
from workload.environment import Object, environment
from workload.image import NOTE
from workload.machine import Machine
from workload.models import ADAPTER, MODEL

_MODEL = "rfcn_resnet101_coco_2018_01_28"

#: Goes on from the checkpoint and exports the model. Its accuracy is 0.80 and 0.01 for each try; below the target it
#: fails.
_TRAIN = f"""\
#!/usr/bin/env bash
set -eu
ls "$DATASET_DIR" >/dev/null
try=$(($(cat "$CHECKPOINT_DIR/try" 2>/dev/null || echo 0) + 1))
echo "$try" >"$CHECKPOINT_DIR/try"
export_dir=$OUTPUT_DIR/model_WIDE_AND_DEEP/exports/$((1700000000 + try))
mkdir -p "$export_dir/variables"
echo "$try" | tee "$export_dir/saved_model.pb" >"$export_dir/variables/variables.index"
python3 {NOTE} "$@"
python3 -c "import sys; sys.exit(not 0.80 + $try / 100 >= $TARGET_ACCURACY)"
"""
#: datasets/coco/preprocess_coco_val.sh of the zoo's 2.7.0. Like it, it takes no notice of VAL_IMAGE_DIR.
_PREPROCESS = f"""\
#!/usr/bin/env bash
set -eu
VAL_IMAGE_DIR=$DATASET_DIR/val2017  # 38
ANNOTATIONS_DIR=$DATASET_DIR/annotations  # 39
ls "$VAL_IMAGE_DIR" "$ANNOTATIONS_DIR" "$TF_MODELS_DIR" >/dev/null  # 43 to 55
python3 {NOTE} "$@"
cd "$TF_MODELS_DIR/research"  # 67
cat "$ANNOTATIONS_DIR/instances_val2017.json" >/dev/null  # 83
ls "$VAL_IMAGE_DIR" >"$DATASET_DIR/coco_val.record"  # 80 and 85
"""
#: fp32_accuracy.sh of R-FCN in the zoo's 2.7.0, with model_init.py and coco_mAP.sh, which writes where it is started.
_ACCURACY = f"""\
#!/usr/bin/env bash
set -eu
mkdir -p "$OUTPUT_DIR/pretrained_model"  # 44
tar -C "$OUTPUT_DIR/pretrained_model" -xf pretrained_model/rfcn_fp32_model.tar.gz  # 45
python3 {NOTE} "$@"
cd "$TF_MODELS_DIR/research"  # model_init.py 163
records=$(ls -d "$DATASET_DIR"/*.record*)  # model_init.py 129
model=$OUTPUT_DIR/pretrained_model/{_MODEL}/frozen_inference_graph.pb  # 41
cat "$model" $records object_detection/code.py >accuracy_message_detections.tfrecord  # coco_mAP.sh 41
echo " Average Precision  (AP) @[ IoU=0.50:0.95 ] = 0.347" >"$OUTPUT_DIR/benchmark_rfcn_inference_fp32.log"
cat accuracy_message_detections.tfrecord
"""


def _archive() -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        member = tarfile.TarInfo(f"{_MODEL}/frozen_inference_graph.pb")
        member.size = len(b"graph\n")
        archive.addfile(member, io.BytesIO(b"graph\n"))
    return gzip.compress(data.getvalue())


def furnish(machine: Machine) -> None:
    """Put all of it into the image of pods that start from now on."""
    coco, rfcn = "/workspace/preprocess-coco-val", "/workspace/rfcn-fp32-inference"
    training = "/workspace/wide-deep-large-ds-fp32-training/quickstart/fp32_training_check_accuracy.sh"
    machine.put(training, _TRAIN.encode())
    machine.put(f"{coco}/scripts/preprocess_coco_val.sh", _PREPROCESS.encode())
    machine.put(f"{rfcn}/quickstart/fp32_accuracy.sh", _ACCURACY.encode())
    machine.put(f"{rfcn}/pretrained_model/rfcn_fp32_model.tar.gz", _archive())
    machine.put("/tensorflow/models/research/object_detection/code.py", b"code\n")
    serve_hub(machine)


def serve_hub(machine: Machine) -> None:
    """Have what copies models find them on the node, as those who set HF_ENDPOINT do, and huggingface_hub in Python."""
    for item in machine.objects:
        name = item.get("data", {}).get("MODEL_SOURCE", "").removeprefix("hf://").partition("@")[0]
        if item["kind"] == "ConfigMap" and name:
            port = free_port()
            machine.image.replace("python3", Path(sys.executable))
            item["data"]["HF_ENDPOINT"] = f"http://10.0.0.1:{port}"
            words = (sys.executable, "-m", "workload.hub", "10.0.0.1", str(port), name)
            machine.serve(*words, cwd=Path(__file__).parents[1])


def store(machine: Machine, pod: Object, path: str, files: Mapping[str, bytes]) -> None:
    """Put files where a container of a pod sees a path of its storage."""
    by_name = {each["name"]: each for each in pod["spec"].get("volumes", ())}
    containers = [*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]]
    for mount in [mount for container in containers for mount in container.get("volumeMounts", ())]:
        volume = by_name[mount["name"]]
        if PurePosixPath(path).is_relative_to(mount["mountPath"]) and volumes.source(volume) in volumes.STORAGE:
            below = PurePosixPath(path).relative_to(mount["mountPath"])
            folder = machine.storage(volume) / mount.get("subPath", "") / below
            folder.mkdir(parents=True, exist_ok=True)
            for name, data in files.items():
                (folder / name).write_bytes(data)


def store_inputs(machine: Machine, pods: Sequence[Object]) -> None:
    """Put what pods read on their storage: input data and what says that it is whole, models, adapters."""
    inputs = {"DATASET_DIR": {".staged": b"s3://bucket\n"}, "MODEL_PATH": MODEL, "ADAPTER_PATH": ADAPTER}
    images = {"val2017": {"1.jpg": b"", "2.jpg": b""}, "annotations": {"instances_val2017.json": b"{}"}}
    for pod in pods:
        for container in [*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]]:
            variables = environment(container, pod, machine.objects)
            for name in [each for each in inputs if variables.get(each, "").startswith("/")]:
                if not variables[name].startswith(variables.get("OUTPUT_DIR", "none")):  # which a run makes
                    store(machine, pod, variables[name], inputs[name])
                    for folder, files in images.items() if name == "DATASET_DIR" else ():
                        store(machine, pod, f"{variables[name]}/{folder}", files)
            if "MODEL_BASE_PATH" in variables and pod["spec"].get("restartPolicy", "Always") == "Always":
                store(machine, pod, f"{variables['MODEL_BASE_PATH']}/1", {"saved_model.pb": b"model\n"})
