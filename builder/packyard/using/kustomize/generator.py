"""``configMapGenerator``: files, programs above all, literals and files of NAME=VALUE lines into ConfigMaps.

kustomize's own, with a hash of the content behind the name, or without::

    - name: programs                                         ->    kind: ConfigMap
      files: [run.py]                                              metadata: {name: programs-9d6fcc6g5f, labels: …}
      literals: [LEVEL=info]                                       data:
      options:                                                       run.py: |
        labels: {app.kubernetes.io/component: programs}                …
                                                                     LEVEL: info
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath

from packyard.core.yaml import make
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import MappingNode, Node, Scalar, Source
from packyard.core.yaml.strict import Value
from packyard.core.yaml.values import BOOLEANS, is_plain_text

#: Gives a file by its path, of an entry that names it, or notes why it cannot.
Find = Callable[[Fields, Scalar, str], "Source | None"]

#: What an entry may have, and what its options.
KEYS, OPTIONS = ("name", "files", "literals", "envs", "options"), ("labels", "disableNameSuffixHash")

#: What a ConfigMap may call its data.
_KEY = re.compile(r"(?!\.\.?\Z|\.\.)[-._a-zA-Z0-9]{1,253}\Z")

#: The digits that kustomize replaces in a hash, which shall not spell words.
_DIGITS = str.maketrans("013ae", "ghkmt")
#: What Go's JSON escapes and Python's does not.
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


@dataclass(frozen=True, slots=True)
class Generated:
    """One ConfigMap, the stem of the file that it is written to, the entry of the list, and the names of its files.

    ``is_hashed`` says that its name ends with a hash of its content.
    """

    root: MappingNode
    stem: str
    entry: Node
    files: tuple[str, ...]
    is_hashed: bool


def read(parent: Fields, node: Node, find: Find) -> Generated | None:
    """Read one entry; its files stand in the folder of the kustomization."""
    fields = Fields(node, parent.file, "configMapGenerator", parent.problems)
    before = len(fields.problems)
    name = fields.text("name")
    files, literals, envs = map(fields.scalars, ("files", "literals", "envs"))
    options = fields.child("options")
    labels = options.mapping("labels") if options else {}
    switch = options.anything("disableNameSuffixHash") if options else None
    written = BOOLEANS.get(switch.lexeme) if switch else False
    if written is None:
        fields.fault(switch, "options.disableNameSuffixHash", "must be true or false")
    is_hashed = not written
    if options:
        options.done()
    fields.done()
    data: dict[str, Node] = {}
    paths = []
    for entry in files:
        key, path = split(entry.value)
        if _is_key(fields, entry, "files", key if path else "", data) and (source := find(fields, entry, path)):
            data[key] = make.literal(source.text, source.name)
            paths.append(path)
    lines = [("literals", entry, entry.value) for entry in literals]
    for entry in envs:
        if source := find(fields, entry, entry.value):
            rows = (text.lstrip().removesuffix("\r") for text in source.text.removeprefix("\ufeff").split("\n"))
            lines += [("envs", entry, text) for text in rows if text and text[0] != "#"]
            paths.append(entry.value)
    for field, entry, line in lines:
        key, separator, text = line.partition("=")
        if not separator:
            fields.fault(entry, field, f"{line!r} is not NAME=VALUE")
        elif _is_key(fields, entry, field, key, data):
            is_quoted = field == "literals" and len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
            data[key] = make.scalar(text[1:-1] if is_quoted else text, fields.file)
    if not files and not lines:
        fields.fault(node, "files", "is missing")
    name_node = fields.node.get("name") if fields.node else None
    for scalar in (name_node, *labels.values()):
        if isinstance(scalar, Scalar) and scalar.style == "plain" and not is_plain_text(scalar.value):
            fields.fault(scalar, "", "must be text: put it in quotes")
        if isinstance(scalar, Scalar) and scalar.comment and is_hashed:
            fields.fault(scalar, "", "has a setter, and use cases share what has a hash: patch it in them")
    if len(fields.problems) > before:
        return None
    metadata: dict[str, Node] = {"name": _scalar(name, name_node, fields.file)}
    if labels:
        texts = {key: _scalar(label.value, label, fields.file) for key, label in labels.items()}
        metadata["labels"] = make.mapping(fields.file, texts)
    values = {"metadata": make.mapping(fields.file, metadata), "data": make.mapping(fields.file, data)}
    root = make.mapping(fields.file, {"apiVersion": "v1", "kind": "ConfigMap", **values})
    root.source, root.start, root.end = node.source, node.start, node.end  # which is where the object is from
    component = labels.get("app.kubernetes.io/component")
    stem = component.value if component else PurePosixPath(files[0].value if files else name).stem
    return Generated(root, stem, node, tuple(paths), is_hashed)


def split(text: str) -> tuple[str, str]:
    """Return the key and the path of an entry of ``files``, ``KEY=PATH``; the key of a path alone is its name."""
    key, separator, path = text.rpartition("=")
    return key if separator else PurePosixPath(path).name, path


def suffix(config_map: Mapping[str, Value]) -> str:
    """Return what kustomize puts behind the name of a ConfigMap, for its content."""
    content = {"data": config_map.get("data") or {}, "kind": "ConfigMap", "name": ""}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    for character, escaped in _ESCAPED.items():
        text = text.replace(character, escaped)
    return sha256(text.encode()).hexdigest()[:10].translate(_DIGITS)


def _is_key(fields: Fields, entry: Scalar, field: str, key: str, data: Mapping[str, Node]) -> bool:
    """Say whether the data may have a key, too, or note why not."""
    unfit = "" if _KEY.match(key) else "must have letters, digits, dots, dashes or underscores"
    wrong = "is there twice" if key in data else unfit
    if wrong:
        fields.fault(entry, field, f"the key {key!r} {wrong}")
    return not wrong


def _scalar(text: str, origin: Node | None, file: str) -> Scalar:
    """Make a scalar with the comment that its author wrote."""
    scalar = make.scalar(text, file)
    scalar.comment = origin.comment if origin else None
    return scalar
