"""What every process of an MPIJob has to see: ``-x NAME`` for each variable that its launcher has from a ConfigMap.

The operator of v2beta1 starts processes through ssh, whose sessions have nothing of a pod's environment; older versions
of the kind start them by ``kubectl exec``, which keeps it. So that nobody has to name a variable twice, the launcher's
command gets the names as the last of all changes::

    command: [mpirun, -x, HOME]            args: [python3, train.py]    of a ConfigMap: BATCH_SIZE, OUTPUT_DIR
    ->  command: [mpirun, -x, HOME, -x, BATCH_SIZE, -x, OUTPUT_DIR]

The end of a command is that of mpirun's own words only where the program stands in ``args``: any other launcher is left
alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from packyard.source.accumulate import Expanded, Object
from packyard.text.document import mappings, parse_text
from packyard.text.node import Entry, Mapping, Scalar, Sequence, Source
from packyard.text.scalar import double_quoted, is_plain_text

_VERSION = "kubeflow.org/v2beta1"
_POD = ("spec", "mpiReplicaSpecs", "Launcher", "template", "spec")
_MPIRUN = ("mpirun", "mpiexec", "orterun")
_EXPORT = ("-x", "--x")


def add(objects: Iterable[Object]) -> Expanded:
    """Let the launchers among the objects pass on what they do not yet; return the operations by object."""
    objects = list(objects)
    roots = [item.root for item in objects]
    expanded: Expanded = []
    for item in objects:
        added = "".join(
            f"- op: add\n  path: /{'/'.join(_POD)}/containers/{index}/command/-\n  value: {word}\n"
            for index, container in enumerate(launchers(item.root))
            if _ends_with_mpirun(container)
            for entry in missing(container, roots)
            for word in ("-x", entry.name if is_plain_text(entry.name) else double_quoted(entry.name))
        )
        operations = parse_text(Source(item.root.source.name, added))[0].root if added else None
        if isinstance(operations, Sequence):
            expanded.append((item.identity, operations))
            item.operate(operations)
    return expanded


def is_job(root: Mapping) -> bool:
    """Say whether an object is an MPIJob whose processes are started through ssh."""
    return root.text("kind") == "MPIJob" and root.text("apiVersion") == _VERSION


def launchers(root: Mapping) -> list[Mapping]:
    """Return the containers of an MPIJob's launcher; none of any other object."""
    pod = root.mapping(*_POD) if is_job(root) else None
    return mappings(pod.get("containers")) if pod else []


def missing(container: Mapping, roots: Iterable[Mapping]) -> Iterator[Entry]:
    """Yield what a container that runs mpirun has from the ConfigMaps among these objects and does not pass on."""
    words = [word for field in ("command", "args") for text in _texts(container, field) for word in text.split()]
    if not any(_is_mpirun(word) for word in words):
        return
    passed = {name.partition("=")[0] for flag, name in pairwise(words) if flag in _EXPORT}
    references = (each.mapping("configMapRef") for each in mappings(container.get("envFrom")))
    names = {reference.text("name") for reference in references if reference}
    for root in roots:
        metadata, data = root.mapping("metadata"), root.mapping("data")
        if root.text("kind") == "ConfigMap" and metadata and data and metadata.text("name") in names:
            yield from (entry for entry in data.entries if entry.name not in passed)


def _ends_with_mpirun(container: Mapping) -> bool:
    """Say whether what is added to a container's command becomes an option of mpirun."""
    command = _texts(container, "command")
    return bool(command and _is_mpirun(command[0]) and _texts(container, "args"))


def _is_mpirun(word: str) -> bool:
    return PurePosixPath(word).name in _MPIRUN


def _texts(container: Mapping, field: str) -> list[str]:
    listed = container.get(field)
    items = [item.value for item in listed.items] if isinstance(listed, Sequence) else []
    return [item.value for item in items if isinstance(item, Scalar)]
