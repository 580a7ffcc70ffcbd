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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from workload import environment, volume
from workload.objects import Object, Objects, RefusedError

#: What images have for Python, beside what comes with it.
FRAMEWORKS = ("horovod", "keras", "numpy", "tensorflow", "torch")

#: What a container runtime leaves to a container that drops nothing.
_CAPABILITIES = {
    *("audit_write", "chown", "dac_override", "fowner", "fsetid", "kill", "mknod", "net_bind_service", "net_raw"),
    *("setfcap", "setgid", "setpcap", "setuid", "sys_chroot"),
}
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_DOMAIN = "svc.cluster.local"
_PATIENCE = 60.0
_STAND_IN, _CONTAINER = (Path(__file__).parent / name for name in ("program.py", "container.py"))
_MODULES = Path("/usr/lib/python3/dist-packages")


class Sandbox:
    """A process that does nothing but hold namespaces for as long as this one lives."""

    def __init__(self, hostname: str, *options: str) -> None:
        # The fourth word of `stat` is the parent of cut, by its number here, not in a namespace of its own.
        script = "hostname \"$0\" && cut -d ' ' -f 4 /proc/self/stat && exec sleep infinity"
        words = ["setpriv", "--pdeathsig=KILL", "unshare", "--net", "--uts", "--ipc", *options, "sh", "-c", script]
        self._process = subprocess.Popen([*words, hostname[:63]], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.pid = int(self._process.stdout.readline())

    def enter(self, *options: str) -> list[str]:
        """Return the words before a command that is to run in here."""
        return ["nsenter", f"--target={self.pid}", *options]

    def ip(self, *lines: str) -> None:
        """Configure the network."""
        words = [*self.enter("--net"), "ip", "-batch", "-"]
        subprocess.run(words, input="\n".join(lines), text=True, check=True)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


class Container:
    """A container that was started."""

    def __init__(self, spec: Object, words: list[str], folder: Path) -> None:
        self.spec = spec
        self.log_file = folder / "log"
        self._pid_link = folder / "pid"
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    def wait(self) -> int:
        """Return the exit code; a process that takes too long is killed, and the test fails with its log."""
        try:
            return self.process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.spec['name']} does not end:\n{self.log}") from None

    def kill(self) -> None:
        """Kill every process of the container, as a node that runs out of memory does."""
        while self.process.poll() is None and not self._pid_link.is_symlink():
            time.sleep(0.01)
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(int(self._pid_link.readlink().name), signal.SIGKILL)  # with the first process go all others
        self.process.wait()


class Pod:
    """A pod that was started: its sandbox, its volumes, its containers."""

    def __init__(self, described: Object, folder: Path, address: str) -> None:
        self.described = described
        self.folder = folder
        self.address = address
        self.containers: list[Container] = []
        self.is_ready = False
        spec = described["spec"]
        self.name: str = described["metadata"]["name"]
        self.hostname: str = spec.get("hostname") or self.name
        self.volumes: dict[str, Path] = {}
        self.records_dir = folder / "records"
        self.hosts_file = folder / "hosts"
        folder.mkdir()
        self.records_dir.mkdir()
        self.records_dir.chmod(0o1777)
        self.hosts_file.touch()
        self.sandbox = Sandbox(self.hostname)

    @property
    def log(self) -> str:
        """What all containers printed."""
        return "".join(f"--- {self.name} {each.spec['name']}\n{each.log}" for each in self.containers)

    @property
    def records(self) -> list[dict[str, Any]]:
        """What the stand-ins in this pod noted."""
        return [json.loads(file.read_bytes()) for file in sorted(self.records_dir.glob("*.json"))]

    @property
    def has_ended(self) -> bool:
        return bool(self.containers) and all(each.process.poll() is not None for each in self.containers)

    def release(self) -> None:
        """Let stand-ins end that were held."""
        (self.records_dir / "hold").unlink(missing_ok=True)

    def wait(self) -> int:
        """Return the first exit code that is not 0, when all containers ended."""
        return next((code for code in [each.wait() for each in self.containers] if code), 0)

    def kill(self) -> None:
        for each in self.containers:
            each.kill()


class Cluster:
    """One node, its network, and the objects of one namespace."""

    def __init__(self, folder: Path, objects: Objects) -> None:
        self.folder = folder
        self.objects = objects
        self.pods: list[Pod] = []
        self.hold = False  # whether stand-ins of pods that are started from now on stay until they are killed
        self._layer = folder / "image"
        self._layer.mkdir(parents=True)
        self._started = 0

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

    def install(self, pods: Sequence[Object]) -> None:
        """Put a stand-in into the image wherever these pods name a program that this machine has not.

        A program is the first word of a command, or a file of Python that a word or a variable names. Programs of ours
        are not in the image; they run, up to the framework that they import.
        """
        for name in FRAMEWORKS:
            if not (_MODULES / name).exists():
                self.put(str(_MODULES / name / "__init__.py"), _STAND_IN.read_bytes())
        for pod in pods:
            for container in _containers(pod):
                for file in _missing_programs(container, pod, self.objects):
                    self.put(str(file), _STAND_IN.read_bytes())

    def put(self, path: str, program: bytes) -> Path:
        """Put a program into the image of pods that start from now on, and return where it lies until then."""
        target = self._layer / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(program)
        target.chmod(0o755)
        return target

    def start(self, described: Object) -> Pod:
        """Start a pod: its init containers one after the other, which have to succeed, then its containers."""
        self._started += 1
        number = self._started + 1
        address = f"10.0.{number // 256}.{number % 256}"
        described = {**described, "status": {"podIP": address, "hostIP": "10.0.0.1"}}
        pod = Pod(described, self.folder / f"{self._started}-{described['metadata']['name']}", address)
        self.pods.append(pod)
        if self.hold:
            (pod.records_dir / "hold").touch()
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
        for container in spec["containers"]:
            _allow_serving(pod, container)
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

    def wait_ready(self, *pods: Pod) -> None:
        """Wait until each pod's readiness probes succeed; one that ends before, or never gets there, fails the test."""
        deadline = time.monotonic() + _PATIENCE
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

    def storage(self, each: Object) -> Path:
        """Return the directory that stands for a claim, an export or a directory of the node: one for each source."""
        kind = volume.source(each)
        name = json.dumps(each[kind], sort_keys=True).translate(str.maketrans('/"{} ', "_____"))
        folder = self.folder / "storage" / f"{kind}-{name}"
        if not folder.exists():
            folder.mkdir(parents=True)
            # A server has to let the users of an export write; a fresh claim belongs to root until fsGroup is applied.
            folder.chmod(0o1777 if kind == "nfs" else 0o755)
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
            else:
                folder = volume.lay(each, pod.described, self.objects, pod.folder / "volumes" / each["name"])
            volume.share(pod.described, kind, folder)
            pod.volumes[each["name"]] = folder

    def _run(self, container: Object, pod: Pod) -> Container:
        attempt = len(list(pod.folder.glob(f"{container['name']}.*")))
        folder = pod.folder / f"{container['name']}.{attempt}"
        (folder / "root").mkdir(parents=True)
        specification = {**self._specification(container, pod), "folder": str(folder)}
        (folder / "specification.json").write_text(json.dumps(specification))
        words = [*self._node.enter("--pid"), *pod.sandbox.enter("--net", "--uts", "--ipc")]
        words += ["unshare", "--mount", "--pid", "--fork", sys.executable, "-I", str(_CONTAINER)]
        return Container(container, [*words, str(folder / "specification.json")], folder)

    def _specification(self, container: Object, pod: Pod) -> dict[str, Any]:
        spec = pod.described["spec"]
        context = {**(spec.get("securityContext") or {}), **(container.get("securityContext") or {})}
        user, group = context.get("runAsUser", 0), context.get("runAsGroup", 0)
        if context.get("runAsNonRoot") and not user:
            raise RefusedError("container has runAsNonRoot and image will run as root")
        dropped = {name.lower() for name in context.get("capabilities", {}).get("drop", [])}
        added = {name.lower() for name in context.get("capabilities", {}).get("add", [])}
        variables = environment.environment(container, pod.described, self.objects)
        return {
            "layer": str(self._layer),
            "path": _PATH,
            "hostname": pod.hostname,
            "environment": variables,
            "words": environment.words(container, variables),
            "workingDir": container.get("workingDir", "/"),
            "readOnlyRoot": context.get("readOnlyRootFilesystem", False),
            "user": user,
            "group": group,
            "groups": sorted({*context.get("supplementalGroups", []), *_fs_group(context)}),
            "capabilities": sorted((set() if "all" in dropped else _CAPABILITIES - dropped) | added),
            "noNewPrivileges": context.get("allowPrivilegeEscalation") is False,
            "mounts": [
                {"source": str(pod.hosts_file), "target": "/etc/hosts", "readOnly": False},
                {"source": str(pod.records_dir), "target": "/.records", "readOnly": False},
                *(_mount(each, pod, variables) for each in container.get("volumeMounts", [])),
            ],
        }

    def _publish(self) -> None:
        """Give every pod the names that it can look up now: its own, and those of the pods behind Services."""
        namespaces = {pod.name: pod.described["metadata"].get("namespace", "default") for pod in self.pods}
        names: list[tuple[str, str]] = []
        for service in self.objects.of_kind("Service"):
            spec, name = service["spec"], service["metadata"]["name"]
            for pod in self.pods:
                ready = pod.is_ready or spec.get("publishNotReadyAddresses") or not _has_probe(pod)
                if ready and not pod.has_ended and _selects(spec.get("selector"), pod):
                    domain = f"{name}.{namespaces[pod.name]}.{_DOMAIN}"
                    names.append((pod.address, domain))
                    if spec.get("clusterIP") == "None" and pod.described["spec"].get("subdomain") == name:
                        names.append((pod.address, f"{pod.hostname}.{domain}"))
        for pod in self.pods:
            pod.hosts_file.write_text("".join(_hosts(pod, names, namespaces[pod.name])))


def _hosts(pod: Pod, names: Sequence[tuple[str, str]], namespace: str) -> Iterator[str]:
    yield "127.0.0.1 localhost\n::1 localhost ip6-localhost\n"
    yield f"{pod.address} {pod.hostname}\n"
    searches = [f"{namespace}.{_DOMAIN}", _DOMAIN, _DOMAIN.partition(".")[2]]
    searches += pod.described["spec"].get("dnsConfig", {}).get("searches", [])
    for address, name in names:
        short = [name.removesuffix(f".{domain}") for domain in searches if name.endswith(f".{domain}")]
        yield f"{address} {' '.join(dict.fromkeys([name, *short]))}\n"


def _containers(pod: Object) -> list[Object]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


def _missing_programs(container: Object, pod: Object, objects: Objects) -> Iterator[PurePosixPath]:
    variables = environment.environment(container, pod, objects)
    words = environment.words(container, variables)
    folder = PurePosixPath(container.get("workingDir", "/"))
    mounts = [PurePosixPath(mount["mountPath"]) for mount in container.get("volumeMounts", [])]
    named = [folder / word for word in [*words, *variables.values()] if word.endswith(".py") and " " not in word]
    programs = [PurePosixPath(place) / words[0] for place in _PATH.split(":")]
    if not any(Path(program).exists() for program in programs):
        named.append(programs[0])
    for file in named:
        if not Path(file).exists() and not any(file.is_relative_to(mount) for mount in mounts):
            yield file


def _mount(mount: Object, pod: Pod, variables: Mapping[str, str]) -> dict[str, Any]:
    source = pod.volumes[mount["name"]]
    inner = environment.expand(mount["subPathExpr"], variables) if "subPathExpr" in mount else mount.get("subPath", "")
    if inner and not (source / inner).exists():
        (source / inner).mkdir(parents=True, mode=source.stat().st_mode & 0o7777)
    return {
        "source": str((source / inner).resolve()),
        "target": mount["mountPath"],
        "readOnly": mount.get("readOnly", False),
    }


def _allow_serving(pod: Pod, container: Object) -> None:
    """Tell a stand-in which ports it has to answer on, where the pod is one that runs for good."""
    if pod.described["spec"].get("restartPolicy", "Always") == "Always":
        ports = [port["containerPort"] for port in container.get("ports", [])]
        (pod.records_dir / "ports").write_text(json.dumps(ports))


def _port(probe: Object, pod: Pod) -> int:
    if isinstance(probe["port"], int):
        return probe["port"]
    ports = [port for container in pod.described["spec"]["containers"] for port in container.get("ports", [])]
    return next(port["containerPort"] for port in ports if port.get("name") == probe["port"])


def _has_probe(pod: Pod) -> bool:
    return any(container.get("readinessProbe") for container in pod.described["spec"]["containers"])


def _selects(selector: Mapping[str, str] | None, pod: Pod) -> bool:
    labels = pod.described["metadata"].get("labels", {})
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())


def _fs_group(context: Mapping[str, Any]) -> list[int]:
    return [context["fsGroup"]] if "fsGroup" in context else []
