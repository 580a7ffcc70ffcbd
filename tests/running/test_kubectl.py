"""What one call of kubectl gives, by programs in its place."""

from pathlib import Path

import pytest

from packyard.core.errors import InputError, UnavailableError
from packyard.running.runs.kubectl import Kubectl, find
from packyard.running.runs.run import namespace_of
from running import stub
from tiny import script


def test_a_kubectl_that_was_killed_may_be_asked_again(tmp_path: Path) -> None:
    """As where the memory of this computer ran out; what follows a run for hours goes on."""
    program = script(tmp_path / "kubectl", "kill -9 $$")
    client = Kubectl(program=str(program), flags=(), context="test", namespace="test")
    with pytest.raises(UnavailableError, match="kubectl was killed by signal 9"):
        client.read("get", "pods")


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path) -> None:
    programs = stub.install(tmp_path / "bin")
    with pytest.raises(InputError, match=r"^/nope: is not a file \(--kubeconfig names"):
        find(str(programs), kubeconfig="/nope")


def test_the_namespace_of_a_run_is_the_one_that_is_asked_for_or_that_its_objects_name() -> None:
    objects = [{"metadata": {}}, {"metadata": {"namespace": "own"}}]
    assert [namespace_of(objects, "ml", is_asked=is_asked) for is_asked in (True, False)] == ["ml", "own"]
