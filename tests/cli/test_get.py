"""`get`: from a channel, from what is remembered of it, and by a lock; it loads nothing of what makes bundles."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from packyard.core.bundle import lock
from packyard.sharing.stores.directory import DirectoryStore
from sharing.examples import bundle, publish
from tiny import done, packyard, write

#: What makes bundles, and the libraries that it needs.
MAKERS = ("packyard.writing", "packyard.using", "packyard.core.kubernetes", "packyard.core.yaml", "jinja2", "yaml")

GET = """
import sys
from packyard.cli.main import main
code = main(sys.argv[1:])
print(*sorted(sys.modules), sep="\\n")
sys.exit(code)
"""


def test_get_from_a_channel_loads_nothing_that_makes_bundles(tmp_path: Path) -> None:
    channel = tmp_path / "channel"
    publish(DirectoryStore(channel), [bundle()])
    words = ["get", "bert", "--from", str(channel), "--to", str(tmp_path / "here")]
    process = subprocess.run([sys.executable, "-c", GET, *words], capture_output=True, text=True, check=True)
    loaded = {name for name in process.stdout.splitlines() for maker in MAKERS if f"{name}.".startswith(f"{maker}.")}
    assert not loaded
    assert (tmp_path / "here" / "bert" / "packyard.json").is_file()


@pytest.fixture
def channel(tmp_path: Path) -> Path:
    publish(DirectoryStore(tmp_path / "channel"), [bundle("bert", version) for version in ("1.0", "1.1", "1.2-rc1")])
    publish(DirectoryStore(tmp_path / "channel"), [bundle("gpt", "2.0")])
    return tmp_path / "channel"


def refused(*words: object, says: str, cwd: Path | None = None) -> None:
    process = packyard(*words, cwd=cwd)
    assert (process.returncode, process.stdout) == (1, ""), process.stderr
    assert re.search(says, process.stderr), process.stderr


def test_says_which_version_of_which_channel_it_is_and_why(
    channel: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home / "CONFIG/packyard/config.yaml", f"channel: {channel}\n")
    process = packyard("get", "bert@^1", "--to", tmp_path / "1")
    origin = rf"{home}/CONFIG/packyard/config\.yaml"
    assert re.match(rf"bert@1\.1 from {channel} \({origin}\), the highest of 2 in \^1\n", process.stderr)
    monkeypatch.setenv("PACKYARD_CHANNEL", str(channel))
    process = packyard("get", "bert", "--to", tmp_path / "2")
    why = "the latest version that is not a pre-release, kept since it was fetched"
    assert re.match(rf"bert@1\.1 from {channel} \(PACKYARD_CHANNEL\), {why}\n", process.stderr)
    assert process.stderr.splitlines()[1] == "not signed: nobody can tell who published it"


@pytest.mark.parametrize(("into", "folder"), [(".", "bert"), ("./x", "x/bert"), ("x", "x/bert"), ("../x", "../x/bert")])
def test_tells_the_way_to_a_package_as_it_was_typed(into: str, folder: str, channel: Path, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    process = packyard("get", "bert", "--from", channel, "--to", into, cwd=tmp_path / "here")
    assert process.stdout == f"{folder}\n"


def test_what_was_undone_is_not_done_again_in_a_package_that_is_fetched_to_its_place(channel: Path) -> None:
    place = channel.parent / "bert"
    place.mkdir()
    for words in (["cfg", "init", place], ["undo", place]):
        done(*words)
    place.rmdir()
    done("get", "bert", "--from", channel, "--to", place.parent)
    refused("undo", place, "--redo", says="nothing to redo")


def test_what_was_pinned_is_fetched_though_there_is_a_newer_version(channel: Path, tmp_path: Path) -> None:
    for name in ("bert@1.0", "gpt"):
        done("get", name, "--from", channel, "--to", tmp_path / "1", "--lock", "packyard.lock", cwd=tmp_path)
    pins = lock.read(tmp_path / "packyard.lock").packages
    assert {name: (pin.version, pin.channel) for name, pin in pins.items()} == {
        "bert": ("1.0", str(channel)),
        "gpt": ("2.0", str(channel)),
    }
    printed = done("get", "--locked", "--to", tmp_path / "2", cwd=tmp_path)
    assert printed == f"{tmp_path}/2/bert\n{tmp_path}/2/gpt\n"
    assert json.loads((tmp_path / "2/bert/packyard.json").read_bytes())["version"] == "1.0"
    again = packyard("get", "--locked", "--to", tmp_path / "2", cwd=tmp_path)
    assert (again.stdout, again.stderr.count(" already, and stays as it is\n")) == (printed, 2)
    done("get", "bert", "--locked", cwd=tmp_path)
    says = f"bert@1.0 as before; packyard get bert@1.1 --from {channel} --to . --lock packyard.lock pins 1.1\n"
    assert says in packyard("upgrade", "bert", cwd=tmp_path).stderr
    refused("get", "bert", "--locked", cwd=tmp_path, says=r"bert: exists already \(packyard upgrade bert 1\.0 keeps")
    (row,) = json.loads(done("get", "bert", "--locked", "--to", tmp_path / "3", "-o", "json", cwd=tmp_path))
    assert (row["digest"], row["tar"], row["why"]) == (
        pins["bert"].digest,
        pins["bert"].tar,
        "the version that is pinned",
    )
    refused("get", "bert@1.1", "--locked", cwd=tmp_path, says=r"packyard\.lock: pins bert@1\.0, not bert@1\.1")
    refused("get", "gtp", "--locked", cwd=tmp_path, says=r"packyard\.lock: does not pin gtp \(did you mean 'gpt'\?\)")
    meant = r"\(packyard get t5@1 --from 'a b' --lock packyard\.lock pins it\)"
    refused("get", "t5@1", "--locked", "--from", "a b", cwd=tmp_path, says=meant)
    refused("get", "--locked", "--lock", "nosuch", cwd=tmp_path, says=r"--lock nosuch writes it\)")
    done("get", "bert", "--from", channel, "--to", tmp_path / "4", "--lock", "packyard.lock", cwd=tmp_path)
    assert lock.read(tmp_path / "packyard.lock").packages["bert"].version == "1.1"


def test_a_choice_that_nothing_fits_is_refused_with_what_there_is(channel: Path) -> None:
    refused("get", "bert@^2", "--from", channel, says=r"no version of bert .* \(it has 1\.2-rc1, 1\.1, 1\.0\)")
    refused("get", "bert@>1", "--from", channel, says=r"'>1' is not a version \(ask for 1\.2\.0, \^1\.2")
    refused("get", "llm-servin@^77", says=r"carries no package 'llm-servin' \(did you mean 'llm-serving'")
    refused(
        "get", "llm-serving@^77", says=r"this packyard carries version .*, not .* \(name a channel that has it: --from"
    )


def test_a_channel_that_has_another_bundle_than_the_pinned_one_is_refused(channel: Path, tmp_path: Path) -> None:
    done("get", "bert@1.0", "--from", channel, "--to", tmp_path / "1", "--lock", "packyard.lock", cwd=tmp_path)
    publish(DirectoryStore(tmp_path / "other"), [bundle("bert", "1.0", "other")])
    says = r"bert@1\.0: another one is pinned: tar sha256:.*; the channel has tar sha256:"
    refused("get", "--locked", "--from", tmp_path / "other", "--to", tmp_path / "2", cwd=tmp_path, says=says)
    words = ("bert", "--from", tmp_path / "other", "--to", tmp_path / "2", "--lock", "packyard.lock")
    refused("get", *words, cwd=tmp_path, says=r"packyard\.lock: pins bert@1\.0 with tar .*other has other bytes")
    assert not (tmp_path / "2").exists()
    pins = (tmp_path / "packyard.lock").read_text()
    faults = ("packyard/v1", "packyard/v2"), ('"1.0"', '"latest"'), ("sha256:", "sha512:"), ('"bert"', '"../bert"')
    for old, new in faults:
        write(tmp_path / "packyard.lock", pins.replace(old, new, 1))
        refused("get", "--locked", cwd=tmp_path, says=r"error: packyard\.lock: .*(pin again|update yours)")


def test_a_full_disk_leaves_nothing_where_it_was_to_be_unpacked(channel: Path, tmp_path: Path) -> None:
    program = "import resource, sys\nresource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n" + GET
    words = ["get", "bert", "--from", str(channel), "--to", str(tmp_path / "into")]
    process = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
    assert process.returncode == 1
    assert "File too large" in process.stderr
    assert not (tmp_path / "into").exists() or not list((tmp_path / "into").iterdir())


def test_get_of_a_use_case_fetches_the_package_and_names_the_command_that_is_next(
    channel: Path, tmp_path: Path
) -> None:
    said = packyard("get", "bert@1.0/single-node", "--from", channel, cwd=tmp_path).stderr
    assert said.endswith("\nnext: packyard render bert\n")  # it has one use case, and no setters
    assert not re.search("no use case", said)
    words = ("get", "bert@1.0/uses/two", "--from", channel, "--to", "again")
    refused(*words, says=r"bert has no use case 'uses/two' \(it has single-node\)", cwd=tmp_path)
    assert not (tmp_path / "again").exists()
    says = r"here: is inside the package bert \(go to the folder above it, or --to DIR\)"
    refused("get", "bert@1.0", "--from", channel, says=says, cwd=tmp_path / "bert")
    said = packyard("get", "llm-serving", cwd=tmp_path).stderr
    assert said.endswith("next: packyard setters llm-serving\n")
    assert "one-node" in done("setters", "llm-serving", cwd=tmp_path)
