"""One thing that a cluster must have before a use case is applied, as packyard.json says it: ``NFS 10.0.0.5:/models``.

============================  =====================================================================
kind                          name
============================  =====================================================================
``CustomResourceDefinition``  ``mpijobs.kubeflow.org``
``PersistentVolumeClaim``     its name; likewise ``Secret``, ``ConfigMap``, ``ServiceAccount``, ``Namespace``
``NFS``                       ``server:path``
``CSIDriver``                 ``nfs.csi.k8s.io``, which mounts volumes
``Resource``                  ``nvidia.com/gpu``, which a device plugin offers
``PodSecurity``               the strictest level that admits the pods
============================  =====================================================================
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Requirement:
    """A requirement; ``str`` gives its words in packyard.json."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
