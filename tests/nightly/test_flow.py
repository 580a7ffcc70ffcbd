"""What users of the published packages do, word for word, with public tools; and the same with packyard's own."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

import reading
import real
from catalogue.usecases import each_package
from packyard.writing.source.package import Package
from real import Kustomize
from tiny import RELEASE, done, packyard, programs_dir

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


@each_package
def test_the_packages_readme_names_every_parameter_and_option(package: Package, web_dir: Path, tmp_path: Path) -> None:
    done("get", f"{package.name}@{RELEASE}", "--from", web_dir / "models", "--to", tmp_path)
    readme = (tmp_path / package.name / "README.md").read_text()
    _, _, of_options = readme.partition("\n## Options\n")
    options_dir = tmp_path / package.name / PREFIX / "options"
    for krmfile in sorted((tmp_path / package.name / PREFIX).rglob("Krmfile")):
        names = reading.setter_values(krmfile.parent)
        if krmfile.parent == options_dir:
            assert [name for name in names if not re.search(rf"^\| `.*\b{name}\b.* \|$", of_options, re.M)] == []
        else:
            assert [name for name in names if f"\n| {name} |" not in readme] == []
    options = [folder.name for folder in sorted(options_dir.glob("*/"))]
    assert [name for name in options if f"\n| `{name}`" not in of_options] == []


# The tarball itself.

Files = dict[str, tuple[int, str]]  # by their path: mode and SHA-256; a directory has no digest


def by_gnu_tar(tar: Path, bundle_file: Path, into: Path) -> Files:
    into.mkdir()
    env = {**os.environ, "PATH": real.path_with("gzip")}
    subprocess.run([tar, "-xpf", bundle_file, "-C", into], check=True, env=env)
    found = {}
    for path in into.rglob("*"):
        assert not path.is_symlink()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[path.relative_to(into).as_posix()] = (path.stat().st_mode & 0o7777, digest)
    return found


def by_python(bundle_file: Path) -> Files:
    found = {}
    with tarfile.open(bundle_file) as archive:
        for member in archive:
            assert member.isreg() or member.isdir()
            content = archive.extractfile(member)
            digest = hashlib.sha256(content.read()).hexdigest() if content else ""
            found[member.name] = (member.mode, digest)
    return found


def by_go(tarlist: Path, bundle_file: Path) -> Files:
    found = {}
    for line in subprocess.check_output([tarlist, bundle_file], text=True).splitlines():
        name, mode, _, kind, digest = line.split("\t")
        assert kind in "05"
        found[name.rstrip("/")] = (int(mode, 8), digest if kind == "0" else "")
    return found


def test_gnu_tar_python_and_go_see_the_same_files(web_dir: Path, tar: Path, tarlist: Path, tmp_path: Path) -> None:
    bundle_file = web_dir / "models" / RELEASE / f"{NAME}.tar.gz"
    files = by_python(bundle_file)
    assert by_gnu_tar(tar, bundle_file, tmp_path / "gnu") == files
    assert by_go(tarlist, bundle_file) == files
    described = json.loads((tmp_path / "gnu" / NAME / "packyard.json").read_bytes())["files"]
    listed = {f"{NAME}/{path}": digest for path, digest in described.items()}
    assert {path: f"sha256:{digest}" for path, (_, digest) in files.items() if digest} == {
        **listed,
        f"{NAME}/packyard.json": f"sha256:{files[f'{NAME}/packyard.json'][1]}",
    }


# The same tar by every way.


def tars(output: str) -> set[str]:
    return set(re.findall(r"\btar (sha256:[0-9a-f]{64})", output))


def built_digest(version: str, out_dir: Path) -> str:
    options = ("--workspace", real.REPOSITORY, "--to", out_dir, "--version", version, "--output", "json")
    return str(json.loads(done("build", NAME, *options))[0]["tar"])


def test_get_gives_the_tar_that_build_makes(web_dir: Path, http_server: Callable[[Path], str], tmp_path: Path) -> None:
    digest = built_digest(RELEASE, tmp_path / "built")
    for number, channel in enumerate((web_dir / "models", f"{http_server(web_dir)}/models")):
        into = tmp_path / str(number)
        into.mkdir()
        fetched = packyard("get", f"{NAME}@{RELEASE}", "--from", channel, "--to", into, "-v")
        assert fetched.returncode == 0, fetched.stderr
        assert tars(fetched.stderr) == {digest}
        (into / NAME / ".packyard.json").unlink()  # where it is from
        assert contents(into / NAME) == contents(tmp_path / "built" / NAME)


def contents(directory: Path) -> dict[str, tuple[int, bytes]]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix(): (path.stat().st_mode, path.read_bytes()) for path in files}
