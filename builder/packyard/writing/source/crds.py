"""``crds/*.yaml`` of a workspace and of its libraries: CustomResourceDefinitions, by which their resources are judged.

They win over those that packyard carries, and those of the workspace over those of its libraries.
"""

from functools import partial

from packyard.core.errors import every, refuse
from packyard.core.kubernetes import schemas
from packyard.core.kubernetes.kinds import CUSTOM
from packyard.core.kubernetes.schemas import Judge
from packyard.core.yaml.values import to_value
from packyard.writing.source.workspace import Workspace, authored

DIRECTORY = "crds"


def files(here: Workspace) -> list[str]:
    """Return the files, those of the workspace first."""
    paths = (path for root in here.roots for path in authored(here.sources, f"{root}{DIRECTORY}"))
    return [path for path in paths if path.endswith((".yaml", ".yml"))]


def read(here: Workspace) -> list[Judge]:
    """Return a judge for each file; every fault of every file is named at once."""
    return here.sources.once(DIRECTORY, lambda: _read(here))


def names(here: Workspace) -> list[str]:
    """Return the names of the definitions, ``rayjobs.ray.io``; it refuses what `read` does."""
    read(here)
    roots = (document.root for path in files(here) for document in here.sources.documents(path))
    names = (root.scalar("metadata", "name") for root in roots if root)
    return [name.value for name in names if name and name.value]


def _read(here: Workspace) -> list[Judge]:
    judges: list[Judge] = []
    for judge in every(partial(_judge, here), files(here)):
        judges.append(judge.without(schemas.kinds_of(judges)))
    return judges


def _judge(here: Workspace, path: str) -> Judge:
    roots = [document.root for document in here.sources.documents(path) if document.root]
    values = [to_value(root) for root in roots]
    kinds = [value.get("kind") if isinstance(value, dict) else None for value in values]
    wrong = [root for root, kind in zip(roots, kinds, strict=True) if kind != CUSTOM[1]]
    refuse(root.problem(f"is not a {CUSTOM[1]}", f"{DIRECTORY}/ is for these alone") for root in wrong)
    return schemas.of_definitions(here.sources.shown(path), [value for value in values if isinstance(value, dict)])
