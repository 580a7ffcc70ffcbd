"""kustomize as the judge of composing: what packyard made of a use case's sources is what kustomize builds of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from packyard.build import for_kustomize
from packyard.kubernetes import kustomization
from packyard.render import builtin, objects
from packyard.render.programs import Program
from packyard.source import compose
from packyard.source.package import Package, UseCase
from packyard.source.workspace import Workspace
from packyard.yaml.node import Source

_Objects = dict[str, object]


def differences(
    workspace: Workspace, package: Package, use_case: UseCase, composed_dir: Path, program: Program
) -> list[str]:
    """Return the objects, ``Kind/name``, that a program builds otherwise than packyard, a sentence each.

    The sources are compared before setters get the values of the package, which kustomize knows nothing of; the
    directory that users get, ``composed_dir``, with packyard's own build of it.
    """
    ours = _objects(compose.plain(workspace, package, use_case).values())
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        real = Path(os.path.realpath(folder))
        (real / kustomization.FILE).write_bytes(for_kustomize.to_bytes(workspace, use_case, real))
        sources = _objects([program.build(real, unrestricted=True)])
    found = [f"{name} is composed otherwise than {program.name} builds it" for name in _unlike(ours, sources)]
    directory = _objects([program.build(composed_dir)])
    own = _objects([builtin.build(composed_dir)])
    return found + [f"{name} is built otherwise by {program.name} than by packyard" for name in _unlike(own, directory)]


def _objects(texts: Iterable[bytes]) -> _Objects:
    found = [item for text in texts for item in objects.parse(Source("", text.decode()))]
    return {f"{item.kind}/{item.name}": item.root for item in found}


def _unlike(some: _Objects, others: _Objects) -> list[str]:
    return sorted(name for name in some.keys() | others.keys() if some.get(name) != others.get(name))
