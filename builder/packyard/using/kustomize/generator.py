"""``configMapGenerator``: files, scripts above all, into ConfigMaps.

kustomize's own, without a hash behind the name, which would change with every set::

    - name: model-scripts # {"$openapi":"SCRIPTS_NAME"}    ->    kind: ConfigMap
      files: [run.py]                                            metadata: {name: model-scripts, labels: …}
      options:                                                   data:
        disableNameSuffixHash: true                                run.py: |
        labels: {app.kubernetes.io/component: scripts}               …
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import basename, dirname, join

from packyard.core.yaml import make
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import MappingNode, Node, Scalar
from packyard.core.yaml.sources import Sources


@dataclass(frozen=True, slots=True)
class Generated:
    """One ConfigMap, the stem of the file that it is written to, and the files that it was made from."""

    root: MappingNode
    stem: str
    files: tuple[str, ...]


def read(parent: Fields, node: Node, folder: str, sources: Sources) -> Generated | None:
    """Read one entry; its files stand in the same folder."""
    fields = Fields(node, parent.file, "configMapGenerator", parent.problems)
    name, names = fields.text("name"), fields.texts("files")
    options = fields.child("options")
    labels = options.mapping("labels") if options else {}
    if options is None or options.text("disableNameSuffixHash", "") != "true":
        message = "must be true: a hash behind the name would change with every set"
        fields.fault(node, "options.disableNameSuffixHash", message)
    if options:
        options.done()
    fields.done()
    files = [join(folder, name) for name in names]
    for file in files:
        base = basename(file)
        if dirname(file) != folder or (fields.reach(node, "files", base, file, sources) and not sources.is_file(file)):
            fields.fault(node, "files", f"no file {base!r} here")
    if not names:
        fields.fault(node, "files", "is missing")
    if fields.problems:
        return None
    found = fields.node.get("name") if fields.node else None
    metadata: dict[str, Node] = {"name": _scalar(name, found, fields.file)}
    if labels:
        scalars = {key: _scalar(label.value, label, fields.file) for key, label in labels.items()}
        metadata["labels"] = make.mapping(fields.file, scalars)
    data = {basename(file): make.literal(sources.text(file).text, sources.shown(file)) for file in files}
    values = {"metadata": make.mapping(fields.file, metadata), "data": make.mapping(fields.file, data)}
    root = make.mapping(fields.file, {"apiVersion": "v1", "kind": "ConfigMap", **values})
    root.source, root.start, root.end = node.source, node.start, node.end  # which is where the object is from
    component = labels.get("app.kubernetes.io/component")
    return Generated(root, component.value if component else PurePosixPath(files[0]).stem, tuple(files))


def _scalar(text: str, written: Node | None, file: str) -> Scalar:
    """Make a scalar with the comment that its author wrote."""
    made = make.scalar(text, file)
    made.comment = written.comment if written else None
    return made
