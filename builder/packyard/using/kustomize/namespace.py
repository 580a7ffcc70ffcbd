"""What ``namespace:`` of a kustomization does to objects (kustomize 5, `NamespaceTransformer` and `nameref`).

metadata.namespace     of everything that is not certainly cluster-scoped, whatever stood there
metadata.name          of a Namespace
subjects[].namespace   of role bindings: of subjects named ``default``, and of those named like a ServiceAccount that
                       is built along, which also get the account's own namespace where the kustomization names none
"""

from collections.abc import Mapping, Sequence

from packyard.core.errors import BeyondError
from packyard.core.kubernetes.groups import is_cluster_scoped
from packyard.core.yaml.document import items as nodes_of
from packyard.core.yaml.node import MappingNode
from packyard.using.kustomize import selector
from packyard.using.kustomize.accumulate import SourceObject

#: Kinds that name a namespace in further places, which kustomize knows and we do not.
_BEYOND = ("APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def apply(items: Sequence[SourceObject], namespace: str, hint: str) -> None:
    """Move objects to a namespace and let references follow."""
    origins: dict[str, set[str]] = {}
    for item in items:
        version, kind, _, name = item.identity
        converts = kind == "CustomResourceDefinition" and item.root.find("spec", "conversion") is not None
        if kind in _BEYOND or converts:
            raise BeyondError(item.root.problem(f"packyard's own build cannot move a {kind} to a namespace", hint))
        if (version, kind) == ("v1", "ServiceAccount"):
            origins.setdefault(name, set()).add(selector.effective(item.identity)[2])
    for item in items:
        version, kind, _, _ = item.identity
        if not is_cluster_scoped(version, kind):
            item.give("/metadata/namespace", namespace)
        elif kind == "Namespace":
            item.give("/metadata/name", namespace)
        if kind in ("RoleBinding", "ClusterRoleBinding"):
            _move_subjects(item, origins, namespace)


def _move_subjects(binding: SourceObject, origins: Mapping[str, set[str]], namespace: str) -> None:
    """Let subjects follow the accounts that they name: by name alone, or by the namespace that an account came from."""
    follows = binding.identity[0].startswith("rbac.authorization.k8s.io/")
    for number, subject in enumerate(nodes_of(binding.root.get("subjects"))):
        name, own = subject.text("name"), subject.get("namespace")
        namespaces = origins.get(name, ()) if follows else ()
        is_built = namespaces and (own is None or subject.text("namespace") in namespaces)
        if isinstance(subject, MappingNode) and (is_built or name == "default"):
            binding.give(f"/subjects/{number}/namespace", namespace)
