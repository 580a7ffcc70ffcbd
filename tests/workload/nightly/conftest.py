"""A machine for the tests of this room, where this one can be it."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

import real
from workload.environment import Object
from workload.machine import Machine, NewMachine


@pytest.fixture(scope="session")
def namespaces() -> None:
    """What a container is made of: namespaces, which only root makes, and not everywhere."""
    unshare, ip, *_ = (real.program(name) for name in ("unshare", "ip", "nsenter", "setpriv", "mount", "chroot"))
    trial = [unshare, "--mount", "--net", "--uts", "--pid", "--fork", ip, "link", "add", "type", "veth"]
    if os.geteuid() or subprocess.run(trial, capture_output=True).returncode:
        real.lacking("the right to make namespaces", remedy="run as root, on a machine that lets it")


@pytest.fixture(scope="session")
def open_mpi() -> None:
    """The real sshd, ssh and mpirun of Open MPI 4, where the images have them."""
    for name in ("/usr/sbin/sshd", "ssh", "ssh-keygen", "mpirun"):
        real.program(name)


@pytest.fixture
def new_machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewMachine]:
    """Call it with the objects of a namespace, once or more: what runs there ends with the test."""
    request.getfixturevalue("namespaces")
    with ExitStack() as machines:
        yield lambda objects: machines.enter_context(
            Machine(tmp_path / f"machine-{len([*tmp_path.iterdir()])}", objects)
        )


@pytest.fixture(params=["Open MPI 4", "Open MPI 5"])
def mpi_machine(request: pytest.FixtureRequest, new_machine: NewMachine) -> NewMachine:
    """The same, whose image has mpirun of one version, and then of the other."""
    request.getfixturevalue("open_mpi")

    def create(objects: Sequence[Object]) -> Machine:
        machine = new_machine(objects)
        if request.param == "Open MPI 5":
            machine.put("/usr/local/bin/mpirun", f'#!/bin/sh\nexec {real.open_mpi_5()} "$@"\n'.encode())
        return machine

    return create
