"""What every kustomization file has: its header, and the fields that refer to files and folders."""

from __future__ import annotations

from collections.abc import Iterator

from packyard.yaml.node import MappingNode, Node, Scalar, SequenceNode

#: The apiVersion of each kind.
HEADERS = {"Kustomization": "kustomize.config.k8s.io/v1beta1", "Component": "kustomize.config.k8s.io/v1alpha1"}


def referred(root: Node | None) -> Iterator[str]:
    """Yield the files and folders that a kustomization is built on, as it writes them."""
    for field in ("resources", "bases", "components"):
        listed = root.get(field) if isinstance(root, MappingNode) else None
        for item in listed.items if isinstance(listed, SequenceNode) else ():
            yield item.value.value if isinstance(item.value, Scalar) else ""
