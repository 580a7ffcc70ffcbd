"""A use case that is looked at again when anything changes that its last look read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tiny
from packyard.core.errors import PackyardError
from packyard.writing.build.preview import Preview
from packyard.writing.source import workspace
from packyard.writing.source.workspace import Workspace


def test_what_is_saved_while_a_look_fails_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tiny.workspace(tmp_path)
    preview, read = Preview(root, "p", "one"), workspace.read
    assert preview.look().problems == ()
    tiny.replace(root / "packyard.yaml", "kind: Workspace", "kind: Other")

    def saved_meanwhile(*arguments: Any, **named: Any) -> Workspace:
        try:
            return read(*arguments, **named)
        except PackyardError:
            tiny.replace(root / "packyard.yaml", "kind: Other", "kind: Workspace")
            raise

    monkeypatch.setattr(workspace, "read", saved_meanwhile)
    assert preview.look().problems
    assert preview.has_changed()
    assert preview.look().problems == ()
    assert not preview.has_changed()
