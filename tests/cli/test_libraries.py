"""Libraries as their authors and users type: published, pinned, updated, copied, offline."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

import tiny
from cli.test_get import served
from packyard.core.bundle import lock
from packyard.core.bundle.archive import Member
from packyard.core.bundle.manifest import Manifest
from packyard.sharing.trust import provenance
from packyard.sharing.trust.keys import NOBODY
from packyard.writing.source.shelf import Shelf
from sharing.servers import answering
from writing.source import libraries
from writing.source.test_repository import commit, git

CONFIG_MAP = "bases/below/cm.yaml"


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library, beside a workspace ``ws`` that names the bundle of it; nothing is published, pinned or kept."""
    for variable in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    libraries.workspace(tmp_path / "ws", f"{{name: parts, version: ^1.0, from: {tmp_path / 'channel'}}}")
    return libraries.write(tmp_path / "parts", A="1")


def done(*words: object) -> str:
    code, out, err = tiny.run(*words)
    assert code == 0, err
    return out


def publish(parts: Path, version: str) -> str:
    words = ("publish", "--workspace", parts, "--version", version, "--to", parts.parent / "channel")
    return done(*words, "--output", "json")


def in_workspace(parts: Path, verb: str, *words: object) -> tuple[int, str, str]:
    return tiny.run(verb, *words, "--workspace", parts.parent / "ws")


def build(parts: Path) -> tuple[int, str, str]:
    return in_workspace(parts, "build", "p", "--version", "1", "--no-cache", "--out", parts.parent / "out")


def built(parts: Path) -> dict[str, str]:
    code, _, err = build(parts)
    assert code == 0, err
    (file,) = (parts.parent / "out/p").glob("**/config-map.yaml")
    data = yaml.safe_load(file.read_text())["data"]
    assert isinstance(data, dict)
    return data


def pins(parts: Path) -> dict[str, str]:
    found = lock.read(parts.parent / "ws/packyard.lock").libraries
    return {name: pin.version for name, pin in found.items()}


def clear(parts: Path) -> None:
    shutil.rmtree(parts.parent / "XDG_CACHE_HOME")


# Publishing.


def test_a_library_is_published_like_a_package_and_says_what_its_parts_define(parts: Path, tmp_path: Path) -> None:
    tiny.write(parts / "bases/below/Krmfile", libraries.KRMFILE + libraries.define("B", "2"))
    (row,) = json.loads(publish(parts, "1.0.0"))
    assert (row["name"], row["version"], row["status"], row["kind"]) == ("parts", "1.0.0", "published", "Library")
    done("get", "parts", "--from", tmp_path / "channel", "--into", tmp_path / "got")
    described = Manifest.parse((tmp_path / "got/parts/packyard.json").read_bytes())
    assert described.kind == "Library"
    assert {path: dict(part.setters) for path, part in described.use_cases.items()} == {
        ".": {"A": "1"},
        "bases/below": {"B": "2"},
    }


def test_get_of_a_library_says_what_it_is(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    code, out, err = tiny.run("get", "parts", "--from", tmp_path / "channel", "--into", tmp_path / "got")
    assert (code, out) == (0, f"{tmp_path}/got/parts\n")
    example = "libraries: [{name: parts, version: ^1.0.0}]"
    assert f"parts@1.0.0 is a library, to build packages on: name it in packyard.yaml, {example}\n" in err


def test_list_shows_libraries_only_where_they_are_asked_for(parts: Path, tmp_path: Path) -> None:
    tiny.write(parts / "README.md", "# Parts of a zoo\n\nBases.\n")
    publish(parts, "1.0.0")
    libraries.name(tmp_path / "ws", "{path: ../parts}")
    words = ("--workspace", tmp_path / "ws", "--version", "1.0.0", "--to", tmp_path / "channel")
    done("publish", *words)
    channel = ("--from", tmp_path / "channel", "--output", "json")
    for more in ((), ("p",)):
        found = json.loads(done("list", *more, *channel))
        assert [each["name"] for each in found] == ["p"]
        assert [each["name"] for each in json.loads(done("list", *channel, "--libraries"))] == ["parts"]
    assert tiny.run("list", "zoo", *channel)[0] == 1


def test_refuses_to_publish_a_library_that_its_users_could_not_use(parts: Path, tmp_path: Path) -> None:
    words = ("publish", "--workspace", parts, "--version", "1.0.0", "--to", tmp_path / "channel")
    libraries.write(tmp_path / "inner", B="2")
    libraries.name(parts, "{path: ../inner}")
    assert "the library inner is a folder, which users of this library do not have" in tiny.refused(*words)
    libraries.name(parts)
    tiny.replace(parts / "bases/below/kustomization.yaml", "cm.yaml", "gone.yaml")
    assert "'gone.yaml' is neither a file nor a folder here" in tiny.refused(*words)


def test_a_library_may_have_packages_that_try_its_parts(parts: Path, tmp_path: Path) -> None:
    shutil.copytree(tmp_path / "ws/packages", parts / "packages")
    done("build", "p", "--workspace", parts, "--version", "1", "--out", tmp_path / "out")
    done("build", "--workspace", parts, "--version", "1", "--out", tmp_path / "out")
    assert not (tmp_path / "out/parts/packages").exists()
    assert (tmp_path / "out/parts/bases/below").is_dir()


@pytest.mark.parametrize("verb", ["lint --readmes .", "test", "lint", "list"])
def test_a_library_without_packages_has_nothing_to_do_for(verb: str, parts: Path) -> None:
    assert tiny.run(*verb.split(), "--workspace", parts)[0] == 0


# Pins.


def test_builds_on_the_version_that_update_pinned_also_offline(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    code, _, err = build(parts)
    assert (code, "packyard update parts chooses, fetches and pins it" in err) == (1, True)
    assert in_workspace(parts, "update")[2] == "no package changes\n"
    assert (pins(parts), built(parts)) == ({"parts": "1.0.0"}, {"A": "1"})
    (tmp_path / "channel").rename(tmp_path / "unreachable")
    assert built(parts) == {"A": "1"}
    clear(parts)
    code, _, err = build(parts)
    assert (code, f"{tmp_path}/channel: no such file or directory" in err) == (1, True), err
    (tmp_path / "unreachable").rename(tmp_path / "channel")
    assert built(parts) == {"A": "1"}


def test_update_shows_what_changes_before_it_moves_the_pin(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    done("update", "--workspace", tmp_path / "ws")
    tiny.write(parts / "Krmfile", libraries.KRMFILE + libraries.define("A", "7"))
    tiny.replace(parts / CONFIG_MAP, '"1"', '"7"')
    publish(parts, "1.1.0")
    assert built(parts) == {"A": "1"}
    code, out, err = in_workspace(parts, "update", "--dry-run")
    assert (code, pins(parts)) == (0, {"parts": "1.0.0"})
    assert "parts    1.0.0   1.1.0  sha256:" in out
    assert "  setter A: default 1 → 7\n" in out
    assert err == "1 package with changes\n"
    assert in_workspace(parts, "update")[:2] == (0, out)
    assert (pins(parts), built(parts)) == ({"parts": "1.1.0"}, {"A": "7"})
    code, out, err = in_workspace(parts, "update")
    assert (code, out, err) == (0, "", "all libraries are what they are pinned as\n")


def test_update_says_which_channel_of_a_library_was_not_reached(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    words = ("update", "--workspace", tmp_path / "ws", "-o", "json")
    with answering(served(tmp_path / "channel")) as server:
        libraries.name(tmp_path / "ws", f"{{name: parts, version: ^1.0, from: {server.address}}}")
        assert json.loads(done(*words))[0]["unreached"] == []
    assert json.loads(done(*words))[0]["unreached"] == [server.address]


def test_update_keeps_within_the_range_and_says_a_library_that_is_not_named(parts: Path, tmp_path: Path) -> None:
    for version in ("1.0.0", "2.0.0"):
        publish(parts, version)
        tiny.replace(parts / CONFIG_MAP, "\ndata:", "\n# 2\ndata:")
    done("update", "--workspace", tmp_path / "ws")
    assert pins(parts) == {"parts": "1.0.0"}
    assert "packyard.yaml: libraries: has no 'part' (did you mean 'parts'?)" in in_workspace(parts, "update", "part")[2]


def test_update_goes_back_only_to_a_version_that_is_named_in_full(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    libraries.write(parts, A="2")
    publish(parts, "1.1.0")
    done("update", "--workspace", tmp_path / "ws")
    done("yank", "parts@1.1.0", "--in", tmp_path / "channel", "--reason", "wrong")
    code, out, err = in_workspace(parts, "update")
    assert (code, out) == (1, "")
    assert "the library parts is pinned at 1.1.0, and 1.0.0 is the newest that can be had (to go back, name it" in err
    assert lock.read(tmp_path / "ws/packyard.lock").libraries["parts"].version == "1.1.0"
    libraries.name(tmp_path / "ws", f"{{name: parts, version: 1.0.0, from: {tmp_path / 'channel'}}}")
    done("update", "--workspace", tmp_path / "ws")
    assert lock.read(tmp_path / "ws/packyard.lock").libraries["parts"].version == "1.0.0"


def test_update_pins_nothing_that_packages_do_not_compose_with_unless_forced(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    done("update", "--workspace", tmp_path / "ws")
    (parts / "bases/below").rename(parts / "bases/renamed")
    publish(parts, "1.1.0")
    code, out, err = in_workspace(parts, "update")
    assert (code, out, pins(parts)) == (1, "", {"parts": "1.0.0"})
    assert "no folder 'below' in" in err
    assert "packages do not compose with the new libraries (correct the packages, or pin the libraries" in err
    assert in_workspace(parts, "update", "--force")[0] == 0
    assert pins(parts) == {"parts": "1.1.0"}


def test_update_tells_what_breaks_and_all_faults_at_once_without_paths_of_its_cache(
    parts: Path, tmp_path: Path
) -> None:
    package = tmp_path / "ws/packages/p/package.yaml"
    tiny.replace(package, "  one: {base: below}\n", "  one: {base: below}\n  two: {base: other, setters: {A: '5'}}\n")
    shutil.copytree(parts / "bases/below", parts / "bases/other")
    publish(parts, "1.0.0")
    done("update", "--workspace", tmp_path / "ws")
    shutil.rmtree(parts / "bases/below")
    tiny.write(parts / "Krmfile", libraries.KRMFILE + libraries.define("B", "1"))
    tiny.replace(parts / "bases/other/cm.yaml", '"1" # {"$openapi":"A"}', '"1" # {"$openapi":"B"}')
    publish(parts, "1.1.0")
    code, out, err = in_workspace(parts, "update")
    assert (code, out, pins(parts)) == (1, "", {"parts": "1.0.0"})
    assert "  BREAKING: base removed\n" in err
    assert "  BREAKING: setter A removed: B sets its fields now\n" in err
    assert "package.yaml:4:15: useCases.one.base: no folder 'below' in" in err
    assert "package.yaml:5: setters.A: reaches nothing in the use cases that it is for" in err
    assert " or parts@1.1.0/bases" in err
    assert not re.search("[0-9a-f]{64}", err)


def test_update_with_strict_pins_nothing_that_breaks(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    done("update", "--workspace", tmp_path / "ws")
    tiny.write(parts / "Krmfile", libraries.KRMFILE + libraries.define("B", "1"))
    tiny.replace(parts / CONFIG_MAP, '"A"', '"B"')
    publish(parts, "1.1.0")
    for flags in (("--dry-run", "--strict"), ("--strict",)):
        code, out, err = in_workspace(parts, "update", *flags)
        assert (code, pins(parts)) == (1, {"parts": "1.0.0"})
        assert "\nparts\np/uses/one\n  BREAKING: setter A removed: B sets its fields now\n" in out
        assert "1 package with changes; 2 BREAKING\n" in err
        assert "error: something breaks, so nothing is pinned" in err
    assert in_workspace(parts, "update", "--dry-run")[0] == 0
    changes = json.loads(in_workspace(parts, "update", "--dry-run", "-o", "json")[1])[0]["changes"]
    assert [(each["package"], each["name"]) for each in changes if each["breaking"]] == [("parts", "A"), ("p", "A")]
    done("update", "--workspace", tmp_path / "ws")
    assert pins(parts) == {"parts": "1.1.0"}
    tiny.write(parts / "LICENSE", "freer\n")
    publish(parts, "1.2.0")
    assert in_workspace(parts, "update", "--strict")[0] == 0
    assert pins(parts) == {"parts": "1.2.0"}


def test_a_pin_of_another_version_than_is_asked_for_is_refused(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    done("update", "--workspace", tmp_path / "ws")
    libraries.name(tmp_path / "ws", f"{{name: parts, version: ^1.1, from: {tmp_path / 'channel'}}}")
    says = "the library parts is 1.0.0 in packyard.lock, not ^1.1 (packyard update parts pins what is asked for)"
    assert says in build(parts)[2]


def test_a_library_that_somebody_changed_in_the_cache_is_fetched_again(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    done("update", "--workspace", tmp_path / "ws")
    (kept,) = (tmp_path / "XDG_CACHE_HOME/packyard/libraries").glob(f"*/parts/{CONFIG_MAP}")
    tiny.replace(kept, '"1"', '"bad"')
    assert built(parts) == {"A": "1"}


def test_a_channel_with_other_bytes_than_were_pinned_is_refused(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    done("update", "--workspace", tmp_path / "ws")
    clear(parts)
    shutil.rmtree(tmp_path / "channel")
    tiny.replace(parts / CONFIG_MAP, "\ndata:", "\n# Another.\ndata:")
    publish(parts, "1.0.0")
    code, _, err = build(parts)
    assert (code, "another one is pinned" in err) == (1, True)


def test_a_bundle_of_a_package_is_no_library(parts: Path, tmp_path: Path) -> None:
    libraries.name(tmp_path / "ws", "{path: ../parts}")
    done("publish", "p", "--workspace", tmp_path / "ws", "--version", "1.0.0", "--to", tmp_path / "channel")
    libraries.name(tmp_path / "ws", f"{{name: p, version: '1.0.0', from: {tmp_path / 'channel'}}}")
    code, _, err = in_workspace(parts, "update")
    assert (code, "packyard.yaml: no such file, so this is not a library" in err) == (1, True)


def test_another_packyard_than_the_one_that_is_pinned_carries_other_parts(
    parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries.name(tmp_path / "ws", "builtin")
    monkeypatch.setattr("packyard.writing.source.library.carried_dir", lambda: parts)
    done("update", "--workspace", tmp_path / "ws")
    other = tmp_path / "newer"
    libraries.write(other, A="2")
    monkeypatch.setattr("packyard.writing.source.library.carried_dir", lambda: other)
    says = "the library builtin is not what packyard.lock pins: its files are in"
    assert says in build(parts)[2]
    assert "  setter A: default 1 → 2\n" in done("update", "builtin", "--workspace", tmp_path / "ws")
    assert built(parts) == {"A": "2"}


def test_a_library_that_was_fetched_cannot_lead_into_other_folders_of_its_user(parts: Path, tmp_path: Path) -> None:
    libraries.write(tmp_path / "private", SECRET="1")
    libraries.name(parts, "{path: ../../../../../private}")
    libraries.name(tmp_path / "ws", f"{{git: 'file://{parts}', commit: {commit(parts)}}}")
    code, _, err = in_workspace(parts, "update")
    assert (code, "the library private is a folder outside of the library parts, which was fetched" in err) == (1, True)


def test_lint_refuses_a_library_that_could_not_be_published(parts: Path) -> None:
    assert tiny.run("lint", "--workspace", parts)[0] == 0
    tiny.replace(parts / "bases/below/kustomization.yaml", "cm.yaml", "gone.yaml")
    assert "'gone.yaml' is neither a file nor a folder here" in tiny.refused("lint", "--workspace", parts)


def test_keeps_no_more_libraries_than_fit(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "shelf", limit=1000)
    for number in range(5):
        folder, tar = shelf.put("parts", [Member(path="Krmfile", data=bytes([number]) * 400)])
        os.utime(folder.parent, (number, number))
    assert shelf.find("parts", tar) == folder
    assert len([*shelf.folder.iterdir()]) == 2


# Repositories and copies.


def test_a_repository_at_a_commit_is_pinned_and_moved_by_another_commit(parts: Path, tmp_path: Path) -> None:
    def name(at: str) -> None:
        libraries.name(tmp_path / "ws", f"{{git: 'file://{parts}', commit: {at}}}")

    first = commit(parts)
    name(first)
    done("update", "--workspace", tmp_path / "ws")
    assert (pins(parts), built(parts)) == ({"parts": f"0+{first}"}, {"A": "1"})
    tiny.replace(parts / CONFIG_MAP, "data:\n", "data:\n  B: more\n")
    second = commit(parts)
    name(second)
    assert f"the library parts is 0+{first} in packyard.lock, not {second}" in build(parts)[2]
    done("update", "--workspace", tmp_path / "ws")
    assert built(parts) == {"A": "1", "B": "more"}
    assert git(parts, "status", "--porcelain") == ""


def test_a_repository_at_a_tag_is_pinned_at_its_commit(parts: Path, tmp_path: Path) -> None:
    first = commit(parts)
    git(parts, "tag", "v1")
    libraries.name(tmp_path / "ws", f"{{git: 'file://{parts}', tag: v1}}")
    done("update", "--workspace", tmp_path / "ws")
    assert (pins(parts), built(parts)) == ({"parts": f"0+{first}"}, {"A": "1"})
    tiny.replace(parts / CONFIG_MAP, "data:\n", "data:\n  B: more\n")
    second = commit(parts)
    git(parts, "tag", "v2")
    git(parts, "tag", "--force", "v1")
    clear(parts)
    assert built(parts) == {"A": "1"}, "the lock pins the commit, wherever the tag is now"
    libraries.name(tmp_path / "ws", f"{{git: 'file://{parts}', tag: v2}}")
    assert f"the library parts is 0+{first} in packyard.lock, not v2 (packyard update parts pins" in build(parts)[2]
    libraries.name(tmp_path / "ws", f"{{git: 'file://{parts}', tag: v1}}")
    done("update", "--workspace", tmp_path / "ws")
    assert (pins(parts), built(parts)) == ({"parts": f"0+{second}"}, {"A": "1", "B": "more"})
    libraries.name(tmp_path / "ws", f"{{git: 'file://{parts}', tag: '--output=x'}}")
    assert "libraries.tag: must be the name of a tag, such as v1.2, found '--output=x'" in build(parts)[2]


def test_vendor_copies_libraries_that_kustomize_reads_and_that_need_nothing_else(
    parts: Path, tmp_path: Path, kustomize5: Path
) -> None:
    root = tmp_path / "ws"
    publish(parts, "1.0.0")
    more = "resources: [../../libraries/parts/bases/below]\npatches: [{path: cm.yaml}]\n"
    tiny.write(root / "bases/mine/kustomization.yaml", libraries.KUSTOMIZATION + more)
    tiny.write(root / "bases/mine/cm.yaml", libraries.CONFIG_MAP + "  MINE: more\n")
    tiny.replace(root / "packages/p/package.yaml", "base: below", "base: mine")
    done("update", "--workspace", root)
    assert done("update", "--vendor", "--workspace", root) == f"{root}/libraries/parts\n"
    shutil.rmtree(tmp_path / "channel")
    shutil.rmtree(parts)
    clear(parts)
    assert built(parts) == {"A": "1", "MINE": "more"}
    command = (kustomize5, "build", root / "bases/mine")
    rendered = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert yaml.safe_load(rendered)["data"] == {"A": "1", "MINE": "more"}
    assert tiny.run("update", "--vendor", "--workspace", root) == (0, "", "all libraries are copied already\n")
    tiny.replace(root / "libraries/parts" / CONFIG_MAP, '"1"', '"2"')
    assert "the library parts is not what packyard.lock pins" in build(parts)[2]


def test_vendor_pins_a_folder_and_update_replaces_the_copy(parts: Path, tmp_path: Path) -> None:
    libraries.name(tmp_path / "ws", "{path: ../parts}")
    done("update", "--vendor", "--workspace", tmp_path / "ws")
    tiny.replace(parts / CONFIG_MAP, "data:\n", "data:\n  B: more\n")
    assert built(parts) == {"A": "1"}
    done("update", "--workspace", tmp_path / "ws")
    assert built(parts) == {"A": "1", "B": "more"}
    assert [path.name for path in (tmp_path / "ws/libraries").iterdir()] == ["parts"]


def test_update_leaves_a_folder_alone_that_nothing_pins(parts: Path, tmp_path: Path) -> None:
    libraries.name(tmp_path / "ws", "{path: ../parts}")
    done("update", "--workspace", tmp_path / "ws")
    tiny.replace(parts / CONFIG_MAP, '"1"', '"1" ')
    assert built(parts) == {"A": "1"}
    assert not (tmp_path / "ws/packyard.lock").exists()


# What is said of packages.


def test_provenance_says_which_library_a_package_was_built_on(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    libraries.write(tmp_path / "unused")
    (tmp_path / "unused/bases/below").rename(tmp_path / "unused/bases/other")
    entries = (f"{{name: parts, version: ^1.0, from: {tmp_path / 'channel'}}}", "{path: ../unused}")
    libraries.name(tmp_path / "ws", *entries)
    done("update", "--workspace", tmp_path / "ws")
    done("publish", "--workspace", tmp_path / "ws", "--version", "1", "--to", tmp_path / "out")
    data = (tmp_path / "out/1/p.tar.gz.intoto.json").read_bytes()
    made, _ = provenance.open(data, NOBODY, file="p")
    pinned = lock.read(tmp_path / "ws/packyard.lock").libraries["parts"]
    used = made.built_on["libraries/parts"]
    assert (used.version, used.tar, used.address) == ("1.0.0", pinned.tar, str(tmp_path / "channel"))
    assert f"libraries/parts/{CONFIG_MAP}" in made.inputs


def test_provenance_says_that_a_folder_beside_differs_from_the_commit(parts: Path, tmp_path: Path) -> None:
    libraries.name(tmp_path / "ws", "{path: ../parts}")
    commit(tmp_path)
    for version, dirty in (("1.0.0", False), ("1.1.0", True)):
        words = ("--workspace", tmp_path / "ws", "--version", version, "--to", tmp_path / "out")
        done("publish", *words)
        data = (tmp_path / f"out/{version}/p.tar.gz.intoto.json").read_bytes()
        source = provenance.open(data, NOBODY, file="p")[0].source
        assert source
        assert source.dirty == dirty
        (parts / CONFIG_MAP).write_text((parts / CONFIG_MAP).read_text() + "# Changed.\n")


def test_list_shows_what_a_workspace_builds_on(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    done("update", "--workspace", tmp_path / "ws")
    (row,) = json.loads(done("list", "--libraries", "--workspace", tmp_path / "ws", "--output", "json"))
    assert (row["name"], row["version"], row["from"]) == ("parts", "1.0.0", str(tmp_path / "channel"))


def test_vendor_writes_through_no_link_that_leads_out_of_the_workspace(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    assert in_workspace(parts, "update")[0] == 0
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "ws/libraries").symlink_to(tmp_path / "elsewhere")
    code, _, err = in_workspace(parts, "update", "--vendor")
    assert code == 1
    assert "outside of" in err
    assert not list((tmp_path / "elsewhere").iterdir())


def test_update_deletes_no_copy_that_somebody_changed(parts: Path, tmp_path: Path) -> None:
    publish(parts, "1.0.0")
    assert in_workspace(parts, "update")[0] == in_workspace(parts, "update", "--vendor")[0] == 0
    changed = tmp_path / "ws/libraries/parts/LICENSE"
    changed.write_text("Ours.\n")
    code, out, err = in_workspace(parts, "update")
    assert (code, out) == (1, "")
    assert "was changed since it was copied (move it away" in err
    assert changed.read_text() == "Ours.\n"


def test_a_lock_names_a_channel_by_its_way_from_the_workspace(
    parts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(parts, "1.0.0")
    libraries.name(tmp_path / "ws", "{name: parts, version: ^1.0, from: ../channel}")
    assert in_workspace(parts, "update")[0] == 0
    assert 'channel: "../channel"\n' in (tmp_path / "ws/packyard.lock").read_text()
    for folder in ("ws", "channel"):
        shutil.move(tmp_path / folder, tmp_path / "elsewhere" / folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    words = ("build", "p", "--version", "1", "--out", tmp_path / "out", "--workspace", tmp_path / "elsewhere/ws")
    code, _, err = tiny.run(*words)
    assert code == 0, err
