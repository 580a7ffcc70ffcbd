"""The fields of an object that hold the name of another one."""

from __future__ import annotations

from collections.abc import Mapping

from packyard.core.kubernetes.kinds import RBAC, TRAINER

#: Mappings that hold the name of a kind in its core group, and the keys under which the name may stand.
HOLDERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "configMapRef": ("ConfigMap", ("name",)),
    "configMapKeyRef": ("ConfigMap", ("name",)),
    "configMap": ("ConfigMap", ("name",)),
    "secretRef": ("Secret", ("name",)),
    "secretKeyRef": ("Secret", ("name",)),
    "secret": ("Secret", ("secretName", "name")),
    "persistentVolumeClaim": ("PersistentVolumeClaim", ("claimName",)),
}
#: Fields whose value is the name.
NAMES = {"serviceAccountName": "ServiceAccount", "subdomain": "Service"}
#: Mappings that hold a kind and a name, with the apiVersion that is meant where they have none.
TYPED = {"roleRef": f"{RBAC}/v1", "runtimeRef": f"{TRAINER}/v1alpha1", "scaleTargetRef": "apps/v1"}
#: What every cluster or every namespace has.
ALWAYS_THERE = {
    *(("ServiceAccount", "default"), ("ConfigMap", "kube-root-ca.crt"), ("Namespace", "default")),
    ("ConfigMap", "istio-ca-root-cert"),  # where Istio is
    ("Role", "extension-apiserver-authentication-reader"),  # in kube-system
}
