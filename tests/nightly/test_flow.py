"""What users of the published packages do, word for word, with public tools; and the same with packyard's own."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import reading
import real
from real import Kustomize
from tiny import RELEASE, programs_dir

NAME = "resnet50v1-5-fp32-training-k8s"
PREFIX = "quickstart/mlops"
TOPOLOGIES = ("multi-node", "single-node")
STORAGES = ("user-allocated-pvc", "user-mounted-nfs")

#: The parameters that the upstream README of 2.7.0 has its users set.
STORAGE_PARAMETERS = {
    "NFS_SERVER": "10.0.0.5",
    "NFS_PATH": "/exports/models",
    "PVC_NAME": "workdisk",
    "PVC_PATH": "/mnt/claim",
}
PARAMETERS = {
    **STORAGE_PARAMETERS,
    "FS_ID": "2000",
    "GROUP_ID": "1001",
    "GROUP_NAME": "staff",
    "USER_ID": "1000",
    "USER_NAME": "alice",
    "DATASET_DIR": "/imagenet",
}

FETCH = {
    "wget": "wget -q {url}/models/{release}/{name}.tar.gz {url}/models/{release}/{name}.tar.gz.sha256",
    "curl": "curl -fsSO {url}/models/{release}/{name}.tar.gz -O {url}/models/{release}/{name}.tar.gz.sha256",
}
FLOW = """
set -eu
{fetch}
sha256sum -c {name}.tar.gz.sha256
tar -xvf {name}.tar.gz
cd {name}/quickstart/mlops/{topology}
{set_all}
for use_case in user-allocated-pvc user-mounted-nfs; do
  (cd "$use_case" && kustomize edit set namespace ml)
  kustomize build "$use_case" > "$use_case.yaml"
done
"""


@pytest.fixture
def bin_dir(tmp_path: Path, kustomize3: Kustomize, wget: Path, curl: Path, tar: Path) -> Path:
    """What the users have installed: kustomize is 3.8.7."""
    programs = {"kustomize": kustomize3.program, "wget": wget, "curl": curl, "tar": tar, "gzip": real.program("gzip")}
    return programs_dir(tmp_path / "bin", programs)


def shell(script: str, bin_dir: Path, cwd: Path) -> str:
    """Run a script that has to succeed, as a user types it, and return its output."""
    path = f"{bin_dir}{os.pathsep}{os.environ['PATH']}"
    result = subprocess.run(
        ["sh", "-c", script],
        cwd=cwd,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


def follow(url: str, topology: str, *, fetch: str, setter: str, bin_dir: Path, cwd: Path) -> Path:
    """Follow the published flow and return the folder of the topology's use cases."""
    cwd.mkdir()
    set_all = "\n".join(f"{setter} . {name} {value} -R" for name, value in PARAMETERS.items())
    fetching = FETCH[fetch].format(url=url, release=RELEASE, name=NAME)
    output = shell(FLOW.format(fetch=fetching, name=NAME, topology=topology, set_all=set_all), bin_dir, cwd)
    assert f"{NAME}.tar.gz: OK" in output
    assert f"{NAME}/quickstart/mlops/{topology}/user-mounted-nfs/Krmfile" in output
    return cwd / NAME / PREFIX / topology


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_the_published_flow_gives_the_same_by_kustomize_and_by_packyard(
    topology: str,
    web_dir: Path,
    bin_dir: Path,
    http_server: Callable[[Path], str],
    kustomize5: Kustomize,
    tmp_path: Path,
) -> None:
    url = http_server(web_dir)
    theirs = follow(url, topology, fetch="wget", setter="kustomize cfg set", bin_dir=bin_dir, cwd=tmp_path / "theirs")
    ours = follow(url, topology, fetch="curl", setter="packyard set", bin_dir=bin_dir, cwd=tmp_path / "ours")
    for storage in STORAGES:
        mine, other = ours / storage, theirs / storage
        assert reading.objects(mine) == reading.objects(other)
        assert reading.setter_comments(mine) == reading.setter_comments(other)
        assert reading.setter_values(mine) == reading.setter_values(other)
        assert reading.set_by_user(mine) == reading.set_by_user(other) == parameters_of(storage)
        objects = reading.built(kustomize5, mine)
        assert objects == reading.built(kustomize5, other)
        assert objects == reading.sorted_objects((ours / f"{storage}.yaml").read_text())
        assert objects == reading.sorted_objects((theirs / f"{storage}.yaml").read_text())
        assert {item["metadata"]["namespace"] for item in objects} == {"ml"}
        text = json.dumps(objects)
        assert [name for name in parameters_of(storage) if PARAMETERS[name] not in text] == []


def parameters_of(storage: str) -> set[str]:
    own = "NFS_" if storage == "user-mounted-nfs" else "PVC_"
    return {name for name in PARAMETERS if name not in STORAGE_PARAMETERS or name.startswith(own)}
