"""Will a package run here, now? Ten questions about what its objects need; the server itself answers the ninth.

1 the namespace is there and stays; 2 its kinds are served, by an operator that is ready and new enough; 3 Secrets,
ConfigMaps, their keys and accounts are there; 4 claims are there, bound or waiting, in modes that fit; 5 new claims
have a class; 6 quotas have room for all pods; 7 some node takes each pod (a warning); 8 queues are there and active;
9 the server takes the pods in a dry run, and drops nothing of them; 10 you may apply it all, as `deploy` would.

A check is a pair of functions: what it asks of the cluster, and what it makes of the facts. All questions are asked at
once, in few calls, and no check speaks to the cluster itself. What the user may not read makes a check ``unknown``, and
no more. What a scheduler, Kueue or a kubelet finds wrong later, `status` explains.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from shlex import quote

from packyard.core.bundle.prerequisite import Prerequisite
from packyard.core.errors import PackyardError
from packyard.core.kubernetes import operators
from packyard.core.kubernetes.lenient import Object, is_ending
from packyard.running.doctor import admission, claims, demand, facts, kinds, nodes, queues, quotas, references
from packyard.running.doctor.facts import Facts, Questions, UnreadError
from packyard.running.doctor.finding import Finding, error, passed, unknown
from packyard.running.runs import plan as planning
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.rendering import Rendered


def _namespace(cluster: Facts) -> Iterator[Finding]:
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


def examine(kubectl: Kubectl, rendered: Rendered) -> list[Finding]:
    """Return the answer to every question, also of those that passed.

    The server is asked last, by a dry run, where nothing else keeps the run from starting. Of a run that is there it
    would count the pods a second time.
    """
    objects, required = rendered.objects, rendered.required
    cluster = facts.read(kubectl, questions(objects, required))
    findings = judge(objects, cluster, required)
    if not any(finding.severity == "error" for finding in findings) and not demand.own_pods(objects, cluster):
        findings += admission.judge(objects, kubectl)
    return [replace(finding, fix=_located(finding.fix, kubectl)) for finding in findings]


def refused(kubectl: Kubectl, rendered: Rendered) -> list[Finding]:
    """Return what `deploy` would refuse, in its words: missing rights, what is there, what the server says."""
    try:
        planning.plan(kubectl, rendered)
    except PackyardError as failure:
        return [error("deploy", f"run {rendered.run}", item.message, fix=item.hint) for item in failure.problems]
    return [passed("deploy", f"run {rendered.run}")]


def questions(objects: Sequence[Object], required: Sequence[Prerequisite] = ()) -> Questions:
    """Return all that checks ask of a cluster, for objects and what authors say that these need."""
    of_pods = (nodes.ask(objects), claims.ask(objects), quotas.ask(objects), queues.ask(objects))
    of_operators = kinds.ask_operators(objects, operators.declared(required))
    return reduce(or_, of_pods, Questions(groups=True) | of_operators | references.ask(objects, required))


def operated(kubectl: Kubectl) -> list[Finding]:
    """Return how the operators that packyard knows are on a cluster."""
    cluster = facts.read(kubectl, Questions(everywhere=frozenset({"Deployment"})))
    findings = _collected({"operators": kinds.known(cluster)})
    return [replace(finding, fix=_located(finding.fix, kubectl)) for finding in findings]


def judge(objects: Sequence[Object], cluster: Facts, required: Sequence[Prerequisite] = ()) -> list[Finding]:
    """Return what the facts mean for objects, and for what authors say that these need."""
    declared = operators.declared(required)
    return _collected(
        {
            "the namespace": _namespace(cluster),
            "kinds": kinds.served(objects, cluster, declared),
            "operators": kinds.operated(objects, cluster, declared),
            "Secrets, ConfigMaps and accounts": references.judge(objects, cluster, required),
            "claims": claims.judge(objects, cluster),
            "quotas": quotas.have_room(objects, cluster),
            "nodes": nodes.take(objects, cluster),
            "queues": queues.active(objects, cluster),
        }
    )


def _collected(checks: Mapping[str, Iterator[Finding]]) -> list[Finding]:
    """Return what checks find, by what stays unknown without facts. Those that lack the same fact are one finding."""
    findings: list[Finding] = []
    left_out: dict[str, list[str]] = {}
    for about, answers in checks.items():
        try:
            findings += answers
        except UnreadError as error:
            left_out.setdefault(str(error), []).append(about)
    why = "an administrator sees more"
    for reason, abouts in left_out.items():
        findings.append(unknown("rights", ", ".join(abouts), f"not looked at: {reason}", why=why))
    return findings


def _located(fix: str, kubectl: Kubectl) -> str:
    """Return a command that means the cluster of the findings, whatever context is the current one."""
    return fix.replace("kubectl ", f"kubectl {' '.join(map(quote, kubectl.flags))} ")
