"""How results are copied: by a pod of the run's own image and user, which the server admits and kubectl reads."""

import json
import shlex
from itertools import dropwhile
from typing import Any

from packyard.running.runs import outputs
from packyard.running.runs.kubectl import Kubectl
from running import made
from running.nightly.test_reading import settled
from running.wanted import config_map
from tiny import packyard

Object = dict[str, Any]
RUN = "train"


def run(output: str, name: str = RUN, **volume: Any) -> list[Object]:
    """Return a run that writes results into a folder that a volume holds."""
    job = made.job(name, "run", {"volumeMounts": [{"name": "storage", "mountPath": "/out"}]})
    job["spec"]["template"]["spec"]["volumes"] = [{"name": "storage", **volume}]
    return [config_map(f"{name}-settings", OUTPUT_DIR=output), job]


def test_the_commands_that_are_printed_make_a_pod_that_reads(client: Kubectl, flags: tuple[str, ...]) -> None:
    made.put(
        client,
        {RUN: run("/out/x", emptyDir={}), "claim": run("/out/x", "claim", persistentVolumeClaim={"claimName": "d"})},
    )
    settled(client, train="running", claim="starting")
    assert f"packyard exec {RUN}" in packyard("results", RUN, *flags).stderr
    (row,) = json.loads(packyard("results", "claim", *flags, "-o", "json").stdout)
    prints, *kubectl = (shlex.split(command)[1:] for command in row["copy"].replace(" | ", " && ").split(" && "))
    makes, *others = ([*dropwhile(lambda word: word.startswith("-"), words)] for words in kubectl)
    assert [words[0] for words in others] == ["wait", "cp", "delete"]
    pod = packyard(*prints, *flags).stdout
    assert client.run(*makes, "--output=name", data=pod.encode()) == b"pod/claim-results-0\n"


def test_a_pod_that_reads_is_confined_and_is_the_user_of_the_run() -> None:
    (place,) = outputs.places(run("/out/x", nfs={"server": "10.0.0.5", "path": "/exports"}))
    pod = outputs.reader(place, RUN, 0)
    (container,) = pod["spec"]["containers"]
    assert pod["spec"]["automountServiceAccountToken"] is False
    assert pod["spec"]["securityContext"]["runAsUser"] == 1000
    assert container["volumeMounts"][0]["readOnly"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
