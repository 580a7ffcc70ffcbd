"""Starts the programs of a control plane, and stops them when nobody uses them: ``service SERVICE FOLDER``.

``bare`` is etcd and kube-apiserver, ``api`` the same with the definitions of custom resources. ``jobs`` works on it:
Kubernetes' controllers, its scheduler, and kwok, whose nodes only pretend to run pods, do to them what `fates` says,
and give out what its objects Logs, ClusterLogs and ClusterPortForward say. ``operators`` works beside ``jobs``:
mpi-operator, the controllers of JobSets, LeaderWorkerSets and TrainJobs, and Kueue, with their webhooks.
What listens does so on 127.0.0.1, and what is written is written to FOLDER.
"""

import base64
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import requests
import yaml

import real
from controlplane import fates, shared, webhooks
from controlplane.api import Api, Object, wait
from real import TOOLS

KUBERNETES, KWOK, MPI_OPERATOR, MANIFESTS = (
    TOOLS / name for name in ("kubernetes", "kwok", "mpi-operator", "manifests")
)
#: Controllers with webhooks.
JOBSET, LWS, TRAINER, KUEUE = (TOOLS / name for name in ("jobset", "lws", "trainer", "kueue"))
#: The API group of the configuration of those that take no flags.
_CONFIGURED = {JOBSET: "config.jobset.x-k8s.io", LWS: "config.lws.x-k8s.io"}
#: The API group of a controller's kinds, and the label of other objects that its webhooks look at.
_LABELS = {
    "jobset": ("jobset.x-k8s.io", "jobset.sigs.k8s.io/jobset-name"),
    "lws": ("leaderworkerset.x-k8s.io", "leaderworkerset.sigs.k8s.io/name"),
    "kueue": ("kueue.x-k8s.io", "kueue.x-k8s.io/queue-name"),
}
#: An administrator whose requests, those as other users among them, stand in ``FOLDER/audit.log``.
AUDITED = "audited"
_AUDIT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "rules": [{"level": "Metadata", "users": [AUDITED]}, {"level": "None"}],
}
#: Clients wait for their turn after a few requests a second, unless told otherwise.
_IN_HASTE = ("--kube-api-qps=1000", "--kube-api-burst=1000")
_MPI_IN_HASTE = ("--controller-queue-rate-limit=1000", "--controller-queue-burst=1000")
_PATIENCE = 600  # seconds, on a busy machine; a start takes three
_LONGEST = 30  # seconds that the API server may wait for a webhook, as for those of tests


def main(service: str, folder: Path) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    # What goes on for minutes has some memory for less collecting of garbage.
    os.environ.update(GOGC="400", GOMEMLIMIT="1536MiB")
    with ExitStack() as programs:
        _SERVICES[service](folder, programs)
        unused = shared.offer(folder)
        programs.close()
        unused.close()


def start_bare(folder: Path, programs: ExitStack) -> None:
    """Run etcd and kube-apiserver, and leave ``FOLDER/kubeconfig``."""
    data_dir = folder / "etcd"
    shutil.rmtree(data_dir, ignore_errors=True)
    programs.callback(shutil.rmtree, data_dir)
    client, peer, port = (programs.enter_context(_port()) for _ in range(3))
    etcd = f"http://127.0.0.1:{client}"
    _start(programs, folder, KUBERNETES, "etcd", *_etcd_flags(data_dir, etcd, f"http://127.0.0.1:{peer}"))
    key_file, tokens = folder / "service-account.key", {name: secrets.token_hex(16) for name in ("admin", AUDITED)}
    key_file.write_bytes(subprocess.run([KUBERNETES, "key"], check=True, stdout=subprocess.PIPE).stdout)
    lines = [f"{token},{name},{name},system:masters\n" for name, token in tokens.items()]
    (folder / "tokens").write_text("".join(lines))
    (folder / "audit.yaml").write_text(json.dumps(_AUDIT))
    flags = [
        *(f"--etcd-servers={etcd}", f"--secure-port={port}", "--bind-address=127.0.0.1", "--permit-port-sharing"),
        *(f"--cert-dir={folder}", f"--token-auth-file={folder / 'tokens'}", "--authorization-mode=RBAC"),
        *(f"--service-account-key-file={key_file}", f"--service-account-signing-key-file={key_file}"),
        *("--service-account-issuer=https://kubernetes.default.svc", "--service-cluster-ip-range=10.0.0.0/16"),
        *(f"--audit-policy-file={folder / 'audit.yaml'}", f"--audit-log-path={folder / 'audit.log'}"),
    ]
    server = _start(programs, folder, KUBERNETES, "kube-apiserver", *flags)
    _write_kubeconfig(folder, f"https://127.0.0.1:{port}", tokens)
    _wait("kube-apiserver", server, lambda: (folder / "apiserver.crt").exists() and Api(folder).is_ready())


def start_api(folder: Path, programs: ExitStack) -> None:
    """Run them with the definitions of custom resources."""
    start_bare(folder, programs)
    api = Api(folder)
    definitions = [_terse(_current(item)) for item in _manifests("CustomResourceDefinition")]
    for item in definitions:
        api.create(item).expect_done()
    for item in definitions:
        wait(partial(_unserved, api, item))


def _etcd_flags(data_dir: Path, client: str, peer: str) -> list[str]:
    return [
        *(f"--data-dir={data_dir}", "--unsafe-no-fsync", "--socket-reuse-port"),
        *(f"--listen-client-urls={client}", f"--advertise-client-urls={client}"),
        *(f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}"),
    ]


def _current(definition: Object) -> Object:
    """Return a definition without its deprecated versions: Kueue would convert objects of its own by a webhook."""
    spec = definition["spec"]
    versions = [version for version in spec["versions"] if not version.get("deprecated")]
    versions[-1]["storage"] = not any(version["storage"] for version in versions[:-1])
    return {**definition, "spec": {**spec, "versions": versions}}


def _terse(value: Any) -> Any:
    """Return a definition without its descriptions, so that the server is ready sooner."""
    if isinstance(value, list):
        return [_terse(each) for each in value]
    if isinstance(value, dict):  # a field may be called description as well
        return {key: _terse(each) for key, each in value.items() if key != "description" or isinstance(each, dict)}
    return value


def _unserved(api: Api, definition: Object) -> list[str]:
    """Name a definition whose kind the server does not list among those that it serves yet."""
    spec = definition["spec"]
    version = next(each["name"] for each in spec["versions"] if each["storage"])
    is_served = api.serves(f"{spec['group']}/{version}", spec["names"]["kind"])
    return [] if is_served else [definition["metadata"]["name"]]


def _write_kubeconfig(folder: Path, server: str, tokens: Mapping[str, str]) -> None:
    cluster = {"server": server, "certificate-authority": str(folder / "apiserver.crt")}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}} for name, token in tokens.items()],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
        "current-context": "test",
    }
    (folder / "kubeconfig").write_text(json.dumps(config))


def start_jobs(folder: Path, programs: ExitStack) -> None:
    """Run what Kubernetes itself has on the API of the folder above, and make its one node."""
    api_dir = folder.parent
    api = Api(api_dir)
    config = api_dir / "kubeconfig"
    os.environ["PATH"] = real.path_with("find", "tar")  # of what `_EXEC` starts
    flags = [f"--kubeconfig={config}", "--leader-elect=false", "--secure-port=0", *_IN_HASTE]
    # kwok's nodes report once; no load of this machine makes them late.
    own_flags = [
        "--node-monitor-grace-period=24h",
        f"--service-account-private-key-file={api_dir / 'service-account.key'}",
        f"--root-ca-file={api_dir / 'apiserver.crt'}",
    ]
    _start(programs, folder, KUBERNETES, "kube-controller-manager", *flags, *own_flags)
    _start(programs, folder, KUBERNETES, "kube-scheduler", *flags)
    api.create(_node("node")).expect_done()
    stages = folder / "stages.yaml"
    stages.write_text(yaml.safe_dump_all([*map(fates.spare, _manifests("Stage")), *fates.stages(), _EXEC]))
    port = programs.enter_context(_port())
    flags = [
        *(f"--kubeconfig={config}", f"--config={stages}", "--enable-crds=Logs,ClusterLogs,ClusterPortForward"),
        *("--manage-all-nodes", "--node-ip=127.0.0.1", f"--node-port={port}", f"--server-address=127.0.0.1:{port}"),
        *(f"--tls-cert-file={api_dir / 'apiserver.crt'}", f"--tls-private-key-file={api_dir / 'apiserver.key'}"),
    ]
    kwok = _start(programs, folder, KWOK, *flags)
    _wait("kwok", kwok, lambda: _is_open(api.read(_node("node")).expect_done()))


def start_operators(folder: Path, programs: ExitStack) -> None:
    """Run mpi-operator and the controllers that have webhooks, all at once, and register these."""
    api = Api(folder.parent)
    config = api.folder / "kubeconfig"
    _start(programs, folder, MPI_OPERATOR, f"--kubeConfig={config}", *_IN_HASTE, *_MPI_IN_HASTE)
    # The API server's own certificate, which the webhooks have as well.
    certificates = folder / "certificates"
    certificates.mkdir(exist_ok=True)
    for name, of_server in (("tls.crt", "apiserver.crt"), ("tls.key", "apiserver.key")):
        shutil.copy(api.folder / of_server, certificates / name)
    started = []
    for program in (JOBSET, LWS, TRAINER, KUEUE):
        port = programs.enter_context(_port())
        flags = [f"--webhook-server-port={port}", f"--cert-dir={certificates}"]
        if group := _CONFIGURED.get(program):
            flags = [f"--config={_configuration(folder, program.name, group, port, certificates)}"]
        process = _start(programs, folder, program, f"--kubeconfig={config}", *flags)
        started.append((program.name, process, port))
    for name, process, port in started:
        _wait(name, process, partial(_listens, port))
        _register(programs, api, name, port, certificates)
    webhooks.await_all(api)


def _configuration(folder: Path, name: str, group: str, port: int, certificates: Path) -> Path:
    """Write the file with which a controller starts that takes no flags."""
    configuration = {
        "apiVersion": f"{group}/v1alpha1",
        "kind": "Configuration",
        "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(certificates)},
        "internalCertManagement": {"enable": False},
        "leaderElection": {"leaderElect": False},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": "0"},
        "clientConnection": {"qps": 1000, "burst": 1000},
    }
    file = folder / f"{name}.yaml"
    file.write_text(json.dumps(configuration))
    return file


def _register(programs: ExitStack, api: Api, name: str, port: int, certificates: Path) -> None:
    for item in _webhooks(name, f"https://127.0.0.1:{port}", (certificates / "tls.crt").read_bytes()):
        api.create(item).expect_done()
        programs.callback(_delete, api, item)


def _webhooks(name: str, url: str, certificate: bytes) -> Iterator[Object]:
    """Yield a module's webhooks as its own patches leave them, but for what listens here in place of a Service."""
    bundle = base64.b64encode(certificate).decode()
    own, label = _LABELS.get(name, ("", ""))
    # The runtime of a TrainJob is never there in a dry run, which is for the API server alone.
    stored = {"name": "stored", "expression": "!has(request.dryRun) || !request.dryRun"}
    for item in yaml.load_all((MANIFESTS / "webhooks" / f"{name}.yaml").read_bytes(), Loader=yaml.CSafeLoader):
        item["metadata"]["name"] = f"{name}-{item['metadata']['name']}"
        for webhook in item["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            webhook["clientConfig"] = {"url": url + path, "caBundle": bundle}
            webhook["timeoutSeconds"] = _LONGEST
            (rule,) = webhook["rules"]
            if own and rule["apiGroups"] != [own]:
                webhook["objectSelector"] = {"matchExpressions": [{"key": label, "operator": "Exists"}]}
            if (name, rule["resources"]) == ("kueue", ["pods"]):
                # It looks at those of LeaderWorkerSets, too, to which it adds the label of the queue later.
                labels = " || ".join(f"'{key}' in object.metadata.labels" for key in (label, _LABELS["lws"][1]))
                webhook["objectSelector"] = {}
                webhook["matchConditions"] = [
                    {"name": "queued", "expression": f"has(object.metadata.labels) && ({labels})"}
                ]
            if rule["resources"] == ["trainjobs"]:
                webhook["matchConditions"] = [stored]
        yield item


def _delete(api: Api, item: Object) -> None:
    """Delete an object of a server that others may still use; one that has ended needs no tidying."""
    with suppress(requests.ConnectionError):
        api.delete(item).expect_done()


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def _node(name: str) -> Object:
    """Return a node with the labels that every kubelet gives its own."""
    labels = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def _is_open(node: Object) -> bool:
    """Say whether pods are placed on a node: the taint of one that is not ready is taken off a moment later."""
    conditions = node.get("status", {}).get("conditions") or ()
    is_ready = any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)
    return is_ready and not node["spec"].get("taints")


def _manifests(kind: str) -> list[Object]:
    texts = (file.read_bytes() for file in sorted(MANIFESTS.glob("*.yaml")))
    of_kind = (text for text in texts if f"kind: {kind}\n".encode() in text)
    return [item for text in of_kind for item in yaml.load_all(text, Loader=yaml.CSafeLoader)]


def _start(programs: ExitStack, folder: Path, program: Path, *flags: str) -> subprocess.Popen[bytes]:
    name = flags[0] if program == KUBERNETES else program.name
    log = programs.enter_context((folder / f"{name}.log").open("wb"))
    process = subprocess.Popen([program, *flags], cwd=folder, stdout=log, stderr=log)
    programs.callback(_stop, process)
    return process


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End a program; what it still wants to tell others is of no use, as they end too."""
    process.kill()
    process.wait()


def _wait(name: str, process: subprocess.Popen[bytes], is_done: Callable[[], bool]) -> None:
    end = time.monotonic() + _PATIENCE
    while not is_done():
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"{name} does not work; see {name}.log beside this file")
        time.sleep(0.05)


@contextmanager
def _port() -> Iterator[int]:
    """Keep a free port for a program that shares it: bound here without listening, so that no other is given it."""
    with socket.socket() as holder:
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):  # a program asks for one of them
            holder.setsockopt(socket.SOL_SOCKET, option, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


#: Who executes a command in a pod runs it on this machine, in the folder of the service.
_EXEC = {
    "apiVersion": "kwok.x-k8s.io/v1alpha1",
    "kind": "ClusterExec",
    "metadata": {"name": "here"},
    "spec": {"execs": [{"local": {}}]},
}
_SERVICES = {"bare": start_bare, "api": start_api, "jobs": start_jobs, "operators": start_operators}

if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
