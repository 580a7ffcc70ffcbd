"""The lines of a sweep, with their parameters and results, as `status` and `results` show them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from commandline import done
from controlplane.api import Api, Object, wait
from packyard.running.runs import sweep
from packyard.running.runs.kubectl import Kubectl
from running import made
from running.nightly.test_reading import settled
from running.wanted import config_map

LINES = "# one a line\n--lr 0.1 --seed 7\n\n--lr=0.5 --seed 7\n"


def objects(count: int = 3) -> list[Object]:
    container = {
        "command": ["sh", "/sweep/trial.sh", "/sweep/lines.txt"],
        "volumeMounts": [{"name": "sweep", "mountPath": "/sweep"}],
    }
    job = made.job("s", "run", container, completionMode="Indexed", completions=count, parallelism=count)
    job["spec"]["template"]["spec"]["volumes"] = [{"name": "sweep", "configMap": {"name": "s-sweep"}}]
    return [
        config_map("s", OUTPUT_DIR="s3://bucket/s"),
        config_map("s-sweep", **{"trial.sh": "#!/bin/sh\n", "lines.txt": LINES}),
        job,
    ]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("--lr 0.1 --fast --n=3", {"lr": "0.1", "fast": "yes", "n": "3"}),
        ("lr=0.1 -x -0.5 'a b'", {"lr": "0.1", "x": "-0.5", "argument 3": "a b"}),
        ("it's", {"argument 1": "it's"}),
        ("", {}),
    ],
)
def test_arguments_have_names(arguments: str, named: dict[str, str]) -> None:
    assert sweep.parameters(arguments) == named


def test_a_run_that_is_no_sweep_has_no_lines() -> None:
    assert sweep.find([made.job("a", "run"), *objects()[:2]], []) == []
    assert [each.state for each in sweep.find(objects(2), [])] == ["waiting", "waiting"]


def test_status_shows_each_line_with_what_it_left_as_its_result(client: Kubectl, cluster: Api, namespace: str) -> None:
    flags = (f"--namespace={namespace}", f"--kubeconfig={cluster.folder / 'kubeconfig'}")
    made.put(client, {"s": objects()})
    settled(client, s="running")
    (first,) = [each for each in cluster.list("v1", "Pod", namespace) if each["metadata"]["name"].startswith("s-0-")]
    ended: dict[str, Any] = {"exitCode": 0, "reason": "Completed", "message": "accuracy=0.91\n"}
    (container,) = first["status"]["containerStatuses"]
    status = {"phase": "Succeeded", "containerStatuses": [{**container, "state": {"terminated": ended}}]}
    fated = made.fated(first["metadata"]["name"], "complete")
    cluster.merge({**fated, "status": status}, namespace, subresource="status").expect_done()
    wait(lambda: [] if "accuracy" in done("status", "s", *flags) else ["no result yet"])
    (row,) = json.loads(done("status", "s", "-o", "json", *flags))
    shown = [(each["line"], each["parameters"], each["result"], each["reason"]) for each in row["lines"]]
    assert shown == [
        (0, {"lr": "0.1", "seed": "7"}, "accuracy=0.91", ""),
        (1, {"lr": "0.5", "seed": "7"}, "", ""),
        (2, {}, "", "the file has no line for it"),
    ]
    table = done("status", "s", *flags)
    assert "LINE  STATE" in table
    cluster.print(namespace, "epoch 3 - loss: 0.25")
    (place,) = json.loads(done("results", "s", "-o", "json", *flags))
    assert [each["result"] for each in place["lines"]] == ["accuracy=0.91", *["epoch 3 - loss: 0.25"] * 2]
    assert "loss: 0.25" in done("results", "s", *flags)
