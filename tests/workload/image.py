"""The image of all containers: the root of this machine, and a stand-in for each program that it has not."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from readmes import openaiserver
from workload import environment
from workload.environment import Object

#: Where a container looks for programs.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
STAND_IN = (Path(__file__).parent / "program.py").read_bytes()
_VLLM = b'#!/bin/sh\nexec python3 /opt/vllm.py "$@"\n'


class Image:
    """What the image has beside the files of this machine, in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.put("/opt/vllm.py", Path(openaiserver.__file__).read_bytes())
        self.put("/usr/local/bin/vllm", _VLLM)

    def install(self, pods: Sequence[Object], objects: Sequence[Object]) -> None:
        """Put a stand-in wherever these pods name a program that this machine has not.

        A program is the first word of a command, or a file of Python that a word or a variable names.
        """
        for pod in pods:
            for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
                for file in _missing_programs(container, pod, objects):
                    if not (self.folder / str(file).lstrip("/")).exists():
                        self.put(str(file), STAND_IN)

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


def _missing_programs(container: Object, pod: Object, objects: Sequence[Object]) -> Iterator[PurePosixPath]:
    variables = environment.environment(container, pod, objects)
    words = environment.words(container, variables)
    folder = PurePosixPath(container.get("workingDir", "/"))
    mounts = [PurePosixPath(mount["mountPath"]) for mount in container.get("volumeMounts", [])]
    named = [folder / word for word in [*words, *variables.values()] if word.endswith(".py") and " " not in word]
    programs = [PurePosixPath(place) / words[0] for place in PATH.split(":")]
    if not any(Path(program).exists() for program in programs) and words[0] != "vllm":
        named.append(programs[0])
    yield from (each for each in named if not Path(each).exists() and not any(map(each.is_relative_to, mounts)))
