"""A Kubernetes API server as the judge of a use case: a dry run in the namespace of kubectl's current context."""

from __future__ import annotations

import shutil
import subprocess

from packyard.core.errors import UnavailableError


def refusals(manifests: bytes, *, path: str) -> list[str]:
    """Return what the server says of manifests that it does not take, strict about unknown fields.

    Raises `UnavailableError` where kubectl is not on ``path``; of a server that cannot be reached, kubectl's words are
    returned.
    """
    kubectl = shutil.which("kubectl", path=path)
    if kubectl is None:
        raise UnavailableError("kubectl is not on PATH, which --server needs")
    command = [kubectl, "create", "--dry-run=server", "--validate=strict", "-o", "name", "-f", "-"]
    process = subprocess.run(command, input=manifests, capture_output=True, check=False)
    errors = process.stderr.decode("utf-8", "replace").strip()
    if not process.returncode:
        return []
    return errors.splitlines() or [f"kubectl ended with {process.returncode}"]
