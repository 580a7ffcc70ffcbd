"""kustomize as the judge of composing: what packyard made of a use case's sources is what kustomize builds of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from packyard.core.yaml.node import Source
from packyard.using.kustomize import builtin, namespace, objects, references
from packyard.using.kustomize.objects import Object
from packyard.using.render.programs import Program
from packyard.writing.build import for_kustomize
from packyard.writing.source import compose
from packyard.writing.source.compose import Plain
from packyard.writing.source.package import Package, UseCase
from packyard.writing.source.workspace import Workspace

_Objects = dict[str, object]


def of_sources(
    workspace: Workspace, package: Package, use_case: UseCase, program: Program, root_dir: Path | None = None
) -> list[str]:
    """Return the objects, ``Kind/name``, that a program builds otherwise of a use case's sources, a sentence each.

    They are compared before setters get the values of the package, which kustomize knows nothing of. ``root_dir`` is a
    copy of the sources that holds the libraries, too.
    """
    items = _plain(compose.plain(workspace, package, use_case))
    namespace.apply(items, use_case.namespace, "")  # which users' kustomizations have
    ours = _named(items)
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        real = Path(os.path.realpath(folder))
        for path, data in for_kustomize.to_files(workspace, package, use_case, real, root_dir).items():
            (real / path).parent.mkdir(parents=True, exist_ok=True)
            (real / path).write_bytes(data)
        theirs = _named(_parsed(program.build(real, unrestricted=True)))
    return [f"{name} is composed otherwise than {program.name} builds it" for name in _unlike(ours, theirs)]


def of_directory(directory: Path, manifests: bytes) -> list[str]:
    """Return the objects that packyard builds otherwise of a directory than they are in what a program built of it."""
    ours, theirs = _named(_parsed(builtin.build(directory))), _named(_parsed(manifests))
    return [f"{name} is built otherwise by packyard itself" for name in _unlike(ours, theirs)]


def _plain(plain: Plain) -> list[Object]:
    items = [item for name, text in plain.files.items() for item in _parsed(text, name)]
    references.add_hashes(items, [item for item in items if item.file in plain.hashed], plain.references)
    return items


def _parsed(text: bytes, name: str = "") -> list[Object]:
    return list(objects.parse(Source(name, text.decode())))


def _named(items: Iterable[Object]) -> _Objects:
    return {f"{item.kind}/{item.name}": item.root for item in items}


def _unlike(some: _Objects, others: _Objects) -> list[str]:
    return sorted(name for name in some.keys() | others.keys() if some.get(name) != others.get(name))
