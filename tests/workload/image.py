"""The image of all containers: the root of this machine, and what tests put over it."""

from __future__ import annotations

import shlex
from pathlib import Path

from readmes import openaiserver

#: Where a container looks for programs.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: For a program that the image has: it notes what it is given.
STAND_IN = (Path(__file__).parent / "program.py").read_bytes()
_VLLM = b'#!/bin/sh\nexec python3 /opt/vllm.py "$@"\n'


class Image:
    """What the image has beside the files of this machine, in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.put("/opt/vllm.py", Path(openaiserver.__file__).read_bytes())
        self.put("/usr/local/bin/vllm", _VLLM)

    def replace(self, name: str, python: Path, *words: str) -> None:
        """Have a program of containers be a Python of this machine, with words before its own, for whoever asks."""
        self.put(f"/usr/local/sbin/{name}", f'#!/bin/sh\nexec {shlex.join([str(python), *words])} "$@"\n'.encode())
        for folder in [*python.parents, *python.resolve().parents]:
            (self.folder / str(folder).lstrip("/")).mkdir(parents=True, exist_ok=True)

    def put(self, path: str, program: bytes) -> Path:
        """Put a program at a path of the image, and return where it lies until then."""
        target = self.folder / path.lstrip("/")
        if not target.exists() or target.read_bytes() != program:  # or else a container may be copying it now
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(program)
            target.chmod(0o755)
        return target
