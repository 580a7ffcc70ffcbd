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
from pathlib import Path

from packyard.source.fields import Fields
from packyard.yaml.document import decode, parse_text
from packyard.yaml.node import MappingNode, Node, Source
from packyard.yaml.scalar import double_quoted, is_plain_text


@dataclass(frozen=True, slots=True)
class Generated:
    """One ConfigMap to make: its files, and the comment behind its name."""

    name: str
    comment: str
    files: tuple[Path, ...]
    labels: tuple[tuple[str, str, str], ...]  # key, value, and the comment behind it
    source: str

    @property
    def stem(self) -> str:
        """Name the object's file: for its component, or else for its first file."""
        values = {key: text for key, text, _ in self.labels}
        return values.get("app.kubernetes.io/component", self.files[0].stem)

    def root(self) -> MappingNode:
        """Return the object, for the caller to change."""
        lines = ["apiVersion: v1", "kind: ConfigMap", "metadata:", f"  name: {self.name} {self.comment}".rstrip()]
        lines += ["  labels:"] if self.labels else []
        lines += [f"    {key}: {_lexeme(text)} {comment}".rstrip() for key, text, comment in self.labels]
        lines.append("data:")
        for file in self.files:
            lines += _block(file.name, decode(file.read_bytes(), str(file))[1])
        root = parse_text(Source(self.source, "\n".join(lines) + "\n"))[0].root
        assert isinstance(root, MappingNode)
        return root


def _lexeme(text: str) -> str:
    return text if is_plain_text(text) else double_quoted(text)


def _block(name: str, text: str) -> list[str]:
    """Write a file as a literal, or in quotes where a literal would not keep every character."""
    plain = text.endswith("\n") and not text.endswith("\n\n") and not text.startswith((" ", "\n"))
    if not plain or any(not (character.isprintable() or character == "\n") for character in text):
        return [f"  {name}: {double_quoted(text)}"]
    return [f"  {name}: |", *(f"    {line}" if line else "" for line in text[:-1].split("\n"))]


def read(parent: Fields, node: Node, folder: Path) -> Generated | None:
    """Read one entry; its files stand in the same folder."""
    fields = Fields(node, parent.file, "configMapGenerator", parent.problems)
    name, names = fields.text("name"), fields.texts("files")
    options = fields.child("options")
    labels = options.mapping("labels") if options else {}
    if options is None or options.text("disableNameSuffixHash", "") != "true":
        message = "has to be true: a hash behind the name would change with every set"
        fields.fault(node, "options.disableNameSuffixHash", message)
    if options:
        options.done()
    fields.done()
    files = [folder / file for file in names]
    for file in files:
        if file.parent != folder or (fields.reach(node, "files", file.name, file) and not file.is_file()):
            fields.fault(node, "files", f"no file {file.name!r} here")
    if not names:
        fields.fault(node, "files", "is missing")
    if fields.problems:
        return None
    found = fields.node.get("name") if fields.node else None
    texts = tuple((key, scalar.value, _comment(scalar)) for key, scalar in labels.items())
    return Generated(name, _comment(found), tuple(files), texts, fields.file)


def _comment(node: Node | None) -> str:
    return node.comment.text if node is not None and node.comment else ""
