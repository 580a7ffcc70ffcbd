"""The notice in a package while a change of it is open: it tells other users whose step it is.

It says what may be half done where the next command cannot see the step: that of another user, on another host, or of
one without a home. It is shown, and never obeyed.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from packyard.core.errors import PackyardError
from packyard.core.files import atomic, regular

NAME = ".packyard-open"
_LIMIT = 400
_EMPTY = "nobody"


@contextmanager
def posted(root: str, step: str) -> Iterator[str]:
    """Put a notice of a step into a folder, locked as long as its writer lives, and yield its file.

    The writer removes it when its step ends. One that is there already stays, and so does a folder without rights to
    write: then there is no file.
    """
    file = f"{root}/{NAME}"
    try:
        handle = atomic.create(file, (_written(step).encode(errors="surrogateescape"),), mode=0o644)
    except (FileExistsError, PermissionError):
        yield ""
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield file
    finally:
        os.close(handle)


def remove(root: str, step: str) -> None:
    """Remove the notice of a dead writer's step, which may have been written in part."""
    text = _text(root)
    if text and (step in text or _written(step).startswith(text.removesuffix(_EMPTY))):
        os.unlink(f"{root}/{NAME}")


def _written(step: str) -> str:
    return f"{_user()} on {os.uname().nodename}, step {step or '(none is kept)'}\n"


def warning(folder: str) -> str:
    """Return what to say of the notice of a dead writer in a folder; nothing of that of a living one."""
    file = f"{folder}/{NAME}"
    text = _text(folder)
    if not text:
        return ""
    from shlex import quote  # few folders have one

    return (
        f"{file}: a change of these files was not finished by {text!r}: they may be old and new in part; that user's "
        f"next packyard command that writes here finishes it, and packyard undo {quote(folder)} takes it back; or "
        f"compare them yourself, and rm {quote(file)}"
    )


def _text(folder: str) -> str:
    """Return what the notice of a dead writer says; nothing where there is none."""
    file = f"{folder}/{NAME}"
    if not os.path.lexists(file):
        return ""
    try:
        with regular.opened(file) as stream:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return stream.readline(_LIMIT).decode(errors="replace").strip() or _EMPTY
    except BlockingIOError:
        return ""
    except (PackyardError, OSError) as error:
        return str(error)


def _user() -> str:
    """Return the user's name, or number."""
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # a user without a name, as in containers
        return f"user {os.geteuid()}"
