"""What kubectl finds wrong with a kubeconfig is told apart, each time with a command that can be typed."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from commandline import packyard
from controlplane.api import Api
from real import REPOSITORY

Config = dict[str, Any]


def server(address: str) -> Callable[[Config], None]:
    return lambda config: config["clusters"][0]["cluster"].update(server=address)


def authority(file: object) -> Callable[[Config], None]:
    return lambda config: config["clusters"][0]["cluster"].update({"certificate-authority": str(file)})


def context(**changes: str) -> Callable[[Config], None]:
    return lambda config: config["contexts"][0]["context"].update(changes)


def user(**changes: Any) -> Callable[[Config], None]:
    return lambda config: config["users"][0].update(user=changes)


_PLUGIN = {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws-nowhere", "interactiveMode": "Never"}
FAULTS: Mapping[str, tuple[Callable[[Config], None], str]] = {
    "token": (user(token="wrong"), r"does not accept your credentials: You must be logged in"),
    "plugin": (user(exec=_PLUGIN), r"does not accept your credentials: .* \(install aws-nowhere, "),
    "answer of a plugin": (
        user(exec={**_PLUGIN, "command": "echo", "args": ["x"]}),
        r"does not accept your credentials: .*decoding stdout",
    ),
    "credentials": (user(), r"has no credentials for the user of context test"),
    "port": (server("https://127.0.0.1:1"), r"cannot be reached: .*127.0.0.1:1 was refused"),
    "name": (server("https://nowhere.invalid"), r"cannot be reached: .*nowhere.invalid"),
    "authority": (authority(REPOSITORY / "LICENSE"), r"certificate authority of context test is not usable: .*PEM"),
    "no authority": (authority("/none.crt"), r"certificate authority of context test is not usable: .*/none.crt"),
    "cluster": (context(cluster="gone"), r"names cluster gone, which is not there"),
    "user": (context(user="gone"), r"names user gone, which is not there"),
    "no context": (lambda config: config.update({"current-context": ""}), r"names no current context"),
    "other context": (lambda config: config.update({"current-context": "gone"}), r"has no context gone"),
}


def status(config: object, **env: str) -> str:
    """Return what is said of a kubeconfig, once the command that it suggests is typed."""
    words = ["status", "-n", "default", *([f"--kubeconfig={config}"] if config else [])]
    done = packyard(*words, **env)
    assert done.returncode == 1
    problem = done.stderr.splitlines()[-1]
    for command in re.findall(r"(?<=[( ])kubectl -[^;)]*?(?= (?:lists|shows|chooses)|[;)]|$)", problem):
        typed = subprocess.run(shlex.split(command), capture_output=True, text=True)
        assert "unknown" not in typed.stderr, command
    return problem


@pytest.mark.usefixtures("kubectl")
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_its_own_words(fault: str, api_server: Api, tmp_path: Path) -> None:
    spoil, said = FAULTS[fault]
    config = json.loads((api_server.folder / "kubeconfig").read_text())
    spoil(config)
    file = tmp_path / "config"
    file.write_text(json.dumps(config))
    assert re.search(said, status(file))


@pytest.mark.usefixtures("kubectl", "api_server")
def test_a_kubeconfig_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("a: [")
    assert "there is no such kubeconfig" in status(tmp_path / "none")
    assert re.search("broken cannot be read as a kubeconfig: yaml: line", status(tmp_path / "broken"))
    assert "kubectl knows no cluster" in status("", KUBECONFIG=os.devnull, HOME=str(tmp_path))
