"""Spans, beside those of a parser that shares no code with ours: tree-sitter's."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter_yaml
from hypothesis import given, settings
from tree_sitter import Language, Node, Parser

import real
from core.yaml.yaml_files import File, files
from packyard.core.yaml.document import parse_text, walk
from packyard.core.yaml.node import Entry, Item, MappingNode, Scalar, SequenceNode, Source
from sample import tries

PARSER = Parser(Language(tree_sitter_yaml.language()))
SCALARS = {"plain_scalar", "double_quote_scalar", "single_quote_scalar"}


def theirs(text: str) -> list[str]:
    """Every scalar on one line, keys included, in the order of the text."""

    def visit(node: Node) -> Iterator[Node]:
        if node.type in SCALARS:
            yield node
        for child in node.children:
            yield from visit(child)

    data = text.encode()
    tree = PARSER.parse(data)
    assert not tree.root_node.has_error
    found = [data[node.start_byte : node.end_byte].decode() for node in visit(tree.root_node)]
    return [lexeme for lexeme in found if "\n" not in lexeme]


def ours(text: str) -> list[str]:
    found: list[Scalar] = []
    for document in parse_text(Source("r.yaml", text)):
        for node in walk(document.root):
            parts: list[Entry] | list[Item] = []
            if isinstance(node, MappingNode):
                parts = node.entries
                found += [entry.key for entry in node.entries if isinstance(entry.key, Scalar)]
            elif isinstance(node, SequenceNode):
                parts = node.items
            found += [part.value for part in parts if isinstance(part.value, Scalar)]
    found.sort(key=lambda scalar: scalar.start)
    texts = [(scalar.lexeme.split()[-1] if scalar.tag or scalar.anchor else scalar.lexeme) for scalar in found]
    return [
        text
        for scalar, text in zip(found, texts, strict=True)
        if scalar.style not in "|>" and text and "\n" not in text
    ]


@pytest.mark.nightly
@settings(max_examples=tries(300))
@given(file=files())
def test_generated_files_have_their_scalars_where_another_parser_finds_them(file: File) -> None:
    text = file.text().replace("\r\n", "\n").replace("\t", " ")
    assert ours(text) == theirs(text)


@pytest.mark.parametrize("root", ["bases", "overlays", "packages", "tests/trees/copies"])
def test_our_files_have_their_scalars_where_another_parser_finds_them(root: str) -> None:
    files = [file for file in (real.REPOSITORY / root).rglob("*") if file.name == "Krmfile" or file.suffix == ".yaml"]
    assert files
    for file in files:
        assert ours(text := file.read_text()) == theirs(text), file


@pytest.mark.parametrize("path", real.of_corpus(real.corpus_files("zoo")), ids=lambda path: path.stem)
def test_the_zoo_has_its_scalars_where_another_parser_finds_them(path: Path) -> None:
    case = json.loads(path.read_bytes())
    for text in case["before"].values():
        assert ours(text) == theirs(text)
