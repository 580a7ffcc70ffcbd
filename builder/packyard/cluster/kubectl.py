"""kubectl, the client of a cluster, held to one context and one namespace from the first call to the last."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from packyard.errors import ConflictError, InputError, PackyardError, Problem, UnavailableError

#: A line of the log of kubectl's own libraries, before what it says itself.
_LOG = re.compile(r"^[EWIF]\d{4} [\d:.]+ .*$\n?", re.MULTILINE)
_DEAF = re.compile(
    r"(?i)unable to connect to the server|was refused - did you specify|connection refused|i/o timeout"
    r"|tls handshake timeout|no such host|unexpected EOF|connection reset|http2: client connection lost"
    r"|context deadline exceeded|ServiceUnavailable|apiserver not ready"
)
_UNKNOWN_USER = re.compile(r"(?i)you must be logged in|\(Unauthorized\)|\bUnauthorized\b|getting credentials: exec")
_FORBIDDEN = "(Forbidden)"
_REQUEST_TIMEOUT = "60s"


@dataclass(frozen=True, slots=True)
class Done:
    """What one call of kubectl gave; ``said`` is its stderr without the log of its libraries."""

    code: int
    output: bytes
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubectl:
    """kubectl, and whom it speaks to. ``user`` is what kubeconfig calls the user."""

    program: str
    flags: tuple[str, ...]
    context: str
    namespace: str
    user: str = ""

    def __str__(self) -> str:
        return f"context {self.context}, namespace {self.namespace}"

    def words(self, *words: str) -> list[str]:
        """Return the command line of a call."""
        return [self.program, *self.flags, f"--namespace={self.namespace}", *words]

    def call(self, *words: str, data: bytes = b"") -> Done:
        """Call kubectl with ``data`` on its standard input, and return what it gave, whatever that is.

        Raises `UnavailableError` where it does not start, the cluster does not answer, or does not know the user.
        """
        done = _run(self.words(f"--request-timeout={_REQUEST_TIMEOUT}", *words), data)
        if done.code and (problem := self._unavailable(done.said)):
            raise UnavailableError(problem)
        return done

    def run(self, *words: str, data: bytes = b"") -> bytes:
        """Return what a call prints; one that fails raises what `refusal` makes of it."""
        done = self.call(*words, data=data)
        if done.code:
            raise self.refusal(done.said)
        return done.output

    def read(self, *words: str, data: bytes = b"") -> Any:
        """Return what a call prints as JSON; one that prints nothing gives an empty mapping."""
        return json.loads(self.run(*words, "--output=json", data=data) or b"{}")

    def attach(self, *words: str) -> int:
        """Call kubectl with the terminal of this process, and return its exit code."""
        try:
            return subprocess.run(self.words(*words), check=False).returncode
        except OSError as error:
            raise UnavailableError(Problem(f"{self.program}: {error.strerror}")) from error

    def refusal(self, said: str) -> PackyardError:
        """Return the error for what kubectl said as it failed: a line is a problem."""
        lines = [line for line in said.splitlines() if line.strip()] or ["kubectl failed and gave no reason"]
        if _FORBIDDEN in said:
            hint = f"packyard roles prints what a user needs; ask the administrator of namespace {self.namespace}"
            return UnavailableError(*(Problem(line, hint=hint) for line in lines))
        if "AlreadyExists" in said or "Apply failed with" in said:
            return ConflictError(*lines)
        return InputError(*lines)

    def _unavailable(self, said: str) -> Problem | None:
        if _UNKNOWN_USER.search(said):
            hint = f"log in again, then try: kubectl --context={self.context} auth whoami"
            return Problem(f"the cluster of context {self.context} does not accept your credentials: {said}", hint=hint)
        if _DEAF.search(said):
            hint = f"kubectl --context={self.context} version shows whether it answers"
            return Problem(f"the cluster of context {self.context} cannot be reached: {said}", hint=hint)
        return None


def find(path: str, *, kubeconfig: str = "", context: str = "", namespace: str = "") -> Kubectl:
    """Return kubectl, from folders joined as in the variable PATH, held to what kubeconfig says now.

    Empty texts ask for what kubectl itself would take: the current context, and the namespace of the context.
    """
    program = shutil.which("kubectl", path=path)
    if program is None:
        hint = "install it: https://kubernetes.io/docs/tasks/tools"
        raise UnavailableError(Problem("kubectl is not on PATH", hint=hint))
    flags = [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
    asked = [*flags, *([f"--context={context}"] if context else [])]
    done = _run([program, *asked, "config", "view", "--minify", "--output=json"])
    if done.code:
        hint = "kubectl config get-contexts lists them; --context and --kubeconfig name another one"
        raise InputError(Problem(f"there is no context to use: {done.said}", hint=hint))
    view = json.loads(done.output)
    found = view["contexts"][0]
    return Kubectl(
        program=program,
        flags=(*flags, f"--context={found['name']}"),
        context=found["name"],
        namespace=namespace or found["context"].get("namespace") or "default",
        user=found["context"].get("user", ""),
    )


def _run(command: Sequence[str], data: bytes = b"") -> Done:
    try:
        done = subprocess.run(command, input=data, capture_output=True, check=False)
    except OSError as error:
        raise UnavailableError(Problem(f"{os.fspath(command[0])}: {error.strerror}")) from error
    return Done(done.returncode, done.stdout, _LOG.sub("", done.stderr.decode("utf-8", "replace")).strip())
