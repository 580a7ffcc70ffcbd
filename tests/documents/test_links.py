"""Every link of every Markdown file leads to a file of the repository, and to a heading that is there."""

import re
import subprocess

import real
from documents import pages
from packyard.cli.verbs import VERBS
from packyard.writing.checks import documents
from packyard.writing.checks.documents import Folder


def test_links_lead_to_files_and_headings() -> None:
    """As lint says it of the pages of a folder, but for the pages with faults that lint finds."""
    command = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    listed = subprocess.run(command, cwd=real.REPOSITORY, capture_output=True, text=True, check=False).stdout
    if not listed:
        real.lacking("the repository's history", remedy="run the tests in a git checkout")
    files = [name for name in listed.splitlines() if (real.REPOSITORY / name).is_file()]
    named = [name for name in files if name.endswith(".md") and "/checks/defects/" not in name]
    found = documents.check({name: (real.REPOSITORY / name).read_bytes() for name in named}, Folder(files, {}))
    # Fragments of a README link to the LICENSE that is shipped beside it.
    dead = [str(each) for each in found if each.rule == "dead-link" and each.message != "there is no LICENSE"]
    assert dead == []


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
