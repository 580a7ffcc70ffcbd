"""The README of a package as it is published: its blocks of commands, and what its sentences name."""

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

from catalogue.usecases import Directory, Object, level, shipped
from packyard.core.kubernetes.operators import OPERATORS
from packyard.writing.source.package import Package, UseCase
from readmes.commands import blocks, in_sentences
from real import Kustomize
from tiny import RELEASE

#: What an administrator types once for a cluster, and whether the tests have what it downloads.
_INSTALLING = {command: bool(operator.tested) for operator in OPERATORS for command in operator.install}
#: What asks a pod of another use case, whose containers run in no cluster of tests, or any use case with a preset.
_ELSEWHERE = ("kubectl exec ", "kubectl cp ", "packyard set USECASE ")


class Readme:
    """What a package's README tells its readers."""

    def __init__(self, package: Package, web_dir: Path) -> None:
        self.package = package
        self.tarball = web_dir / "models" / RELEASE / f"{package.name}.tar.gz"
        with tarfile.open(self.tarball) as archive:
            member = archive.extractfile(f"{package.name}/README.md")
            assert member
            self.text = member.read().decode()
        self.blocks = blocks(self.text)
        (running,) = [block for block in self.blocks if block.section == "Run it"]
        parent = running.commands[0].removeprefix(f"cd {package.name}/")
        *before, leaf = [
            word for command in running.commands for word in re.findall(r"^kustomize build (\S+) ", command)
        ]
        by_path = {use_case.path: use_case for use_case in package.use_cases}
        self.before = [by_path[path] for path in before]
        (self.use_case,) = [each for each in package.use_cases if f"{parent}/{leaf}".endswith(f"/{each.path}")]
        self.directory = f"{package.name}/{parent}"
        self.leaf = leaf

    @property
    def installing(self) -> list[str]:
        """What an administrator types once for a cluster, in its order, as far as the tests have what it downloads."""
        return [sentence for sentence in in_sentences(self.text) if _INSTALLING.get(sentence)]

    def in_sentences(self) -> Iterator[str]:
        """Yield what sentences name for everybody, and no block has."""
        typed = [command for block in self.blocks for command in block.commands]
        for span in in_sentences(self.text):
            if not (span in _INSTALLING or span.startswith(_ELSEWHERE) or any(span in command for command in typed)):
                yield span

    def level(self) -> str:
        """Return the Pod Security level that the use case of the README needs."""
        return level(self._directory(self.use_case).parse())

    def build(self, kustomize: Kustomize, namespace: str) -> list[Object]:
        """Return the objects of the README's use case, set to the examples."""
        directory = self._directory(self.use_case)
        return directory.set(directory.examples).build(kustomize, namespace)

    def build_before(self, kustomize: Kustomize, namespace: str) -> list[Object]:
        """Return the objects of what runs before the README's use case."""
        directories = [self._directory(each) for each in self.before]
        return [item for each in directories for item in each.set(each.examples).build(kustomize, namespace)]

    def _directory(self, use_case: UseCase) -> Directory:
        return shipped(self.package, use_case)
