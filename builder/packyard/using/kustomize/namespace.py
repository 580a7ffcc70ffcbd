"""What ``namespace:`` of a kustomization does to objects (kustomize 5, `NamespaceTransformer` and `nameref`).

metadata.namespace     of everything that is not certainly cluster-scoped, whatever stood there
metadata.name          of a Namespace
subjects[].namespace   of role bindings: of subjects named ``default``, and of those named like a ServiceAccount that
                       is built along, which also get the account's own namespace where the kustomization names none
"""

from collections.abc import Mapping, Sequence

from packyard.core.errors import BeyondError
from packyard.core.kubernetes.groups import is_cluster_scoped
from packyard.using.kustomize import selector
from packyard.using.kustomize.objects import Object

#: Kinds that name a namespace in further places, which kustomize knows and we do not.
_BEYOND = ("APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


def apply(items: Sequence[Object], namespace: str, hint: str) -> None:
    """Move objects to a namespace and let references follow; an empty text leaves everything as it is."""
    if not namespace:
        return
    for item in items:
        spec = item.root.get("spec")
        converts = item.kind == "CustomResourceDefinition" and isinstance(spec, dict) and "conversion" in spec
        if item.kind in _BEYOND or converts:
            raise BeyondError(item.problem(f"packyard's own build cannot move a {item.kind} to a namespace", hint))
    origins: dict[str, set[str]] = {}
    for item in items:
        if item.kind == "ServiceAccount" and item.api_version == "v1":
            origins.setdefault(item.name, set()).add(selector.effective(item.identity)[2])
    for item in items:
        if not is_cluster_scoped(item.api_version, item.kind):
            item.metadata["namespace"] = namespace
        elif item.kind == "Namespace":
            item.metadata["name"] = namespace
        if item.kind in ("RoleBinding", "ClusterRoleBinding"):
            _move_subjects(item, origins, namespace)


def _move_subjects(binding: Object, origins: Mapping[str, set[str]], namespace: str) -> None:
    """Let subjects follow the accounts that they name: by name alone, or by the namespace that an account came from."""
    follows = binding.api_version.startswith("rbac.authorization.k8s.io/")
    subjects = binding.root.get("subjects")
    for subject in subjects if isinstance(subjects, list) else ():
        if isinstance(subject, dict):
            namespaces = origins.get(str(subject.get("name")), ()) if follows else ()
            is_built = namespaces and ("namespace" not in subject or subject["namespace"] in namespaces)
            if is_built or subject.get("name") == "default":
                subject["namespace"] = namespace
