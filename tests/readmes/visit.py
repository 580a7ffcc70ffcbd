"""One reader's way through a README, in one namespace: its blocks, then what its sentences name, then the clean-up.

What the cluster shows is held against what the reader is told to look for.
"""

import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from controlplane.api import Api, wait
from readmes.commands import Block
from readmes.internet import Internet
from readmes.reader import Reader
from readmes.readme import Readme
from readmes.world import World, log_line
from real import Kustomize, free_port

#: What a sentence means that leaves a word out, or has one in capitals in its place; where a use case has to be named.
MEANT = {
    "kustomize edit add resource network-policy.yaml": (
        "(cp -r {policed} {policed}-with-policy && cd {policed}-with-policy"
        " && kustomize edit add resource network-policy.yaml && kustomize build .)"
    ),
    "kubectl create namespace ml": "kubectl get namespace ml",  # the reader's is there already
    "packyard get": "packyard get {name}",
    "kubectl logs POD -c wait-for-model": "kubectl logs {server} -c wait-for-model",
}

#: Where readers find packages.
CHANNEL = "https://models.example.com"


class Visit:
    """What a reader typed."""

    def __init__(
        self, readme: Readme, api: Api, path: str, hosts: Internet, folder: Path, kustomize: Kustomize
    ) -> None:
        self.readme = readme
        self.world = World(api, readme.level(), folder)
        self.objects = readme.build(kustomize, self.world.namespace)
        self.brought = readme.build_before(kustomize, self.world.namespace)
        self.typed: set[str] = set()
        self._settled = False
        self._config = {name: str(self.world.kubeconfig(name)) for name in ("default", self.world.namespace)}
        environment = {
            **hosts.environment,
            "PATH": path,
            "KUBECONFIG": self._config["default"],
            "KUBECACHEDIR": str(api.folder / "kubectl-cache"),
            "CURL_HOME": str(folder),
            "AWS_ACCESS_KEY_ID": "KEY",
            "AWS_SECRET_ACCESS_KEY": "SECRET",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_REQUEST_CHECKSUM_CALCULATION": "when_required",
        }
        (folder / ".curlrc").write_text("silent\nshow-error\nfail-with-body\n")
        port = free_port()
        words = {
            "ml": self.world.namespace,
            "wget CHANNEL": f"wget {CHANNEL}",
            "--from CHANNEL": f"--from {CHANNEL}",
            "8501:8501": f"{port}:8501",
            "localhost:8501": f"localhost:{port}",
            "8000:8000": f"{port}:8000",
            "localhost:8000": f"localhost:{port}",
            **{name: str(folder / "home" / name) for name in ("cats_and_dogs.zip", "eval.csv")},
            "/pvc": str(folder / "pvc"),
        }
        self.reader = Reader(folder / "home", environment, words)

    def give(self, name: str, data: bytes) -> None:
        """Put a file of the reader's own where the reader begins."""
        (self.reader.start / name).write_bytes(data)

    def follow(self, blocks: Sequence[Block], sentences: Sequence[str]) -> None:
        """Type all blocks, and what stands in sentences, the clean-up last; nothing may be left of the run."""
        *_, cleaning = [sentence for sentence in sentences if "kubectl delete" in sentence]
        with ExitStack() as self._beside, self.world.holding(self.objects, self.brought):
            for block in blocks:
                self.reader.go("")
                for command in block.commands:
                    self._type(command)
            self._settle()
            self._say([sentence for sentence in sentences if sentence != cleaning])
            self.reader.go(self.readme.directory)
            self._type(cleaning)
            wait(self.world.names_of_pods)
            wait(self.world.left)

    def _settle(self) -> None:
        """Wait until the run is where a reader expects it, once; what was applied has to be what the examples give."""
        if not self._settled:
            self._settled = True
            self.world.run_all(self.objects)
            for applied, wanted in zip(self.world.applied(self.objects), self.objects, strict=True):
                assert applied == wanted, f"{applied}\nwas applied, where the examples give\n{wanted}"

    def _say(self, sentences: Sequence[str]) -> None:
        """Type what sentences name, in the directory above the use case, the namespace being the reader's own."""
        where = self.reader.start / self.readme.directory
        package_dir = self.reader.start / self.readme.package.name
        policed = next(iter(sorted(file.parent for file in package_dir.rglob("network-policy.yaml"))), where)
        server = next(iter(self.world.pods_of("ReplicaSet")), "")
        values = {"name": self.readme.package.name, "leaf": self.readme.leaf, "policed": policed, "server": server}
        self.reader.environment["KUBECONFIG"] = self._config[self.world.namespace]
        for sentence in sentences:
            self.reader.go(self.readme.directory)
            # In place of the first blocks, so where there is no package yet.
            elsewhere = 'cd "$(mktemp -d)" && ' if sentence.startswith("packyard get") else ""
            self._type(elsewhere + MEANT.get(sentence, sentence).format_map(values))
            self.typed.add(sentence)
        self.reader.environment["KUBECONFIG"] = self._config["default"]

    def _type(self, command: str) -> None:
        self.typed.add(command)
        verb = next(iter(re.findall(r"\bkubectl ([a-z-]+)", command)), "")
        if verb in ("describe", "get", "logs", "port-forward"):
            self._settle()
        if verb == "port-forward":
            self._beside.enter_context(self.reader.beside(command, lambda output: "Forwarding from" in output))
        elif verb == "logs":
            self._read_log(command)
        else:
            output = self.reader.run(command)
            assert "has no match" not in output, output  # says kustomize of what it does not add, and exits with 0
            if verb == "get":
                assert "No resources found" not in output, output

    def _read_log(self, command: str) -> None:
        """Read the log of a pod; one that goes on is stopped when it has been shown."""
        names = self.world.names_of_pods()
        with self.reader.beside(command, lambda output: any(log_line(name, "") in output for name in names)):
            pass
