"""Our own build beside the real kustomize: the same objects in the same order, or both refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from packyard.core.errors import PackyardError
from packyard.using.kustomize.builtin import build
from real import Kustomize


def built(kustomize: Kustomize, folder: Path) -> list[dict[str, Any]] | None:
    """Build a folder by both; return the objects, None where both refuse."""
    real = kustomize("build", folder)
    if real.returncode:
        with pytest.raises(PackyardError):
            build(folder)
        return None
    ours = list(yaml.safe_load_all(build(folder)))
    assert ours == list(yaml.safe_load_all(real.stdout))
    return ours
