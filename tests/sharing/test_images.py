"""`make update-images`: digests are written that a registry answered, and no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from catalogue import images
from packyard.core.digest import Digest
from packyard.sharing.stores.oci.address import Address
from packyard.sharing.stores.oci.registry import Registry

_TYPE = "application/vnd.oci.image.manifest.v1+json"


def push(host: str, name: str, tag: str) -> Digest:
    registry = Registry(Address.parse(f"oci://{host}"), 30)
    registry.upload(name, b"{}")
    config = {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": str(Digest.of(b"{}")), "size": 2}
    data = json.dumps({"schemaVersion": 2, "mediaType": _TYPE, "config": config, "layers": []}).encode()
    registry.write_manifest(name, tag, data, _TYPE)
    return Digest.of(data)


def test_digests_are_those_that_the_registry_answers(registry2: str, tmp_path: Path) -> None:
    digest = push(registry2, "team/app", "1.2")
    file = tmp_path / "job.yaml"
    named = [f"image: {registry2}/team/app:{tag} # mine" for tag in ("1.2", "1.3", "latest")]
    file.write_text("\n".join(named))
    assert images.main([tmp_path]) == 1
    written = [f"image: {registry2}/team/app:1.2@{digest} # mine", *named[1:]]
    assert file.read_text().splitlines() == written
    images.main([tmp_path])
    assert file.read_text().splitlines() == written


def test_nothing_is_written_where_no_registry_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "job.yaml"
    file.write_text("image: 127.0.0.1:1/team/app:1.2\n")
    assert images.main([tmp_path]) == 1
    assert file.read_text() == "image: 127.0.0.1:1/team/app:1.2\n"
    assert "127.0.0.1:1/team/app:1.2: the server cannot be reached" in capsys.readouterr().out
