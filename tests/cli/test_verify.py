"""`verify`: what they print, and their exit codes."""

import json
from pathlib import Path

import pytest

import tiny
from packyard.core.bundle.bundle import Bundle
from packyard.sharing.entry import IndexEntry
from packyard.sharing.trust import sbom
from packyard.sharing.trust.keys import SigningKey
from packyard.sharing.trust.provenance import Statement
from tiny import done, packyard

KEY = SigningKey.new()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "release.pub.pem"
    file.write_bytes(KEY.public.to_pem())
    return file


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tiny.workspace(tmp_path / "source")


@pytest.fixture
def channel(tmp_path: Path, source: Path) -> Path:
    """A channel that nobody signed."""
    done("publish", "--version", "1.0", "--to", tmp_path / "channel", "--workspace", source)
    return tmp_path / "channel"


@pytest.fixture
def signed(tmp_path: Path, source: Path) -> Path:
    """A channel whose only publisher has `KEY` in the environment."""
    pem = KEY.to_pem(b"secret").decode()
    env = {"PACKYARD_SIGNING_KEY": pem, "PACKYARD_KEY_PASSPHRASE": "secret"}
    done("publish", "--version", "1.0", "--to", tmp_path / "signed", "--workspace", source, **env)
    return tmp_path / "signed"


@pytest.fixture
def file(tmp_path: Path, channel: Path) -> Path:
    """A published tarball with its provenance and SBOM beside it."""
    here = tmp_path / "p.tar.gz"
    here.write_bytes((channel / "1.0/p.tar.gz").read_bytes())
    bundle = Bundle.open(here.read_bytes())
    described = sbom.to_bytes(bundle)
    made = Statement(IndexEntry.of(bundle), {}, None, sbom=described)
    here.with_name("p.tar.gz.sigstore.json").write_bytes(made.to_bytes(KEY))
    here.with_name("p.tar.gz.spdx.json").write_bytes(described)
    return here


def test_a_signed_file_is_proved_fact_by_fact(file: Path, config: Path, signed: Path) -> None:
    key_id = done("keys", "trust", config, signed).strip()
    intact, signed_by, built, sbom = done("verify", file).splitlines()
    assert (intact, signed_by) == (
        "p 1.0: its files are intact",
        f"signed by release ({key_id[:19]}…), which you trust",
    )
    assert built.startswith("built by packyard ")
    assert "no signature" not in built
    assert sbom.startswith("the SBOM beside it is the one")
    (row,) = json.loads(done("verify", file, "-o", "json"))
    assert (row["name"], row["version"], row["signers"], row["sbom"]) == ("p", "1.0", [key_id], True)


def test_a_key_for_one_channel_does_not_vouch_for_another(
    file: Path, config: Path, channel: Path, signed: Path
) -> None:
    assert "--from CHANNEL asks the channel that it is from" in packyard("verify", file).stderr
    done("keys", "trust", config, signed)
    assert "signed by release" in done("verify", file)
    line = done("verify", file, "--from", channel)
    assert "and the channel lists it" in line
    assert "signed by release" not in line
    file.with_name("p.tar.gz.sigstore.json").rename(f"{file}.intoto.json").write_text("{}")
    assert f"{file}.intoto.json: _type: is missing" in packyard("verify", file).stderr


def test_a_changed_directory_names_its_files_and_exits_with_1(channel: Path, tmp_path: Path) -> None:
    folder = Path(done("get", "p@1.0", "--from", channel, "--to", tmp_path).strip())
    process = packyard("verify", folder)
    assert (process.returncode, process.stdout) == (0, "")
    assert "packyard.json is the published one" in process.stderr
    (folder / ".packyard.json").unlink()
    process = packyard("verify", folder)
    assert "not checked: whether packyard.json is the published one: " in process.stderr
    assert "(name the channel: --from CHANNEL" in process.stderr
    (folder / "LICENSE").write_text("mine")
    (folder / "notes").touch()
    (folder / "README.md").unlink()
    process = packyard("verify", folder, "--from", channel)
    assert (process.returncode, process.stdout) == (1, "changed  LICENSE\nmissing  README.md\nextra    notes\n")
    assert "packyard.json is the published one" in process.stderr
    (row,) = json.loads(packyard("verify", folder, "-o", "json").stdout)
    states = [(item["path"], item["state"]) for item in row["files"]]
    assert states == [("LICENSE", "changed"), ("README.md", "missing"), ("notes", "extra")]


def test_of_a_use_case_its_own_files_are_verified(channel: Path, tmp_path: Path) -> None:
    folder = Path(done("get", "p@1.0", "--from", channel, "--to", tmp_path).strip())
    (folder / "LICENSE").write_text("mine")
    process = packyard("verify", "p/one", cwd=tmp_path)
    assert (process.returncode, process.stdout) == (0, "")
    assert packyard("diff", "p/one", cwd=tmp_path).stdout == ""
    assert "LICENSE" in packyard("diff", "p", cwd=tmp_path).stdout


def test_a_forged_manifest_of_a_directory_is_found(channel: Path, tmp_path: Path) -> None:
    folder = Path(done("get", "p@1.0", "--from", channel, "--to", tmp_path).strip())
    tiny.replace(folder / "packyard.json", "sha256:", "sha256:0")
    assert "is not a digest" in packyard("verify", folder).stderr
    tiny.replace(folder / "packyard.json", "sha256:0", "sha256:")
    tiny.replace(folder / "packyard.json", '"images": [', '"images": ["evil"] , "old": [')
    says = f"packyard.json: is not the packyard.json of p@1.0 in {channel} (--from)"
    assert says in tiny.refused("verify", folder, "--from", channel)


def test_upgrade_says_who_signed_as_get_does_and_refuses_what_a_trusted_channel_requires(
    file: Path, config: Path, channel: Path, source: Path, signed: Path, tmp_path: Path
) -> None:
    done("get", "p", "--from", signed, cwd=tmp_path)
    done("publish", "--version", "1.1", "--to", channel, "--workspace", source)
    says = "not signed: nobody can tell who published it\n"
    upgrade = packyard("upgrade", "p", "--from", channel, "--dry-run", cwd=tmp_path)
    assert says in upgrade.stderr
    assert "p would be upgraded from 1.0 to 1.1\n" in upgrade.stderr
    loose = tmp_path / "loose.tar.gz"
    loose.write_bytes((channel / "1.1/p.tar.gz").read_bytes())
    assert says in packyard("upgrade", "p", loose, "--dry-run", cwd=tmp_path).stderr
    assert "not verified: it names" in packyard("upgrade", "p", file, "--dry-run", cwd=tmp_path).stderr
    done("keys", "trust", config, signed)
    assert "nothing proves where the bundle is from" in packyard("upgrade", "p", loose, cwd=tmp_path).stderr
    assert "signed by release" in packyard("upgrade", "p", file, cwd=tmp_path).stderr
    assert packyard("verify", loose).returncode == 0
    assert packyard("verify", loose, "--from", signed).returncode == 1


def test_a_file_of_an_own_key_is_said_to_be_so(file: Path, home: Path) -> None:
    done("keys", "new", "lab", "--no-passphrase")
    private = KEY.to_pem(None)
    (home / "CONFIG/packyard/keys/lab.pem").write_bytes(private)
    (home / "CONFIG/packyard/keys/lab.pub.pem").write_bytes(KEY.public.to_pem())
    assert "signed by your own key lab (" in done("verify", file)
