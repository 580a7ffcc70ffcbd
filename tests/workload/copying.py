"""What copies, as its pod starts it, with the words and variables of its manifest."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

import real
from workload.machine import PATIENCE

HUB = "bases/model-staging/job.yaml"
BUCKET, REGISTRY = (f"overlays/options/from-{kind}/job.yaml" for kind in ("bucket", "registry"))
STAGING, NODE_STAGING = "bases/staging/job.yaml", "bases/node-staging/deployment.yaml"
DATASET = "overlays/options/dataset-bucket/pods.yaml"
_PROGRAM = real.REPOSITORY / HUB.replace("job.yaml", "stage_model.py")
Done = subprocess.CompletedProcess[str]


def described(file: str, target: Path, told: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the words of a container that copies to a directory, and its variables."""
    path, scratch = real.REPOSITORY / file, target.parents[1] / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    words = next(_commands([*yaml.safe_load_all(path.read_text())]))
    for place, here in {"/tmp": scratch, "/program": _PROGRAM.parent, "/dataset": target, " sleep 10": " true"}.items():
        words = [word.replace(place, str(here)) for word in words]
    words[0] = sys.executable if words[0] == "python3" else words[0]
    given = {"PATH": real.path_with("aws", "awk", "bash", "find", "mount", "oras", "rclone"), "HOME": str(scratch)}
    given |= {"STAGE_DIR": str(target), "STAGE_TRIES": "1", "STAGE_TIMEOUT": "60", "AWS_MAX_ATTEMPTS": "1"}
    given |= {"AWS_DEFAULT_REGION": "us-east-1", "HF_HUB_DISABLE_XET": "1"}
    for config_map in (_PROGRAM.with_name("config-map.yaml"), path.with_name("config-map.yaml")):
        given = {**(yaml.safe_load(config_map.read_text())["data"] if config_map.is_file() else {}), **given}
    return words, {**given, "HF_HOME": str(scratch), **told}


def _commands(value: Any) -> Iterator[list[str]]:
    if isinstance(value, dict) and "command" in value:
        yield value["command"]
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _commands(each)


def copy(file: str, target: Path, told: Mapping[str, str], *around: str) -> Done:
    """Run a container to its end, and where it copied a model, the one that starts then; return what both said."""
    words, environment = described(file, target, told)
    done = _run([*around, *words], environment)
    if done.returncode or file not in (HUB, BUCKET, REGISTRY):
        return done
    checked = _run([sys.executable, str(_PROGRAM), "finish"], environment)
    return subprocess.CompletedProcess(
        [], checked.returncode, done.stdout + checked.stdout, done.stderr + checked.stderr
    )


def finish(source: str, target: Path) -> Done:
    return _run([sys.executable, str(_PROGRAM), "finish"], {"MODEL_SOURCE": source, "STAGE_DIR": str(target)})


def _run(words: list[str], environment: dict[str, str]) -> Done:
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
