"""packyard.lock: one spelling, so that every change of a byte is found or means nothing else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from packyard.core.bundle import lock
from packyard.core.bundle.lock import Lock, Pin
from packyard.core.digest import Digest
from packyard.core.errors import InputError

BERT = Pin(version="1.10", channel="https://models.example.com/v", tar=Digest.of(b"1"), digest=Digest.of(b"2"))
GPT = Pin(version="v2.7.0-rc.1", channel='/srv/üñí "q" # x', tar=Digest.of(b"3"), digest=Digest.of(b"4"))
LOCK = Lock(packages={"gpt": GPT, "bert": BERT})
TEXT = f"""\
apiVersion: packyard/v1
kind: Lock
packages:
  bert:
    version: "1.10"
    channel: "https://models.example.com/v"
    tar: {Digest.of(b"1")}
    digest: {Digest.of(b"2")}
"""


def test_is_read_as_it_was_written() -> None:
    assert Lock.parse(LOCK.to_bytes()) == LOCK
    assert Lock.parse(Lock().to_bytes()) == Lock()
    assert Lock(packages={"bert": BERT}).to_bytes() == TEXT.encode()


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("packyard/v1", "packyard/v2", 1),
        ("kind: Lock", "kind: Lock ", 2),
        ('"1.10"', "1.10", 3),
        ('    version: "1.10"\n', "", 3),
        ("sha256:", "sha512:", 0),
        ("bert:", "bert: # ours", 3),
        ("bert:", "../bert:", 0),
        ('"1.10"', '"latest"', 0),
        ("packages:", "Packages:", 3),
        ("    tar", "    extra: 1\n    tar", 3),
        ("\n", "\r\n", 1),
        ("  bert:", "  bert:\n  bert:", 5),
    ],
)
def test_any_other_spelling_is_refused_with_its_line(old: str, new: str, line: int) -> None:
    with pytest.raises(InputError, match=rf"^packyard\.lock:{line or ''}.*\(remove the file, and pin again"):
        Lock.parse(TEXT.replace(old, new).encode())


def test_a_thousand_changed_bytes_are_refused_or_stand_in_a_value() -> None:
    """A changed value is another pin, which no channel has under that name."""
    chance, good, refused = random.Random(15), LOCK.to_bytes(), 0
    for _ in range(1000):
        changed = bytearray(good)
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        try:
            found = Lock.parse(bytes(changed))
        except InputError:
            refused += 1
            continue
        assert found != LOCK
        assert found.to_bytes() == bytes(changed)
        different = [name for name, pin in found.packages.items() if LOCK.packages.get(name) != pin]
        assert len(different) == 1
    assert refused > 300


def test_writes_in_one_step_and_names_what_is_not_pinned(tmp_path: Path) -> None:
    file = tmp_path / "packyard.lock"
    lock.write(file, LOCK)
    assert lock.read(file) == LOCK
    assert lock.read(file).package("bert") == BERT
    with pytest.raises(InputError, match=r"does not pin brt .*did you mean 'bert'"):
        lock.read(file).package("brt", file=str(file))
