"""The README of a package as it is published: its blocks of commands by who types them, and what it says itself."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from packyard.source.security import LEVELS

from packyard.source.package import Package
from readmes.commands import Block, blocks, in_sentences
from running import RELEASE
from usecases import Object, shipped


class Readme:
    """What a package's README tells its readers."""

    def __init__(self, package: Package, web_dir: Path) -> None:
        self.package = package
        self.tarball = web_dir / "models" / RELEASE / f"{package.name}.tar.gz"
        with tarfile.open(self.tarball) as archive:
            member = archive.extractfile(f"{package.name}/README.md")
            assert member
            self.text = member.read().decode()
        self.blocks = blocks(self.text, package.name)
        (start,) = [block for block in self.blocks if block.commands[0] == f"packyard get {package.name}"]
        (self.use_case,) = {word for command in start.commands for word in re.findall(r"^packyard set (\S+)", command)}
        self.prefix = start.commands[1].removeprefix("cd ")

    @property
    def installing(self) -> list[Block]:
        """What an administrator types once for a cluster."""
        return [block for block in self.blocks if block.section == "What the cluster needs" and not block.directory]

    @property
    def has_volume(self) -> bool:
        """Say whether it shows how to put an export behind a claim."""
        return "packyard render volume/nfs " in self.text

    @property
    def by_kustomize(self) -> list[Block]:
        return [block for block in self.blocks if block.uses("kustomize")]

    @property
    def by_packyard(self) -> list[Block]:
        """All else: what is typed whatever the package was set with, too."""
        return [block for block in self.blocks if block not in self.installing + self.by_kustomize]

    def in_sentences(self) -> Iterator[str]:
        """Yield what sentences name and no block has."""
        typed = [command for block in self.blocks for command in block.commands]
        yield from (span for span in in_sentences(self.text) if not any(span in command for command in typed))

    def level(self) -> str:
        """Return the Pod Security level that the README names for the use case of its quick start."""
        for level in reversed(LEVELS):
            for line in re.findall(rf"^- `{level}`(.*?): ", self.text, re.MULTILINE):
                places = re.findall(r"`([^`]+)`", line)
                if " with the option" not in line and (not places or any(fnmatch(self.use_case, at) for at in places)):
                    return level
        return LEVELS[0]

    def build(self, use_case: str, kustomize: Path, namespace: str) -> list[Object]:
        """Return the objects of a use case that is set to the examples."""
        (found,) = [each for each in self.package.use_cases if each.path == use_case]
        directory = shipped(self.package, found)
        own = {"NAMESPACE": namespace, "PV_NAME": f"{namespace}-workdisk"}
        values = {**directory.examples, **{name: text for name, text in own.items() if name in directory.setters}}
        return directory.set(values).build(kustomize, namespace)
