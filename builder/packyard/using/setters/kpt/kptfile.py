"""The Kptfile: which functions of its pipeline apply setters, and where the values that they are given stand.

pipeline:
  mutators:
    - image: gcr.io/kpt-fn/apply-setters:v0.2     or exec: packyard fn apply-setters
      configMap:
        app: my-app                                or configPath: setters.yaml, a ConfigMap
"""

from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Node


def find_mutators(root: Node | None) -> list[MappingNode]:
    """Return the functions of a Kptfile's pipeline that apply setters, in their order."""
    mutators = mappings(root.find("pipeline", "mutators")) if root else []
    return [node for node in mutators if any("apply-setters" in node.text(key) for key in ("image", "exec"))]
