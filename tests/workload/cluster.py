"""A node of one machine that starts pods as real processes, each with a network address and a name of its own.

What a kubelet and a container runtime do with a pod's ``spec`` is done for everything that decides whether a command
runs: environment and words, user, groups, capabilities and privileges, the file system with its volumes, network, host
name, names of Services, probes. Every process ends with the test, even one that is killed.

    with Cluster(tmp_path, Objects(objects)) as cluster:
        cluster.install(pods)
        running = cluster.start(pod)
        assert running.wait() == 0, running.log
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from real import program
from workload import network, volume
from workload.image import Image
from workload.objects import Object, Objects
from workload.pod import PATIENCE, Container, Pod
from workload.sandbox import Sandbox
from workload.specification import specification

_CONTAINER = Path(__file__).parent / "container.py"


class Cluster:
    """One node, its network, and the objects of one namespace."""

    def __init__(self, folder: Path, objects: Objects) -> None:
        self.folder = folder
        self.objects = objects
        self.pods: list[Pod] = []
        self.hold = False  # whether stand-ins of pods that are started from now on stay until they are killed
        self.applies_fs_group = True  # whether the driver of claims gives them to the group of a pod
        self.image = Image(folder / "image")
        self._started = 0
        self._servers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Cluster:
        # Whatever happens to this process, all that runs on the node ends with the first process there.
        self._node = Sandbox("node", "--pid", "--fork", "--kill-child")
        self._node.ip("link add pods type bridge", "addr add 10.0.0.1/16 dev pods", "link set pods up")
        return self

    def __exit__(self, *_: object) -> None:
        for pod in self.pods:
            pod.kill()
            pod.sandbox.close()
        self._node.close()
        for server in self._servers:
            server.wait()

    def install(self, pods: Sequence[Object]) -> None:
        """Put stand-ins into the image for the programs of these pods, before the first is started."""
        self.image.install(pods, self.objects)

    def put(self, path: str, program: bytes) -> Path:
        """Put a program into the image of pods that start from now on, and return where it lies until then."""
        return self.image.put(path, program)

    def start(self, described: Object) -> Pod:
        """Start a pod: its init containers one after the other, which have to succeed, then its containers."""
        self._started += 1
        number = self._started + 1
        address = f"10.0.{number // 256}.{number % 256}"
        described = {**described, "status": {"podIP": address, "hostIP": "10.0.0.1"}}
        pod = Pod(described, self.folder / f"{self._started}-{described['metadata']['name']}", address)
        self.pods.append(pod)
        if self.hold:
            for container in described["spec"]["containers"]:
                (pod.records_dirs[container["name"]] / "hold").touch()
        self._connect(pod, number)
        self._lay_volumes(pod)
        self._publish()
        spec = described["spec"]
        for container in spec.get("initContainers", []):
            started = self._run(container, pod)
            if container.get("restartPolicy") == "Always":
                pod.containers.append(started)
            elif started.wait():
                raise AssertionError(f"{pod.name}: init container {container['name']} failed:\n{started.log}")
        _allow_serving(pod)
        for container in spec["containers"]:
            pod.containers.append(self._run(container, pod))
        self._publish()
        return pod

    def restart(self, pod: Pod) -> None:
        """Run the containers again that failed, as a kubelet does: the pod keeps its address and its volumes."""
        policy = pod.described["spec"].get("restartPolicy", "Always")
        for number, each in enumerate(pod.containers):
            if policy == "Always" or (policy == "OnFailure" and each.process.poll()):
                pod.containers[number] = self._run(each.spec, pod)
        self._publish()

    def end(self, pod: Pod) -> None:
        """Begin to end a pod as a kubelet does that deletes it: its containers' preStop hooks, then SIGTERM."""
        for each in pod.containers:
            hook = each.spec.get("lifecycle", {}).get("preStop", {})
            if "exec" in hook:
                each.run(*hook["exec"]["command"])
            elif hook:
                raise NotImplementedError(f"{pod.name}: preStop {sorted(hook)}")
            each.send(signal.SIGTERM)

    def wait_ready(self, *pods: Pod) -> None:
        """Wait until each pod's readiness probes succeed; one that ends before, or never gets there, fails the test."""
        deadline = time.monotonic() + PATIENCE
        for pod in pods:
            while not self.probe(pod):
                if time.monotonic() > deadline or any(each.process.poll() is not None for each in pod.containers):
                    raise AssertionError(f"{pod.name} does not become ready:\n{pod.log}")
                time.sleep(0.05)

    def probe(self, pod: Pod) -> bool:
        """Try the readiness probes of a pod from its node, and return whether it is ready now."""
        probes = [each.get("readinessProbe") for each in pod.described["spec"]["containers"]]
        pod.is_ready = all(self._succeeds(probe, pod) for probe in probes if probe)
        self._publish()
        return pod.is_ready

    def run(self, *words: str) -> str:
        """Return what a program of this machine prints on the node, in its network."""
        command = [*self._node.enter("--net"), *words]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=PATIENCE).stdout

    def serve(self, *words: str, cwd: Path) -> None:
        """Run a program of this machine on the node, in its network, as long as there is the node."""
        command = [*self._node.enter("--net", "--pid"), *words]
        self._servers.append(subprocess.Popen(command, cwd=cwd, stderr=subprocess.DEVNULL))

    def storage(self, each: Object) -> Path:
        """Return the directory that stands for a claim, an export or a directory of the node: one for each source."""
        kind = volume.source(each)
        name = json.dumps(each[kind], sort_keys=True).translate(str.maketrans('/"{} ', "_____"))
        folder = self.folder / "storage" / f"{kind}-{name}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _succeeds(self, probe: Object, pod: Pod) -> bool:
        if "tcpSocket" in probe:
            script = f"import socket; socket.create_connection({(pod.address, _port(probe['tcpSocket'], pod))!r}, 1)"
        elif "httpGet" in probe:
            url = f"http://{pod.address}:{_port(probe['httpGet'], pod)}{probe['httpGet'].get('path', '/')}"
            script = f"import urllib.request; urllib.request.urlopen({url!r}, timeout=1)"
        else:
            raise NotImplementedError(f"{pod.name}: readinessProbe {sorted(probe)}")
        words = [*self._node.enter("--net"), sys.executable, "-I", "-c", script]
        return subprocess.run(words, capture_output=True).returncode == 0

    def _connect(self, pod: Pod, number: int) -> None:
        self._node.ip(
            f"link add pod{number} type veth peer name eth0 netns {pod.sandbox.pid}",
            f"link set pod{number} master pods up",
        )
        pod.sandbox.ip(f"addr add {pod.address}/16 dev eth0", "link set eth0 up", "link set lo up")

    def _lay_volumes(self, pod: Pod) -> None:
        for each in pod.described["spec"].get("volumes", []):
            kind = volume.source(each)
            if kind in volume.STORAGE:
                folder = self.storage(each)
                volume.admit(kind, pod.described, folder)
            else:
                folder = volume.lay(each, pod.described, self.objects, pod.folder / "volumes" / each["name"])
            if self.applies_fs_group or kind != "persistentVolumeClaim":
                volume.share(pod.described, kind, folder)
            pod.volumes[each["name"]] = folder

    def _run(self, container: Object, pod: Pod) -> Container:
        attempt = len(list(pod.folder.glob(f"{container['name']}.*")))
        folder = pod.folder / f"{container['name']}.{attempt}"
        (folder / "root").mkdir(parents=True)
        described = specification(container, pod, self.objects, self.image.folder)
        (folder / "specification.json").write_text(json.dumps({**described, "folder": str(folder)}))
        words = [*self._node.enter("--pid"), *pod.sandbox.enter("--net", "--uts", "--ipc")]
        words += [str(program("unshare")), "--mount", "--pid", "--fork", sys.executable, "-I", str(_CONTAINER)]
        return Container(container, [*words, str(folder / "specification.json")], folder)

    def _publish(self) -> None:
        """Let every pod know the names that there are now, and hear of no pod that may not connect to it."""
        for pod in self.pods:
            _rewrite(pod.hosts_file, network.hosts(pod, self.pods, self.objects).encode())
            # It does not answer them: for them, as if nothing were there.
            refused = network.refused(pod, self.pods, self.objects)
            pod.sandbox.ip(*(f"route add blackhole {address}" for address in sorted(refused - pod.refused)))
            pod.refused |= refused


def _rewrite(file: Path, data: bytes) -> None:
    """Write a file that others read meanwhile: there is no moment in which it is empty."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT, 0o644), "wb", buffering=0) as stream:
        stream.write(data)
        stream.truncate()


def _allow_serving(pod: Pod) -> None:
    """Tell the stand-in of each container which ports to answer on, where the pod is one that runs for good."""
    spec = pod.described["spec"]
    if spec.get("restartPolicy", "Always") == "Always":
        for container in spec["containers"]:
            ports = [port["containerPort"] for port in container.get("ports", [])]
            (pod.records_dirs[container["name"]] / "ports").write_text(json.dumps(ports))


def _port(probe: Object, pod: Pod) -> int:
    if isinstance(probe["port"], int):
        return probe["port"]
    ports = [port for container in pod.described["spec"]["containers"] for port in container.get("ports", [])]
    return next(port["containerPort"] for port in ports if port.get("name") == probe["port"])
