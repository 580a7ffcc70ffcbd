"""A node for the tests of this room, where this machine can be one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import real
from workload.cluster import Cluster
from workload.objects import Object, Objects

_PROGRAMS = ("unshare", "ip", "nsenter", "setpriv", "mount")


@pytest.fixture(scope="session")
def namespaces() -> None:
    """What a container is made of: namespaces, which only root makes, and not everywhere."""
    unshare, ip, *_ = (real.program(name) for name in _PROGRAMS)
    trial = [unshare, "--mount", "--net", "--uts", "--ipc", "--pid", "--fork", ip, "link", "add", "type", "veth"]
    if os.geteuid() or subprocess.run(trial, capture_output=True).returncode:
        real.lacking("the right to make namespaces", remedy="run as root, on a machine that lets it")


@pytest.fixture(scope="session")
def open_mpi() -> None:
    """The real sshd, ssh and mpirun of Open MPI 4, where the images have them."""
    for name in ("/usr/sbin/sshd", "ssh", "ssh-keygen", "mpirun"):
        real.program(name)


@pytest.fixture
def new_cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[Iterable[Object]], Cluster]]:
    """Call it with the objects of a namespace, once or more: what runs there ends with the test."""
    request.getfixturevalue("namespaces")
    with ExitStack() as clusters:
        yield lambda objects: clusters.enter_context(
            Cluster(tmp_path / f"cluster-{len(list(tmp_path.iterdir()))}", Objects(objects))
        )


@pytest.fixture
def with_open_mpi_5(new_cluster: Callable[[Iterable[Object]], Cluster]) -> Callable[[Iterable[Object]], Cluster]:
    """The same, with an image that has mpirun of Open MPI 5."""
    script = f'#!/bin/sh\nexec {real.open_mpi_5()} "$@"\n'.encode()

    def create(objects: Iterable[Object]) -> Cluster:
        cluster = new_cluster(objects)
        cluster.put("/usr/local/bin/mpirun", script)
        return cluster

    return create


@pytest.fixture(params=["new_cluster", "with_open_mpi_5"], ids=["Open MPI 4", "Open MPI 5"])
def of_each_open_mpi(request: pytest.FixtureRequest) -> Callable[[Iterable[Object]], Cluster]:
    """``new_cluster`` with one and the other."""
    found: Callable[[Iterable[Object]], Cluster] = request.getfixturevalue(request.param)
    return found
