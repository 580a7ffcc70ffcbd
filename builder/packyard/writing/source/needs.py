"""``requires`` of package.yaml, and of the Krmfile of a part, for all packages that are made of it.

requires:
- {operator: KubeRay, definitions: [rayjobs.ray.io], image: operator, oldest: "1.2", link: "https://…", install: […]}
- {secret: hf-token, keys: [token], description: A token of Hugging Face.}
- {kubernetes: "1.31"}
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from packyard.core.bundle.prerequisite import Prerequisite, version_of
from packyard.core.errors import Problem, refuse
from packyard.core.work.memo import Memo
from packyard.core.yaml.document import source_of
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Node
from packyard.using.kustomize.part import KrmfileData
from packyard.using.setters.krmfile import parse_krmfile

KEY = "requires"
_NAME = re.compile(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?")
#: The fields of each kind, beside its description.
FIELDS = {
    "operator": ("definitions", "offers", "image", "oldest", "newest", "tested", "link", "install"),
    "secret": ("keys",),
    "kubernetes": (),
}
_LISTS = ("definitions", "offers", "install", "keys")
#: What some of the texts are like, each with an example.
_FORMS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "definitions": (re.compile(rf"[a-z0-9-]+\.{_NAME.pattern}").fullmatch, "rayjobs.ray.io"),
    "offers": (re.compile(r"(Resource|CSIDriver) \S+").fullmatch, "Resource nvidia.com/gpu"),
    "oldest": (version_of, "1.2"),
    "newest": (version_of, "1.4"),
    "tested": (version_of, "1.2.0"),
    "link": (re.compile(r"https://\S+").fullmatch, "https://example.com"),
    "secret": (_NAME.fullmatch, "hf-token"),
    "kubernetes": (re.compile(r"1\.\d+").fullmatch, "1.31"),
}


def read(fields: Fields) -> tuple[Prerequisite, ...]:
    """Read the list of a file."""
    nodes = fields.items(KEY)
    return tuple(_read(Fields(node, fields.file, KEY, fields.problems), node) for node in nodes)


def gather(krmfiles: Iterable[KrmfileData], memo: Memo) -> list[Prerequisite]:
    """Return what the Krmfiles of parts require, each once; every fault of every file is named at once."""
    required: list[Prerequisite] = []
    problems: list[Problem] = []
    for name, data in dict.fromkeys(krmfiles):
        if f"{KEY}:".encode() in data:
            fields = Fields(parse_krmfile(source_of(data, name), memo).root, name, "", problems)
            required += read(fields)
    refuse(problems)
    return required


def _read(fields: Fields, node: Node) -> Prerequisite:
    kinds = [kind for kind in FIELDS if fields.anything(kind)]
    if len(kinds) != 1:
        fields.fault(node, "", f"needs one of {', '.join(FIELDS)}, and has {' and '.join(kinds) or 'none'}")
        return Prerequisite()
    values: dict[str, Any] = {
        key: tuple(fields.texts(key)) if key in _LISTS else fields.text(key, "")
        for key in (kinds[0], *FIELDS[kinds[0]], "description")
    }
    fields.done()
    required = Prerequisite(**values)
    if required.operator and not (required.definitions or required.offers):
        hint = "definitions: [rayjobs.ray.io], or offers: [Resource nvidia.com/gpu]"
        fields.fault(node, "", "does not say what the operator brings", hint)
    if required.secret and not required.keys:
        fields.fault(node, "keys", "is missing", "say what the Secret has to hold: keys: [token]")
    for key, (fits, example) in _FORMS.items():
        entry = values.get(key, "")
        for wrong in (text for text in (entry if key in _LISTS else (entry,)) if text and not fits(text)):
            fields.fault(fields.anything(key), key, f"{wrong!r} is not of the form of {example}")
    return required
