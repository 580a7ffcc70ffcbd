"""The exit code of what is interrupted, and what is on a cluster for a while, whatever interrupts the work there."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from packyard.cli import output
from packyard.core.errors import PackyardError
from packyard.core.kubernetes.lenient import Object, name_of
from packyard.running.runs import look
from packyard.running.runs.kubectl import Kubectl, listed
from packyard.running.runs.run import Reference

#: The exit code of a verb that watches until somebody interrupts it; `main` gives it to all that is interrupted.
INTERRUPTED = 130
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def made(client: Kubectl, jobs: Sequence[Object]) -> Iterator[None]:
    """Create Jobs, and delete them in the end; say so where that fails, beside what went wrong before.

    No signal ends what tidies up, nor its kubectl, which is apart: it ends by a SIGTERM for all of a group though it
    was told to ignore that.
    """
    try:
        client.run("create", "--filename=-", data=listed(jobs))
        yield
    finally:
        before = {each: signal.signal(each, signal.SIG_IGN) for each in _ENDING}
        try:
            look.delete(replace(client, is_apart=True), [Reference.of(each, client.namespace) for each in jobs])
        except PackyardError as error:
            names = list(map(name_of, jobs))
            output.refusal(error)
            output.warning(f"{', '.join(names)} could not be deleted; {client.by_hand('delete', 'job', *names)}")
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
