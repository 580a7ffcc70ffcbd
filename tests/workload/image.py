"""The image of all containers: the root of this machine, and a stand-in for each program that it has not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from workload import environment
from workload.objects import Object, Objects

#: What images have for Python, beside what comes with it.
FRAMEWORKS = (
    *("datasets", "horovod", "keras", "numpy", "peft", "pyarrow", "tensorflow", "tokenizers", "torch", "transformers"),
    "trl",
)

#: Where a container looks for programs.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

#: Programs that have a stand-in on every machine: nginx would need the certificate that a user puts into a Secret.
ALWAYS = ("nginx",)

#: What images have for shells to start.
STARTED = ("torchrun",)

_MODULES = Path("/usr/lib/python3/dist-packages")
_STAND_IN = Path(__file__).parent / "program.py"


class Image:
    """What the image has beside the files of this machine, in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)

    def install(self, pods: Sequence[Object], objects: Objects) -> None:
        """Put a stand-in wherever these pods name a program that this machine has not.

        A program is the first word of a command, or a file of Python that a word or a variable names. Programs of ours
        are not in the image; they run, up to the framework that they import.
        """
        for name in FRAMEWORKS:
            if not (_MODULES / name).exists():
                self.put(str(_MODULES / name / "__init__.py"), _STAND_IN.read_bytes())
        for name in STARTED:
            self.put(f"/usr/local/bin/{name}", _STAND_IN.read_bytes())
        for pod in pods:
            for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
                for file in _missing_programs(container, pod, objects):
                    self.put(str(file), _STAND_IN.read_bytes())

    def put(self, path: str, program: bytes) -> Path:
        """Put a program at a path of the image, and return where it lies until then."""
        target = self.folder / path.lstrip("/")
        if target.exists() and target.read_bytes() == program:
            return target  # pods that run already may be reading it
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(program)
        target.chmod(0o755)
        return target


def _missing_programs(container: Object, pod: Object, objects: Objects) -> Iterator[PurePosixPath]:
    variables = environment.environment(container, pod, objects)
    words = environment.words(container, variables)
    folder = PurePosixPath(container.get("workingDir", "/"))
    mounts = [PurePosixPath(mount["mountPath"]) for mount in container.get("volumeMounts", [])]
    named = [folder / word for word in [*words, *variables.values()] if word.endswith(".py") and " " not in word]
    programs = [PurePosixPath(place) / words[0] for place in PATH.split(":")]
    if words[0] in ALWAYS or not any(Path(program).exists() for program in programs):
        named.append(programs[0])
    for file in named:
        if not Path(file).exists() and not any(file.is_relative_to(mount) for mount in mounts):
            yield file
