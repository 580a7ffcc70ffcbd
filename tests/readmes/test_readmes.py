"""Every command in the README of every package runs, as its readers type it, with the real programs.

One reader follows the quick start with kustomize, another the one with packyard and does all the rest. Each has a
namespace in place of ``ml``, on a real API server with all controllers; only the nodes pretend, and lead to a real
server for the model. What is added to a README is run as well, without a change here.
"""

from __future__ import annotations

import io
import re
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import real
from controlplane import shared
from controlplane.api import Api
from packyard.bundle import requirements
from packyard.source.package import Package
from readmes.commands import Block
from readmes.internet import internet
from readmes.reader import Reader
from readmes.readme import Readme
from readmes.visit import Visit
from running import programs_dir
from usecases import PACKAGES, each_package, shipped

#: What runs nowhere, and why.
ELSEWHERE = {
    "docker run --env-file": "an option of a program, which needs an engine of containers and the reader's image",
}
#: What operators' releases install, by the module whose version the tests pin.
RELEASES = {
    "mpi-operator": "https://raw.githubusercontent.com/kubeflow/mpi-operator/{}/deploy/v2beta1/mpi-operator.yaml",
    "jobset": "https://github.com/kubernetes-sigs/jobset/releases/download/{}/manifests.yaml",
    "argo-workflows": "https://github.com/argoproj/argo-workflows/releases/download/{}/install.yaml",
}
#: Trainer's sources, of which its manifests are read.
SOURCES = "https://github.com/kubeflow/trainer/archive/refs/tags/v{}.tar.gz"
#: What READMEs download, each an archive with one file.
DATASETS = {
    "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz": "x_train.npy",
    "http://images.cocodataset.org/zips/val2017.zip": "val2017/000000000139.jpg",
    "http://images.cocodataset.org/annotations/annotations_trainval2017.zip": "annotations/instances_val2017.json",
}


@pytest.fixture
def bin_dirs(kustomize3: Path, kustomize5: Path, tmp_path: Path) -> list[Path]:
    """Directories for PATH: kustomize is 3.8.7 in the one, and 5.7.1 in the other."""
    python = Path(sys.executable)
    return [
        programs_dir(tmp_path / f"bin-{number}", {"kustomize": kustomize, "python3": python})
        for number, kustomize in enumerate((kustomize3, kustomize5))
    ]


@each_package
def test_every_command_of_a_readme_runs(
    package: Package, web_dir: Path, cluster: Api, bin_dirs: list[Path], kustomize5: Path, tmp_path: Path
) -> None:
    readme = Readme(package, web_dir)
    need_programs(readme.by_kustomize + readme.by_packyard)
    sentences = [each for each in readme.in_sentences() if each not in ELSEWHERE]
    of_kustomize = [each for each in sentences if each.startswith("kustomize ") or " -k " in each]
    content = {url: zipped(name) for url, name in DATASETS.items()}
    with internet(tmp_path / "internet", content, {"s3.amazonaws.com"}) as hosts:
        by_kustomize, by_packyard = (
            Visit(readme, cluster, bin_dir, hosts, tmp_path / f"reader-{number}", kustomize5)
            for number, bin_dir in enumerate(bin_dirs)
        )
        for file in (readme.tarball, readme.tarball.with_name(f"{readme.tarball.name}.sha256")):
            by_kustomize.give(file.name, file.read_bytes())
        by_kustomize.follow(readme.by_kustomize, of_kustomize)
        for name, data in files(tmp_path / "internet").items():
            by_packyard.give(name, data)
        by_packyard.follow(readme.by_packyard, [each for each in sentences if each not in of_kustomize])
    commands = {each for block in readme.blocks if block not in readme.installing for each in block.commands}
    assert commands.union(sentences) <= by_kustomize.typed | by_packyard.typed
    assert by_packyard.seen == by_packyard.computed - {"none"}, "pods that compute, and whose logs no command shows"
    for url, name in DATASETS.items():
        if url in readme.text:
            unpacked = name if f"unzip {Path(url).name}" in commands else Path(url).name
            assert (by_packyard.reader.start / unpacked).is_file()
    uploads = ["https://s3.amazonaws.com/datasets/cats_and_dogs.zip"] if "aws s3 cp" in readme.text else []
    assert [*hosts.uploads] == uploads


def test_what_clusters_need_is_installed_as_readmes_say(web_dir: Path, tmp_path: Path) -> None:
    """In a cluster that has nothing; each package names all that its use cases need, and nothing else."""
    real.program("kubectl")
    real.pinned_program("kubernetes")
    releases_dir = real.pinned_manifests() / "releases"
    go_mod = (real.REPOSITORY / "tests/tools/manifests/go.mod").read_text()
    content = {}
    for name, url in RELEASES.items():
        (version,) = re.findall(rf"/{name}(?:/v\d+)? (\S+)$", go_mod, re.MULTILINE)
        content[url.format(version)] = (releases_dir / f"{name}.yaml").read_bytes()
    (version,) = re.findall(r"/trainer/v\d+ v(\S+)$", go_mod, re.MULTILINE)
    content[SOURCES.format(version)] = archived(releases_dir / "trainer", f"trainer-{version}/manifests")
    plane = tmp_path / "plane"
    brought: dict[Block, set[str]] = {}
    with (
        shared.use(plane, "-m", "controlplane.service", "bare", str(plane)),
        internet(tmp_path / "internet", content, set()) as hosts,
    ):
        api = Api(plane)
        config = {"KUBECONFIG": str(plane / "kubeconfig"), "KUBECACHEDIR": str(tmp_path / "cache")}
        reader = Reader(tmp_path / "home", {**hosts.environment, **config}, {})
        for package in PACKAGES:
            installing = Readme(package, web_dir).installing
            for block in installing:
                if block not in brought:
                    before = definitions(api)
                    for command in block.commands:
                        reader.run(command)
                    brought[block] = definitions(api) - before
            needed = needed_definitions(package)
            assert needed <= {name for block in installing for name in brought[block]}, package.name
            assert [block for block in installing if not brought[block] & needed] == [], package.name


def definitions(api: Api) -> set[str]:
    found = api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    return {item["metadata"]["name"] for item in found}


def needed_definitions(package: Package) -> set[str]:
    found = (item for use_case in package.use_cases for item in requirements.find(shipped(package, use_case).parse()))
    return {item.name for item in found if item.kind == "CustomResourceDefinition"}


def need_programs(blocks: list[Block]) -> None:
    """Skip the test where the machine lacks a program that a reader has to have."""
    for name in sorted({command.split()[0] for block in blocks for command in block.commands}):
        if name not in ("cd", "(cd", "kustomize", "packyard", "python3"):
            real.program(name)


def files(certificates_dir: Path) -> dict[str, bytes]:
    """Return the files that a reader has before."""
    row = ",".join(["1", "0.9", *["0.25"] * 12, *["68fd1e64"] * 26])
    return {
        "cats_and_dogs.zip": zipped("train/cat.0.jpg"),
        "eval.csv": f"{row}\n".encode() * 4000,
        "htpasswd": b"alice:$2y$05$abcdefghijklmnopqrstuv\n",
        "tls.crt": (certificates_dir / "certificate.pem").read_bytes(),
        "tls.key": (certificates_dir / "key.pem").read_bytes(),
    }


def archived(folder: Path, name: str) -> bytes:
    """Return a folder as a compressed tar in which it has another name."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        archive.add(folder, name)
    return data.getvalue()


def zipped(name: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(name, b"content")
    return data.getvalue()
