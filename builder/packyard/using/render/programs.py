"""Programs that build a directory: ``kustomize build DIR``, or ``kubectl kustomize DIR``, which is the same code."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.work import process

_MOST = 256 * 1024 * 1024  # bytes that a program may print
#: Program and verb, the preferred first.
_KNOWN = (("kustomize", "build"), ("kubectl", "kustomize"))


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is here, the verb by which it builds, and how long it may take."""

    file: Path
    verb: str
    seconds: float = 300

    def build(self, directory: Path) -> bytes:
        """Build a directory and return the YAML that the program prints.

        Raises `InputError` with the program's words where it refuses, `UnavailableError` where it does not run or does
        not end. How much it reads `directories.folders` says before.
        """
        called = f"{self.file.name} {self.verb}"
        command = [str(self.file.absolute()), self.verb, str(directory.absolute())]
        try:
            with tempfile.TemporaryDirectory(prefix="packyard-") as empty:
                outcome = process.run(command, folder=Path(empty), env=None, seconds=self.seconds, most=_MOST)
        except UnavailableError as error:
            hint = f"type {called} {directory} to see what it does"
            raise UnavailableError(Problem(f"{called} {error}", file=str(directory), hint=hint)) from error
        if outcome.code:
            words = outcome.stderr.decode("utf-8", "replace").strip() or f"it gave no reason (exit code {outcome.code})"
            if outcome.code < 0:
                raise UnavailableError(f"{called}: killed by signal {-outcome.code}: {words}")
            raise InputError(Problem(f"{called}: {words}", file=str(directory)))
        return outcome.output


def find(path: str) -> Program | None:
    """Return the first program that builds, from folders joined as in the variable PATH; None where there is none."""
    files = ((shutil.which(name, path=path), verb) for name, verb in _KNOWN)
    return next((Program(Path(file), verb) for file, verb in files if file), None)
