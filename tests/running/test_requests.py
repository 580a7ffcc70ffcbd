"""What pods ask for, as a scheduler adds it up."""

from __future__ import annotations

from typing import Any

import yaml

from packyard.core.kubernetes import pods
from packyard.running.runs import requests

NANO = 10**9


def asked(spec: str) -> tuple[dict[str, float], ...]:
    """Return requests and limits in whole units."""
    item: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "spec": yaml.safe_load(spec)}
    (pod,) = pods.find(item)
    found = requests.of(pod)
    return tuple({name: amount / NANO for name, amount in each.items()} for each in (found.requests, found.limits))


def test_containers_run_side_by_side_and_a_limit_is_a_request_where_there_is_none() -> None:
    spec = "{containers: [{resources: {limits: {cpu: 2}, requests: {cpu: 500m}}}, {resources: {limits: {cpu: '1'}}}]}"
    assert asked(spec) == ({"cpu": 1.5}, {"cpu": 3})


def test_init_containers_run_before_one_after_the_other() -> None:
    init = "initContainers: [{resources: {limits: {cpu: 3}}}, {resources: {limits: {memory: 4}}}]"
    assert asked(f"{{{init}, containers: [{{resources: {{limits: {{cpu: 2}}}}}}]}}") == ({"cpu": 3, "memory": 4},) * 2


def test_init_containers_that_restart_stay_beside_all_that_follow() -> None:
    init = "initContainers: [{restartPolicy: Always, resources: {limits: {cpu: 1}}}, {resources: {limits: {cpu: 3}}}]"
    assert asked(f"{{{init}, containers: [{{resources: {{limits: {{cpu: 2}}}}}}]}}") == ({"cpu": 4}, {"cpu": 4})
