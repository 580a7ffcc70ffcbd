"""Every command in the README of every package runs, as its readers type it, with the real programs.

A reader has a namespace in place of ``ml``, on a real API server with all controllers; only the nodes are simulated,
and lead to a real server for the model. What is added to a README is run as well, without a change here.
"""

import io
import os
import re
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

import real
from catalogue.usecases import PACKAGES, each_package, needed, shipped
from controlplane import shared
from controlplane.api import Api
from packyard.writing.source.package import Package
from readmes.internet import internet
from readmes.reader import Reader
from readmes.readme import Readme
from readmes.visit import CHANNEL, Visit
from real import Kustomize
from tiny import programs_dir

#: What operators' releases install, by the module whose version the tests pin.
RELEASES = {
    "mpi-operator": "https://raw.githubusercontent.com/kubeflow/mpi-operator/{}/deploy/v2beta1/mpi-operator.yaml",
    "jobset": "https://github.com/kubernetes-sigs/jobset/releases/download/{}/manifests.yaml",
    "lws": "https://github.com/kubernetes-sigs/lws/releases/download/{}/manifests.yaml",
    "argo-workflows": "https://github.com/argoproj/argo-workflows/releases/download/{}/install.yaml",
}
#: Sources of Trainer and of the operator before it, of which their manifests are read.
SOURCES = "https://github.com/kubeflow/{}/archive/refs/tags/v{}.tar.gz"
#: What READMEs download, each an archive with one file.
DATASETS = {
    "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz": "x_train.npy",
    "http://images.cocodataset.org/zips/val2017.zip": "val2017/000000000139.jpg",
    "http://images.cocodataset.org/annotations/annotations_trainval2017.zip": "annotations/instances_val2017.json",
}


#: The hosts of a bucket: which one it is depends on the version of aws.
BUCKET = {"team-datasets.s3.amazonaws.com", "team-datasets.s3.us-east-1.amazonaws.com"}
_PROGRAMS = ("aws", "curl", "kubectl", "sed", "tar", "unzip", "wget", "xargs")


@pytest.fixture
def bin_dir(kustomize3: Kustomize, tmp_path: Path) -> Path:
    """A directory for PATH, in which kustomize is 3.8.7."""
    return programs_dir(tmp_path / "bin", {"kustomize": kustomize3.program, "python3": Path(sys.executable)})


@each_package
def test_every_command_of_a_readme_runs(
    package: Package, web_dir: Path, cluster: Api, bin_dir: Path, kustomize5: Kustomize, tmp_path: Path
) -> None:
    readme = Readme(package, web_dir)
    commands = {command for block in readme.blocks for command in block.commands}
    sentences = list(readme.in_sentences())
    path = f"{bin_dir}{os.pathsep}{path_of([*commands, *sentences])}"
    content = {url: zipped(name) for url, name in DATASETS.items()}
    folder = readme.tarball.parents[1]
    content |= {
        f"{CHANNEL}/{file.relative_to(folder)}": file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }
    with internet(tmp_path / "internet", content, BUCKET) as hosts:
        visit = Visit(readme, cluster, path, hosts, tmp_path / "reader", kustomize5)
        for name, data in files(tmp_path / "internet").items():
            visit.give(name, data)
        visit.follow(readme.blocks, sentences)
    assert commands.union(sentences) <= visit.typed
    uploads = [{f"https://{host}/cats_and_dogs.zip" for host in BUCKET}] if "aws s3 cp" in readme.text else []
    assert len(hosts.uploads) == len(uploads)
    assert all(found in known for found, known in zip(hosts.uploads, uploads, strict=True))


def test_what_clusters_need_is_installed_as_readmes_say(web_dir: Path, tmp_path: Path) -> None:
    """In a cluster that has nothing; each package names all that its use cases need, and nothing else."""
    real.program("kubectl")
    real.pinned_program("kubernetes")
    releases_dir = real.pinned_manifests() / "releases"
    go_mod = (real.REPOSITORY / "tests/tools/manifests/go.mod").read_text()
    content = {}
    for name, url in RELEASES.items():
        *_, version = re.findall(rf"/{name}(?:/v\d+)? (\S+)$", go_mod, re.MULTILINE)  # as the last line replaces it
        content[url.format(version)] = (releases_dir / f"{name}.yaml").read_bytes()
    for name in ("trainer",):
        *_, version = re.findall(rf"/{name}(?:/v\d+)? v(\S+)$", go_mod, re.MULTILINE)
        content[SOURCES.format(name, version)] = archived(releases_dir / name, f"{name}-{version}/manifests")
    plane = tmp_path / "plane"
    brought: dict[str, set[str]] = {}
    with (
        shared.use(plane, "bare"),
        internet(tmp_path / "internet", content, set()) as hosts,
    ):
        api = Api(plane)
        path = path_of(command for package in PACKAGES for command in Readme(package, web_dir).installing)
        config = {"PATH": path, "KUBECONFIG": str(plane / "kubeconfig"), "KUBECACHEDIR": str(tmp_path / "cache")}
        reader = Reader(tmp_path / "home", {**hosts.environment, **config}, {})
        for package in PACKAGES:
            installing = Readme(package, web_dir).installing
            for command in installing:
                if command not in brought:
                    before = definitions(api)
                    reader.run(command)
                    brought[command] = definitions(api) - before
            needed = needed_definitions(package)
            assert needed <= {name for command in installing for name in brought[command]}, package.name
            applying = [command for command in installing if command.startswith("kubectl apply")]
            assert [command for command in applying if not brought[command] & needed] == [], package.name


def definitions(api: Api) -> set[str]:
    found = api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    return {item["metadata"]["name"] for item in found}


def needed_definitions(package: Package) -> set[str]:
    objects = (shipped(package, use_case).parse() for use_case in package.use_cases)
    return {name for each in objects for name in needed(each, "CustomResourceDefinition")}


def path_of(commands: Iterable[str]) -> str:
    """Return a PATH with the programs that a reader has to have; skip the test where the machine lacks one."""
    text = "\n".join(commands)
    return real.path_with(*(name for name in _PROGRAMS if re.search(rf"(^|[|&] ){name} ", text, re.MULTILINE)), "gzip")


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
