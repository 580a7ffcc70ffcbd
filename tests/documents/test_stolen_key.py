"""docs/stolen-key.md can be followed at night: all its commands, typed in their order, with a thief between them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import real
import tiny
from tiny import done, packyard

PAGE = (real.REPOSITORY / "docs/stolen-key.md").read_text()
PUBLISH = ("publish", "--workspace", "sources", "--to", "channel", "--version")


def commands() -> list[str]:
    typed = re.findall(r"`packyard (keys [^`]+)`", PAGE.partition("## The channel has no root")[0])
    return [each for each in typed if each != "keys new NAME"]


def test_the_page_can_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    monkeypatch.setenv("PACKYARD_KEY_PASSPHRASE", "secret")
    monkeypatch.delenv("PACKYARD_SIGNING_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    keys = tmp_path / "CONFIG/packyard/keys"
    for name in ("alice", "bob", "carol", "ci", "ci-2", "oncall", "team-a"):
        done("keys", "new", name, "--no-passphrase")
        shutil.copy(keys / f"{name}.pub.pem", tmp_path)
    (tmp_path / "root.yaml").write_text(PAGE.partition("```yaml\n")[2].partition("```")[0])
    tiny.workspace(tmp_path / "sources")
    stolen = json.loads(done("keys", "list", "-o", "json"))
    replaced = {"CHANNEL": "channel", "NUMBER": "2", "NAME": "ci-2"}
    replaced["ID"] = next(row["id"] for row in stolen if row["name"] == "ci")
    for command in commands():
        if "rotate" in command:
            shutil.copy(keys / "ci-3.pub.pem", tmp_path)
            file = tmp_path / "root.yaml"
            file.write_text(file.read_text().replace("[ci.pub.pem,", "[ci-3.pub.pem,"))
        if "revoke" in command:
            for version, key in (("1.0.1", "ci-2"), ("1.0.2", "ci"), ("6.6.6", "ci")):  # the last by the thief
                done(*PUBLISH, version, "--key", key)
        words = re.sub(r"\b[A-Z]+\b", lambda found: replaced[found[0]], command).split()
        done(*words, *(["--no-passphrase"] if words[1] == "new" else []))
        if "trust" in command:
            done(*PUBLISH, "1.0", "--key", "ci-2")
        if "--head" in command:
            assert [row["version"] for row in json.loads(done("list", "--from", "channel", "-o", "json"))] == ["1.0"]
    done(*PUBLISH, "1.0.1", "--key", "ci-3")
    refused = packyard(*PUBLISH, "1.0.2", "--key", "ci-3").stderr
    assert "which is revoked (somebody else put it there: raise the version" in refused
    done(*PUBLISH, "1.1", "--key", "ci-3")
    assert packyard(*PUBLISH, "1.2", "--key", "ci").returncode == 1
