"""What one call of kubectl gives, by programs in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from packyard.cli.running import clusters
from packyard.core.errors import InputError, UnavailableError
from packyard.running.runs.kubectl import Kubectl, find
from running import stub


def test_what_a_killed_kubectl_was_to_read_is_asked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the memory of this computer ran out; what follows a run for hours goes on."""
    monkeypatch.setattr(clusters, "PAUSES", (0,))
    program, tried = tmp_path / "kubectl", tmp_path / "tried"
    program.write_text(f"#!/bin/sh\n[ -e {tried} ] || {{ touch {tried}; kill -9 $$; }}\necho '{{}}'\n")
    program.chmod(0o755)
    client = Kubectl(program=str(program), flags=(), context="test", namespace="test")
    with pytest.raises(UnavailableError, match="kubectl was killed by signal 9"):
        client.read("get", "pods")
    tried.unlink()
    assert clusters.patiently(lambda: client.read("get", "pods")) == []


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path) -> None:
    programs = stub.install(tmp_path / "bin")
    with pytest.raises(InputError, match=r"^/nope: is not a file \(--kubeconfig names"):
        find(str(programs), kubeconfig="/nope")
