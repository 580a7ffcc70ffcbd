"""packyard.lock is refused where it cannot be a lock."""

import pytest

from packyard.core.bundle.lock import Lock, Pin
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError

BERT = Pin(version="1.10", channel="https://models.example.com/v", tar=Digest.of(b"1"), digest=Digest.of(b"2"))
LOCK = Lock(packages={"bert": BERT})


@pytest.mark.parametrize(
    ("old", "new"),
    [("packyard/v1", "packyard/v2"), ('"1.10"', '"latest"'), ("sha256:", "sha512:"), ('"bert"', '"../bert"')],
)
def test_another_format_or_what_cannot_be_a_pin_is_refused(old: str, new: str) -> None:
    with pytest.raises(IntegrityError, match=r"^packyard\.lock: .*"):
        Lock.parse(LOCK.to_bytes().replace(old.encode(), new.encode(), 1))
