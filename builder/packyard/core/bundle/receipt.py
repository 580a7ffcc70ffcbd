"""``.packyard.json`` in the folder of an untarred package: the channel, version and digest that it came from.

    {"apiVersion": "packyard/v1", "kind": "Receipt", "channel": "https://models.example.com",
     "version": "1.1.0", "digest": "sha256:…"}

`get` and `upgrade` write it. No digest covers it, and no bundle may have one: whoever can write to the folder, such as
the author of a git repository, can change it. So it says where to ask, and proves nothing. A channel that is a folder
is named by its whole path; an address never has a user or a password.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from packyard.core.bundle import record, reference
from packyard.core.bundle.record import checked, in_json
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, Problem
from packyard.core.files import paths, regular

FILE, LIMIT = paths.RECEIPT, 16 * 1024
#: The channel of what packyard carries.
CARRIED = "carried"
_LONGEST = 2048  # characters of an address


def check_channel(address: str) -> None:
    """Refuse what is no whole address of a channel, and one that may hold a secret."""
    scheme, separator, rest = address.partition("://")
    if not address.isprintable() or len(address) > _LONGEST:
        raise InputError("an address of a channel has up to 2048 printable characters")
    if separator and ("@" in rest.partition("/")[0] or "?" in rest or "#" in rest):
        raise InputError("an address with a user, a password or a query is not used from here")
    if not (scheme and rest if separator else address == CARRIED or Path(address).is_absolute()):
        raise InputError(f"{address[:80]!r} is neither an address nor the whole path of a folder")


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Where a package is from: a channel, or `CARRIED`; its version; the digest of its ``.tar.gz``."""

    channel: str = field(metadata=in_json(checked(check_channel)))
    version: str = field(metadata=in_json(checked(reference.check_version)))
    digest: Digest = field(metadata=in_json(record.digest))
    extra: Mapping[str, object] = field(default_factory=dict, compare=False)

    def to_bytes(self) -> bytes:
        """Return the file's bytes; raise `InputError` for a channel that must not be written."""
        check_channel(self.channel)
        return record.to_bytes({"apiVersion": record.API_VERSION, "kind": "Receipt", **record.document(self)})


def read(folder: Path) -> Receipt | None:
    """Return the receipt in a folder, or None if there is none; one that is damaged or a link is refused."""
    file = folder / FILE
    if not os.path.lexists(file):
        return None
    data = regular.read(file, limit=LIMIT, resolve=_refuse)
    try:
        return record.parse(data, lambda fields: fields.take_all(Receipt), kind="Receipt", file=str(file))
    except IntegrityError as error:
        hint = "remove the file, and say where the package is from: --from CHANNEL"
        raise IntegrityError(*(problem._replace(hint=hint) for problem in error.problems)) from error


def _refuse(link: str) -> NoReturn:
    raise InputError(Problem("must not be a link", file=link, hint="remove it, and name the channel: --from CHANNEL"))
