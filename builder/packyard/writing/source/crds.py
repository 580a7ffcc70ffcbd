"""``crds/*.yaml`` of a workspace and of its libraries: CustomResourceDefinitions, by which their resources are judged.

They win over those that packyard carries, and those of the workspace over those of its libraries.
"""

from __future__ import annotations

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.kubernetes import schemas
from packyard.core.kubernetes.schemas import Judge
from packyard.core.yaml.node import MappingNode
from packyard.core.yaml.values import to_value
from packyard.writing.source.workspace import Workspace, authored

DIRECTORY = "crds"
_KIND = "CustomResourceDefinition"


def files(here: Workspace) -> list[str]:
    """Return the files, those of the workspace first."""
    found = (path for root in here.roots for path in authored(here.sources, f"{root}{DIRECTORY}"))
    return [path for path in found if path.endswith((".yaml", ".yml"))]


def read(here: Workspace) -> list[Judge]:
    """Return a judge for each file; every fault of every file is named at once."""
    return here.sources.once(DIRECTORY, lambda: _read(here))


def names(here: Workspace) -> list[str]:
    """Return the names of the definitions, ``rayjobs.ray.io``; it refuses what `read` does."""
    read(here)
    roots = (document.root for path in files(here) for document in here.sources.documents(path))
    return [text for root in roots if isinstance(root, MappingNode) and (text := _name(root))]


def _name(root: MappingNode) -> str:
    metadata = root.mapping("metadata")
    return metadata.text("name") if metadata else ""


def _read(here: Workspace) -> list[Judge]:
    judges: list[Judge] = []
    problems: list[Problem] = []
    for path in files(here):
        try:
            judge = _judge(here, path)
        except InputError as error:
            problems += error.problems
            continue
        judges.append(judge.without(schemas.kinds_of(judges)))
    refuse(problems)
    return judges


def _judge(here: Workspace, path: str) -> Judge:
    roots = [document.root for document in here.sources.documents(path) if document.root]
    values = [to_value(root) for root in roots]
    wrong = [root for root, value in zip(roots, values, strict=True) if not _is_one(value)]
    refuse(root.problem(f"is no {_KIND}", f"{DIRECTORY}/ is for these alone") for root in wrong)
    return schemas.of_definitions(here.sources.shown(path), [value for value in values if isinstance(value, dict)])


def _is_one(value: object) -> bool:
    return isinstance(value, dict) and value.get("kind") == _KIND
