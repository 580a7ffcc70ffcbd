"""Pods of llm-serving whose image has vLLM itself, on processors."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import real
from catalogue.usecases import PACKAGES
from workload import controllers, deploy, zoo
from workload.cluster import Cluster
from workload.objects import Object
from workload.pod import Pod

USE_CASES = {each.path: (item, each) for item in PACKAGES for each in item.use_cases if item.name == "llm-serving"}
PORT = 8000
_START = """\
#!/bin/sh
exec {python} -m vllm.entrypoints.cli.main "$@"
"""


def install(cluster: Cluster, python: Path) -> None:
    """Have the image bring vLLM, for whoever may use this machine's."""
    cluster.put("/usr/local/sbin/vllm", _START.format(python=python).encode())
    for file in (python, python.resolve()):
        for folder in file.parents:
            (cluster.image.folder / str(folder).lstrip("/")).mkdir(parents=True, exist_ok=True)


def start(cluster: Cluster, objects: list[Object], files: Mapping[str, Path]) -> Pod:
    """Start the server among some objects, with folders at paths of its storage."""
    (item,) = deploy.of_kind(objects, "Deployment")
    for path, folder in files.items():
        store(cluster, item, path, folder)
    (pod,) = controllers.deployment(item)
    return cluster.start(pod)


def store(cluster: Cluster, item: Object, path: str, folder: Path) -> None:
    zoo.store_files(cluster, item, path, {file.name: file.read_bytes() for file in folder.iterdir()})


def ask(cluster: Cluster, pod: Pod, path: str, question: object = None, key: str = "") -> tuple[int, str]:
    """Return the status and the text of an answer."""
    words = ["--silent", "--max-time", "600", "--write-out", "\n%{http_code}"]
    words += ["--header", f"Authorization: Bearer {key}"] if key else []
    words += ["--json", json.dumps(question)] if question else []
    text = cluster.run(str(real.program("curl")), *words, f"http://{pod.address}:{PORT}{path}")
    body, _, status = text.rpartition("\n")
    return int(status), body


def answer(cluster: Cluster, pod: Pod, path: str, question: object = None, key: str = "") -> Any:
    """Return an answer in JSON."""
    status, body = ask(cluster, pod, path, question, key)
    assert status == 200, (body, pod.log)
    return json.loads(body)


def logged_routes(pod: Pod) -> list[str]:
    """Return the routes that a server says it has when it starts."""
    return re.findall(r"Route: (/[^,]*),", pod.log)
