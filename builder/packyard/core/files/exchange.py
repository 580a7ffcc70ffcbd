"""Replacing a file only if it is still the expected one, by renames alone: no lock that a killed writer leaves behind.

It holds wherever the rename of a folder is atomic and refuses a folder that is not empty, on NFS too. A writer of
``head`` puts the new bytes into a folder of its own, in a file named for the digest that ``head`` is expected to have:

    .head.claim.<random>.tmp/<expected>.<random>

and renames that folder to ``.head.claim``: of many, one succeeds. From then on everybody who meets the claim finishes
it: if ``head`` has the expected digest, the claimed file is renamed to ``head``, else to ``.head.<entry>.void``, which
tells its writer that it lost. Either is done once, and ``head`` changes in no other way. So a writer that is killed or
delayed anywhere delays nobody, and one that was delayed cannot overwrite what others wrote meanwhile.
"""

from __future__ import annotations

import errno
import os
import random
import re
import stat
import time
from contextlib import suppress

from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, Problem, UnavailableError
from packyard.core.files import atomic, regular

_NOTHING = "nothing"
_ENTRY = re.compile(rf"([0-9a-f]{{64}}|{_NOTHING})\.[0-9a-f]{{16}}")
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST)


def exchange(file: str, data: bytes, expected: Digest | None, *, mode: int, patience: float) -> None:
    """Give a file these bytes if its own have the digest ``expected``, or, where that is None, if it is missing.

    Otherwise raise `ConflictError`. ``patience``: how many seconds it may take until the claims of others are finished.
    """
    folder, name = os.path.split(os.path.join(os.curdir, file))
    claim = os.path.join(folder, f".{name}.claim")
    entry = f"{_spelled(expected)}.{os.urandom(8).hex()}"
    _check(file, expected)
    staged = _stage(claim, entry, data, mode)
    try:
        end = time.monotonic() + patience
        while not _claimed(staged, claim, entry):
            _finish(claim, file)
            _check(file, expected)
            if time.monotonic() > end:
                hint = "run again when no other packyard writes there, or remove that folder"
                raise UnavailableError(Problem("is claimed by another writer", file=claim, hint=hint))
            time.sleep(random.uniform(0, 0.005))
        _finish(claim, file)
    except BaseException:
        for place in (staged, claim):
            with suppress(OSError):
                os.unlink(os.path.join(place, entry))
        raise
    finally:
        for place in (staged, claim):
            with suppress(OSError):
                os.rmdir(place)
    try:
        os.unlink(_void(file, entry))
    except FileNotFoundError:
        atomic.flush(folder)
    else:
        _check(file, expected)
        raise ConflictError(Problem("was changed meanwhile, and changed back", file=file))


def _stage(claim: str, entry: str, data: bytes, mode: int) -> str:
    """Write the bytes into a folder that is ready to be the claim, and return it."""
    staged = atomic.beside(claim)
    os.mkdir(staged)
    try:
        # Whoever may write beside the file may finish the claim.
        os.chmod(staged, stat.S_IMODE(os.stat(os.path.dirname(claim)).st_mode) & 0o777)
        atomic.put(os.path.join(staged, entry), data, mode=mode, durable=True)
    except BaseException:
        os.rmdir(staged)
        raise
    return staged


def _claimed(staged: str, claim: str, entry: str) -> bool:
    """Make the folder the claim; return False if there is one."""
    try:
        os.rename(staged, claim)
    except OSError as error:
        if error.errno in _TAKEN:
            return False
        if os.path.lexists(os.path.join(claim, entry)):  # it was done, and NFS asked again
            return True
        raise
    return True


def _finish(claim: str, file: str) -> None:
    """Do what the claim says, whoever made it."""
    entries = _entries(claim)
    if not entries:  # where a rename does not replace an empty folder
        with suppress(OSError):
            os.rmdir(claim)
    for entry in entries:
        claimed = os.path.join(claim, entry)
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise UnavailableError(Problem("is in the way", file=claimed, hint="remove it"))
        with suppress(FileNotFoundError):  # somebody else was faster
            if not stat.S_ISREG(os.lstat(claimed).st_mode):
                raise UnavailableError(Problem("is not a regular file", file=claimed, hint="remove it"))
            os.replace(claimed, file if _spelled(_digest(file)) == match[1] else _void(file, entry))


def _entries(claim: str) -> list[str]:
    try:
        return os.listdir(claim)
    except FileNotFoundError:
        return []


def _void(file: str, entry: str) -> str:
    folder, name = os.path.split(os.path.join(os.curdir, file))
    return os.path.join(folder, f".{name}.{entry}.void")


def _check(file: str, expected: Digest | None) -> None:
    actual = _digest(file)
    if actual != expected:
        problem = (
            f"was changed meanwhile: expected {_spelled(expected, long=True)}, found {_spelled(actual, long=True)}"
        )
        raise ConflictError(Problem(problem, file=file))


def _digest(file: str) -> Digest | None:
    while True:
        try:
            return Digest.of(regular.read(file))
        except InputError:
            try:
                state = os.lstat(file)
            except FileNotFoundError:
                return None
            if not stat.S_ISREG(state.st_mode) or state.st_size > regular.LIMIT:
                raise
            # It was made between the two looks.


def _spelled(digest: Digest | None, *, long: bool = False) -> str:
    if digest is None:
        return _NOTHING
    return digest if long else digest.hex
