"""Will a package run here, now? What it needs is derived from its objects, and looked for on the cluster.

A check is a pair: what it asks of the cluster, and what it makes of the facts. All questions are asked at once, in few
calls, and no check speaks to the cluster itself. What the user may not read makes a check ``unknown``, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from shlex import quote

from packyard.cluster.doctor import apis, facts, namespaces, references, storage
from packyard.cluster.doctor.facts import Facts, Questions, UnreadError
from packyard.cluster.doctor.finding import Finding, unknown
from packyard.cluster.kubectl import Kubectl
from packyard.cluster.prepared import Prepared
from packyard.kubernetes.lenient import Object


@dataclass(frozen=True, slots=True)
class _Check:
    """``about`` names what stays unknown where the facts may not be read."""

    about: str
    ask: Callable[[Sequence[Object]], Questions]
    judge: Callable[[Sequence[Object], Facts], Iterator[Finding]]


_NAMESPACE = _Check("the namespace", lambda _: Questions(), namespaces.admits)
_CLAIMS = _Check("claims", storage.ask_claims, storage.claims)
_REFERENCES = _Check("Secrets, ConfigMaps and accounts", references.ask_held, references.there)
_PULLING = _Check("Secrets for registries", references.ask_held, references.pulling)
#: The part that deploying begins with.
_QUICK = (
    _NAMESPACE,
    _Check("kinds", apis.ask_versions, apis.served),
    _CLAIMS,
    _REFERENCES,
    _PULLING,
)
_ALL = (
    _NAMESPACE,
    _Check("kinds", apis.ask_served, apis.served),
    _Check("operators", apis.ask_operators, apis.operated),
    _CLAIMS,
    _REFERENCES,
    _PULLING,
    _Check("classes and Services", references.ask_classes, references.classes),
)


def quick(kubectl: Kubectl, prepared: Prepared) -> list[Finding]:
    """Return what would keep a run from starting, as far as two calls of kubectl can tell: errors and unknowns."""
    return [each for each in _examine(kubectl, prepared, _QUICK) if each.severity != "passed"]


def examine(kubectl: Kubectl, prepared: Prepared) -> list[Finding]:
    """Return the answer to every question, also of those that passed."""
    return _examine(kubectl, prepared, _ALL)


def _examine(kubectl: Kubectl, prepared: Prepared, checks: Sequence[_Check]) -> list[Finding]:
    objects = prepared.objects
    known = facts.read(kubectl, reduce(or_, (each.ask(objects) for each in checks)))
    found = [finding for each in checks for finding in _judge(each, objects, known)]
    return [replace(each, fix=_located(each.fix, kubectl)) for each in found]


def _judge(check: _Check, objects: Sequence[Object], known: Facts) -> Iterator[Finding]:
    try:
        yield from check.judge(objects, known)
    except UnreadError as error:
        yield unknown("rights", check.about, f"you may not look: {error}", why="this check was left out")


def _located(fix: str, kubectl: Kubectl) -> str:
    """Return a command that means the cluster of the findings, whatever context is the current one."""
    flags = " ".join(map(quote, kubectl.flags))
    return fix.replace("kubectl ", f"kubectl {flags} ")
