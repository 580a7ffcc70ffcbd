"""What kubectl finds wrong with a kubeconfig is told apart, each time with a command that can be typed."""

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from controlplane.api import Api
from tiny import packyard

Config = dict[str, Any]


def server(address: str) -> Callable[[Config], None]:
    return lambda config: config["clusters"][0]["cluster"].update(server=address)


def user(**changes: Any) -> Callable[[Config], None]:
    return lambda config: config["users"][0].update(user=changes)


_PLUGIN = {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws-nowhere", "interactiveMode": "Never"}
FAULTS: Mapping[str, tuple[Callable[[Config], None], str]] = {
    "token": (user(token="wrong"), r"does not accept your credentials: You must be logged in"),
    "plugin": (user(exec=_PLUGIN), r"does not accept your credentials: .* \("),
    "nobody": (lambda config: config["contexts"][0]["context"].pop("user"), r"the kubeconfig names no user with a c"),
    "port": (server("https://127.0.0.1:1"), r"cannot be reached: .*127.0.0.1:1 was refused"),
    "name": (server("https://nowhere.invalid"), r"cannot be reached: .*nowhere.invalid"),
    "no context": (
        lambda config: config.update({"current-context": ""}),
        r"to use: there is no kubeconfig, or it sets",
    ),
    "other context": (lambda config: config.update({"current-context": "gone"}), r"to use: cannot locate context gone"),
}


@pytest.mark.usefixtures("kubectl")
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_its_own_words(fault: str, api_server: Api, tmp_path: Path) -> None:
    spoil, said = FAULTS[fault]
    config = json.loads((api_server.folder / "kubeconfig").read_text())
    spoil(config)
    file = tmp_path / "config"
    file.write_text(json.dumps(config))
    done = packyard("status", "-n", "default", f"--kubeconfig={file}")
    assert done.returncode == 1
    problem = done.stderr.splitlines()[-1]
    assert re.search(said, problem)
    for command in re.findall(r"(?<=[( ])kubectl -[^;)]*?(?= (?:lists|shows|chooses)|[;)]|$)", problem):
        typed = subprocess.run(shlex.split(command), capture_output=True, text=True)
        assert "unknown" not in typed.stderr, command
