"""The reference has every verb; what each prints with ``-o json`` is what it declares, and what the table says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import real
from documents import pages, reference
from packyard.cli import rows
from packyard.cli.complete import flags_of
from packyard.cli.verbs import VERBS
from tiny import done

NAME = "mnist-fp32-training-k8s"
#: Verbs that print no rows: other verbs one after another, files, scripts, and what other programs print.
OTHERS = {"cfg", "completion", "exec", "fn", "forward", "run"}


def documented() -> dict[str, dict[str, set[str]]]:
    """Return for each verb the fields of its objects, and below each field that is a list those of its items."""
    found = {}
    for name, each in reference.declared().items():
        fields = rows.fields(each.fields)
        nested = {field.name: {item.name for item in field.items} for field in fields if field.items}
        found[name] = {"": {field.name for field in fields}, **nested}
    return found


def test_the_page_has_what_every_verb_declares() -> None:
    assert reference.rest() == reference.made(), "make docs writes it"


def test_a_verb_declares_what_it_prints() -> None:
    names = {name.partition(" ")[0] for name in reference.declared()}
    assert set(VERBS) - names == OTHERS
    for verb in VERBS:
        flags = set(flags_of(verb, []))
        assert ("--output" in flags) == (verb in names), verb


def seen(objects: list[dict[str, Any]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {"": set()}
    for item in objects:
        found[""] |= set(item)
        for name, value in item.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                found[name] = found.get(name, set()).union(*value)
    return found


@pytest.mark.nightly
def test_the_page_of_packyard_json_has_every_field_of_a_real_one(tmp_path: Path) -> None:
    page = (pages.DOCS / "packyard-json.md").read_text("utf-8")
    (example,) = (block.text for block in pages.blocks(page) if block.kind == "json")
    done("build", NAME, "--workspace", real.REPOSITORY, "--version", "1.0.0", "--to", tmp_path)
    record = json.loads((tmp_path / NAME / "packyard.json").read_bytes())
    assert list(json.loads(example)) == list(record)
    fields = [name for cells in pages.rows(page, "| field |") for name in re.findall(r"`(\S+)`", cells[0])]
    said = {"requires", "options"}  # by nobody there
    assert [name for name in fields if "." not in name and name not in said] == list(record)
    assert {name.rpartition(".")[2] for name in fields if "." in name} == set().union(*record["useCases"].values())
    kinds = {name for cells in pages.rows(page, "| kind |") for name in re.findall(r"`(\w+)`", cells[0])}
    assert {each.split()[0] for case in record["useCases"].values() for each in case.get("requires", ())} <= kinds
