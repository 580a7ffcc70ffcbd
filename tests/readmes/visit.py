"""One reader's way through a README, in one namespace: blocks in their order, then what sentences name.

A block in a directory of the package waits until that directory is there: what is said of clusters stands before the
quick start. What the cluster shows is held against what the reader is told to look for.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from controlplane.api import Api, wait
from readmes.commands import Block
from readmes.internet import Internet
from readmes.reader import Reader
from readmes.readme import Readme
from readmes.world import World, log_line

#: What a sentence means that leaves a word out, or has one in capitals in its place.
MEANT = {
    "chgrp FS_ID": "mkdir export; chgrp {group} export",
    "chmod 2770": "mkdir another; chmod 2770 another",
    "kubectl logs POD -c wait-for-model": "kubectl logs {server} -c wait-for-model",
    "kustomize cfg list-setters DIR": "kustomize cfg list-setters {leaf}",
    "kustomize edit add component options/NAME": (
        "(cp -r {leaf} other; cd other; kustomize edit add component options/{option}; kustomize build .)"
    ),
    "packyard setters DIR": "packyard setters {use_case}",
}
#: What `kubectl get` is asked for.
KINDS = {"deployment": "Deployment", "jobsets": "JobSet", "pods": "Pod", "trainjobs": "TrainJob", "wf": "Workflow"}


class Visit:
    """What a reader typed, and which pods' logs were seen."""

    def __init__(self, readme: Readme, api: Api, bin_dir: Path, hosts: Internet, folder: Path, kustomize: Path) -> None:
        self.readme = readme
        self.world = World(api, readme.level(), folder)
        self.objects = readme.build(readme.use_case, kustomize, self.world.namespace)
        self.volume = readme.build("volume/nfs", kustomize, self.world.namespace) if readme.has_volume else []
        self.typed: set[str] = set()
        self.seen: set[str] = set()
        self.computed: set[str] = set()
        self._config = {name: str(self.world.kubeconfig(name)) for name in ("default", self.world.namespace)}
        environment = {
            **hosts.environment,
            "PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}",
            "KUBECONFIG": self._config["default"],
            "KUBECACHEDIR": str(api.folder / "kubectl-cache"),
            "CURL_HOME": str(folder),
            "AWS_ACCESS_KEY_ID": "KEY",
            "AWS_SECRET_ACCESS_KEY": "SECRET",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
        }
        (folder / ".curlrc").write_text("silent\nshow-error\nfail-with-body\n")
        port = _free_port()
        words = {
            "ml": self.world.namespace,
            "8501:8501": f"{port}:8501",
            "localhost:8501": f"localhost:{port}",
            "eval.csv": str(folder / "home" / "eval.csv"),
        }
        self.reader = Reader(folder / "home", environment, words)

    def give(self, name: str, data: bytes) -> None:
        """Put a file of the reader's own where the reader begins."""
        (self.reader.start / name).write_bytes(data)

    def follow(self, blocks: Sequence[Block], sentences: Sequence[str]) -> None:
        """Type all blocks, and before the clean-up what stands in sentences; nothing may be left of the run."""
        brought = self.volume if any("volume/nfs" in command for block in blocks for command in block.commands) else []
        waiting = list(blocks)
        with ExitStack() as self._beside, self.world.holding(self.objects, brought):
            while waiting:
                block = next((each for each in waiting if (self.reader.start / each.directory).is_dir()), waiting[0])
                waiting.remove(block)
                if block.section == "Cleaning up":
                    self._settle()
                    self._say(sentences)
                self.reader.go(block.directory)
                for command in block.commands:
                    self._type(command)
            wait(self.world.names_of_pods)
            wait(self.world.left)

    def _settle(self) -> None:
        """Wait until the run is where a reader expects it, once; what was applied has to be what the examples give."""
        if not self.computed:
            self.world.run_all(self.objects)
            self.computed = self.world.computing() or {"none"}
            assert self.world.applied(self.objects) == self.objects

    def _say(self, sentences: Sequence[str]) -> None:
        """Type what sentences name, in the directory of the quick start, the namespace being the reader's own."""
        parent, _, leaf = f"{self.readme.prefix}/{self.readme.use_case}".rpartition("/")
        use_case_dir = self.reader.start / parent / leaf
        servers = [name for name in self.world.names_of_pods() if name not in self.computed]
        values = {
            "group": os.getgid(),
            "server": next(iter(servers), ""),
            "leaf": leaf,
            "option": min((each.name for each in use_case_dir.glob("options/*")), default=""),
            "use_case": self.readme.use_case,
        }
        self.reader.environment["KUBECONFIG"] = self._config[self.world.namespace]
        for sentence in sentences:
            self.reader.go(parent if "kustomize" in sentence or " -k " in sentence else self.readme.prefix)
            self._type(MEANT.get(sentence, sentence).format_map(values))
            self.typed.add(sentence)
        self.reader.environment["KUBECONFIG"] = self._config["default"]

    def _type(self, command: str) -> None:
        self.typed.add(command)
        verb = next(iter(re.findall(r"\bkubectl ([a-z-]+)", command)), "")
        if verb in ("delete", "describe", "get", "logs", "port-forward"):
            self._settle()
        if verb == "port-forward":
            self._beside.enter_context(self.reader.beside(command, lambda output: "Forwarding from" in output))
        elif verb == "logs" and " -l " in command:
            self._read_logs(command)
        else:
            output = self.reader.run(command)
            if verb == "get":
                kind = KINDS[command.split()[2]]
                is_there = kind == "Pod" or any(item["kind"] == kind for item in self.objects)
                assert ("No resources found" not in output) is is_there, output
            if " -k " in command:
                assert " created" not in output, output
                assert self.world.applied(self.objects) == self.objects

    def _read_logs(self, command: str) -> None:
        """Read the logs of all pods that a command chooses; one that goes on is stopped when it has shown them all."""
        (chosen,) = re.findall(r" -l ('[^']*'|\S+)", command)
        listed = self.reader.run(f"kubectl get pods -n ml -o name -l {chosen}").split()
        names = {name.removeprefix("pod/") for name in listed if name.startswith("pod/")}
        container = next(iter(re.findall(r" -c (\S+)", command)), "")
        wanted = [log_line(name, container) for name in names]
        if names and " -f " in command:
            with self.reader.beside(command, lambda output: all(line in output for line in wanted)):
                pass
        else:
            output = self.reader.run(command)
            assert all(line in output for line in wanted), output
        self.seen |= names


def _free_port() -> int:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return int(holder.getsockname()[1])
