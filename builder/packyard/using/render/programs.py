"""Programs that build a directory: ``kustomize build DIR``, or ``kubectl kustomize DIR``, which is the same code."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packyard.core.errors import InputError, Problem, UnavailableError

_LOGGED = re.compile(r'^E\d{4} .*\] "command failed" err=("(?:[^"\\]|\\.)*")$', re.MULTILINE)
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

    def build(self, directory: Path, *, unrestricted: bool = False, env: Mapping[str, str] | None = None) -> bytes:
        """Build a directory and return the YAML that the program prints; ``unrestricted``, its parts lie anywhere.

        ``env`` is its environment, if not that of packyard.

        Raises `InputError` with the program's words where it refuses, `UnavailableError` where it does not run.
        """
        command = [str(self.file), self.verb, str(directory.absolute())]
        command += ["--load-restrictor", "LoadRestrictionsNone"] if unrestricted else []
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, env=env)
        except OSError as error:
            raise UnavailableError(f"{self.file}: {error.strerror}") from error
        if done.returncode:
            words = _said(done.stderr.decode("utf-8", "replace")) or "it gave no reason"
            if done.returncode < 0:
                raise UnavailableError(f"{self.name} {self.verb}: killed by signal {-done.returncode}: {words}")
            raise InputError(Problem(f"{self.name} {self.verb}: {words}", file=str(directory)))
        return done.stdout


def offline(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which a program fetches nothing: not by git, and not from an address of the web."""
    nowhere = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    return {**env, **nowhere, "NO_PROXY": "", "no_proxy": "", "GIT_ALLOW_PROTOCOL": ""}


def _said(text: str) -> str:
    """Return what a program says, without the frame that the log of kubectl puts around it."""
    logged = _LOGGED.search(text)
    return (json.loads(logged[1]) if logged else text).strip()


def find(path: str) -> Program | None:
    """Return the first program that builds, from folders joined as in the variable PATH; None where there is none."""
    for name, verb in _KNOWN:
        found = shutil.which(name, path=path)
        if found:
            return Program(Path(found), verb)
    return None
