"""`keys` and `config`: what they print, ask and refuse."""

import base64
import json
import re
from pathlib import Path

import pytest

import tiny
from cli.terminal import on_terminal
from tiny import done, packyard, refused


@pytest.fixture
def config(home: Path) -> Path:
    return home / "CONFIG/packyard"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return tiny.workspace(tmp_path / "sources")


@pytest.fixture
def channel(sources: Path, tmp_path: Path) -> Path:
    """A channel that the key ``lab`` signs from its second version on."""
    channel = tmp_path / "our channel"
    done("publish", "--workspace", sources, "--version", "1.0", "--to", channel)
    done("keys", "new", "lab", "--no-passphrase")
    done("publish", "--workspace", sources, "--version", "1.1", "--to", channel)
    return channel


def _strip(channel: Path) -> None:
    """Take the signature from an index."""
    file = channel / "index/index.json"
    statement = base64.b64decode(json.loads(file.read_bytes())["dsseEnvelope"]["payload"])
    file.write_text(json.dumps(json.loads(statement)["predicate"]))


def test_a_key_is_trusted_for_the_channel_that_it_signs_until_that_is_let_go(
    config: Path, channel: Path, sources: Path, tmp_path: Path
) -> None:
    unsigned = tmp_path / "unsigned"
    nobody = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": ""}
    done("publish", "--workspace", sources, "--version", "1.0", "--to", unsigned, **nobody)
    told = packyard("keys", "trust", config / "keys/lab.pub.pem", channel)
    (row,) = json.loads(done("keys", "list", "-o", "json"))[1:]
    assert told.stdout == row["id"] + "\n"
    assert f"{channel} must be signed by lab ({row['id'][:19]}…) from now on" in told.stderr
    assert (row["use"], row["channel"]) == ("trusted", str(channel))
    assert f"signed by lab ({row['id'][:19]}…), which you trust\n" in packyard("list", "--from", channel).stderr
    assert "not signed: nobody can tell who published it\n" in packyard("list", "--from", unsigned).stderr
    _strip(channel)
    way_out = f"packyard keys untrust '{channel}'"
    publish = ("publish", "--workspace", sources, "--version", "1.2", "--to", channel)
    for words in (("list", "--from", channel), ("get", "p", "--from", channel), publish):
        assert way_out in refused(*words)
    left = packyard("keys", "untrust", channel)
    assert (left.returncode, left.stdout) == (0, "")
    assert "no signature is required any more, and what it had before is forgotten" in left.stderr
    assert "not signed: nobody can tell" in packyard("list", "--from", channel).stderr
    again = refused("keys", "untrust", tmp_path / "our chanel")
    assert "nobody is trusted for it, and nothing is remembered" in again


def test_an_own_key_is_called_so_and_trusted_for_no_channel_until_that_is_asked_for(channel: Path) -> None:
    (row,) = json.loads(done("keys", "list", "-o", "json"))
    own = f"signed by your own key lab ({row['id'][:19]}…)"
    require = f"to refuse there what it did not sign: packyard keys trust lab '{channel}'"
    for words in (("list",), ("get", "p", "--to", channel.parent / "got"), ("show", "p")):
        told = packyard(*words, "--from", channel)
        assert own in told.stdout + told.stderr
        assert require in re.sub(r"\n +", " ", told.stdout + told.stderr)
    told = packyard("keys", "trust", "lab", channel).stderr
    assert "ask its publisher" not in told
    done("keys", "untrust", channel)
    assert own in packyard("list", "--from", channel).stderr
    assert "no signature was required; what it had before is forgotten" in packyard("keys", "untrust", channel).stderr


def test_a_key_may_stand_behind_the_channel_that_is_trusted_and_nowhere_where_none_is(
    config: Path, channel: Path
) -> None:
    file = config / "keys/lab.pub.pem"
    assert "must be signed by" in packyard("keys", "trust", channel, file).stderr
    for words in (("lab", channel), (channel, file)):
        assert "keys untrust: expected CHANNEL, found " in refused("keys", "untrust", *words, code=2)


def _forge(channel: Path) -> None:
    """Change what an index says below its signature."""
    file = channel / "index/index.json"
    bundle = json.loads(file.read_bytes())
    statement = base64.b64decode(bundle["dsseEnvelope"]["payload"])
    bundle["dsseEnvelope"]["payload"] = base64.b64encode(statement.replace(b"title", b"tilte")).decode()
    file.write_text(json.dumps(bundle))


def test_a_forged_index_is_called_verified_by_nobody_and_found_by_who_has_the_key(
    channel: Path, tmp_path: Path
) -> None:
    nobody = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "XDG_CACHE_HOME": ""}
    for change in (lambda _: None, _forge):
        change(channel)
        told = packyard("list", "--from", channel, **nobody).stderr
        assert re.search(r"^not verified: it names sha256:\w{12}… as its signer, which you do not trust$", told, re.M)
        told = packyard("fsck", channel, **nobody).stderr
        assert "nothing is wrong\nnot verified: it names sha256:" in told
    for words in (("fsck", channel), ("list", "--from", channel)):
        found = packyard(*words)
        assert found.returncode == 1
        assert "does not match the signature of lab" in found.stdout + found.stderr


def test_a_key_is_trusted_for_no_channel_that_it_has_not_signed(config: Path, channel: Path, tmp_path: Path) -> None:
    done("keys", "new", "other", "--no-passphrase")
    said = refused("keys", "trust", "other", channel)
    rows = {row["name"]: row["id"][:19] for row in json.loads(done("keys", "list", "-o", "json"))}
    wrong = f"is not signed by other ({rows['other']}…): it names {rows['lab']}… as its signer"
    assert f"error: {channel}: {wrong} (get the public key from its publisher" in said
    done("copy", channel, tmp_path / "stripped", "--key", "lab")
    _strip(tmp_path / "stripped")
    done("keys", "untrust", tmp_path / "stripped")
    said = refused("keys", "trust", "lab", tmp_path / "stripped")
    assert "is not signed by lab (" in said
    assert "nobody signed it (its publisher signs it by publishing with --key NAME)" in said
    assert not (config / "keys/channels").exists()


def test_who_trusts_the_new_key_of_a_channel_is_served_nothing_by_the_stolen_one(channel: Path, sources: Path) -> None:
    publish = ("publish", "--workspace", sources, "--to", channel, "--version")
    done("keys", "new", "lab-2", "--no-passphrase")
    said = refused(*publish, "1.2", "--key", "lab-2")
    assert "which you do not trust: your key would sign all of it" in said
    assert f"(packyard keys trust lab lab-2 '{channel}')" in said
    done("keys", "trust", "lab", "lab-2", channel)
    done("yank", "p@1.1", "--reason", "not ours", "--from", channel, "--key", "lab-2")
    assert "is not trusted there any more" in packyard("keys", "trust", "lab-2", channel).stderr
    assert "signing with lab-2\n" in packyard(*publish, "1.2", "--key", "lab-2", "--dry-run").stderr
    assert "signing with lab-2\n" in packyard(*publish, "1.2", "--key", "lab-2").stderr
    said = refused(*publish, "1.3", "--key", "lab")
    assert re.search(r"must be signed by lab-2 \(sha256:\w+…\), and your key is sha256:\w+…", said)
    assert f"packyard keys untrust '{channel}'" in said
    assert "signed by lab-2" in packyard("get", "p@1.0", "--from", channel, "--to", channel.parent / "got").stderr


def test_an_unencrypted_key_takes_an_explicit_choice(config: Path) -> None:
    said = refused("keys", "new", "release", code=2, HOME="/", XDG_CONFIG_HOME=str(config.parent))
    assert "set PACKYARD_KEY_PASSPHRASE, or give --no-passphrase" in said
    assert not config.exists()
    done("keys", "new", "release", "--no-passphrase")
    assert b"ENCRYPTED" not in (config / "keys" / "release.key.pem").read_bytes()


def test_a_passphrase_is_asked_once_all_that_is_typed_is_judged(sources: Path, tmp_path: Path) -> None:
    channel, publish = tmp_path / "unsigned", ("publish", "--workspace", sources)
    done(*publish, "--version", "1.0", "--to", channel)
    done("keys", "new", "locked", PACKYARD_KEY_PASSPHRASE="secret")
    for words, says in (
        (("keys", "new", "a/b"), "is not a name for a key"),
        ((*publish, "--version", "1", "--to", channel), "is published as p@1.0: one version has one spelling"),
        ((*publish, "--version", "1.1", "--to", "ftp://h/c"), "ftp"),
        (("yank", "p", "--reason", "x", "--from", channel), "does not say which version"),
        (("yank", "p@9", "--reason", "x", "--from", channel), "no version '9' of p"),
        (("gc", channel, "nothing", "--yanked"), "nothing"),
    ):
        said = packyard(*words).stderr
        assert says in said, said
        assert "a passphrase is" not in said, said
    assert "a passphrase is needed" in refused(*publish, "--version", "1.1", "--to", channel, code=2)


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        (("secret", "secret"), 0, "release.pub.pem"),
        (("secret", "secrets"), 2, "the passphrases differ"),
        (("",), 2, "the passphrases must not be empty"),
    ],
)
def test_the_passphrase_is_asked_twice_on_a_terminal_and_not_shown(
    config: Path, typed: tuple[str, ...], code: int, said: str
) -> None:
    with on_terminal("keys", "new", "release", cwd=config.parents[1]) as terminal:
        told = ""
        for line in typed:
            told += terminal.until(": ")
            terminal.type(line)
        told += terminal.whole()
    assert terminal.process.wait() == code, told
    assert said in told
    assert "secret" not in told
    assert (config / "keys" / "release.key.pem").exists() == (code == 0)


def test_config_sets_a_value_and_leaves_the_other_lines(config: Path) -> None:
    tiny.write(config / "config.yaml", "# ours\n")
    for value in ("https://a.example", "s3://b/c"):
        assert value in done("config", "set", "channel", value)
    written = (config / "config.yaml").read_text()
    assert written == '# ours\nchannel: "s3://b/c"\n'
    said = refused("config", "set", "channel", "models", code=2)
    assert "must be an address, or the whole path of a folder" in said
    assert (config / "config.yaml").read_text() == written
