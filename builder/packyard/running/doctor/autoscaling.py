"""What adds nodes to a cluster, by what it says of itself: then nodes that are not there yet are no error.

Karpenter has its NodePools, whose labels and taints nodes will have; the Cluster Autoscaler writes a status that counts
its groups of nodes, but does not tell what is in them. A group that is scaled to zero is the normal state of GPUs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from packyard.core.kubernetes import selection
from packyard.core.kubernetes.lenient import Object, mapping, mappings, name_of, text
from packyard.running.doctor import nodes, wanted
from packyard.running.doctor.finding import Finding
from packyard.running.runs.kubectl import Kubectl

_POOLS = "nodepools.karpenter.sh"
_STATUS = ("--namespace=kube-system", "configmap/cluster-autoscaler-status")
_LARGEST = re.compile(r"maxSize[=:] *(\d{1,6})\b")
#: Labels that a node gets by what it is, not from its pool.
_OF_NODES = ("kubernetes.io/", "karpenter.", ".k8s.io/", "topology.")


def soften(
    findings: Sequence[Finding], objects: Sequence[Object], kubectl: Kubectl, *, is_autoscaled: bool
) -> list[Finding]:
    """Return findings with errors of nodes as warnings where nodes are added: by the user's word ``is_autoscaled``."""
    if not any(_is_of_nodes(each) for each in findings):
        return [*findings]
    pools, groups = ([], "") if is_autoscaled else (_read(kubectl, _POOLS), _groups(kubectl))
    return [
        _soften(each, objects, pools, groups, is_autoscaled=is_autoscaled) if _is_of_nodes(each) else each
        for each in findings
    ]


def _is_of_nodes(finding: Finding) -> bool:
    return (finding.check, finding.severity) == (nodes.CHECK, "error")


def _soften(
    finding: Finding, objects: Sequence[Object], pools: Sequence[Object], groups: str, *, is_autoscaled: bool
) -> Finding:
    if is_autoscaled:
        return _warned(finding, "nodes are added on demand, as --autoscaled or the site's file says")
    specs = [nodes.placing(one) for one in wanted.find(objects) if one.who in finding.about.split(", ")]
    fit = [name_of(pool) for pool in pools if not any(_refusal(pool, spec) for spec in specs)]
    if fit:
        return _warned(finding, f"Karpenter may add nodes of NodePool {', '.join(fit)}")
    if groups:
        return _warned(finding, f"the cluster autoscaler may add nodes: {groups}")
    refusals = [f"{name_of(pool)} {next(filter(None, (_refusal(pool, spec) for spec in specs)))}" for pool in pools]
    more = f"; no NodePool of Karpenter makes such a node: {', '.join(refusals)}" if refusals else ""
    return replace(finding, message=f"{finding.message}{more}")


def _warned(finding: Finding, who: str) -> Finding:
    return replace(finding, severity="warning", why=f"{finding.why}, unless nodes come: {who}")


def _refusal(pool: Object, spec: Object) -> str:
    """Return why no node of a pool takes pods; an empty text where one may."""
    template = mapping(mapping(pool.get("spec")).get("template"))
    node_spec = mapping(template.get("spec"))
    if taints := selection.intolerable(spec, {"spec": {"taints": node_spec.get("taints")}}):
        return f"has the taint {', '.join(taints)}"
    labels = mapping(mapping(template.get("metadata")).get("labels"))
    rules = {text(each.get("key")): each for each in mappings(node_spec.get("requirements"))}
    for key, value in mapping(spec.get("nodeSelector")).items():
        is_given = key in labels or key in rules or any(part in key for part in _OF_NODES)
        admits = labels.get(key, value) == value and (key not in rules or selection.holds(rules[key], {key: value}))
        if not is_given or not admits:
            return f"lacks the label {key}={value}"
    return ""


def _read(kubectl: Kubectl, *words: str) -> list[Object]:
    """Return objects of a cluster; none where they may not be read or the kind is not known."""
    answer = kubectl.call("get", "--ignore-not-found", "--output=json", *words)
    return [] if answer.code else kubectl.objects(answer.output)


def _groups(kubectl: Kubectl) -> str:
    """Return the groups of nodes that the cluster autoscaler says it has; nothing where there is none."""
    status = "".join(text(mapping(each.get("data")).get("status")) for each in _read(kubectl, *_STATUS))
    sizes = [int(size) for size in _LARGEST.findall(status)]
    return f"{len(sizes)} of its groups of nodes have at most {sum(sizes)} nodes" if sizes else ""
