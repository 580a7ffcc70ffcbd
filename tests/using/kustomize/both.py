"""Our own build beside the real kustomize: the same objects in the same order, or both refuse."""

from pathlib import Path
from typing import Any

import pytest

from packyard.core.errors import InputError
from packyard.core.files.tree import Tree
from packyard.core.yaml.node import Source
from packyard.using.kustomize import objects
from packyard.using.kustomize.builtin import build
from real import Kustomize


def built(kustomize: Kustomize, folder: Path) -> list[dict[str, Any]] | None:
    """Build a folder by both; return the objects, None where both refuse.

    Equal as our reader reads them: `test_builtin` judges that reader without it.
    """
    real = kustomize("build", folder)
    if real.returncode:
        with pytest.raises(InputError):
            build(Tree(folder))
        return None
    ours = roots(build(Tree(folder)).decode())
    assert ours == roots(real.stdout)
    return ours


def roots(text: str) -> list[dict[str, Any]]:
    """Return the objects of a stream."""
    return objects.parse(Source("built", text))
