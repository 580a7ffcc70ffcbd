"""What pods use, as a real metrics-server and a real Prometheus say it through the API server; nothing where none is.

Nodes are simulated by kwok, whose kubelet says what annotations of pods say; GPUs are what a file in the form of DCGM's
exporter says (its documentation, "Metrics"), as there are none here. `make soak` runs this.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import real
import sample
from commandline import packyard
from controlplane import shared
from controlplane.api import Api, wait
from packyard.core.errors import UnavailableError
from packyard.running.runs import kubectl, usage
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.usage import Usage
from running import made
from usecases import Object

_SOAK = pytest.mark.skipif(not sample.WHOLE, reason="make soak asks a metrics-server and a Prometheus")
GPUS = """\
# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",modelName="NVIDIA A100",container="training",namespace="<ns>",pod="busy"} 90
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2",modelName="NVIDIA A100",container="training",namespace="<ns>",pod="busy"} 70
DCGM_FI_DEV_GPU_UTIL{gpu="2",UUID="GPU-3",modelName="NVIDIA A100",container="x",namespace="other",pod="busy"} 1
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-1",container="training",namespace="<ns>",pod="busy"} 61440
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-2",container="training",namespace="<ns>",pod="busy"} 20480
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-1",container="training",namespace="<ns>",pod="busy"} 20480
DCGM_FI_DEV_FB_FREE{gpu="1",UUID="GPU-2",container="training",namespace="<ns>",pod="busy"} 61440
"""
_RBAC = "rbac.authorization.k8s.io"
#: What is read through the API server, and what this asks itself to know that the API is there.
_RULES = [
    {"apiGroups": ["metrics.k8s.io"], "resources": ["*"], "verbs": ["get", "list"]},
    {"nonResourceURLs": ["/apis/metrics.k8s.io/*"], "verbs": ["get"]},
]
ANYBODY: Object = {
    "apiVersion": f"{_RBAC}/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "metrics"},
    "rules": _RULES,
}
BINDING: Object = {
    "apiVersion": f"{_RBAC}/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "metrics"},
    "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "metrics"},
    "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": "system:anonymous"}],
}
BUSY = Usage(gpus=2, gpu=80.0, gpu_memory=80 * 2**30, gpu_memory_total=160 * 2**30)


@pytest.fixture(scope="module")
def plane(shared_dir: Path) -> Iterator[Api]:
    """A control plane of its own, as everybody sees an API that is added."""
    folder = shared_dir / "usage-plane"
    with shared.use(folder, "-m", "controlplane.service", "api", str(folder)):
        inside = folder / "controllers"
        with shared.use(inside, "-m", "controlplane.service", "controllers", str(inside)):
            path = "/metrics/nodes/node/metrics/resource"
            annotations = {"metrics.k8s.io/resource-metrics-path": path}
            metadata = {"name": "node", "annotations": annotations}
            Api(folder).merge({"apiVersion": "v1", "kind": "Node", "metadata": metadata}).expect_done()
            yield Api(folder)


@pytest.fixture
def client(plane: Api) -> Kubectl:
    namespace = plane.create_namespace("privileged")
    wait(lambda: [] if plane.list("v1", "ServiceAccount", namespace) else ["no account"])
    found = kubectl.find(os.environ["PATH"], kubeconfig=str(plane.folder / "kubeconfig"), namespace=namespace)
    busy = made.pod("busy", "run")
    busy["metadata"]["annotations"] |= {"kwok.x-k8s.io/usage-cpu": "250m", "kwok.x-k8s.io/usage-memory": "512Mi"}
    made.put(found, {"busy": [busy]})
    return found


@contextmanager
def running(*words: object) -> Iterator[None]:
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def service(api: Api, namespace: str, name: str, spec: Object) -> None:
    labels = {"app.kubernetes.io/name": name}
    item = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "labels": labels}, "spec": spec}
    api.create(item, namespace).expect_done()


@contextmanager
def metrics_server(api: Api, namespace: str, folder: Path) -> Iterator[None]:
    """Run metrics-server behind the API server's aggregator, which finds it by a Service that names this machine."""
    port, config = real.free_port(), api.folder / "kubeconfig"
    flags = [
        *(f"--{name}={config}" for name in ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")),
        *("--kubelet-insecure-tls", "--kubelet-use-node-status-port", "--kubelet-preferred-address-types=InternalIP"),
        *("--metric-resolution=10s", "--kubelet-request-timeout=5s", f"--secure-port={port}"),
        *("--bind-address=127.0.0.1", f"--cert-dir={folder}"),
        *("--authentication-skip-lookup", "--authentication-tolerate-lookup-failure"),
    ]
    for item in (ANYBODY, BINDING):  # the API server forwards without a certificate here, once it has let us in
        api.create(item).expect_done()
    service(api, namespace, "metrics-server", {"type": "ExternalName", "externalName": "localhost"})
    where = {"name": "metrics-server", "namespace": namespace, "port": port}
    item = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService"}
    item |= {"metadata": {"name": "v1beta1.metrics.k8s.io"}}
    spec = {"group": "metrics.k8s.io", "version": "v1beta1", "service": where, "insecureSkipTLSVerify": True}
    with running(real.pinned_program("metrics-server"), *flags):
        priorities = {"groupPriorityMinimum": 100, "versionPriority": 100}
        api.create({**item, "spec": {**spec, **priorities}}).expect_done()
        try:
            yield
        finally:
            api.delete(item).expect_done()


@contextmanager
def prometheus(api: Api, namespace: str, folder: Path, said: str) -> Iterator[None]:
    """Run Prometheus where the API server reaches it as a Service, reading what an exporter says."""
    (folder / "exporter").mkdir()
    (folder / "exporter" / "metrics").write_text(said)
    handler = partial(_Quiet, directory=str(folder / "exporter"))
    port, address = real.free_port(), own_address()
    with ExitStack() as stack:
        server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), handler))
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.shutdown)
        scrape = {"job_name": "dcgm", "scrape_interval": "1s", "scrape_timeout": "1s", "honor_labels": True}
        scrape |= {"static_configs": [{"targets": [f"127.0.0.1:{server.server_port}"]}]}
        (folder / "prometheus.yml").write_text(json.dumps({"scrape_configs": [scrape]}))
        flags = [f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
        stack.enter_context(running(real.program("prometheus"), *flags, f"--web.listen-address={address}:{port}"))
        service(api, namespace, "prometheus", {"ports": [{"name": "web", "port": 80, "targetPort": port}]})
        pod = made.pod("prometheus", "held")  # the API server forwards to pods alone
        api.create(pod, namespace).expect_done()
        status = {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}
        api.merge({**pod, "status": status}, namespace, subresource="status").expect_done()
        to = {"ip": address, "targetRef": {"kind": "Pod", "name": "prometheus", "namespace": namespace}}
        ports = {"subsets": [{"addresses": [to], "ports": [{"name": "web", "port": port}]}]}
        endpoints = {"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "prometheus"}}
        api.create({**endpoints, **ports}, namespace).expect_done()
        yield


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def own_address() -> str:
    """Return an address of this machine that an API server takes for one of a pod."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.connect(("192.0.2.1", 9))  # sends nothing
        return str(one.getsockname()[0])


def used(client: Kubectl) -> Usage:
    return usage.read(client, ["node"]).pods.get("busy", Usage())


@_SOAK
@pytest.mark.nightly
@pytest.mark.usefixtures("kubectl")
def test_a_cluster_without_metrics_says_so_once(client: Kubectl) -> None:
    done = packyard("status", "--usage", *client.flags, "-n", client.namespace)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("are not shown") == 2
    assert "CPU and memory are not shown: the cluster has no metrics API, as metrics-server brings it" in done.stderr
    assert "GPUs are not shown: neither Prometheus nor DCGM's exporter tells of any" in done.stderr


@_SOAK
@pytest.mark.nightly
@pytest.mark.usefixtures("kubectl")
def test_a_metrics_server_says_what_pods_use(plane: Api, client: Kubectl, tmp_path: Path) -> None:
    with metrics_server(plane, client.namespace, tmp_path):
        wait(lambda: [] if used(client).cpu else ["no metrics"])
        found = used(client)
        assert found.memory == 512 * 2**20
        assert found.cpu == pytest.approx(0.25, abs=0.05)
        done = packyard("status", "busy", "--usage", *client.flags, "-n", client.namespace, "-o", "json")
        (run,) = json.loads(done.stdout)
        assert run["pods"][0]["usage"]["memory"] == 512 * 2**20
        text = packyard("status", "busy", "--usage", *client.flags, "-n", client.namespace).stdout
        assert "512.0Mi" in text
        assert "CPU" in text


@_SOAK
@pytest.mark.nightly
@pytest.mark.usefixtures("kubectl")
def test_a_prometheus_says_what_gpus_do(plane: Api, client: Kubectl, tmp_path: Path) -> None:
    said = GPUS.replace("<ns>", client.namespace)
    with prometheus(plane, client.namespace, tmp_path, said):
        wait(lambda: [] if used(client).gpus else [str(usage.read(client, ["node"]).unknown)])
        assert replace(used(client), cpu=None, memory=None) == BUSY
        text = packyard("status", "busy", "--usage", *client.flags, "-n", client.namespace).stdout
        assert "2: 80 %, 80.0Gi of 160.0Gi" in text


def test_what_several_pods_use_is_one_sum() -> None:
    whole = usage.total([BUSY, Usage(cpu=1.5, memory=2**30), Usage()])
    assert usage.cells(whole) == ("1.50", "1.0Gi", "2: 80 %, 80.0Gi of 160.0Gi")
    assert usage.cells(usage.total([])) == ("", "", "")


@pytest.mark.parametrize("answer", [None, [], "", {"status": "error", "error": "bad"}])
def test_what_is_no_answer_of_prometheus_is_refused(answer: object) -> None:
    with pytest.raises(UnavailableError, match="Prometheus answers: "):
        usage.series(answer)


@pytest.mark.parametrize("data", [None, [], {"result": 5}, {"result": [5, None]}])
def test_data_of_any_type_are_no_bug(data: object) -> None:
    assert usage.series({"status": "success", "data": data}) == []
