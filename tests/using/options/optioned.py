"""A small package of the form that users get: two use cases, and options once for both, with one Krmfile."""

import json
from pathlib import Path

import tiny
from packyard.core.digest import Digest

#: From the package's folder to what users deploy.
PREFIX = "quickstart/mlops"
SINGLE, MULTI = f"{PREFIX}/single-node/claim", f"{PREFIX}/multi-node/claim"
OPTIONS = f"{PREFIX}/options"

FILES = tiny.read_tree("package")
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
    tiny.write_all(root, FILES)
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
