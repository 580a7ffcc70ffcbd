"""What pods know of each other: names, by Services, and whom NetworkPolicies let connect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from workload.objects import Object, Objects
from workload.pod import Pod

_DOMAIN = "svc.cluster.local"


def hosts(pod: Pod, pods: Sequence[Pod], objects: Objects) -> str:
    """Return the file of names that a pod can look up now: its own, and those of the pods behind Services."""
    namespace, subdomain = _namespace(pod), pod.described["spec"].get("subdomain")
    own = f"{pod.hostname}.{subdomain}.{namespace}.{_DOMAIN} {pod.hostname}" if subdomain else pod.hostname
    lines = ["127.0.0.1 localhost", "::1 localhost ip6-localhost", f"{pod.address} {own}"]
    searches = [f"{namespace}.{_DOMAIN}", _DOMAIN, _DOMAIN.partition(".")[2]]
    searches += pod.described["spec"].get("dnsConfig", {}).get("searches", [])
    for address, name in _names(pods, objects):
        short = [name.removesuffix(f".{domain}") for domain in searches if name.endswith(f".{domain}")]
        lines.append(f"{address} {' '.join(dict.fromkeys([name, *short]))}")
    return "\n".join(lines) + "\n"


def _names(pods: Sequence[Pod], objects: Objects) -> Iterator[tuple[str, str]]:
    """Yield each address with a name: those of ready pods, or of all where a Service does not mind."""
    for service in objects.of_kind("Service"):
        spec, name = service["spec"], service["metadata"]["name"]
        for pod in pods:
            ready = pod.is_ready or spec.get("publishNotReadyAddresses") or not _has_probe(pod)
            if ready and not pod.has_ended and spec.get("selector") and _has_labels(pod, spec["selector"]):
                domain = f"{name}.{_namespace(pod)}.{_DOMAIN}"
                yield pod.address, domain
                if spec.get("clusterIP") == "None" and pod.described["spec"].get("subdomain") == name:
                    yield pod.address, f"{pod.hostname}.{domain}"


def refused(pod: Pod, pods: Sequence[Pod], objects: Objects) -> set[str]:
    """Return the addresses of the pods that no NetworkPolicy lets connect to this one, where one guards it."""
    guards = [
        policy["spec"]
        for policy in objects.of_kind("NetworkPolicy")
        if _selects(policy["spec"]["podSelector"], pod) and "Ingress" in policy["spec"].get("policyTypes", ["Ingress"])
    ]
    rules = [rule for guard in guards for rule in guard.get("ingress", [])]
    return {other.address for other in pods if guards and other is not pod and not any(_lets(r, other) for r in rules)}


def _lets(rule: Object, pod: Pod) -> bool:
    if "ports" in rule or any(list(peer) != ["podSelector"] for peer in rule.get("from", [])):
        raise NotImplementedError("a NetworkPolicy by ports, namespaces or addresses")
    return not rule.get("from") or any(_selects(peer["podSelector"], pod) for peer in rule["from"])


def _selects(selector: Mapping[str, Mapping[str, str]], pod: Pod) -> bool:
    if selector.get("matchExpressions"):
        raise NotImplementedError("a selector with expressions")
    return _has_labels(pod, selector.get("matchLabels", {}))


def _has_labels(pod: Pod, wanted: Mapping[str, str]) -> bool:
    labels = pod.described["metadata"].get("labels", {})
    return all(labels.get(key) == value for key, value in wanted.items())


def _has_probe(pod: Pod) -> bool:
    return any(container.get("readinessProbe") for container in pod.described["spec"]["containers"])


def _namespace(pod: Pod) -> str:
    return str(pod.described["metadata"].get("namespace", "default"))
