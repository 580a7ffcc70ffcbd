"""Every link of every Markdown file leads to a file of the repository, and to a heading that is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import real
from documents import pages
from packyard.cli.verbs import VERBS


def test_links_lead_to_files_and_headings() -> None:
    assert [fault for page in pages.markdown_files() for fault in broken_links(page)] == []


def broken_links(page: Path) -> Iterator[str]:
    where = page.relative_to(real.REPOSITORY)
    for path, anchor in pages.links(page.read_text("utf-8")):
        target = (page.parent / path).resolve() if path else page
        if path == "LICENSE" and "docs" in where.parts[:-1]:
            continue  # a fragment of a package's README, beside whose LICENSE it is shipped
        if not target.exists():
            yield f"{where}: no file {path}"
        elif anchor and anchor not in pages.anchors(target.read_text("utf-8")):
            yield f"{where}: no heading {path}#{anchor}"


def test_paths_of_this_repository_that_pages_name_exist() -> None:
    text = "\n".join(pages.FENCE.sub("", page.read_text("utf-8")) for page in pages.PAGES)
    named = re.findall(r"`((?:builder|tests|bases|overlays|packages|docs)/[\w./-]+)`", text)
    assert [path for path in named if not re.search("[A-Z]{4}", path) and not (real.REPOSITORY / path).exists()] == []


def test_pages_name_targets_that_the_makefile_has() -> None:
    there = set(re.findall(r"^([a-z-]+):.*#[#-] ", (real.REPOSITORY / "Makefile").read_text("utf-8"), re.MULTILINE))
    text = "\n".join(page.read_text("utf-8") for page in pages.PAGES)
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE))
    assert {name for name in named if not name.startswith("nightly-")} <= there


def test_verbs_that_pages_name_exist() -> None:
    named = {verb for page in pages.PAGES for verb in re.findall(r"`packyard ([a-z]+)", page.read_text("utf-8"))}
    assert named - {*VERBS, "help"} == set()
