"""What is shared while packages are composed: never changed, bounded, and without a say in what is composed."""

from __future__ import annotations

import pytest

import real
from packyard.core.work.memo import Memo
from packyard.core.yaml import aliases
from packyard.core.yaml.document import parse_text
from packyard.core.yaml.node import Child, Comment, Document, MappingNode, Node, Scalar, SequenceNode, Source
from packyard.writing.source import package, workspace
from packyard.writing.source.compose import compose


def drawn(thing: object) -> object:
    """Everything that a document says, as plain values that can be compared."""
    if isinstance(thing, Document):
        return ("document", thing.start, drawn(thing.root), drawn(thing.head), drawn(thing.tail))
    if isinstance(thing, Comment):
        return ("comment", thing.text, thing.start, thing.column, thing.own_line)
    if isinstance(thing, Child):
        return (drawn(getattr(thing, "key", None)), drawn(thing.value), thing.start, drawn(thing.head),
                drawn(thing.foot), drawn(thing.comment))  # fmt: skip
    if isinstance(thing, Node):
        inside = (
            thing.entries if isinstance(thing, MappingNode) else thing.items if isinstance(thing, SequenceNode) else []
        )
        value = (thing.value, thing.style) if isinstance(thing, Scalar) else None
        return (type(thing).__name__, thing.start, thing.end, value, drawn(thing.comment), drawn(inside))
    return [drawn(item) for item in thing] if isinstance(thing, list) else thing


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["mnist-fp32-training-k8s", "resnet50v1-5-fp32-training-k8s"])
def test_composing_changes_no_text_that_is_shared(name: str) -> None:
    memo = Memo()
    here = workspace.read(real.REPOSITORY, memo)
    composed = compose(here, package.read(here, name))
    again = compose(here, package.read(here, name))
    assert again.files == composed.files
    documents = {key: made for key, made in memo._made.items() if key[0] in ("documents", "aliases")}
    assert len(documents) > 20
    for (kind, source, text), made in documents.items():
        read = aliases.read if kind == "aliases" else parse_text
        assert drawn(made) == drawn(read(Source(source, text))), source
