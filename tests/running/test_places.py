"""Where the results of a run are."""

from typing import Any

import pytest

from packyard.running.runs import outputs
from running import made

Object = dict[str, Any]


def writing(output: str, volume: Object, path: str = "/out", sub_path: str = "") -> list[Object]:
    """Return a Job that mounts a volume, and a ConfigMap that says where it writes."""
    mounts = [{"name": "other", "mountPath": "/"}, {"name": "own", "mountPath": path, "subPath": sub_path}]
    job = made.job("a", "run", {"volumeMounts": mounts})
    job["spec"]["template"]["spec"]["volumes"] = [{"name": "own", **volume}]
    return [{"apiVersion": "v1", "kind": "ConfigMap", "data": {"OUTPUT_DIR": output}}, job]


@pytest.mark.parametrize(
    ("objects", "place"),
    [
        (writing("s3://b/x", {}), "s3://b/x"),
        (writing("/out/x", {"nfs": {"server": "h", "path": "/e"}}), "/out/x in the pods, h:/e/x by NFS"),
        (
            writing("/out/x", {"persistentVolumeClaim": {"claimName": "c"}}, sub_path="s"),
            "/out/x in the pods, s/x on claim c",
        ),
        *(
            (writing("/out/x", {kind: {}}), "/out/x in the pods, on a volume that only its pods have")
            for kind in ("emptyDir", "ephemeral", "hostPath")
        ),
        (writing("/out/x", {"csi": {}}), "/out/x in the pods"),
        (writing("/output/x", {"emptyDir": {}}), "/output/x in the pods"),
        (writing("output", {"emptyDir": {}}), "output in the pods"),
    ],
)
def test_results_are_where_the_output_is_mounted(objects: list[Object], place: str) -> None:
    assert [str(each) for each in outputs.places(objects)] == [place]


def test_a_run_that_says_nothing_of_its_output_has_no_place() -> None:
    assert outputs.places([made.job("a", "run")]) == []
