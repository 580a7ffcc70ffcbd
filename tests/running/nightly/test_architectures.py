"""Images for other processors than those of the nodes, by what a real registry has; nothing where none answers."""

from __future__ import annotations

import socket
import subprocess
import tarfile
from collections.abc import Iterator

import pytest

import real
from controlplane.api import Api
from packyard.running import doctor
from packyard.running.doctor.finding import Finding
from packyard.running.runs.kubectl import Kubectl
from running.nightly.test_doctor_faults import node
from running.patients import deployed, pod, prepared
from sharing import registries


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry with the images ``arm64``, ``amd64`` and ``both``, as crane makes them; yielded is its host."""
    folder = tmp_path_factory.mktemp("images")
    crane, layer = real.pinned_program("crane"), folder / "layer.tar"
    with tarfile.open(layer, "w") as archive:
        archive.addfile(tarfile.TarInfo("empty"))
    with registries.distribution(real.pinned_program("registry"), folder) as host:

        def run(*words: object) -> None:
            subprocess.run([str(word) for word in (crane, *words)], check=True, capture_output=True)

        for name in ("arm64", "amd64"):
            run("append", "--new_layer", layer, "--new_tag", f"{host}/{name}:1", "--oci-empty-base")
            run("mutate", "--set-platform", f"linux/{name}", "--tag", f"{host}/{name}:1", f"{host}/{name}:1")
        run("index", "append", "--tag", f"{host}/both:1", "-m", f"{host}/arm64:1", "-m", f"{host}/amd64:1")
        yield host


def found(client: Kubectl, image: str, **spec: object) -> list[Finding]:
    run = [deployed("run", pod(main_image=image, **spec))]
    return [
        each for each in doctor.examine(client, prepared(run)) if "image" in each.message or "architec" in str(each)
    ]


@pytest.mark.usefixtures("operated")
def test_an_image_that_no_node_can_run_is_an_error(client: Kubectl, images: str) -> None:
    (arm,) = found(client, f"{images}/arm64:1", nodeSelector={"kubernetes.io/arch": "amd64"})
    assert (arm.severity, arm.message) == (
        "error",
        f"image {images}/arm64:1 is for arm64, and the nodes that its pods may run on are amd64",
    )
    assert arm.fix.endswith("get nodes -L kubernetes.io/arch")
    for name in ("amd64", "both"):
        (sound,) = found(client, f"{images}/{name}:1", nodeSelector={"kubernetes.io/arch": "amd64"})
        assert sound.severity == "passed"


def test_where_some_nodes_can_run_it_the_label_is_named_that_keeps_it_there(
    operated: Api, client: Kubectl, namespace: str, images: str
) -> None:
    for name in ("arm64", "amd64"):
        node(operated, f"{namespace}-{name}", {"pool": namespace, "kubernetes.io/arch": name}, cpu="4", memory="8Gi")
    (some,) = found(client, f"{images}/amd64:1", nodeSelector={"pool": namespace})
    assert (some.severity, some.message) == (
        "warning",
        f"image {images}/amd64:1 is for amd64, and 1 of 2 nodes that its pods may run on are arm64",
    )
    assert "kubernetes.io/arch=amd64" in some.why


@pytest.mark.usefixtures("operated")
def test_an_image_that_its_registry_does_not_have_is_told(client: Kubectl, images: str) -> None:
    for image in (f"{images}/none:1", f"{images}/amd64:l", f"{images}/both@sha256:{'0' * 64}"):
        (absent,) = found(client, image)
        assert (absent.severity, absent.about) == ("warning", f"image {image}")
        assert absent.message == "its registry has no such image or tag, or hides it"


@pytest.mark.usefixtures("operated")
def test_what_no_registry_says_is_no_finding(client: Kubectl) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and never answers
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        for image in ("registry.invalid/a:1", f"{host}/a:1"):
            assert found(client, image) == []
    assert [each for each in doctor.examine(client, prepared([])) if each.check == "nodes"] == []
