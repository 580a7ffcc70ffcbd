"""A run: what one use case, with its values, is on a cluster. Its name is on all its objects and all their pods.

A run is called what ``app.kubernetes.io/instance`` is on its objects, which in packages of packyard is
``MODEL_NAME-RUN_NAME``, the beginning of all their names; where they have no such label, or several, it is called like
the package and the directory. The label of a claim does not count: runs share it. `LABEL` carries the name.
"""

import copy
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from packyard.core.bundle import record
from packyard.core.bundle.record import in_json
from packyard.core.errors import InputError, shown
from packyard.core.kubernetes import pods
from packyard.core.kubernetes.groups import is_cluster_scoped
from packyard.core.kubernetes.kinds import LASTING, Kind, group_of
from packyard.core.kubernetes.lenient import labels_of, mapping, text, type_of
from packyard.core.kubernetes.name_forms import LABEL_VALUE

Object = dict[str, Any]

#: On every object of a run and on its pods; the value is the run's name.
LABEL = "packyard/run"
#: On objects of a run that have no namespace: where the run is.
NAMESPACE = "packyard/namespace"
#: On what a verb makes for itself and deletes: it is no run, whatever name it has.
PURPOSE = "packyard/purpose"
#: The setter that tells runs of a package apart.
SETTER = "RUN_NAME"
#: On every object that we apply or record.
MANAGED = {"app.kubernetes.io/managed-by": "packyard"}
_INSTANCE = "app.kubernetes.io/instance"
#: Kubernetes' own choice for generated names: no vowels, and nothing that is easily misread.
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_LONGEST = 63  # characters of a label's value


def _like(pattern: str) -> Callable[[object], str]:
    """Return the reader of a text of a record that becomes a word of a command line: of this form, and no flag."""

    def check(value: str) -> None:
        if not re.fullmatch(pattern, value):
            raise InputError(f"{shown(value, quoted=True)} names nothing on a cluster")

    return record.checked(check)


@dataclass(frozen=True, slots=True, order=True)
class Reference:
    """The name of an object; ``namespace`` is empty for what has none."""

    api_version: str = field(metadata=in_json(_like(r"([a-z0-9][-a-z0-9.]*/)?v[a-z0-9]+")))
    kind: str = field(metadata=in_json(_like(r"[A-Za-z][A-Za-z0-9]*")))
    namespace: str = field(metadata=in_json(_like(r"([a-z0-9][-a-z0-9]*)?")))
    name: str = field(metadata=in_json(_like(r"[A-Za-z0-9][-A-Za-z0-9_.:]*")))
    extra: Mapping[str, object] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, item: Mapping[str, Any], namespace: str) -> "Reference":
        """Return what names an object that is applied in ``namespace``."""
        (api_version, kind), metadata = type_of(item), mapping(item.get("metadata"))
        inside = "" if is_cluster_scoped(api_version, kind) else text(metadata.get("namespace")) or namespace
        return cls(api_version, kind, inside, text(metadata.get("name")))

    @property
    def group_kind(self) -> Kind:
        """Group and kind."""
        return group_of(self.api_version), self.kind

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def can_be(name: str) -> bool:
    """Say whether a run can have a name, which is the value of a label; none is there by another."""
    return bool(name) and LABEL_VALUE.admits(name)


def new_word() -> str:
    """Return a short word for a run that nobody named; it begins with a letter, as names of Services must."""
    return secrets.choice(_ALPHABET[:20]) + "".join(secrets.choice(_ALPHABET) for _ in range(4))


def name_of(objects: Sequence[Mapping[str, Any]], otherwise: str) -> str:
    """Return the name of the run that objects are, made of the text ``otherwise`` where they do not say it."""
    own = (item for item in objects if Reference.of(item, "").group_kind not in LASTING)
    named = {text(labels_of(item).get(_INSTANCE)) for item in own}
    if len(named - {""}) == 1:
        return max(named)
    return re.sub(r"[^a-z0-9]+", "-", otherwise.lower()).strip("-")[:_LONGEST].strip("-") or "run"


def namespace_of(objects: Iterable[Object], namespace: str, *, is_asked: bool) -> str:
    """Return the namespace of a run: the one that is asked for, or that its objects name; kubectl refuses any other."""
    named = (text(mapping(item.get("metadata")).get("namespace")) for item in objects)
    return namespace if is_asked else next(filter(None, named), namespace)


def labelled(objects: Sequence[Object], run: str, namespace: str = "") -> list[Object]:
    """Return copies of objects with the name of their run on them, on their pods and on the claims of those.

    Objects without a namespace are labelled with that of the run as well. Who manages an object is us, unless it says.
    """
    copies = copy.deepcopy(list(objects))
    for item in copies:
        _label(item, {**MANAGED, **labels_of(item), LABEL: run})
        if namespace and is_cluster_scoped(*type_of(item)):
            _label(item, {NAMESPACE: namespace})
        for template in _templates(item):
            _label(template, {LABEL: run})
    return copies


def is_of(item: Mapping[str, Any], run: str, namespace: str) -> bool:
    """Say whether an object bears the name of a run in a namespace."""
    labels = labels_of(item)
    return labels.get(LABEL) == run and labels.get(NAMESPACE, namespace) == namespace


def _label(item: Object, labels: Mapping[str, str]) -> None:
    metadata = item.setdefault("metadata", {})
    if isinstance(metadata, dict):  # else the server says so
        metadata["labels"] = {**labels_of(item), **labels}


def _templates(item: Object) -> list[Object]:
    """Return what the metadata of pods and claims are taken from, and of Jobs and JobSets that pods are made of."""
    sources: list[Object] = []
    for pod in pods.find(item):
        sources.append(pod.template or pod.spec)
        sources += [template for path, template in pod.chain if path[-1:] in (("template",), ("jobTemplate",))]
    claims = mapping(item.get("spec")).get("volumeClaimTemplates")
    return [*sources, *(claim for claim in (claims if isinstance(claims, list) else ()) if isinstance(claim, dict))]
