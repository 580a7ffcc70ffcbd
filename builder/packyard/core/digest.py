"""Content digests in the one spelling the field uses: ``sha256:<64 hex digits>``.

A digest names bytes. It does not say who made them.
"""

import hashlib
import re

from packyard.core.errors import InputError, IntegrityError, Problem

_SPELLING = re.compile(r"sha256:[0-9a-f]{64}\Z")


class Digest(str):
    """The SHA-256 of some bytes, as text; equal digests are equal text."""

    __slots__ = ()

    @classmethod
    def of(cls, data: bytes) -> "Digest":
        """Compute the digest of ``data``."""
        return cls("sha256:" + hashlib.sha256(data).hexdigest())

    @classmethod
    def parse(cls, text: str) -> "Digest":
        """Read a digest, and refuse any other spelling (another algorithm, upper case, bare hex)."""
        if not _SPELLING.match(text):
            raise InputError(f"{text[:80]!r} is not a digest: it must be sha256:<64 hex digits>")
        return cls(text)

    @property
    def hex(self) -> str:
        """The 64 hex digits alone, as ``sha256sum`` prints them."""
        return self.removeprefix("sha256:")

    def verify(self, data: bytes, *, what: str) -> None:
        """Raise `IntegrityError`, naming ``what``, unless ``data`` has this digest."""
        actual = Digest.of(data)
        if actual != self:
            raise IntegrityError(Problem(f"expected {self}, found {actual}", file=what))
