"""Faults of roles: rights that are too broad, that nothing grants, or that a workflow lacks."""

from __future__ import annotations

from collections.abc import Iterator

from packyard.core.errors import suggest
from packyard.core.kubernetes.groups import resource_of
from packyard.core.kubernetes.kinds import ARGO, JOBSET, KUBEFLOW, KUEUE, LWS, RAY, RBAC, TRAINER, is_kind, names
from packyard.core.yaml.document import mappings, scalars
from packyard.core.yaml.node import MappingNode
from packyard.writing.checks.embedded import spec_of
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

_WRITES = frozenset(("create", "update", "patch", "delete"))
#: What lets its holder become more than it is.
_RISING = ("escalate", "bind", "impersonate")
#: Resources whose full control is that of the namespace.
_POWERFUL = ("pods", "secrets", "services", "configmaps", "serviceaccounts", "pods/exec")
#: Groups that serve nothing since Kubernetes 1.22.
_GONE = ("extensions",)
_CLUSTER_WIDE = (
    *("nodes", "namespaces", "persistentvolumes", "customresourcedefinitions", "clusterroles", "clusterrolebindings"),
    *("storageclasses", "priorityclasses", "mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
)
#: What Kubernetes serves itself, by its group.
_SERVED = {
    "": "bindings componentstatuses configmaps endpoints events limitranges namespaces nodes persistentvolumeclaims "
    "persistentvolumes pods podtemplates replicationcontrollers resourcequotas secrets serviceaccounts services",
    "apps": "controllerrevisions daemonsets deployments replicasets statefulsets",
    "batch": "jobs cronjobs",
    "autoscaling": "horizontalpodautoscalers",
    "policy": "poddisruptionbudgets podsecuritypolicies",
    "networking.k8s.io": "ingresses ingressclasses networkpolicies ipaddresses servicecidrs",
    "rbac.authorization.k8s.io": "clusterrolebindings clusterroles rolebindings roles",
    "storage.k8s.io": "csidrivers csinodes csistoragecapacities storageclasses volumeattachments "
    "volumeattributesclasses",
    "coordination.k8s.io": "leases leasecandidates",
    "scheduling.k8s.io": "priorityclasses workloads podgroups",
}
_GROUPS = {group: frozenset(resources.split()) for group, resources in _SERVED.items()}
_GROUP_OF = {each: group for group, resources in _GROUPS.items() for each in resources}
#: Resources that several groups have.
_SHARED = ("events", "nodes", "pods", "ingresses", "podgroups", "workloads")
#: Groups of operators none of which has a resource called as one of Kubernetes.
_OPERATORS = (ARGO, JOBSET, KUBEFLOW, KUEUE, LWS, RAY, TRAINER)
#: What stands behind a slash, of the resources that everybody knows.
_BELOW = {
    "pods": (
        *("log", "exec", "status", "attach", "binding", "ephemeralcontainers", "eviction"),
        *("portforward", "proxy", "resize"),
    ),
    **dict.fromkeys(("deployments", "statefulsets", "replicasets"), ("scale", "status")),
    **dict.fromkeys(("jobs", "cronjobs", "daemonsets", "persistentvolumeclaims"), ("status",)),
}
_VERBS = (
    *("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "use", "proxy", "sign"),
    *("approve", "attest", *_RISING),
)
_RESULTS = "workflowtaskresults"


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find roles that grant too much, nothing, or too little."""
    for root in parsed.objects:
        if is_kind(root, RBAC, "Role", "ClusterRole"):
            for rule in mappings(root.get("rules")):
                yield from _rule(rule, root)
    yield from _workflows(parsed)


def _rule(rule: MappingNode, root: MappingNode) -> Iterator[Finding]:
    verbs, resources, groups = (_texts(rule, field) for field in ("verbs", "resources", "apiGroups"))
    hint = "grant what is used"
    broad = next((field for field in ("resources", "verbs") if "*" in _texts(rule, field)), "")
    rising = [verb for verb in _RISING if verb in verbs]
    powerful = [each for each in _POWERFUL if each in resources and "" in groups]
    if broad:
        message = f"this grants all {broad} of {_listed(resources if broad == 'verbs' else groups)}"
        yield breach("broad-role", rule, message, hint)
    elif rising:
        message = f"{', '.join(rising)} lets the account take rights that it was not given"
        yield breach("broad-role", rule, message, hint)
    elif powerful and verbs >= _WRITES and not rule.get("resourceNames"):
        message = f"this grants full control of all {', '.join(powerful)}, also of those of others"
        yield breach("broad-role", rule, message, hint)
    for group in groups & set(_GONE):
        message = f"the API group {group!r} serves nothing since Kubernetes 1.22"
        yield breach("role-without-effect", rule, message, "remove it")
    yield from _served(rule, groups)
    for resource in scalars(rule.get("resources")):
        if resource.value != resource.value.lower():
            message = f"{resource.value!r} is no resource: their names are in lower case, and in the plural"
            yield breach("role-without-effect", resource, message, resource_of(resource.value.lower()))
    for verb in scalars(rule.get("verbs")):
        near = suggest(verb.value, _VERBS) if verb.value not in (*_VERBS, "*") and len(verb.value) > len("get") else ""
        if near:
            yield breach("role-without-effect", verb, f"no request has the verb {verb.value!r}", near)
    wide = sorted(resources & set(_CLUSTER_WIDE))
    if root.text("kind") == "Role" and wide:
        message = f"a Role grants no rights on {', '.join(wide)}, which are in no namespace"
        yield breach("role-without-effect", rule, message, "use a ClusterRole")


def _served(rule: MappingNode, groups: set[str]) -> Iterator[Finding]:
    """Find resources that none of a rule's groups has, where Kubernetes has them in another, or nearly so."""
    if "*" in groups or not groups:
        return
    faults = []
    resources = scalars(rule.get("resources"))
    for node in resources:
        name, _, below = node.value.partition("/")
        right = _GROUP_OF.get(name)
        own = frozenset[str]().union(*(_GROUPS.get(group, ()) for group in groups))
        is_known = groups <= (_GROUPS.keys() if name in _SHARED else {*_GROUPS, *_OPERATORS})  # others may have it, too
        if right is not None and right not in groups and is_known:
            message = f"{name} are not in the API group {_listed(groups)}"
            faults.append((node, message, "apiGroups: [%s]" % (right or '""')))
        elif right is None and groups <= _GROUPS.keys() and (near := suggest(name, own)):
            faults.append((node, f"the API group {_listed(groups)} has no {name}", near))
        elif right in groups and below and (near := suggest(below, _BELOW.get(name, ()))) and below not in _BELOW[name]:
            faults.append((node, f"{name} have no {below}", near))
    misplaced = [each for each in faults if each[2].startswith("apiGroups")]
    if misplaced and len(misplaced) == len(resources):
        yield breach("role-without-effect", rule.entry("apiGroups") or rule, *misplaced[0][1:])
    else:
        yield from (breach("role-without-effect", *each) for each in faults)


def _texts(rule: MappingNode, field: str) -> set[str]:
    return {each.value for each in scalars(rule.get(field))}


def _listed(texts: set[str]) -> str:
    return ", ".join(repr(text) if text in ("", "*") else text for text in sorted(texts)) or "everything"


def _workflows(parsed: Parsed) -> Iterator[Finding]:
    """Find accounts of workflows whose role in the package lets their pods report no results."""
    roles = {kind: parsed.named(RBAC, kind) for kind in ("Role", "ClusterRole")}
    bound: dict[str, list[MappingNode]] = {}
    for root in parsed.objects:
        reference = root.mapping("roleRef") if is_kind(root, RBAC, "RoleBinding", "ClusterRoleBinding") else None
        role = roles.get(reference.text("kind"), {}).get(reference.text("name")) if reference else None
        for subject in names(root.get("subjects")) if role else ():
            assert role is not None
            bound.setdefault(subject.value, []).append(role)
    for root in parsed.objects:
        spec = spec_of(root)
        account = spec.scalar("serviceAccountName") if spec else None
        own_roles = bound.get(account.value, []) if account else []
        if account and own_roles and not any(map(_reports, own_roles)):
            lacks = f"{account.value} may not create {_RESULTS}"
            message = f"{lacks}: the pods of the workflow cannot report since Argo 3.4"
            hint = f"grant create and patch on {_RESULTS} of {ARGO}"
            yield breach("workflow-cannot-report", account, message, hint)


def _reports(role: MappingNode) -> bool:
    return any(
        _texts(rule, "resources") & {_RESULTS, "*"}
        and _texts(rule, "verbs") & {"create", "*"}
        and _texts(rule, "apiGroups") & {ARGO, "*"}
        for rule in mappings(role.get("rules"))
    )
