"""Where the results of a run are, and which port of it somebody means."""

from __future__ import annotations

import argparse
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from packyard.cli.running import forward as verb
from packyard.core.errors import InputError
from packyard.running.runs import forward, results
from packyard.running.runs.forward import Port
from packyard.running.runs.kubectl import Kubectl
from running import made
from running.test_logs import pod, run_of

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
    ],
)
def test_results_are_where_the_output_is_mounted(objects: list[Object], place: str) -> None:
    assert [str(each) for each in results.places(objects)] == [place]


def test_a_run_that_says_nothing_of_its_output_has_no_place() -> None:
    assert results.places([made.job("a", "run")]) == []


def service(name: str, *ports: tuple[str, int], **spec: Any) -> Object:
    listed = [{"name": name, "port": number} for name, number in ports]
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": listed, **spec}}


SEEN = run_of(pod("w-0", "worker", 0), pod("w-1", "worker", 1))


def test_the_port_that_speaks_http_comes_first_and_headless_services_serve_nobody() -> None:
    objects = [service("a", ("grpc", 1)), service("b", ("x", 2), clusterIP="None"), service("c", ("http", 3))]
    found = forward.find(objects, SEEN)
    assert [str(each) for each in found] == ["service/c port 3 (http)", "service/a port 1 (grpc)"]
    assert forward.choose_port(found, "", SEEN, "", None) == found[0]
    assert forward.choose_port(found, "grpc", SEEN, "", None) == found[1]
    assert forward.choose_port(found, "1", SEEN, "", None) == found[1]
    assert forward.choose_port(found, "6006", SEEN, "worker", 1) == Port("pod/w-1", 6006, "")
    for wanted in ("x", "0", "65536", "²"):
        with pytest.raises(InputError, match=r"serves nothing on port .*its ports: service/c port 3 \(http\)"):
            forward.choose_port(found, wanted, SEEN, "", None)


def test_without_a_service_the_ports_of_pods_that_run_are_found() -> None:
    job = made.job("a", "run", {"name": "a", "ports": [{"containerPort": 8888, "name": "https"}]})
    assert forward.find([job], SEEN) == [Port("pod/w-0", 8888, "https")]
    assert forward.find([job, service("s", ("http", 1))], SEEN, index=1) == [Port("pod/w-1", 8888, "https")]


@pytest.mark.parametrize(
    ("name", "address"), [("http", "http://127.0.0.1:9"), ("https-ui", "https://127.0.0.1:9"), ("grpc", "127.0.0.1:9")]
)
def test_an_address_says_how_to_speak_to_a_port(name: str, address: str) -> None:
    assert Port("service/a", 1, name).address(9) == address


def test_a_port_that_is_taken_before_kubectl_listens_is_left_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    kubectl, taken = tmp_path / "kubectl", tmp_path / "taken"
    said = "error: unable to listen on any of the requested ports: [{8501 8501}]"
    kubectl.write_text(
        f"#!/bin/sh\n[ -e {taken} ] || {{ touch {taken}; echo '{said}' >&2; exit 1; }}\n"
        "echo 'Forwarding from 127.0.0.1:9 -> 8501'\n"
    )
    kubectl.chmod(0o755)

    def lost(_: float) -> None:
        raise KeyboardInterrupt

    client = Kubectl(program=str(kubectl), flags=(), context="test", namespace="test")
    monkeypatch.setattr(verb.clusters, "find", lambda _: client)
    monkeypatch.setattr(verb.records, "read_last", lambda *_: None)
    monkeypatch.setattr(verb, "_choose", lambda *_: Port("service/a", 8501, "http"))
    monkeypatch.setattr(verb, "time", SimpleNamespace(sleep=lost))
    assert verb.run(argparse.Namespace(run="a", output="text")) == 130
    printed = capfd.readouterr()
    assert printed.out.startswith("http://127.0.0.1:")
    assert "the connection is lost; trying again" in printed.err
    assert said not in printed.err


def test_a_port_that_is_taken_or_privileged_gets_another_number() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        taken = holder.getsockname()[1]
        assert forward.local_port(Port("service/a", taken, "")) not in (0, taken)
    assert forward.local_port(Port("service/a", 443, "https")) >= 1024
