"""API groups: which ones Kubernetes serves itself, which kinds need a definition, and which have no namespace."""

from collections.abc import Collection, Mapping

from packyard.core.kubernetes.kinds import group_of
from packyard.core.kubernetes.kustomization import GROUP

#: The groups that Kubernetes itself serves; any other needs a CustomResourceDefinition.
BUILT_IN_GROUPS = frozenset((
    "", "apps", "autoscaling", "batch", "policy",
    "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
    "authorization.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
    "flowcontrol.apiserver.k8s.io", "internal.apiserver.k8s.io", "lifecycle.k8s.io", "networking.k8s.io",
    "node.k8s.io", "rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io",
    "storagemigration.k8s.io",
))  # fmt: skip
#: The groups of files for tools on this side, which no cluster gets.
_CLIENT_SIDE_GROUPS = (GROUP, "config.k8s.io", "config.kubernetes.io", "kpt.dev")
#: What a controller makes of an object, where that needs a definition of its own.
_MADE_OF = {("trainer.kubeflow.org/v1alpha1", "TrainJob"): [("jobset.x-k8s.io/v1alpha2", "JobSet")]}
#: Kinds without a namespace, as kustomize 5 knows them, by their groups, in some versions.
_CLUSTER_SCOPED: Mapping[str, tuple[str, str]] = {
    "": ("v1", "ComponentStatus Namespace Node NodeProxyOptions PersistentVolume"),
    "admissionregistration.k8s.io": ("v1 v1beta1", "MutatingWebhookConfiguration ValidatingWebhookConfiguration"),
    "apiextensions.k8s.io": ("v1 v1beta1", "CustomResourceDefinition"),
    "apiregistration.k8s.io": ("v1 v1beta1", "APIService"),
    "certificates.k8s.io": ("v1 v1beta1", "CertificateSigningRequest"),
    "flowcontrol.apiserver.k8s.io": ("v1beta1", "FlowSchema PriorityLevelConfiguration"),
    "networking.k8s.io": ("v1 v1beta1", "IngressClass"),
    "node.k8s.io": ("v1 v1beta1", "RuntimeClass"),
    "policy": ("v1beta1", "PodSecurityPolicy"),
    "rbac.authorization.k8s.io": ("v1 v1beta1", "ClusterRole ClusterRoleBinding"),
    "scheduling.k8s.io": ("v1 v1beta1", "PriorityClass"),
    "storage.k8s.io": ("v1 v1beta1", "CSIDriver CSINode StorageClass VolumeAttachment"),
}


def custom(api_version: str, kind: str) -> list[tuple[str, str]]:
    """Return the custom kinds that an object needs, its own and those that are made of it, with their apiVersions."""
    types = [(api_version, kind), *_MADE_OF.get((api_version, kind), ())]
    served = (*BUILT_IN_GROUPS, *_CLIENT_SIDE_GROUPS)
    return [(version, kind) for version, kind in types if kind and group_of(version) not in served]


def definition(api_version: str, kind: str, definition_names: Collection[str] = ()) -> str:
    """Return the name of the CustomResourceDefinition of a custom kind: ``mpijobs.kubeflow.org``.

    Of ``definition_names`` it is the one whose plural may be that of the kind: ``data.example.com`` of Data.
    """
    name, group = kind.lower(), group_of(api_version)
    forms = (resource_of(kind), name, f"{name}s", f"{name}es")
    return next(
        (candidate for form in forms if (candidate := f"{form}.{group}") in definition_names), f"{forms[0]}.{group}"
    )


def definitions(api_version: str, kind: str, definition_names: Collection[str] = ()) -> list[str]:
    """Return the names of the CustomResourceDefinitions that an object needs."""
    return [definition(*member, definition_names) for member in custom(api_version, kind)]


def resource_of(kind: str) -> str:
    """Return the resource name that API conventions, and so nearly all definitions, give to a kind."""
    name = kind.lower()
    if name == "endpoints":
        return name
    if name.endswith(("s", "x", "ch", "sh")):
        return name + "es"
    return name[:-1] + "ies" if name.endswith("y") and name[-2:-1] not in "aeiou" else name + "s"


def is_cluster_scoped(api_version: str, kind: str) -> bool:
    """Say whether objects of a kind have no namespace, as far as kustomize 5 knows."""
    group, _, version = api_version.rpartition("/")
    versions, kinds = _CLUSTER_SCOPED.get(group, ("", ""))
    return version in versions.split() and kind in kinds.split()
