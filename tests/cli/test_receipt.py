"""`.packyard.json`: where a package is from, and what `upgrade`, `diff` and `verify` do with that, hostile or not."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import tiny
from packyard.core.bundle import bundle
from packyard.core.bundle.archive import Member
from packyard.core.bundle.manifest import Manifest
from packyard.sharing.stores.directory import DirectoryStore
from sharing.examples import publish
from sharing.servers import Server, answer, answering
from tiny import done, packyard, refused


def publish_version(channel: Path, version: str, name: str = "p") -> None:
    data = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: run}}\ndata:\n  steps: '{version}'\n"
    files = [Member(path="run/cm.yaml", data=data.encode()), Member(path="README.md", data=b"# p\n")]
    made = bundle.build(Manifest(name=name, version=version, model={}, use_cases={}), files)
    publish(DirectoryStore(channel), [made])


@pytest.fixture
def channel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A channel with version 1.0.0; the working directory is empty."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    publish_version(tmp_path / "channel", "1.0.0")
    return tmp_path / "channel"


@pytest.fixture(params=["http", "directory"])
def address(request: pytest.FixtureRequest, channel: Path) -> Iterator[str]:
    """The channel, as a web server serves it and as a folder."""
    if request.param == "directory":
        yield str(channel)
        return
    with serving(channel) as server:
        yield server.address


def serving(channel: Path) -> Server:
    def script(request: bytes) -> list[bytes]:
        file = channel / request.split(b" ", 2)[1].decode().lstrip("/")
        return [answer(file.read_bytes()) if file.is_file() else answer(status=b"404 Not Found")]

    return answering(script)


def version(folder: str = "p") -> str:
    return str(json.loads(Path(folder, "packyard.json").read_text())["version"])


def test_get_writes_channel_version_and_digest_and_verify_passes_over_it(address: str) -> None:
    row = json.loads(done("get", "p", "--from", address, "-o", "json"))[0]
    written = json.loads(Path("p/.packyard.json").read_text())
    assert written == {
        "apiVersion": "packyard/v1",
        "kind": "Receipt",
        "channel": address.rstrip("/"),
        "version": "1.0.0",
        "digest": row["digest"],
    }
    found = packyard("verify", "p", "-o", "json")
    row = {"name": "p", "version": "1.0.0", "files": [], "published": True, "indexSeen": 2}
    assert json.loads(found.stdout)[0] == row
    assert "the published one" in packyard("verify", "p").stderr
    assert done("diff", "p") == ""


def test_upgrade_goes_to_the_newest_version_of_the_channel_that_it_is_from(channel: Path, address: str) -> None:
    done("get", "p", "--from", address)
    publish_version(channel, "1.1.0")
    found = packyard("upgrade", "p")
    assert found.returncode == 0, found.stderr
    assert re.search(rf"p@1\.1\.0 from {re.escape(address)}/? \(\.packyard\.json\)", found.stderr)
    assert version() == json.loads(Path("p/.packyard.json").read_text())["version"] == "1.1.0"
    publish_version(channel, "1.2.0")
    publish_version(channel, "2.0.0")
    assert "p upgraded from 1.1.0 to 1.2.0" in packyard("upgrade", "^1.2", cwd=Path("p")).stderr
    done("undo", "p")
    assert version() == json.loads(Path("p/.packyard.json").read_text())["version"] == "1.1.0"


def test_no_verb_goes_back_unless_that_version_is_named_in_full(channel: Path, address: str) -> None:
    publish_version(channel, "1.1.0")
    done("get", "p", "--from", address)
    done("yank", "p@1.1.0", "--from", channel, "--reason", "diverges")
    for words in ((), ("latest",), ("~1.0",)):
        says = refused("upgrade", "p", *words)
        assert "warning: p: is p@1.1.0, which is yanked: diverges\n" in says
        assert "is 1.1.0, and " in says
        assert "to go back, name the version: packyard upgrade p 1.0.0" in says
        assert version() == "1.1.0"
    assert "p downgraded from 1.1.0 to 1.0.0" in packyard("upgrade", "p", "1.0.0").stderr
    assert version() == "1.0.0"


@pytest.mark.usefixtures("channel")
def test_a_package_of_a_channel_never_takes_what_packyard_carries(tmp_path: Path) -> None:
    name = "mnist-fp32-training-k8s"
    publish_version(tmp_path / "other", "9.0.0", name)
    done("get", name, "--from", tmp_path / "other")
    assert "nothing changes" in packyard("upgrade", name).stderr
    says = refused("upgrade", name, "--from", "carried", "latest")
    assert "nothing newer" in says
    assert version(name) == "9.0.0"


def test_without_the_file_upgrade_asks_where_the_package_is_from(channel: Path, address: str) -> None:
    tiny.untar(channel / "1.0.0/p.tar.gz")
    publish_version(channel, "1.1.0")
    says = refused("upgrade", "p")
    assert "p: has no .packyard.json, which says where the package is from (name the channel: --from CHANNEL" in says
    done("upgrade", "p", "--from", address)
    assert version() == json.loads(Path("p/.packyard.json").read_text())["version"] == "1.1.0"
    assert "nothing changes" in packyard("upgrade", "p").stderr


def test_a_channel_that_the_user_never_named_is_not_asked(home: Path, channel: Path) -> None:
    asked: list[bytes] = []

    def script(request: bytes) -> list[bytes]:
        asked.append(request)
        return [answer(status=b"404 Not Found")]

    with serving(channel) as server:
        done("get", "p", "--from", server.address)
    for name in ("STATE", "CACHE"):  # as of another user
        shutil.rmtree(home / name, ignore_errors=True)
    with answering(script) as hostile:
        document = json.loads(Path("p/.packyard.json").read_text())
        Path("p/.packyard.json").write_text(json.dumps({**document, "channel": hostile.address.rstrip("/")}))
        for words in (("upgrade", "p"), ("diff", "p"), ("diff", "p", "1.1.0")):
            says = refused(*words)
            assert "which you have not used on this computer (if you trust that channel, name it once: --from" in says
        found = packyard("verify", "p")
        assert (found.returncode, found.stdout) == (0, "")
        assert (
            "not checked: whether packyard.json is the published one: p/.packyard.json: says that the package is from"
            in found.stderr
        )
    assert not asked


def test_verify_does_without_a_channel_that_is_gone(channel: Path) -> None:
    done("get", "p", "--from", channel)
    channel.rename(channel.with_name("away"))
    found = packyard("verify", "p")
    assert (found.returncode, found.stdout) == (0, "")
    assert (
        "unchanged, as this packyard.json lists them\nwarning: not checked: whether packyard.json is the pub"
        in found.stderr
    )


def test_a_user_and_password_are_never_written(channel: Path) -> None:
    with serving(channel) as server:
        done("get", "p", "--from", server.address.replace("://", "://me:secret@"))
        assert "secret" not in Path("p/.packyard.json").read_text()
        assert json.loads(Path("p/.packyard.json").read_text())["channel"] == server.address.rstrip("/")


DIGEST = "sha256:" + "0" * 64
GOOD = {"apiVersion": "packyard/v1", "kind": "Receipt", "channel": "/c", "version": "1.0.0", "digest": DIGEST}


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "Lock"},
        {"channel": 7},
        {"channel": "relative/path"},
        {"channel": ""},
        {"channel": "https://me:secret@models.example.com"},
        {"channel": "https://models.example.com?token=1"},
        {"channel": "https://models.example.com/\n"},
        {"channel": "/" + "x" * 5000},
        {"version": "../1"},
        {"digest": "sha256:1"},
        {"extra": "x" * 20_000},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_is_not_a_receipt_is_refused(channel: Path, changes: dict[str, object]) -> None:
    done("get", "p", "--from", channel)
    Path("p/.packyard.json").write_text(json.dumps({**GOOD, **changes}))
    for words in (("upgrade", "p"), ("diff", "p"), ("verify", "p")):
        says = refused(*words)
        assert says.startswith("error: p/.packyard.json: ")
        assert "secret" not in says


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_receipt_that_is_no_plain_file_is_refused_and_nothing_is_written(channel: Path, kind: str) -> None:
    done("get", "p", "--from", channel)
    publish_version(channel, "1.1.0")
    file = Path("p/.packyard.json")
    file.unlink()
    if kind == "link":
        file.symlink_to("README.md")
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.mkdir()
    for flags in ((), ("--from", channel)):
        assert refused("upgrade", "p", *flags).startswith("error: p/.packyard.json: ")
    assert Path("p/README.md").read_text() == "# p\n"
    assert version() == "1.0.0"
