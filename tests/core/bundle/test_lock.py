"""packyard.lock: written and read again, and refused where it cannot be a lock."""

from pathlib import Path

import pytest

from packyard.core.bundle import lock
from packyard.core.bundle.lock import Lock, Pin
from packyard.core.bundle.reference import Reference
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError

BERT = Pin(version="1.10", channel="https://models.example.com/v", tar=Digest.of(b"1"), digest=Digest.of(b"2"))
GPT = Pin(version="v2.7.0-rc.1", channel='/srv/üñí "q" # x', tar=Digest.of(b"3"), digest=Digest.of(b"4"))
LOCK = Lock(packages={"gpt": GPT, "bert": BERT})


@pytest.mark.parametrize(
    ("old", "new"),
    [("packyard/v1", "packyard/v2"), ('"1.10"', '"latest"'), ("sha256:", "sha512:"), ('"bert"', '"../bert"')],
)
def test_another_format_or_what_cannot_be_a_pin_is_refused(old: str, new: str) -> None:
    with pytest.raises(IntegrityError, match=r"^packyard\.lock: .*"):
        Lock.parse(LOCK.to_bytes().replace(old.encode(), new.encode(), 1))


def test_writes_in_one_step_and_names_what_is_not_pinned(tmp_path: Path) -> None:
    file = tmp_path / "packyard.lock"
    for written in (Lock(), LOCK):
        lock.write(file, written)
        assert lock.read(file) == written
    assert lock.read(file).pinned(Reference(name="bert")) == BERT
    with pytest.raises(InputError, match=r"does not pin brt .*did you mean 'bert'"):
        lock.read(file).pinned(Reference(name="brt"), file=str(file))
