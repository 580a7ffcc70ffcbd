"""Pods as processes of this machine: each with its environment, folders, user, network address and names.

    with Machine(tmp_path, objects) as machine:
        pod = machine.start(described)
        assert pod.wait() == 0, pod.log

The image of every container is the root of this machine, with what `Machine.put` lays over it. Limits, capabilities of
users, NetworkPolicies and restarts are left to the API server and the tests that ask it. All that runs ends with the
process that started it, even one that is killed.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import tiny
from real import program
from workload import environment, volumes
from workload.environment import Object

#: Seconds until a test gives up waiting, on a busy machine.
PATIENCE = 120.0

#: Where a container looks for programs.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: For a program that an image has: it notes what it is given.
STAND_IN = (Path(__file__).parent / "program.py").read_bytes()
_DOMAIN = "ml.svc.cluster.local"


class Container:
    """A container that was started."""

    def __init__(self, spec: Object, words: list[str], folder: Path) -> None:
        self.spec = spec
        self.log_file = folder / "log"
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    def wait(self) -> int:
        """Return the exit code; a process that takes too long is killed, and the test fails with its log."""
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.spec['name']} does not end:\n{self.log}") from None

    def kill(self) -> None:
        """Kill every process of the container, as a node that runs out of memory does."""
        self.process.kill()
        self.process.wait()

    def terminate(self) -> None:
        """Send SIGTERM to the first process, as a kubelet does."""
        with suppress(ProcessLookupError, FileNotFoundError):
            children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
            os.kill(int(children.split()[0]), signal.SIGTERM)


class Pod:
    """A pod that was started: its network, its folders, its containers."""

    def __init__(self, described: Object, folder: Path, address: str) -> None:
        self.described = described
        self.folder = folder
        self.address = address
        self.name: str = described["metadata"]["name"]
        self.hostname: str = described["spec"].get("hostname") or self.name
        self.is_ready = False
        self.containers: list[Container] = []
        self.volumes: dict[str, Path] = {}
        self.hosts_file = folder / "hosts"
        folder.mkdir()
        self.hosts_file.touch()
        self.network = Network(self.hostname)

    @property
    def log(self) -> str:
        """What all containers printed."""
        return "".join(f"--- {self.name} {container.spec['name']}\n{container.log}" for container in self.containers)

    def records_dir(self, container: str) -> Path:
        return self.folder / "records" / container

    def records(self) -> list[dict[str, Any]]:
        """Return what the stand-ins in the first container noted."""
        folder = self.records_dir(self.described["spec"]["containers"][0]["name"])
        return [json.loads(file.read_bytes()) for file in sorted(folder.glob("*.json"))]

    @property
    def has_ended(self) -> bool:
        return bool(self.containers) and all(container.process.poll() is not None for container in self.containers)

    def wait(self) -> int:
        """Return the first exit code that is not 0, when all containers ended."""
        return next((code for code in [container.wait() for container in self.containers] if code), 0)

    def kill(self) -> None:
        for container in self.containers:
            container.kill()

    def here(self, path: str) -> Path:
        """Return where a path of the pod's first container lies on this machine."""
        mounts = [each for each in self.described["spec"]["containers"][0]["volumeMounts"] if _lies_in(path, each)]
        mount = max(mounts, key=lambda each: len(each["mountPath"]))
        return self.volumes[mount["name"]] / mount.get("subPath", "") / Path(path).relative_to(mount["mountPath"])


class Network:
    """A network of its own and a host name, held by a process that does nothing and ends with this one."""

    def __init__(self, hostname: str) -> None:
        script = 'echo "$0" >/proc/sys/kernel/hostname && echo && exec sleep infinity'
        words = [program("setpriv"), "--pdeathsig=KILL", program("unshare"), "--net", "--uts", "sh", "-c", script]
        self._process = subprocess.Popen([*words, hostname[:63]], stdout=subprocess.PIPE)
        assert self._process.stdout
        self._process.stdout.readline()
        self.pid = self._process.pid

    def enter(self) -> list[str]:
        """Return the words before a command that is to run in here, as long as this process does."""
        entered = [program("nsenter"), f"--target={self.pid}", "--net", "--uts"]
        return [str(word) for word in (*entered, program("setpriv"), "--pdeathsig=KILL")]

    def ip(self, *lines: str) -> None:
        """Configure it."""
        subprocess.run([*self.enter(), program("ip"), "-batch", "-"], input="\n".join(lines), text=True, check=True)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


class Machine:
    """What the pods of one namespace run on, with the objects of that namespace."""

    def __init__(self, folder: Path, objects: Sequence[Object] = ()) -> None:
        self.folder = folder
        self.objects = list(objects)
        self.image_dir = folder / "image"  # what the image of all containers has beside the files of this machine
        self.image_dir.mkdir(parents=True)
        self.pods: list[Pod] = []
        self.hold = False  # whether stand-ins that are started from now on stay until they are killed or released
        self._servers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self._network = Network("node")
        self._network.ip("link add pods type bridge", "addr add 10.0.0.1/16 dev pods", "link set pods up")
        return self

    def __exit__(self, *_: object) -> None:
        for pod in self.pods:
            pod.kill()
            pod.network.close()
        for server in self._servers:
            server.kill()
            server.wait()
        self._network.close()

    def put(self, path: str, program: bytes) -> None:
        """Put a program at a path of the image of containers that start from now on."""
        target = self.image_dir / path.lstrip("/")
        if not target.exists() or target.read_bytes() != program:  # or else a container may be copying it now
            tiny.write(target, program)
            target.chmod(0o755)

    def replace(self, name: str, python: Path, *words: str) -> None:
        """Have a program of containers be a Python of this machine, with words before its own, for whoever asks."""
        self.put(f"/usr/local/sbin/{name}", f'#!/bin/sh\nexec {shlex.join([str(python), *words])} "$@"\n'.encode())
        for folder in [*python.parents, *python.resolve().parents]:
            (self.image_dir / str(folder).lstrip("/")).mkdir(parents=True, exist_ok=True)

    def storage(self, volume: Object) -> Path:
        """Return the folder that stands for a claim."""
        name = json.dumps(volume[volumes.STORAGE], sort_keys=True).translate(str.maketrans('/"{} ', "_____"))
        folder = self.folder / "storage" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def store(self, pod: Object, path: str, files: Mapping[str, bytes]) -> None:
        """Put files where a container of a pod sees a path of its storage."""
        by_name = {each["name"]: each for each in pod["spec"].get("volumes", ())}
        containers = [*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]]
        for mount in [mount for container in containers for mount in container.get("volumeMounts", ())]:
            volume = by_name[mount["name"]]
            if _lies_in(path, mount) and volumes.STORAGE in volume:
                below = Path(path).relative_to(mount["mountPath"])
                folder = self.storage(volume) / mount.get("subPath", "") / below
                folder.mkdir(parents=True, exist_ok=True)
                tiny.write_all(folder, files)

    def start(self, described: Object) -> Pod:
        """Start a pod: its init containers one after the other, which have to succeed, then its containers."""
        number = len(self.pods) + 2
        address = f"10.0.0.{number}"
        described = {**described, "status": {"podIP": address, "hostIP": "10.0.0.1"}}
        pod = Pod(described, self.folder / f"{number}-{described['metadata']['name']}", address)
        self.pods.append(pod)
        link = f"pod{number}"
        self._network.ip(f"link add {link} type veth peer name eth0 netns {pod.network.pid}")
        self._network.ip(f"link set {link} master pods up")
        pod.network.ip(f"addr add {address}/16 dev eth0", "link set eth0 up", "link set lo up")
        spec = described["spec"]
        for each in spec.get("volumes", []):
            own = pod.folder / "volumes" / each["name"]
            pod.volumes[each["name"]] = self.storage(each) if volumes.STORAGE in each else own
            volumes.lay(each, described, self.objects, pod.volumes[each["name"]])
        self._tell_names()
        for container in spec.get("initContainers", []):
            started = self._run(container, pod)
            if started.wait():
                raise AssertionError(f"{pod.name}: init container {container['name']} failed:\n{started.log}")
        pod.containers += [self._run(container, pod, is_main=True) for container in spec["containers"]]
        self._tell_names()
        return pod

    def wait_ready(self, *pods: Pod) -> None:
        """Wait until each pod's readiness probes succeed; one that ends before, or never gets there, fails the test."""
        for pod in pods:
            wait_until(lambda pod=pod: self.probe(pod) or pod.has_ended, [pod])
            assert pod.is_ready, f"{pod.name} does not become ready:\n{pod.log}"

    def probe(self, pod: Pod) -> bool:
        """Try the readiness probes of a pod from its node, and return whether it is ready now."""
        probes = [each["readinessProbe"] for each in pod.described["spec"]["containers"] if "readinessProbe" in each]
        pod.is_ready = all(self._succeeds(probe, pod) for probe in probes)
        self._tell_names()
        return pod.is_ready

    def run(self, *words: str) -> str:
        """Return what a program of this machine prints on the node, in its network."""
        command = [*self._network.enter(), *words]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=PATIENCE).stdout

    def serve(self, *words: str, cwd: Path) -> None:
        """Run a program of this machine on the node, in its network, as long as there is the node."""
        self._servers.append(subprocess.Popen([*self._network.enter(), *words], cwd=cwd, stderr=subprocess.DEVNULL))

    def _succeeds(self, probe: Object, pod: Pod) -> bool:
        asked = probe.get("tcpSocket") or probe["httpGet"]
        ports = [port for container in pod.described["spec"]["containers"] for port in container.get("ports", [])]
        named = {port["name"]: port["containerPort"] for port in ports if "name" in port}
        address = (pod.address, named.get(asked["port"], asked["port"]))
        script = f"import socket; socket.create_connection({address!r}, 1)"
        if "httpGet" in probe:
            url = f"http://{address[0]}:{address[1]}{asked.get('path', '/')}"
            script = f"import urllib.request; urllib.request.urlopen({url!r}, timeout=1)"
        words = [*self._network.enter(), sys.executable, "-I", "-c", script]
        return subprocess.run(words, capture_output=True).returncode == 0

    def _run(self, container: Object, pod: Pod, *, is_main: bool = False) -> Container:
        folder = pod.folder / f"{container['name']}.{len(list(pod.folder.glob(container['name'] + '.*')))}"
        folder.mkdir()
        records_dir = pod.records_dir(container["name"])
        records_dir.mkdir(parents=True, exist_ok=True)
        records_dir.chmod(0o1777)
        if self.hold and is_main:
            (records_dir / "hold").touch()
        script = folder / "script"
        script.write_text("\n".join(self._script(container, pod, folder)))
        words = [program("unshare"), "--mount", "--pid", "--fork", "--kill-child", "sh", script]
        return Container(container, [*pod.network.enter(), *map(str, words)], folder)

    def _script(self, container: Object, pod: Pod, folder: Path) -> Iterator[str]:
        """Yield what becomes the container: its root is laid, then it is its user and runs its words."""
        spec = pod.described["spec"]
        context = {**(spec.get("securityContext") or {}), **(container.get("securityContext") or {})}
        user, group = context.get("runAsUser", 0), context.get("runAsGroup", 0)
        assert user or not context.get("runAsNonRoot"), f"{pod.name}: it must not run as root"
        variables = environment.environment(container, pod.described, self.objects)
        root, cwd = folder / "root", container.get("workingDir", "/")
        layers = f"lowerdir=/,upperdir={root}/upper,workdir={root}/work"
        yield from ("set -e", "export PATH=/usr/sbin:/usr/bin:/sbin:/bin")
        yield from (f"mkdir {root}", f"mount -t tmpfs tmpfs {root}")
        yield from (f"mkdir {root}/work {root}/root", f"cp -a {self.image_dir} {root}/upper")
        root /= "root"
        yield from (f"mount -t overlay overlay -o {layers} {root}", f"mount -t proc proc {root}/proc")
        yield f"mount -t sysfs -o ro sysfs {root}/sys"
        yield from (f"mount --rbind /dev {root}/dev", f"mount -t tmpfs -o mode=1777 tmpfs {root}/dev/shm")
        yield from _bind(pod.hosts_file, root / "etc/hosts")
        yield from _bind(pod.records_dir(container["name"]), root / ".records")
        by_name = {each["name"]: each for each in spec.get("volumes", [])}
        for mount in sorted(container.get("volumeMounts", []), key=lambda each: len(Path(each["mountPath"]).parts)):
            here = pod.volumes[mount["name"]] / mount.get("subPath", "")
            if not here.exists():
                here.mkdir(parents=True, mode=pod.volumes[mount["name"]].stat().st_mode & 0o7777)
            read_only = mount.get("readOnly") or volumes.source(by_name[mount["name"]]) in volumes.WRITTEN
            yield from _bind(here, root / mount["mountPath"].lstrip("/"), "ro" if read_only else "")
        yield f"mkdir -p {shlex.quote(str(root / cwd.lstrip('/')))}"
        if context.get("readOnlyRootFilesystem"):
            yield f"mount -o remount,ro {root}"
        kept = "".join(f",+{name.lower()}" for name in context.get("capabilities", {}).get("add", []))
        groups = f"--groups={context['fsGroup']}" if "fsGroup" in context else "--clear-groups"
        words = ["setpriv", "--pdeathsig=KILL", f"--reuid={user}", f"--regid={group}", groups]
        words += [f"--bounding-set=-all{kept}", "--inh-caps=-all", "--no-new-privs"]
        variables = {"PATH": PATH, "HOSTNAME": pod.hostname, "HOME": "/", **variables}
        words += ["env", "-i", "-C", cwd, *(f"{name}={value}" for name, value in variables.items())]
        yield f"exec chroot {root} {shlex.join([*words, *environment.words(container, variables)])}"

    def _tell_names(self) -> None:
        """Have every pod know the names that there are now: its own, and those of the pods behind Services."""
        names = [*self._names()]
        for pod in self.pods:
            own = f"{pod.hostname}.{pod.described['spec'].get('subdomain', 'pods')}.{_DOMAIN} {pod.hostname}"
            searches = [_DOMAIN, _DOMAIN.partition(".")[2], "cluster.local"]
            searches += pod.described["spec"].get("dnsConfig", {}).get("searches", [])
            lines = ["127.0.0.1 localhost", f"{pod.address} {own}"]
            for address, name in names:
                short = [name.removesuffix(f".{search}") for search in searches if name.endswith(f".{search}")]
                lines.append(" ".join([address, name, *short]))
            with pod.hosts_file.open("r+") as file:  # there is no moment in which it is empty
                file.write("\n".join(lines) + "\n")
                file.truncate()

    def _names(self) -> Iterator[tuple[str, str]]:
        """Yield each address with a name: those of ready pods, or of all where a Service does not mind."""
        for service in (item for item in self.objects if item["kind"] == "Service"):
            spec, name = service["spec"], service["metadata"]["name"]
            domain = f"{name}.{service['metadata'].get('namespace', 'ml')}.svc.cluster.local"
            for pod in self.pods:
                labels, described = pod.described["metadata"].get("labels", {}), pod.described["spec"]
                probes = any("readinessProbe" in container for container in described["containers"])
                ready = pod.is_ready or spec.get("publishNotReadyAddresses") or not probes
                if ready and not pod.has_ended and spec["selector"].items() <= labels.items():
                    yield pod.address, domain
                    if described.get("subdomain") == name:
                        yield pod.address, f"{pod.hostname}.{domain}"


#: Makes a machine with the objects of a namespace.
NewMachine = Callable[[Sequence[Object]], Machine]


@contextmanager
def running(words: Sequence[str], **given: Any) -> Iterator[subprocess.Popen[str]]:
    """Run a program until it ends, or the block does."""
    with subprocess.Popen(words, text=True, **given) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(condition: Callable[[], bool], pods: Sequence[Pod], *, seconds: float = 0) -> None:
    """Wait for something that pods do; where they do not, the test fails with what they said."""
    deadline = time.monotonic() + (seconds or PATIENCE)
    while not condition():
        assert time.monotonic() < deadline, "".join(pod.log for pod in pods)
        time.sleep(0.05)


def _lies_in(path: str, mount: Object) -> bool:
    return Path(path).is_relative_to(mount["mountPath"])


def _bind(source: Path, target: Path, options: str = "") -> Iterator[str]:
    here, there = shlex.quote(str(source.resolve())), shlex.quote(str(target))
    if source.is_dir():
        yield f"mkdir -p {there}"
    else:
        yield f"test -e {there} || {{ mkdir -p {shlex.quote(str(target.parent))}; touch {there}; }}"
    yield f"mount --bind {here} {there}"
    if options:
        yield f"mount -o remount,bind,{options} {there}"
