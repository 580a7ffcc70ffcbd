"""Which objects a patch or a replacement is for: ``target`` of a kustomization, ``select`` of a replacement.

group, version, kind, name and namespace of a patch are regular expressions for the whole text, Go's as kustomize's are,
matched in linear time; those of a replacement are the texts themselves. labelSelector and annotationSelector are
Kubernetes' own: ``app=bert``, ``role in (chief, worker)``.
"""

import re
from collections.abc import Iterable, Mapping

from packyard.core.errors import InputError, suggest
from packyard.core.kubernetes.groups import is_cluster_scoped
from packyard.core.kubernetes.kinds import called, namespace_of
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import MappingNode
from packyard.using.setters import regexp

Identity = tuple[str, str, str, str]
"""apiVersion, kind, namespace and name of an object."""

#: The namespace of what has none, as kustomize compares it.
CLUSTER = "_non_namespaceable_"
#: What selects by the name of a thing.
WORDS = ("group", "version", "kind", "name", "namespace")
_MOST = 10  # names that a hint lists
_METADATA = {"labelSelector": "labels", "annotationSelector": "annotations"}
_REQUIREMENT = re.compile(
    r"\s*(?:(!?)\s*([^\s=!,()]+)|([^\s=!,()]+)\s*(?:(==?|!=)\s*([^\s=!,()]*)|(in|notin)\s*\(([^()]*)\)))\s*(?:,|\Z)"
)


def read(fields: Fields, key: str) -> dict[str, str] | None:
    """Read a selector; None if the field is missing."""
    target = fields.child(key)
    return None if target is None else read_fields(target)


def read_fields(target: Fields) -> dict[str, str]:
    """Read what a selector says."""
    selector = {word: text for word in (*WORDS, *_METADATA) if (text := target.text(word, ""))}
    for word, text in selector.items():
        wrong = _fault_of_labels(text) if word in _METADATA else _fault(text)
        if wrong:
            target.fault(target.node and target.node.get(word), word, wrong)
    if target.node is not None and not target.node.entries:
        target.fault(target.node, "", "names nothing")
    target.done()
    return selector


def identity(root: MappingNode) -> Identity:
    """Return what an object is called."""
    return root.text("apiVersion"), root.text("kind"), namespace_of(root), called(root)


def effective(identity: Identity) -> Identity:
    """Return an identity as kustomize compares it: an object that names no namespace is in ``default``."""
    version, kind, namespace, name = identity
    return version, kind, CLUSTER if is_cluster_scoped(version, kind) else namespace or "default", name


def is_same(identity: Identity, twin: Identity) -> bool:
    """Say whether two identities are those of one object."""
    return effective(identity) == effective(twin)


def words(identity: Identity) -> dict[str, str]:
    """Return an object's group, version, kind, namespace and name."""
    version, kind, namespace, name = identity
    group, _, version = version.rpartition("/")
    return {"group": group, "version": version, "kind": kind, "namespace": namespace, "name": name}


def selects(target: Mapping[str, str], root: MappingNode, identity: Identity, *, is_exact: bool = False) -> bool:
    """Say whether a target is for an object, which is called ``identity``."""
    terms = words(effective(identity))
    return all(
        satisfies(text, root.mapping("metadata", _METADATA[word]))
        if word in _METADATA
        else text == terms[word] or (not is_exact and matches(text, terms[word]))
        for word, text in target.items()
    )


def near(target: Mapping[str, str], roots: Iterable[MappingNode]) -> tuple[list[MappingNode], str]:
    """Return the objects that a target is for, or a hint what the first of its words that none has may mean."""
    chosen = list(roots)
    for word, text in target.items():
        matching = [root for root in chosen if selects({word: text}, root, identity(root))]
        if not matching:
            return [], there_is(text, {words(identity(root)).get(word, "") for root in chosen})
        chosen = matching
    return chosen, ""


def there_is(text: str, names: Iterable[str]) -> str:
    """Return the hint what a text may mean that is none of others."""
    listed = sorted({*names} - {""})
    return suggest(text, listed) or (
        f"there is {', '.join(listed)}" if 0 < len(listed) < _MOST else "correct it, or remove the patch"
    )


def _fault(pattern: str) -> str:
    fault = regexp.fault(_anchored(pattern))
    return f"{pattern!r} must be a regular expression: {fault}" if fault else ""


def matches(pattern: str, text: str) -> bool:
    """Say whether a text is one that a pattern stands for."""
    if pattern.replace("-", "").isalnum():
        return pattern == text
    try:
        return regexp.matches(_anchored(pattern), text)
    except regexp.PatternError as error:
        raise InputError(f"target {pattern!r}: {error}") from error


def _anchored(pattern: str) -> str:
    return f"^(?:{pattern})$"


def _fault_of_labels(text: str) -> str:
    position = 0
    while position < len(text):
        if not (match := _REQUIREMENT.match(text, position)):
            return f"{text!r} must be a label selector, such as a=b or a in (b, c)"
        position = match.end()
    return ""


def satisfies(text: str, labels: MappingNode | None) -> bool:
    """Say whether labels are those that a selector of Kubernetes wants."""
    for match in _REQUIREMENT.finditer(text):
        absent, alone, key, operator, value, of_set, values = match.groups()
        label = labels.get(alone or key) if labels else None
        has, is_none = label is not None, operator == "!=" or of_set == "notin" or bool(absent)
        if labels and label and not alone:
            has = labels.text(key) in ([word.strip() for word in values.split(",")] if of_set else [value])
        if has is is_none:
            return False
    return True
