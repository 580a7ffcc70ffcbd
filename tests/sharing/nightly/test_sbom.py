"""SBOMs: valid by SPDX's own library, complete, and the same bytes each time."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import Bundle, build
from packyard.core.bundle.manifest import Manifest
from packyard.sharing.trust import sbom

IMAGES = {
    "docker.io/intel/image-recognition:tf-latest": ("docker.io/intel/image-recognition", "tf-latest"),
    "registry.example:5000/a/B": ("registry.example:5000/a/B", "latest"),
    "registry.example:5000/a/b:1.0@sha256:" + "ab" * 32: ("registry.example:5000/a/b", "sha256:" + "ab" * 32),
    "busybox": ("busybox", "latest"),
}


def _bundle() -> Bundle:
    described = Manifest(name="bert", version="1.0+x_y", use_cases={}, model={}, images=tuple(sorted(IMAGES)))
    files = {"README.md": b"hello", "a/b c.yaml": b"", "a/é.yaml": b"hello"}
    return build(described, [Member(path=path, data=data) for path, data in files.items()])


def _read(found: Bundle) -> Any:
    return json.loads(sbom.to_bytes(found, "zoo"))


def test_spdx_reads_it_and_finds_it_valid(tmp_path: Path) -> None:
    file = tmp_path / "bert.spdx.json"
    file.write_bytes(sbom.to_bytes(_bundle()))
    code = """
import sys
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
document = parse_file(sys.argv[1])
print(len(document.packages))
for message in validate_full_spdx_document(document):
    print(message)
"""
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True)
    assert done.stdout == "5\n", done.stdout + done.stderr


@pytest.mark.nightly
def test_it_has_what_ntia_asks_for(tmp_path: Path) -> None:
    file = tmp_path / "bert.spdx.json"
    file.write_bytes(sbom.to_bytes(_bundle(), "zoo"))
    code = (
        "import sys, ntia_conformance_checker.main as it; sys.argv[1:] = ['--output', 'json', sys.argv[1]]; it.main()"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert found["isConformant"], done.stdout


def test_lists_every_image_by_its_repository_and_its_tag_or_digest() -> None:
    packages = _read(_bundle())["packages"][1:]
    assert [(each["name"], each.get("versionInfo")) for each in packages] == [IMAGES[name] for name in sorted(IMAGES)]
    references = [package["externalRefs"][0]["referenceLocator"] for package in packages]
    assert "pkg:oci/image-recognition?repository_url=docker.io%2Fintel%2Fimage-recognition&tag=tf-latest" in references
    digest = "sha256%3A" + "ab" * 32
    assert f"pkg:oci/b@{digest}?repository_url=registry.example%3A5000%2Fa%2Fb&tag=1.0" in references
