"""A library as its authors and users type: published, untarred by `get`, and built on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiny
from packyard.core.bundle.manifest import Manifest
from tiny import done
from writing.source import libraries


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    return libraries.write(tmp_path / "parts", A="1")


def test_a_library_is_published_like_a_package_and_built_on_where_get_untars_it(parts: Path, tmp_path: Path) -> None:
    tiny.write(parts / "bases/below/Krmfile", libraries.KRMFILE + libraries.define("B", "2"))
    words = ("publish", "--workspace", parts, "--version", "1.0.0", "--to", tmp_path / "channel", "-o", "json")
    (row,) = json.loads(done(*words))
    assert (row["name"], row["version"], row["status"], row["kind"]) == ("parts", "1.0.0", "published", "Library")
    said = tiny.run("get", "parts", "--from", tmp_path / "channel", "--to", tmp_path / "got")[2]
    assert "parts@1.0.0 is a library, to build packages on: name it in packyard.yaml, libraries" in said
    described = Manifest.parse((tmp_path / "got/parts/packyard.json").read_bytes())
    assert described.kind == "Library"
    assert {path: dict(part.setters) for path, part in described.use_cases.items()} == {
        ".": {"A": "1"},
        "bases/below": {"B": "2"},
    }
    here = libraries.workspace(tmp_path / "ws", "{path: ../got/parts}")
    done("build", "p", "--version", "1", "--workspace", here, "--to", tmp_path / "out")
    (file,) = (tmp_path / "out/p").glob("**/config-map.yaml")
    assert 'A: "1"' in file.read_text()


def test_refuses_to_publish_a_library_that_its_users_could_not_use(parts: Path, tmp_path: Path) -> None:
    words = ("publish", "--workspace", parts, "--version", "1.0.0", "--to", tmp_path / "channel")
    libraries.write(tmp_path / "inner", B="2")
    libraries.name(parts, "{path: ../inner}")
    assert "the library inner is a folder, which users of this library do not have" in tiny.refused(*words)
    libraries.name(parts)
    tiny.replace(parts / "bases/below/kustomization.yaml", "cm.yaml", "gone.yaml")
    assert "'gone.yaml' is neither a file nor a folder here" in tiny.refused(*words)
