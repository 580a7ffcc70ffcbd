"""What a reader of a README finds in the cluster: a namespace with what the administrator made, logs of pods, a model.

Pods only pretend to run. What each is said to have printed is a line with its own name; who connects to the HTTP port
of a server reaches a real one.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import HTTPServer
from pathlib import Path

from catalogue.nightly import test_runs
from catalogue.usecases import Object
from controlplane import argo
from controlplane.api import Api, wait
from readmes import modelserver, openaiserver
from workload.environment import environment, words

_KWOK = "kwok.x-k8s.io/v1alpha1"


class World:
    """One namespace of the cluster, as a reader sees it."""

    def __init__(self, api: Api, level: str, folder: Path) -> None:
        self.api = api
        self.namespace = api.create_namespace(level)
        self.folder = folder
        folder.mkdir()

    @contextmanager
    def holding(self, objects: list[Object], brought: list[Object]) -> Iterator[None]:
        """Have what these objects need, but for what others bring, and for their servers a model."""
        with ExitStack() as running:
            test_runs.provide(self.api, self.namespace, objects + brought)
            if test_runs.of_kind(objects, "Workflow"):
                running.enter_context(argo.run(self.api, self.namespace, self.folder))
            for item in test_runs.of_kind(objects, "Deployment"):
                pod = item["spec"]["template"]
                (container,) = pod["spec"]["containers"]
                command = words(container, environment(container, pod, objects))
                port, server = running.enter_context(_serve(command))
                target = {"address": "127.0.0.1", "port": server.server_port}
                forward = {"ports": [port], "target": target}
                spec = {"selector": {"matchNamespaces": [self.namespace]}, "forwards": [forward]}
                metadata = {"name": self.namespace}
                made = {"apiVersion": _KWOK, "kind": "ClusterPortForward", "metadata": metadata, "spec": spec}
                self.api.create(made).expect_done()
            self.before = test_runs.names(self.api, self.namespace)
            yield

    def pods(self) -> list[Object]:
        return self.api.list("v1", "Pod", self.namespace)

    def names_of_pods(self) -> list[str]:
        return [pod["metadata"]["name"] for pod in self.pods()]

    def pods_of(self, kind: str) -> list[str]:
        """Return the names of the pods that objects of a kind own."""
        owners = ((pod["metadata"]["name"], pod["metadata"].get("ownerReferences", ())) for pod in self.pods())
        return [name for name, found in owners if any(owner["kind"] == kind for owner in found)]

    def run_all(self, objects: list[Object]) -> None:
        """Return when the objects have made their pods, and these have printed something."""
        wait(lambda: test_runs.unfinished(self.api, self.namespace, objects))
        if test_runs.of_kind(objects, "Workflow"):
            wait(lambda: [] if self.pods_of("Workflow") else ["the workflow has no pod"])
        for pod in self.pods():
            self._print(pod)

    def applied(self, objects: list[Object]) -> list[Object]:
        """Return the objects as kubectl was given them, in the namespace."""
        found = []
        for item in objects:
            live = self.api.read(item, self.namespace).expect_done()
            given = json.loads(live["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"])
            if not given["metadata"]["annotations"]:
                del given["metadata"]["annotations"]
            found.append(given)
        return found

    def left(self) -> list[str]:
        """Return what is there that was not before the reader began, but for claims and what readers make."""
        kept = ("PersistentVolumeClaim", "Secret", "Logs", "ConfigMap environment")
        return sorted(
            name for name in test_runs.names(self.api, self.namespace) - self.before if not name.startswith(kept)
        )

    def kubeconfig(self, namespace: str) -> Path:
        """Return a file for kubectl, in which this namespace is the one that counts where none is named."""
        config = json.loads((self.api.folder / "kubeconfig").read_text())
        config["contexts"][0]["context"]["namespace"] = namespace
        file = self.folder / f"kubeconfig-{namespace}"
        file.write_text(json.dumps(config))
        return file

    def _print(self, pod: Object) -> None:
        name = pod["metadata"]["name"]
        named = {"apiVersion": _KWOK, "kind": "Logs", "metadata": {"name": name}}
        containers = [each["name"] for key in ("initContainers", "containers") for each in pod["spec"].get(key, ())]
        logs = []
        for container in containers:
            file = self.folder / f"{name}.{container}.log"
            file.write_text(f"2026-01-01T00:00:00.000000000Z stdout F {log_line(name, container)}\n")
            logs.append({"containers": [container], "logsFile": str(file)})
        self.api.apply({**named, "spec": {"logs": logs}}, self.namespace).expect_done()
        wait(lambda: [] if self._is_known(name, containers[-1]) else [f"{name} has no log"])

    def _is_known(self, pod: str, container: str) -> bool:
        """Say whether the pod's node knows what it printed, or the pod is gone, as workers of MPI are at the end."""
        path = f"{self.api.path('v1', 'Pod', self.namespace)}/{pod}/log"
        answer = self.api.session.get(self.api.server + path, params={"container": container})
        return answer.status_code == 404 or log_line(pod, container) in answer.text


@contextmanager
def _serve(command: list[str]) -> Iterator[tuple[int, HTTPServer]]:
    """Have what a container's command starts, and yield the port that it would listen on."""
    if command[0] == "vllm":
        with openaiserver.serve(command) as vllm:
            yield vllm.flags.port, vllm
    else:
        flags = dict(word.lstrip("-").partition("=")[::2] for word in command)
        with modelserver.serve(flags["model_name"]) as serving:
            yield int(flags["rest_api_port"]), serving


def log_line(pod: str, container: str) -> str:
    """Return what a container of a pod printed, or how that begins where none is named."""
    return f"log of {pod}, {container}"
