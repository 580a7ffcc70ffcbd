"""Setters of version 1, byte for byte: parts of a comment that are missing, quotes only where they are needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from packyard.using.setters.inline import InlineChange, list_setters
from real import Cfg

FIELD = '{} # {{"type":"string","x-kustomize":{{"setter":{{"name":"a","value":"p"}}}}}}\n'


@pytest.mark.parametrize("comment", ['"setter":{"name":1}', '"setter":[]', '"partialSetters":["x"]', '"setBy":{}'])
def test_a_comment_with_a_part_of_another_type_is_an_ordinary_comment(comment: str) -> None:
    text = f'a: p # {{"type":"string","x-kustomize":{{{comment}}}}}\n'.encode()
    assert list_setters([("f.yaml", text)]) == []
    assert InlineChange("1", "x")(text, "f.yaml") == text


@pytest.mark.parametrize("value", ["u:v", "u,v", "z]", "https://e.com/x?y", "[z", "a: b", "# x", "it's", "{}", "a b"])
@pytest.mark.parametrize("form", ["a: p", "a:\n- p"])
def test_quotes_are_added_where_the_real_program_adds_them(cfg3: Cfg, tmp_path: Path, value: str, form: str) -> None:
    text = FIELD.format(form)
    (tmp_path / "f.yaml").write_text(text, "utf-8")
    cfg3.done("set", ".", "a", value, cwd=tmp_path)
    assert InlineChange("a", value)(text.encode(), "f.yaml") == (tmp_path / "f.yaml").read_bytes()
