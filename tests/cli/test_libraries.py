"""Libraries as their authors and users type: published, named by version and digest, offline."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

import tiny
from packyard.core.bundle.manifest import Manifest
from packyard.core.errors import PackyardError
from packyard.writing.source import library
from tiny import done
from writing.source import libraries

CONFIG_MAP = "bases/below/cm.yaml"


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """A library, beside a workspace ``ws`` that names the bundle of it; nothing is published, pinned or kept."""
    libraries.workspace(tmp_path / "ws", f"{{name: parts, version: 1.0.0, from: {tmp_path / 'channel'}}}")
    return libraries.write(tmp_path / "parts", A="1")


def publish(parts: Path, version: str) -> str:
    words = ("publish", "--workspace", parts, "--version", version, "--to", parts.parent / "channel")
    return done(*words, "--output", "json")


def build(parts: Path) -> tuple[int, str, str]:
    words = ("build", "p", "--version", "1", "--to", parts.parent / "out", "--workspace", parts.parent / "ws")
    return tiny.run(*words)


def built(parts: Path) -> dict[str, str]:
    code, _, err = build(parts)
    assert code == 0, err
    (file,) = (parts.parent / "out/p").glob("**/config-map.yaml")
    data = yaml.safe_load(file.read_text())["data"]
    assert isinstance(data, dict)
    return data


# Publishing.


def test_a_library_is_published_like_a_package_and_says_what_its_parts_define(parts: Path, tmp_path: Path) -> None:
    tiny.write(parts / "bases/below/Krmfile", libraries.KRMFILE + libraries.define("B", "2"))
    (row,) = json.loads(publish(parts, "1.0.0"))
    assert (row["name"], row["version"], row["status"], row["kind"]) == ("parts", "1.0.0", "published", "Library")
    said = tiny.run("get", "parts", "--from", tmp_path / "channel", "--to", tmp_path / "got")[2]
    example = "libraries: [{name: parts, version: 1.0.0, digest: sha256:"
    assert f"parts@1.0.0 is a library, to build packages on: name it in packyard.yaml, {example}" in said
    described = Manifest.parse((tmp_path / "got/parts/packyard.json").read_bytes())
    assert described.kind == "Library"
    assert {path: dict(part.setters) for path, part in described.use_cases.items()} == {
        ".": {"A": "1"},
        "bases/below": {"B": "2"},
    }


def test_refuses_to_publish_a_library_that_its_users_could_not_use(parts: Path, tmp_path: Path) -> None:
    words = ("publish", "--workspace", parts, "--version", "1.0.0", "--to", tmp_path / "channel")
    libraries.write(tmp_path / "inner", B="2")
    libraries.name(parts, "{path: ../inner}")
    assert "the library inner is a folder, which users of this library do not have" in tiny.refused(*words)
    libraries.name(parts)
    tiny.replace(parts / "bases/below/kustomization.yaml", "cm.yaml", "gone.yaml")
    assert "'gone.yaml' is neither a file nor a folder here" in tiny.refused(*words)


# Bundles of a channel.


def pin(parts: Path) -> None:
    """Let the workspace name the digest that is said of a library without one."""
    said = build(parts)[2]
    match = re.search("the library parts has no digest: write digest: (sha256:[0-9a-f]{64}), if you trust", said)
    assert match, said
    entry = f"name: parts, version: 1.0.0, from: {parts.parent / 'channel'}, digest: {match[1]}"
    libraries.name(parts.parent / "ws", f"{{{entry}}}")


def test_builds_on_the_version_and_the_digest_that_are_named_also_offline(
    parts: Path, home: Path, tmp_path: Path
) -> None:
    publish(parts, "1.0.0")
    tiny.replace(parts / CONFIG_MAP, '"1"', '"7"')
    publish(parts, "1.1.0")
    pin(parts)
    assert built(parts) == {"A": "1"}
    (tmp_path / "channel").rename(tmp_path / "unreachable")
    assert built(parts) == {"A": "1"}
    shutil.rmtree(home / "CACHE")
    code, _, err = build(parts)
    assert (code, f"{tmp_path}/channel: no such file or directory" in err) == (1, True), err


def test_a_channel_with_other_bytes_than_are_named_is_refused(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    pin(parts)
    shutil.rmtree(tmp_path / "channel")
    tiny.replace(parts / CONFIG_MAP, "\ndata:", "\n# Another.\ndata:")
    publish(parts, "1.0.0")
    code, _, err = build(parts)
    assert (code, "the library parts is not what `digest` pins: expected sha256:" in err) == (1, True)


def test_a_library_that_was_fetched_cannot_lead_into_other_folders_of_its_user(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    pin(parts)
    (entry,) = library.entries(tmp_path / "ws")
    folder = Path(shutil.copytree(parts, tmp_path / "fetched"))
    libraries.write(tmp_path / "private", SECRET="1")
    libraries.name(folder, "{path: ../private}")
    libraries.name(tmp_path / "ws", f"{{name: parts, version: 1.0.0, digest: {library.digest('parts', folder)}}}")
    with pytest.raises(PackyardError, match="the library private is a folder outside of the library parts, which was"):
        library.find(tmp_path / "ws", obtain=lambda _: folder)
    assert entry.version == "1.0.0"
