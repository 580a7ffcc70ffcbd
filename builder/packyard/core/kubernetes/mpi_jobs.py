"""MPIJobs of v2beta1, and what mpirun hands on to the ranks that it starts.

The operator starts processes through ssh, whose sessions have nothing of a pod's environment; older versions of the
kind start them by ``kubectl exec``, which keeps it. mpirun hands on the variables that it is told to:

    OMPI_MCA_mca_base_env_list: HOME;OUTPUT_DIR      up to the first name that has no value, or
    command: [mpirun, -x, HOME, -x, OUTPUT_DIR]      but with both it ends

and those of Open MPI itself, ``OMPI_…``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from packyard.core.kubernetes import pods
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode

#: The values of ``launcherCreationPolicy``; the operator takes any other for the first.
POLICIES = ("AtStartup", "WaitForWorkersReady")
#: The variable with the list of names that mpirun hands on.
LIST = "OMPI_MCA_mca_base_env_list"
#: Variables that the images of ranks have themselves.
OF_IMAGES = ("PATH", "LD_LIBRARY_PATH", "HOME")
_PROGRAMS = ("mpirun", "mpiexec", "orterun")
_EXPORT = ("-x", "--x")
_OWN = ("OMPI_", "PMIX_", "PRTE_")
_USED = re.compile(r"\$[({]?([A-Za-z_][A-Za-z0-9_]*)")


def is_job(root: MappingNode) -> bool:
    """Say whether an object is an MPIJob whose ranks are started through ssh."""
    return root.text("kind") == "MPIJob" and root.text("apiVersion") == "kubeflow.org/v2beta1"


def launchers(root: MappingNode) -> list[MappingNode]:
    """Return the main containers of the launcher of an MPIJob."""
    launcher_pods = [pod for pod in pods.find(root) if "Launcher" in pod.path]
    return [container for pod in launcher_pods for container in mappings(pod.spec.get("containers"))]


def starts_ranks(words: Sequence[str]) -> bool:
    """Say whether a command runs mpirun."""
    return any(PurePosixPath(word).name in _PROGRAMS for word in words)


def exported(words: Sequence[str]) -> list[str]:
    """Return the names of the variables that a command hands on, ``-x NAME``."""
    return [name.partition("=")[0] for flag, name in pairwise(words) if flag in _EXPORT]


def used(text: str) -> list[str]:
    """Return the names of the variables that a text refers to, ``$(NAME)`` or as a shell does."""
    return _USED.findall(text)


def is_own(name: str) -> bool:
    """Say whether a variable is one of Open MPI, which is handed on anyway."""
    return name.startswith(_OWN)
