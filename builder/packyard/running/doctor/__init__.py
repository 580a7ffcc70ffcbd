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
from packyard.core.kubernetes import operator_versions, operators
from packyard.core.kubernetes.lenient import Object
from packyard.running.doctor import (
    admission,
    apis,
    autoscaling,
    facts,
    images,
    limits,
    namespaces,
    networks,
    nodes,
    queues,
    references,
    rights,
    schedulers,
    stages,
    storage,
    volumes,
    wanted,
)
from packyard.running.doctor.admission import Attempt
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


#: The option that has pods tolerate a taint, and its parameter.
_POOL, _TAINT = "node-pool", "NODE_TAINT"
_OTHERS = (
    Check("classes and Services", references.ask_classes, references.classes),
    Check("claims of devices", references.ask_devices, references.devices),
    Check("volumes of claims", storage.ask_classes, storage.bound),
    Check("access to claims", storage.ask_claims, storage.mountable),
    Check("new claims", volumes.ask, volumes.bindable),
    Check("new volumes", volumes.ask, volumes.own),
    Check("makers of volumes", volumes.ask, volumes.provisioned),
    Check("drivers of volumes", volumes.ask, volumes.drivers),
    Check("NFS servers", lambda _: Questions(), volumes.exports),
    Check("quotas", limits.ask, limits.quotas),
    Check("limits", limits.ask, limits.ranges),
    Check("nodes", nodes.ask, nodes.fit),
    Check("names of images", lambda _: Questions(), images.valid),
    Check("schedulers", schedulers.ask, schedulers.there),
    Check("network policies", networks.ask, networks.open_to),
    Check("your rights", rights.ask, rights.held),
)


def every(required: Sequence[Required], objects: Sequence[Object] = ()) -> tuple[Check, ...]:
    """Return all checks, with those of what authors say that a use case needs, and what its objects do."""
    others = (*operators.declared(required), *operator_versions.table(objects))
    ask_held = partial(references.ask_held, required=required)
    return (
        Check("the namespace", lambda _: Questions(), namespaces.admits),
        Check("the version of Kubernetes", lambda _: apis.ask_kubernetes(required), partial(apis.kubernetes, required)),
        Check("kinds", apis.ask_served, partial(apis.served, others=others)),
        Check("operators", partial(apis.ask_operators, others=others), partial(apis.operated, others=others)),
        Check("queues", queues.ask, queues.active),
        Check("claims", storage.ask_claims, storage.claims),
        Check("Secrets, ConfigMaps and accounts", ask_held, partial(references.there, required=required)),
        Check("Secrets for registries", ask_held, references.pulling),
        *_OTHERS,
    )


#: All checks where authors say nothing.
_ALL = every(())


def examine(kubectl: Kubectl, prepared: Prepared, *, autoscaled: bool = False) -> list[Finding]:
    """Return the answer to every question, also of those that passed; ``autoscaled`` says that nodes come on demand.

    What the API server would refuse of the pods is told where nothing else keeps the run from starting.
    """
    objects = prepared.objects
    checks = every(prepared.required, objects)
    cluster, attempts = _look(kubectl, objects, questions(objects, checks))
    findings = judge(objects, cluster, checks)
    is_sound = {each.check for each in findings if each.severity == "error"} <= {nodes.CHECK}
    if is_sound and attempts:
        if any((each.check, each.severity) == (nodes.CHECK, "error") for each in findings):
            others = [each for each in findings if each.check != nodes.CHECK]
            findings = [*others, *nodes.place(admission.admitted(attempts, kubectl), objects, cluster)]
        findings += admission.refused(attempts)
    findings = autoscaling.soften(findings, objects, kubectl, is_autoscaled=autoscaled)
    return [replace(each, fix=_located(_mending(each, prepared, kubectl), kubectl)) for each in findings]


def _look(kubectl: Kubectl, objects: Sequence[Object], asked: Questions) -> tuple[Facts, list[Attempt]]:
    """Return the facts that are needed, and the dry runs: none of a run that is there, or where the user may not."""
    cluster = facts.read(kubectl, stages.first(asked))
    is_tried = rights.may_try(cluster) and not wanted.there(objects, cluster)
    attempts = admission.attempt(objects, kubectl) if is_tried else []
    cluster = replace(cluster, is_admitting=bool(attempts) and all(each.is_admitted for each in attempts))
    return cluster.with_more(facts.read(kubectl, stages.rest(asked, objects, cluster))), attempts


def _mending(finding: Finding, prepared: Prepared, kubectl: Kubectl) -> str:
    """Return the command that mends a finding, with the words of this use case and user."""
    there = quote(str(prepared.directory))
    if finding.fix == rights.FIX:
        return f"{rights.FIX} {there} --namespace={quote(kubectl.namespace)} --user={quote(kubectl.who())}"
    if not finding.taints:
        return finding.fix
    tolerate = f"packyard set {there} {_TAINT}={quote(finding.taints[0])}"
    if _TAINT in prepared.setters:
        return tolerate
    return f"packyard enable {there} {_POOL} && {tolerate}" if _POOL in prepared.offered else finding.fix


def questions(objects: Sequence[Object], checks: Sequence[Check] = _ALL) -> Questions:
    """Return all that checks ask of a cluster for objects."""
    return reduce(or_, (each.ask(objects) for each in checks))


def judge(objects: Sequence[Object], cluster: Facts, checks: Sequence[Check] = _ALL) -> list[Finding]:
    """Return what the facts mean for objects. Checks that lack the same fact are one finding."""
    findings: list[Finding] = []
    left_out: dict[str, list[str]] = {}
    for check in checks:
        try:
            findings += check.judge(objects, cluster)
        except UnreadError as error:
            left_out.setdefault(str(error), []).append(check.about)
    for reason, abouts in left_out.items():
        findings.append(
            unknown("rights", ", ".join(abouts), f"not looked at: {reason}", why="an administrator sees more")
        )
    return findings


def _located(fix: str, kubectl: Kubectl) -> str:
    """Return a command that means the cluster of the findings, whatever context is the current one."""
    return fix.replace("kubectl ", f"kubectl {' '.join(map(quote, kubectl.flags))} ")
