"""Will a package run here, now? Ten questions about what its objects need; the server itself answers the ninth.

1 the namespace is there and stays; 2 its kinds are served, by an operator that is ready and new enough; 3 Secrets,
ConfigMaps, their keys and accounts are there; 4 claims are there, bound or waiting, in modes that fit; 5 new claims
have a class; 6 quotas have room for all pods; 7 some node takes each pod (a warning); 8 queues are there and active;
9 the server takes the pods in a dry run, and drops nothing of them; 10 you may apply it all, as `deploy` would.

A check is a pair: what it asks of the cluster, and what it makes of the facts. All questions are asked at once, in few
calls, and no check speaks to the cluster itself. What the user may not read makes a check ``unknown``, and no more.
What a scheduler, Kueue or a kubelet finds wrong later, `status` explains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import or_
from shlex import quote

from packyard.core.bundle.required import Required
from packyard.core.errors import PackyardError
from packyard.core.kubernetes import operator_versions, operators
from packyard.core.kubernetes.lenient import Object, is_ending
from packyard.running.doctor import admission, claims, facts, kinds, nodes, queues, quotas, references, wanted
from packyard.running.doctor.facts import Facts, Questions, UnreadError
from packyard.running.doctor.finding import Finding, error, passed, unknown
from packyard.running.runs import plan as planning
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.rendered import Rendered


@dataclass(frozen=True, slots=True)
class Check:
    """``about`` names what stays unknown where the facts may not be read."""

    about: str
    ask: Callable[[Sequence[Object]], Questions]
    judge: Callable[[Sequence[Object], Facts], Iterator[Finding]]


def _namespace(_: Sequence[Object], cluster: Facts) -> Iterator[Finding]:
    """Find the namespace there, and staying."""
    name = cluster.namespace
    about, word = f"Namespace {name}", quote(name)
    namespace = cluster.find("Namespace", name)
    if namespace is None:
        why, fix = "nothing can be applied", f"kubectl create namespace {word}"
        yield error("namespace", about, "is not there", why=why, fix=fix)
    elif is_ending(namespace):
        why = "what is created there is refused"
        yield error("namespace", about, "is being deleted", why=why, fix=f"kubectl get namespace {word} --watch")
    else:
        yield passed("namespace", about)


def every(required: Sequence[Required], objects: Sequence[Object] = ()) -> tuple[Check, ...]:
    """Return all checks, with those of what authors say that a use case needs, and what its objects do."""
    others = (*operators.declared(required), *operator_versions.table(objects))
    return (
        Check("the namespace", lambda _: Questions(), _namespace),
        Check("kinds", lambda _: Questions(groups=True), partial(kinds.served, others=others)),
        Check("operators", partial(kinds.ask_operators, others=others), partial(kinds.operated, others=others)),
        Check(
            "Secrets, ConfigMaps and accounts",
            partial(references.ask, required=required),
            partial(references.there, required=required),
        ),
        Check("claims", claims.ask, claims.judge),
        Check("quotas", quotas.ask, quotas.have_room),
        Check("nodes", nodes.ask, nodes.take),
        Check("queues", queues.ask, queues.active),
    )


#: All checks where authors say nothing.
_ALL = every(())


def examine(kubectl: Kubectl, rendered: Rendered) -> list[Finding]:
    """Return the answer to every question, also of those that passed.

    The server is asked last, by a dry run, where nothing else keeps the run from starting. Of a run that is there it
    would count the pods a second time.
    """
    objects = rendered.objects
    checks = every(rendered.required, objects)
    cluster = facts.read(kubectl, questions(objects, checks))
    findings = judge(objects, cluster, checks)
    if not any(finding.severity == "error" for finding in findings) and not wanted.there(objects, cluster):
        findings += admission.judge(objects, kubectl)
    return [replace(finding, fix=_located(finding.fix, kubectl)) for finding in findings]


def refused(kubectl: Kubectl, rendered: Rendered) -> list[Finding]:
    """Return what `deploy` would refuse, in its words: missing rights, what is there, what the server says."""
    try:
        planning.plan(kubectl, rendered, who=kubectl.who(), when="")
    except PackyardError as failure:
        return [error("deploy", f"run {rendered.run}", each.message, fix=each.hint) for each in failure.problems]
    return [passed("deploy", f"run {rendered.run}")]


def questions(objects: Sequence[Object], checks: Sequence[Check] = _ALL) -> Questions:
    """Return all that checks ask of a cluster for objects."""
    return reduce(or_, (check.ask(objects) for check in checks))


def operated(kubectl: Kubectl) -> list[Finding]:
    """Return how the operators that packyard knows are on a cluster."""
    asked = Questions(everywhere=frozenset({"Deployment"}))
    check = Check("operators", lambda _: asked, lambda _, cluster: kinds.known(cluster))
    findings = judge((), facts.read(kubectl, asked), (check,))
    return [replace(finding, fix=_located(finding.fix, kubectl)) for finding in findings]


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
