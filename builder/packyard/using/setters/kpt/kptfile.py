"""The Kptfile: which functions of its pipeline apply setters, and where the values that they are given stand.

pipeline:
  mutators:
    - image: gcr.io/kpt-fn/apply-setters:v0.2     or exec: packyard fn apply-setters
      configMap:
        app: my-app                                or configPath: setters.yaml, a ConfigMap
"""

from __future__ import annotations

from dataclasses import dataclass

from packyard.core.yaml.document import items
from packyard.core.yaml.node import MappingNode, Node


@dataclass(frozen=True, slots=True)
class Mutator:
    """A function of the pipeline that applies setters; it has values of its own, or a file of them, or neither."""

    node: MappingNode
    config_map: MappingNode | None
    config_path: str

    @property
    def is_selective(self) -> bool:
        """Whether it is told to see some of the objects only."""
        return self.node.get("selectors") is not None or self.node.get("exclude") is not None


def find_mutators(root: Node | None) -> list[Mutator]:
    """Return the functions of a Kptfile's pipeline that apply setters, in their order."""
    nodes = items(root.find("pipeline", "mutators")) if isinstance(root, MappingNode) else []
    return [
        Mutator(node, node.mapping("configMap"), node.text("configPath"))
        for node in nodes
        if isinstance(node, MappingNode) and any("apply-setters" in node.text(key) for key in ("image", "exec"))
    ]
