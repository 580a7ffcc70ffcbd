"""The Kptfile: which functions of its pipeline apply setters, and where the values that they are given stand.

pipeline:
  mutators:
    - image: gcr.io/kpt-fn/apply-setters:v0.2     or exec: packyard fn apply-setters
      configMap:
        app: my-app                                or configPath: setters.yaml, a ConfigMap
"""

from __future__ import annotations

from dataclasses import dataclass

from packyard.text.node import Mapping, Node, Sequence


@dataclass(frozen=True, slots=True)
class Mutator:
    """A function of the pipeline that applies setters; it has values of its own, or a file of them, or neither."""

    node: Mapping
    config_map: Mapping | None
    config_path: str

    @property
    def is_selective(self) -> bool:
        """Whether it is told to see some of the objects only."""
        return self.node.get("selectors") is not None or self.node.get("exclude") is not None


def find_mutators(root: Node | None) -> list[Mutator]:
    """Return the functions of a Kptfile's pipeline that apply setters, in their order."""
    pipeline = root.mapping("pipeline") if isinstance(root, Mapping) else None
    listed = pipeline.get("mutators") if pipeline else None
    nodes = [item.value for item in listed.items] if isinstance(listed, Sequence) else []
    return [
        Mutator(node, node.mapping("configMap"), node.text("configPath"))
        for node in nodes
        if isinstance(node, Mapping) and _applies_setters(node)
    ]


def _applies_setters(node: Mapping) -> bool:
    return any("apply-setters" in node.text(key) for key in ("image", "exec"))
