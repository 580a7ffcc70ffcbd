"""A pod of a run, as it is shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PodStatus:
    """A pod: ``state`` is waiting, running, ready, done, failed or ending, and ``reason`` says what is wrong with it.

    ``index`` counts the pods of a role; pods that took each other's place have the same. ``started`` and ``ended`` are
    when its containers did, ISO 8601 as ``created``, or empty. The first of ``containers`` is the one that counts;
    ``running`` are those that run now.
    """

    name: str
    role: str
    index: int
    node: str
    state: str
    restarts: int
    reason: str
    created: str
    started: str
    ended: str
    containers: tuple[str, ...]
    running: tuple[str, ...]
