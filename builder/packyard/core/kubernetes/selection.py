"""Which labels a selector selects, and which nodes a pod may run on: labels, affinity to nodes, taints.

Source of the rules: Kubernetes' documentation of labels and of assigning pods to nodes. A rule that is not understood
selects nothing.
"""

from collections.abc import Mapping

from packyard.core.kubernetes.lenient import Object, labels_of, mapping, mappings, name_of, text

_HARD = "requiredDuringSchedulingIgnoredDuringExecution"
_EFFECTS = ("NoSchedule", "NoExecute")


def selects(selector: object, labels: Mapping[str, object]) -> bool:
    """Say whether a label selector selects what has these labels; an empty one selects all, none selects nothing."""
    if not isinstance(selector, Mapping):
        return False
    match_labels = mapping(selector.get("matchLabels"))
    return all(labels.get(key) == value for key, value in match_labels.items()) and all(
        _holds(match_expression, labels) for match_expression in mappings(selector.get("matchExpressions"))
    )


def required(pod: Object) -> object:
    """Return the hard rules of a pod's ``nodeAffinity``."""
    return mapping(mapping(pod.get("affinity")).get("nodeAffinity")).get(_HARD)


def admits(pod: Object, node: Object) -> bool:
    """Say whether a node has the labels that a pod asks for."""
    labels, fields, rules = labels_of(node), {"metadata.name": name_of(node)}, required(pod)
    if any(labels.get(key) != value for key, value in mapping(pod.get("nodeSelector")).items()):
        return False
    terms = mappings(mapping(rules).get("nodeSelectorTerms"))
    return rules is None or any(_matches(term, labels, fields) for term in terms)


def intolerable(pod: Object, node: Object) -> list[str]:
    """Return the taints of a node that keep a pod away: ``nvidia.com/gpu=present:NoSchedule``."""
    taints = [taint for taint in mappings(mapping(node.get("spec")).get("taints")) if taint.get("effect") in _EFFECTS]
    tolerations = mappings(pod.get("tolerations"))
    kept_away = (taint for taint in taints if not any(_tolerates(toleration, taint) for toleration in tolerations))
    return [f"{item.get('key')}={item.get('value', '')}:{item.get('effect')}".replace("=:", ":") for item in kept_away]


def _matches(term: Object, labels: Mapping[str, object], fields: Mapping[str, object]) -> bool:
    rules, by_field = mappings(term.get("matchExpressions")), mappings(term.get("matchFields"))
    return bool(rules or by_field) and all(
        [*(_holds(rule, labels) for rule in rules), *(_holds(rule, fields) for rule in by_field)]
    )


def _holds(rule: Object, labels: Mapping[str, object]) -> bool:
    """Say whether labels fulfill a requirement: ``{key: pool, operator: In, values: [a, b]}``."""
    key, operator, values = text(rule.get("key")), text(rule.get("operator")), rule.get("values")
    values = values if isinstance(values, list) else []
    value = labels.get(key)
    if operator == "In":
        return value in values
    if operator == "NotIn":
        return value not in values
    if operator in ("Exists", "DoesNotExist"):
        return (key in labels) == (operator == "Exists")
    try:
        number, bound = int(str(value)), int(str(values[0]))
    except (ValueError, IndexError):
        return False
    return number > bound if operator == "Gt" else operator == "Lt" and number < bound


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint.get("effect")):
        return False
    key = text(toleration.get("key"))
    if toleration.get("operator") == "Exists":
        return key in ("", taint.get("key"))
    return bool(key) and key == taint.get("key") and text(toleration.get("value")) == text(taint.get("value"))
