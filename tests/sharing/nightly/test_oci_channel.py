"""Channels in real registries: what is published there is found again, also when many publish at once."""

from __future__ import annotations

import subprocess
import uuid
from pathlib import Path

import pytest

import real
from packyard.core.errors import ConflictError
from packyard.sharing.publishing.publish import publish
from packyard.sharing.stores import open_store
from packyard.sharing.stores.oci.address import ArtifactAddress
from packyard.sharing.stores.oci.repositories import OCIStore
from sharing.examples import bundle, fetch


@pytest.fixture(params=["registry3", "registry2", "registry_with_referrers", "registry_without_deletes"])
def address(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    return f"oci://{request.getfixturevalue(request.param)}/c-{uuid.uuid4().hex}/models"


def test_what_is_published_is_fetched_by_name_version_and_address(address: str) -> None:
    one, two = bundle("bert", "1.0", "one"), bundle("bert", "1.1+cpu", "two")
    publish(open_store(address), [one, two])
    publish(open_store(address), [one])
    with pytest.raises(ConflictError):
        publish(open_store(address), [bundle("bert", "1.0", "another")])
    assert fetch(open_store(address), "bert") == two
    assert fetch(open_store(address), "bert@1.0") == one
    asked = ArtifactAddress.parse(f"{address}/bert:1.1+cpu")
    assert asked
    layer, read = OCIStore(asked.channel).at(asked.name, asked.reference)
    assert (layer.digest, b"".join(read(0))) == (two.digest, two.data)


def test_the_flow_of_the_readme_works_with_a_registry(address: str, tmp_path: Path) -> None:
    sources = real.REPOSITORY

    def packyard(*words: str) -> str:
        done = subprocess.run(["packyard", *words], cwd=sources, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    name = "bert-large-fp32-training-k8s"
    assert name in packyard("publish", name, "--version", "2.7.0+cpu", "--to", address)
    done = subprocess.run(
        ["packyard", "get", f"{name}@2.7.0+cpu", "--from", address],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / name / "README.md").is_file()
