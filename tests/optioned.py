"""A small package of the form that users get: two use cases, and options once for both, with one Krmfile."""

from __future__ import annotations

import json
from pathlib import Path

import tiny
from packyard.digest import Digest

#: From the package's folder to what users deploy.
PREFIX = "quickstart/mlops"
SINGLE, MULTI = f"{PREFIX}/single-node/claim", f"{PREFIX}/multi-node/claim"
OPTIONS = f"{PREFIX}/options"

_COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
_KRMFILE = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"


def setter(name: str, value: str, *, required: bool = False, more: str = "") -> str:
    """Return a definition as packages have it."""
    end = ", required: true" if required else ""
    return (
        f"    io.k8s.cli.setters.{name}:\n      description: What {name} is.\n{more}"
        f'      x-k8s-cli: {{setter: {{name: {name}, value: "{value}"{end}}}}}\n'
    )


JOB = """\
# Trains on one node. &name marks what *name repeats further down.
apiVersion: batch/v1
kind: Job
metadata:
  name: &run run # {"$openapi":"RUN_NAME"}
  labels: &labels
    app.kubernetes.io/instance: *run
spec:
  template:
    metadata:
      labels: *labels
      annotations: {sidecar.istio.io/inject: "false"}
    spec:
      serviceAccountName: *run
      volumes:
      - {name: tmp, emptyDir: {}}
      - name: storage
        persistentVolumeClaim:
          claimName: "" # {"$openapi":"PVC_NAME"}
      initContainers:
      - name: create-output-dir
        image: &image example.com/train:1 # {"$openapi":"IMAGE"}
        volumeMounts: &mounts
        - {name: tmp, mountPath: /tmp}
        - {name: storage, mountPath: /pvc}
      containers:
      - name: training
        image: *image
        command: [train]
        args: ["--steps", "5"]
        volumeMounts: *mounts
"""
MPI_JOB = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: run # {"$openapi":"RUN_NAME"}
spec:
  mpiReplicaSpecs:
    Worker:
      replicas: 2 # {"$openapi":"WORKERS"}
      template:
        metadata: {annotations: {sidecar.istio.io/inject: "false"}}
        spec:
          volumes:
          - name: storage
            persistentVolumeClaim:
              claimName: "" # {"$openapi":"PVC_NAME"}
          containers:
          - name: mpi-worker
            image: example.com/train:1 # {"$openapi":"IMAGE"}
            volumeMounts:
            - {name: storage, mountPath: /pvc}
"""
CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: run # {"$openapi":"RUN_NAME"}
  labels: {app.kubernetes.io/component: environment}
data:
  DATASET_DIR: /pvc/data
"""


def _dataset(kind: str, source: str) -> str:
    """Return an option that brings the input data: only one of them can."""
    job, mpi = "/spec/template", "/spec/mpiReplicaSpecs/Worker/template"
    return _COMPONENT + "patches:\n" + "".join(
        f"- target: {{kind: {target}}}\n  patch: |-\n"
        f"    - {{op: test, path: {pod}/spec/containers/0/name, value: {container}}}\n"
        f"    - {{op: test, path: {pod}/metadata/annotations/dataset, value: null}}\n"
        f"    - {{op: add, path: {pod}/metadata/annotations/dataset, value: {kind}}}\n"
        f"    - {{op: add, path: {pod}/spec/volumes/-, value: {{name: dataset, {source}}}}}\n"
        for target, pod, container in (("Job", job, "training"), ("MPIJob", mpi, "mpi-worker"))
    )  # fmt: skip


FILES = {
    f"{SINGLE}/Krmfile": "# The parameters of this use case.\n"
    + _KRMFILE
    + setter("PVC_NAME", "", required=True)
    + setter("RUN_NAME", "run")
    + setter("IMAGE", "example.com/train:1"),
    f"{SINGLE}/kustomization.yaml": "resources:\n- config-map.yaml\n- job.yaml\n",
    f"{SINGLE}/job.yaml": JOB,
    f"{SINGLE}/config-map.yaml": CONFIG_MAP,
    f"{MULTI}/Krmfile": _KRMFILE
    + setter("PVC_NAME", "", required=True)
    + setter("RUN_NAME", "run")
    + setter("IMAGE", "example.com/train:1")
    + setter("WORKERS", "2", more="      type: integer\n"),
    f"{MULTI}/kustomization.yaml": "resources:\n- config-map.yaml\n- mpi-job.yaml\n",
    f"{MULTI}/mpi-job.yaml": MPI_JOB,
    f"{MULTI}/config-map.yaml": CONFIG_MAP,
    f"{PREFIX}/volume/Krmfile": _KRMFILE + setter("PVC_NAME", "workdisk"),
    f"{PREFIX}/volume/kustomization.yaml": "resources:\n- claim.yaml\n",
    f"{PREFIX}/volume/claim.yaml": "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n"
    '  name: workdisk # {"$openapi":"PVC_NAME"}\n',
    f"{OPTIONS}/Krmfile": "# The parameters of the options.\n"
    + _KRMFILE
    + setter("QUEUE_NAME", "default", more="      pattern: '^[a-z0-9-]+$'\n")
    + setter("S3_BUCKET", "", required=True)
    + setter("SPREAD_ELSE", "ScheduleAnyway", more="      enum: [DoNotSchedule, ScheduleAnyway]\n"),
    f"{OPTIONS}/queue/kustomization.yaml": "# The run waits in a queue of Kueue. Needs a LocalQueue.\n"
    + _COMPONENT
    + "patches:\n- {path: queue.yaml, target: {kind: Job|MPIJob}}\n",
    f"{OPTIONS}/queue/queue.yaml": "apiVersion: any/v1\nkind: Any\nmetadata:\n  name: any\n  labels:\n"
    '    kueue.x-k8s.io/queue-name: default # {"$openapi":"QUEUE_NAME"}\n',
    f"{OPTIONS}/spread/kustomization.yaml": "# Spreads the workers.\n"
    + _COMPONENT
    + "patches:\n- {path: mpi-job.yaml, target: {kind: MPIJob}}\n",
    f"{OPTIONS}/spread/mpi-job.yaml": "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: any}\n"
    "spec:\n  mpiReplicaSpecs:\n    Worker:\n      template:\n        spec:\n          topologySpreadConstraints:\n"
    '          - whenUnsatisfiable: ScheduleAnyway # {"$openapi":"SPREAD_ELSE"}\n',
    f"{OPTIONS}/dataset-claim/kustomization.yaml": "# The input data comes from a claim.\n"
    + _dataset("claim", "persistentVolumeClaim: {claimName: datasets}"),
    f"{OPTIONS}/dataset-bucket/kustomization.yaml": "# The input data comes from a bucket.\n"
    + _dataset("bucket", "emptyDir: {}")
    + "- {path: bucket.yaml, target: {kind: ConfigMap, labelSelector: app.kubernetes.io/component=environment}}\n",
    f"{OPTIONS}/dataset-bucket/bucket.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: any\ndata:\n"
    '  S3_BUCKET: "" # {"$openapi":"S3_BUCKET"}\n',
    f"{OPTIONS}/debug/kustomization.yaml": "# Sleeps, so that a shell can be opened.\n" + _COMPONENT + "patches:\n"
    "- target: {kind: Job}\n  patch: |-\n"
    "    - {op: test, path: /spec/template/spec/containers/0/name, value: training}\n"
    '    - {op: replace, path: /spec/template/spec/containers/0/command, value: [sleep, "3600"]}\n'
    "    - {op: remove, path: /spec/template/spec/containers/0/args}\n",
}  # fmt: skip
NAMES = ["dataset-bucket", "dataset-claim", "debug", "queue", "spread"]
_SETTERS: dict[str, dict[str, str | None]] = {
    SINGLE: {"IMAGE": "example.com/train:1", "PVC_NAME": None, "RUN_NAME": "run"},
    MULTI: {"IMAGE": "example.com/train:1", "PVC_NAME": None, "RUN_NAME": "run", "WORKERS": "2"},
    f"{PREFIX}/volume": {"PVC_NAME": "workdisk"},
    OPTIONS: {"QUEUE_NAME": "default", "S3_BUCKET": None, "SPREAD_ELSE": "ScheduleAnyway"},
}


def package(folder: Path) -> Path:
    """Write the package, as if it was untarred there; return its folder."""
    root = folder / "tiny-k8s"
    for path, text in FILES.items():
        tiny.write(root / path, text)
    manifest = {
        "apiVersion": "packyard/v1",
        "kind": "Bundle",
        "name": "tiny-k8s",
        "version": "1.0.0",
        "model": {"name": "tiny"},
        "images": ["example.com/train:1"],
        "moved": {"MEMORY_LIMIT": "the line `memory` of job.yaml", "SHM_SIZE": "gone"},
        "useCases": {path: {"requires": [], "setters": values} for path, values in _SETTERS.items()},
        "files": {path: Digest.of(text.encode()) for path, text in FILES.items()},
    }
    tiny.write(root / "packyard.json", json.dumps(manifest, indent=2) + "\n")
    return root
