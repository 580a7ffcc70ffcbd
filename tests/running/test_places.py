"""Where the results of a run are, and which port of it somebody means."""

from __future__ import annotations

from typing import Any

import pytest

from packyard.core.errors import InputError
from packyard.running.runs import forward, results
from packyard.running.runs.forward import Port
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
        (writing("/out/x", {"emptyDir": {}}), "/out/x in the pods, on a volume that is deleted with each pod"),
        (writing("/out/x", {"hostPath": {"path": "/h"}}), "/out/x in the pods, /h/x on the node of each pod"),
        (writing("/out/x", {"csi": {}}), "/out/x in the pods"),
        (writing("/output/x", {"emptyDir": {}}), "/output/x in the pods"),
        (writing("output", {"emptyDir": {}}), "output in the pods"),
    ],
)
def test_results_are_where_the_output_is_mounted(objects: list[Object], place: str) -> None:
    assert [str(each) for each in results.places(objects)] == [place]


def test_a_run_that_says_nothing_of_its_output_has_no_place() -> None:
    assert results.places([made.job("a", "run")]) == []


def service(name: str, *ports: tuple[str, int], **spec: Any) -> Object:
    listed = [{"name": name, "port": number} for name, number in ports]
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": listed, **spec}}


def test_the_port_that_speaks_http_comes_first_and_headless_services_serve_nobody() -> None:
    objects = [service("a", ("grpc", 1)), service("b", ("x", 2), clusterIP="None"), service("c", ("http", 3))]
    found = forward.find(objects)
    assert [str(each) for each in found] == ["service/c port 3 (http)", "service/a port 1 (grpc)"]
    assert forward.choose(found, "", "w-0", "one") == found[0]
    assert forward.choose(found, "grpc", "w-0", "one") == found[1]
    assert forward.choose(found, "1", "w-0", "one") == found[1]
    assert forward.choose(found, "6006", "w-1", "one") == Port("pod/w-1", 6006)
    for wanted in ("x", "0", "65536", "²"):
        with pytest.raises(InputError, match=r"serves nothing on port .*its ports: service/c port 3 \(http\)"):
            forward.choose(found, wanted, "w-0", "one")


def test_a_privileged_port_gets_another_number_here() -> None:
    assert Port("service/a", 443, "https").words == ["service/a", ":443"]
    assert Port("pod/a", 6006).words == ["pod/a", "6006"]
