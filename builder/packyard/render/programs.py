"""Programs that build a directory: ``kustomize build DIR``, or ``kubectl kustomize DIR``, which is the same code."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from packyard.errors import InputError, Problem, UnavailableError

#: Program and verb, the preferred first.
_KNOWN = (("kustomize", "build"), ("kubectl", "kustomize"))


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is here, and the verb by which it builds."""

    file: Path
    verb: str

    @property
    def name(self) -> str:
        """kustomize or kubectl."""
        return self.file.name

    def build(self, directory: Path, *, unrestricted: bool = False) -> bytes:
        """Build a directory and return the YAML that the program prints; ``unrestricted``, its parts lie anywhere.

        Raises `InputError` with the program's words where it refuses, `UnavailableError` where it does not run.
        """
        command = [str(self.file), self.verb, str(directory.absolute())]
        command += ["--load-restrictor", "LoadRestrictionsNone"] if unrestricted else []
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        except OSError as error:
            raise UnavailableError(f"{self.file}: {error.strerror}") from error
        if done.returncode:
            words = done.stderr.decode("utf-8", "replace").strip() or "it gave no reason"
            if done.returncode < 0:
                raise UnavailableError(f"{self.name} {self.verb}: killed by signal {-done.returncode}: {words}")
            raise InputError(Problem(f"{self.name} {self.verb}: {words}", file=str(directory)))
        return done.stdout


def find(path: str) -> Program | None:
    """Return the first program that builds, from folders joined as in the variable PATH; None where there is none."""
    for name, verb in _KNOWN:
        found = shutil.which(name, path=path)
        if found:
            return Program(Path(found), verb)
    return None
