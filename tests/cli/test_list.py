"""`packyard list`: which packages there are, of sources and of a channel, all or those of some kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from packyard.channel import index, stores
from packyard.channel.entry import Entry
from packyard.digest import Digest
from running import done, packyard
from usecases import PACKAGES

DIGEST = Digest.of(b"")
MODELS = {
    "bert": {"framework": "pytorch", "category": "language", "mode": "training"},
    "rfcn": {"framework": "tensorflow", "category": "vision", "mode": "inference"},
    "unet": {"framework": "tensorflow", "category": "vision", "mode": "training"},
    "bare": {},
}


@pytest.fixture
def channel(tmp_path: Path) -> Path:
    folder = tmp_path / "channel"
    folder.mkdir()
    entries = [
        Entry(name=name, version="1.0.0", tar=DIGEST, digest=DIGEST, size=0, model=model)
        for name, model in MODELS.items()
    ]
    index.record(stores.open_store(str(folder)), entries)
    return folder


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        ("", ["bare", "bert", "rfcn", "unet"]),
        ("--framework tensorflow", ["rfcn", "unet"]),
        ("--mode training --framework tensorflow", ["unet"]),
        ("--category language", ["bert"]),
    ],
)
def test_shows_the_packages_of_a_kind_that_a_channel_has(flags: str, names: list[str], channel: Path) -> None:
    table = done("list", "--from", channel, *flags.split())
    assert [line.split()[0] for line in table.splitlines()[1:]] == names
    entries = json.loads(done("list", "--from", channel, *flags.split(), "--output", "json"))
    assert [entry["name"] for entry in entries] == names


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("--framework tensorflw", "no package of framework 'tensorflw': did you mean 'tensorflow'?"),
        ("--framework jax", "no package of framework 'jax': there is pytorch, tensorflow"),
        ("--mode training --category language --framework tensorflow", "there is vision"),
        ("--precision int8", "no package of precision 'int8': none says its own"),
    ],
)
def test_says_what_there_is_instead(flags: str, says: str, channel: Path) -> None:
    process = packyard("list", "--from", channel, *flags.split())
    assert process.returncode == 1
    assert process.stdout == ""
    assert says in process.stderr


def test_a_channel_that_says_much_is_cut_short(tmp_path: Path) -> None:
    long = "x" * 100_000
    entries = [
        Entry(
            name=f"p-{number}", version="1", tar=DIGEST, digest=DIGEST, size=0, model={"framework": f"{number}{long}"}
        )
        for number in range(30)
    ]
    index.record(stores.open_store(str(tmp_path / "channel")), entries)
    lines = done("list", "--from", tmp_path / "channel").splitlines()
    assert (len(lines), max(map(len, lines)) < 300) == (31, True)
    process = packyard("list", "--from", tmp_path / "channel", "--framework", "z")
    assert len(process.stderr) < 1500


def test_shows_the_use_cases_of_a_kind_that_have_sources_here() -> None:
    lines = done("list", "--mode", "inference").splitlines()[1:]
    packages = [package for package in PACKAGES if package.model["mode"] == "inference"]
    assert 0 < len(packages) < len(PACKAGES)
    assert [tuple(line.split()[0::3]) for line in lines] == [
        (package.name, use_case.path) for package in packages for use_case in package.use_cases
    ]
