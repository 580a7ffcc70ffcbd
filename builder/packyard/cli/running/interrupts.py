"""The exit code of what is interrupted, and what is on a cluster while a verb works there, to the end of that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from packyard.cli import output
from packyard.core.errors import PackyardError
from packyard.core.kubernetes.lenient import Object, name_of
from packyard.running.runs import look
from packyard.running.runs.kubectl import Kubectl, listed
from packyard.running.runs.run import Reference

#: The exit code of a verb that watches until somebody interrupts it; `main` gives it to all that is interrupted.
INTERRUPTED = 130


@contextmanager
def made(client: Kubectl, jobs: Sequence[Object]) -> Iterator[None]:
    """Create Jobs, and delete them in the end; say so where that fails, beside what went wrong before.

    They end by themselves where whoever interrupts this twice leaves them.
    """
    try:
        client.run("create", "--filename=-", data=listed(jobs))
        yield
    finally:
        try:
            look.delete(client, [Reference.of(each, client.namespace) for each in jobs])
        except PackyardError as error:
            names = list(map(name_of, jobs))
            output.refusal(error)
            output.warning(f"{', '.join(names)} could not be deleted; {client.by_hand('delete', 'job', *names)}")
