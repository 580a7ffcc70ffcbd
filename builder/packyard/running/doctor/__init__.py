"""Will a package run here, now? What it needs is derived from its objects, and looked for on the cluster.

A check is a pair: what it asks of the cluster, and what it makes of the facts. All questions are asked at once, in few
calls, and no check speaks to the cluster itself. What the user may not read makes a check ``unknown``, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_
from shlex import quote

from packyard.core.bundle.required import Required
from packyard.core.kubernetes import operators
from packyard.core.kubernetes.lenient import Object
from packyard.running.doctor import (
    apis,
    facts,
    limits,
    namespaces,
    nodes,
    queues,
    references,
    rights,
    storage,
    volumes,
)
from packyard.running.doctor.facts import Facts, Questions, UnreadError
from packyard.running.doctor.finding import Finding, unknown
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.prepared import Prepared


@dataclass(frozen=True, slots=True)
class Check:
    """``about`` names what stays unknown where the facts may not be read."""

    about: str
    ask: Callable[[Sequence[Object]], Questions]
    judge: Callable[[Sequence[Object], Facts], Iterator[Finding]]


_NAMESPACE = Check("the namespace", lambda _: Questions(), namespaces.admits)
_OTHERS = (
    Check("classes and Services", references.ask_classes, references.classes),
    Check("volumes of claims", storage.ask_classes, storage.bound),
    Check("access to claims", storage.ask_claims, storage.mountable),
    Check("new claims", volumes.ask, volumes.bindable),
    Check("new volumes", volumes.ask, volumes.own),
    Check("drivers of volumes", volumes.ask, volumes.drivers),
    Check("NFS servers", lambda _: Questions(), volumes.exports),
    Check("quotas", limits.ask, limits.quotas),
    Check("limits", limits.ask, limits.ranges),
    Check("nodes", nodes.ask, nodes.fit),
    Check("your rights", rights.ask, rights.held),
)


def _named(required: Sequence[Required]) -> tuple[Check, ...]:
    ask_held = partial(references.ask_held, required=required)
    return (
        Check("claims", storage.ask_claims, storage.claims),
        Check("Secrets, ConfigMaps and accounts", ask_held, partial(references.there, required=required)),
        Check("Secrets for registries", ask_held, references.pulling),
    )


def _first(required: Sequence[Required]) -> tuple[Check, ...]:
    """Return the checks that deploying begins with; ``required`` is what authors say that a use case needs."""
    served = partial(apis.served, others=tuple(operators.declared(required)))
    return (_NAMESPACE, Check("kinds", apis.ask_versions, served), *_named(required))


def every(required: Sequence[Required]) -> tuple[Check, ...]:
    """Return all checks, with those of what authors say."""
    others = tuple(operators.declared(required))
    return (
        _NAMESPACE,
        Check("the version of Kubernetes", lambda _: apis.ask_kubernetes(required), partial(apis.kubernetes, required)),
        Check("kinds", apis.ask_served, partial(apis.served, others=others)),
        Check("operators", partial(apis.ask_operators, others=others), partial(apis.operated, others=others)),
        Check("queues", queues.ask, queues.active),
        *_named(required),
        *_OTHERS,
    )


#: The part that deploying begins with, and all of it, where authors say nothing.
QUICK, _ALL = _first(()), every(())


def quick(kubectl: Kubectl, prepared: Prepared) -> list[Finding]:
    """Return what would keep a run from starting, as far as two calls of kubectl can tell, and what cannot be seen."""
    return [
        each for each in _examine(kubectl, prepared.objects, _first(prepared.required)) if each.severity != "passed"
    ]


def examine(kubectl: Kubectl, prepared: Prepared) -> list[Finding]:
    """Return the answer to every question, also of those that passed."""
    return _examine(kubectl, prepared.objects, every(prepared.required))


def _examine(kubectl: Kubectl, objects: Sequence[Object], checks: Sequence[Check]) -> list[Finding]:
    found = judge(objects, facts.read(kubectl, questions(objects, checks)), checks)
    return [replace(each, fix=_located(each.fix, kubectl)) for each in found]


def questions(objects: Sequence[Object], checks: Sequence[Check] = _ALL) -> Questions:
    """Return all that checks ask of a cluster for objects."""
    return reduce(or_, (each.ask(objects) for each in checks))


def judge(objects: Sequence[Object], known: Facts, checks: Sequence[Check] = _ALL) -> list[Finding]:
    """Return what the facts mean for objects. Checks that lack the same fact are one finding."""
    found: list[Finding] = []
    left_out: dict[str, list[str]] = {}
    for each in checks:
        try:
            found += each.judge(objects, known)
        except UnreadError as error:
            left_out.setdefault(str(error), []).append(each.about)
    for reason, abouts in left_out.items():
        found.append(unknown("rights", ", ".join(abouts), f"not looked at: {reason}", why="an administrator sees more"))
    return found


def _located(fix: str, kubectl: Kubectl) -> str:
    """Return a command that means the cluster of the findings, whatever context is the current one."""
    return fix.replace("kubectl ", f"kubectl {' '.join(map(quote, kubectl.flags))} ")
