"""Every link of every Markdown file leads to a file of the repository, and to a heading that is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import real
from documents import pages
from packyard.cli.verbs import VERBS

FILES = pages.markdown_files()


@pytest.mark.parametrize("page", FILES, ids=lambda page: str(page.relative_to(real.REPOSITORY)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    faults = []
    for path, anchor in pages.links(page.read_text("utf-8")):
        target = (page.parent / path).resolve() if path else page
        if path == "LICENSE" and "docs" in page.relative_to(real.REPOSITORY).parts[:-1]:
            continue  # a fragment of a package's README, beside whose LICENSE it is shipped
        if not target.exists():
            faults.append(f"no file {path}")
        elif anchor and anchor not in pages.anchors(target.read_text("utf-8")):
            faults.append(f"no heading {path}#{anchor}")
    assert not faults


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_paths_of_this_repository_that_a_page_names_exist(page: Path) -> None:
    text = pages.FENCE.sub("", page.read_text("utf-8"))
    named = re.findall(r"`((?:builder|tests|bases|overlays|packages|docs)/[\w./-]+)`", text)
    assert [path for path in named if not re.search("[A-Z]{4}", path) and not (real.REPOSITORY / path).exists()] == []


def test_pages_name_targets_that_the_makefile_has() -> None:
    there = set(re.findall(r"^([a-z-]+):.*#[#-] ", (real.REPOSITORY / "Makefile").read_text("utf-8"), re.MULTILINE))
    text = "\n".join(page.read_text("utf-8") for page in pages.PAGES)
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE))
    assert {name for name in named if not name.startswith("nightly-")} <= there


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_verbs_that_a_page_names_exist(page: Path) -> None:
    named = set(re.findall(r"`packyard ([a-z]+)", page.read_text("utf-8")))
    assert named - {*VERBS, "help"} == set()
