"""What the launcher of an MPIJob passes on to the processes that it starts: every variable, named by nobody."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import yaml

from packyard.source import ranks
from packyard.source.accumulate import Object
from packyard.text import layout
from packyard.text.document import parse_one
from packyard.text.node import Mapping

JOB = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: a}
spec:
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          containers:
          - command: [/usr/bin/mpirun, -x, HOME]
            args: [python3, train.py]
            envFrom:
            - configMapRef: {name: environment}
"""
ENVIRONMENT = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: environment}\ndata: {STEPS: "5", y: "1", HOME: /}\n'
OTHER = ENVIRONMENT.replace("environment", "scripts").replace("STEPS", "train.sh")


def objects(*texts: str) -> list[Object]:
    roots = [parse_one(text.encode(), f"{number}.yaml").root for number, text in enumerate(texts)]
    return [Object(root, "o") for root in roots if isinstance(root, Mapping)]


def command(item: Object) -> Sequence[str]:
    job = yaml.safe_load(layout.write(item.root))
    found: list[str] = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]["command"]
    return found


def test_a_launcher_names_all_variables_that_it_has_from_config_maps_and_each_once() -> None:
    job, *others = objects(JOB, ENVIRONMENT, OTHER)
    expanded = ranks.add([job, *others])
    assert command(job) == ["/usr/bin/mpirun", "-x", "HOME", "-x", "STEPS", "-x", "y"]
    assert [identity for identity, _ in expanded] == [job.identity]
    assert b'value: "y"' in layout.write(expanded[0][1])
    assert ranks.add([job, *others]) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mpirun", "horovodrun"),
        ("v2beta1", "v1"),
        ("args: [python3, train.py]", "args: []"),
        ("command: [/usr/bin/mpirun, -x, HOME]", "command: [sh, -c, exec mpirun -x HOME train.py]"),
        ("configMapRef", "secretRef"),
    ],
)
def test_any_other_launcher_is_left_alone(old: str, new: str) -> None:
    text = JOB.replace(old, new)
    job, *others = objects(text, ENVIRONMENT)
    assert ranks.add([job, *others]) == []
    assert yaml.safe_load(layout.write(job.root)) == yaml.safe_load(text)
