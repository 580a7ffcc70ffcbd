"""The Kptfile: which functions of its pipeline apply setters, and where the values that they are given stand.

pipeline:
  mutators:
    - image: gcr.io/kpt-fn/apply-setters:v0.2     or exec: packyard fn apply-setters
      configMap:
        app: my-app                                or configPath: setters.yaml, a ConfigMap
"""

from __future__ import annotations

from dataclasses import dataclass

from packyard.errors import InputError
from packyard.text.node import Mapping, Node, Sequence

#: The fields of a Kptfile in version 1, those of the newest kpt.
_FIELDS = frozenset(
    ("apiVersion", "kind", "metadata", "upstream", "upstreamLock", "info", "pipeline", "inventory", "status")
)


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


def check_fields(root: Mapping) -> None:
    """Refuse fields that no Kptfile of version 1 has, a misspelt ``pipeline`` say, in the words of kpt's list-setters.

    Lines are counted in the object as it came: an orchestrator's annotations are lines of it.
    """
    if root.text("apiVersion") != "kpt.dev/v1":
        return
    locate = root.source.locate
    before = locate(root.start)[0] - 1
    unknown = [
        f"  line {locate(entry.key.start)[0] - before}: field {entry.name} not found in type v1.KptFile"
        for entry in root.entries
        if entry.name not in _FIELDS
    ]
    if unknown:
        advice = "please make sure the package has a valid 'v1' Kptfile"
        said = "\n".join([f"unable to read Kptfile: {advice}: yaml: unmarshal errors:", *unknown])
        raise InputError(said)


def _applies_setters(node: Mapping) -> bool:
    return any("apply-setters" in node.text(key) for key in ("image", "exec"))
