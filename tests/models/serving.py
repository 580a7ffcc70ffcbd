"""Pods of llm-serving whose image has vLLM itself, on processors."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import real
from catalogue.usecases import PACKAGES
from workload import controllers
from workload.environment import Object
from workload.machine import Machine, Pod

USE_CASES = {each.path: (item, each) for item in PACKAGES for each in item.use_cases if item.name == "llm-serving"}
PORT = 8000


def start(cluster: Machine, objects: list[Object], files: Mapping[str, Path]) -> Pod:
    """Start the server among some objects, with folders at paths of its storage."""
    (item,) = controllers.of_kind(objects, "Deployment")
    (pod,) = controllers.deployment(item)
    for path, folder in files.items():
        store(cluster, pod, path, folder)
    return cluster.start(pod)


def store(cluster: Machine, pod: Object, path: str, folder: Path) -> None:
    cluster.store(pod, path, {file.name: file.read_bytes() for file in folder.iterdir()})


def ask(cluster: Machine, pod: Pod, path: str, question: object = None, key: str = "") -> tuple[int, str]:
    """Return the status and the text of an answer."""
    words = ["--silent", "--max-time", "600", "--write-out", "\n%{http_code}"]
    words += ["--header", f"Authorization: Bearer {key}"] if key else []
    words += ["--json", json.dumps(question)] if question else []
    text = cluster.run(str(real.program("curl")), *words, f"http://{pod.address}:{PORT}{path}")
    body, _, status = text.rpartition("\n")
    return int(status), body


def answer(cluster: Machine, pod: Pod, path: str, question: object = None, key: str = "") -> Any:
    """Return an answer in JSON."""
    status, body = ask(cluster, pod, path, question, key)
    assert status == 200, (body, pod.log)
    return json.loads(body)


def logged_routes(pod: Pod) -> list[str]:
    """Return the routes that a server says it has when it starts."""
    return re.findall(r"Route: (/[^,]*),", pod.log)
