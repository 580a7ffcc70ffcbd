"""``requires`` of package.yaml, and of the Krmfile of a part, for all packages that are made of it.

requires:
- {operator: KubeRay, definitions: [rayjobs.ray.io], image: operator, oldest: "1.2", link: "https://…", install: […]}
- {secret: hf-token, keys: [token], description: A token of Hugging Face.}
- {kubernetes: "1.31"}
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from packyard.core.bundle.required import Required
from packyard.core.errors import Problem, refuse
from packyard.core.kubernetes.operators import version_of
from packyard.core.work.memo import Memo
from packyard.core.yaml.document import source_of
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Node
from packyard.using.kustomize.part import KrmfileData
from packyard.using.setters.krmfile import parse_krmfile

KEY = "requires"
_NAME = re.compile(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?")
_DEFINITION = re.compile(rf"[a-z0-9-]+\.{_NAME.pattern}")
_OFFER = re.compile(r"(Resource|CSIDriver) \S+")
_LINK = re.compile(r"https://\S+")
_KUBERNETES = re.compile(r"1\.\d+")
#: The fields of each kind, beside its description.
FIELDS = {
    "operator": ("definitions", "offers", "image", "oldest", "newest", "tested", "link", "install"),
    "secret": ("keys",),
    "kubernetes": (),
}


def read(fields: Fields) -> tuple[Required, ...]:
    """Read the list of a file."""
    nodes = fields.items(KEY)
    return tuple(_read(Fields(node, fields.file, KEY, fields.problems), node) for node in nodes)


def gather(krmfiles: Iterable[KrmfileData], memo: Memo) -> list[Required]:
    """Return what the Krmfiles of parts require, each once; every fault of every file is named at once."""
    required: list[Required] = []
    problems: list[Problem] = []
    for name, data in dict.fromkeys(krmfiles):
        if f"{KEY}:".encode() in data:
            fields = Fields(parse_krmfile(source_of(data, name), memo).root, name, "", problems)
            required += read(fields)
    refuse(problems)
    return required


def _read(fields: Fields, node: Node) -> Required:
    required = Required(
        operator=fields.text("operator", ""),
        definitions=tuple(fields.texts("definitions")),
        offers=tuple(fields.texts("offers")),
        image=fields.text("image", ""),
        oldest=fields.text("oldest", ""),
        newest=fields.text("newest", ""),
        tested=fields.text("tested", ""),
        link=fields.text("link", ""),
        install=tuple(fields.texts("install")),
        secret=fields.text("secret", ""),
        keys=tuple(fields.texts("keys")),
        kubernetes=fields.text("kubernetes", ""),
        description=fields.text("description", ""),
    )
    kinds = [kind for kind in FIELDS if getattr(required, kind)]
    if len(kinds) != 1:
        fields.fault(node, "", f"needs one of {', '.join(FIELDS)}, and has {' and '.join(kinds) or 'none'}")
    else:
        _check(fields, node, required, kinds[0])
    fields.done()
    return required


def _check(fields: Fields, node: Node, required: Required, kind: str) -> None:
    """Note what is missing, what is of another kind, and each text that is not of its form."""
    if kind == "operator" and not (required.definitions or required.offers):
        hint = "definitions: [rayjobs.ray.io], or offers: [Resource nvidia.com/gpu]"
        fields.fault(node, "", "does not say what the operator brings", hint)
    if kind == "secret" and not required.keys:
        fields.fault(node, "keys", "is missing", "say what the Secret has to hold: keys: [token]")
    for other, keys in FIELDS.items():
        for key in keys:
            if other != kind and getattr(required, key):
                article = "an" if other[0] == "o" else "a"
                fields.fault(fields.anything(key), key, f"is for {article} {other}")
    forms = (
        ("definitions", required.definitions, _DEFINITION.fullmatch, "rayjobs.ray.io"),
        ("offers", required.offers, _OFFER.fullmatch, "Resource nvidia.com/gpu"),
        ("oldest", (required.oldest,), version_of, "1.2"),
        ("newest", (required.newest,), version_of, "1.4"),
        ("tested", (required.tested,), version_of, "1.2.0"),
        ("link", (required.link,), _LINK.fullmatch, "https://example.com"),
        ("secret", (required.secret,), _NAME.fullmatch, "hf-token"),
        ("kubernetes", (required.kubernetes,), _KUBERNETES.fullmatch, "1.31"),
    )
    for key, texts, fits, example in forms:
        for wrong in (text for text in texts if text and not fits(text)):
            fields.fault(fields.anything(key), key, f"{wrong!r} is not of the form of {example}")
