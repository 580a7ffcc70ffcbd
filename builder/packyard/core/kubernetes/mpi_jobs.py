"""MPIJobs and their launchers, which start ranks by mpirun."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from packyard.core.kubernetes import pods
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode

_PROGRAMS = ("mpirun", "mpiexec", "orterun")


def launchers(root: MappingNode) -> list[MappingNode]:
    """Return the main containers of the launcher of an MPIJob."""
    launcher_pods = [pod for pod in pods.find(root) if "Launcher" in pod.path]
    return [container for pod in launcher_pods for container in mappings(pod.spec.get("containers"))]


def starts_ranks(words: Sequence[str]) -> bool:
    """Say whether a command runs mpirun."""
    return any(PurePosixPath(word).name in _PROGRAMS for word in words)
