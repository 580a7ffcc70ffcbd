"""Every command of README, CONTRIBUTING and docs/ runs, and what the pages show is seen again."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import real
from documents import pages
from documents.pages import Block, Session

#: What is not typed: it installs, or runs these very tests or others that have a target of their own.
ELSEWHERE = re.compile(r"pip install .*|git clone .*|make [-a-z]+( .*)?")
_SOURCES = ("packyard.yaml", "LICENSE", "Krmfile", "bases", "overlays", "packages", "docs", "pyproject.toml", "tests")
_KUBECTL = """#!/bin/sh
# A cluster is not here: what would be applied is read.
case "$*" in kustomize*) exec {program} "$@" ;; *"-f -"*) cat >/dev/null ;; esac
"""

SESSIONS = [session for page in pages.PAGES if page.exists() for session in pages.sessions(page)]
#: The first hour has seven words: package, version, use case, parameter, option, values file and run. These come later.
LATER = re.compile(
    r"(?<!packyard )(?<!/)\b(setters?|Krmfile|Kptfile|locked|lock|receipt|channels?|digests?|workspaces?|quickstart"
    r"|mlops|catalogue|bundles?|releases?|presets?|sites?|untarred|library|components?|substitutions?|packyard\.json)\b"
)
_FIRST = ("README.md", "first-steps.md")
_ON_CLUSTER = re.compile(r"^packyard (run|deploy|status) ", re.MULTILINE)


def _typed(session: Session) -> str:
    return "".join(block.text for block in session.blocks if block.kind.startswith("sh"))


def _mark(session: Session) -> pytest.MarkDecorator:
    """Return the part that types a session: those of new users that need no other program, with the wheel."""
    if _ON_CLUSTER.search(_typed(session)):
        return pytest.mark.nightly("clusters")
    if "kustomize" in _typed(session):
        return pytest.mark.nightly("kustomize")
    return pytest.mark.bare if session.page.name in (*_FIRST, "using.md") else pytest.mark.nightly


@pytest.fixture
def environment(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the readers have: packyard, kustomize 5, `kustomize-3.8.7`, and kubectl, with a cluster where runs are.

    A test of one session asks for the programs that are typed there alone.
    """
    typed = _typed(request.node.callspec.params["session"])
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    ours = f'"{sys.executable}" -m packyard'
    write(bin_dir / "packyard", f'#!/bin/sh\nexec {os.environ.get("PACKYARD_INSTALLED", ours)} "$@"\n')
    write(bin_dir / "pytest", f'#!/bin/sh\nexec "{sys.executable}" -m pytest "$@"\n')
    if _ON_CLUSTER.search(typed):
        for name in ("kubectl", "diff"):
            (bin_dir / name).symlink_to(real.program(name))
        cluster = request.getfixturevalue("cluster")
        monkeypatch.setenv("KUBECONFIG", str(cluster.folder / "kubeconfig"))
        for namespace in re.findall(r"^kubectl create namespace (\S+)", typed, re.MULTILINE):
            cluster.print(namespace, "what a pod prints")
    else:
        write(bin_dir / "kubectl", _KUBECTL.format(program=real.own_program("kubectl")))
    if "kustomize" in typed:
        (bin_dir / "kustomize").symlink_to(request.getfixturevalue("kustomize5").program)
    if "kustomize-3.8.7" in typed:
        (bin_dir / "kustomize-3.8.7").symlink_to(request.getfixturevalue("kustomize3").program)
    others = [name for name in ("grep", "kpt", "sed") if re.search(rf"^(.* \| )?{name} ", typed, re.MULTILINE)]
    own = {
        "PATH": f"{bin_dir}:{real.path_with(*others)}",
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "PYTHONUNBUFFERED": "1",  # in the order of a terminal, which pages show
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "reader@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    return {**{name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}, **own}


def write(file: Path, text: str) -> None:
    file.write_text(text, "utf-8")
    file.chmod(0o755)


@pytest.mark.parametrize("page", [page for page in pages.PAGES if page.exists()], ids=lambda page: page.name)
def test_what_is_shown_stands_right_behind_its_command(page: Path) -> None:
    """So that it is compared: a block ``text`` or ``diff`` is nothing else."""
    before = None
    for block in pages.blocks(page.read_text("utf-8")):
        if block.kind in ("text", "diff"):
            assert block.follows, f"{page.name}:{block.line}"
            assert before, f"{page.name}:{block.line}"
            assert before.kind.split(" ")[0] == "sh", f"{page.name}:{block.line}"
        before = block


def test_the_pages_of_the_first_ten_minutes_have_no_word_that_comes_later() -> None:
    readme, first = (page.read_text("utf-8") for page in (pages.README, pages.DOCS / "first-steps.md"))
    for text in (readme.partition("## Write a package")[0], first):
        assert not [match.group() for match in LATER.finditer(text)]


@pytest.mark.parametrize("session", [pytest.param(each, marks=_mark(each), id=each.name) for each in SESSIONS])
def test_commands_do_what_the_page_says(session: Session, environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / ("clone" if session.clone else "empty")
    folder.mkdir()
    compiled = shutil.ignore_patterns("__pycache__")  # other tests write it, by names that are gone at once
    for name in _SOURCES if session.clone else ():
        if (real.REPOSITORY / name).is_dir():
            shutil.copytree(real.REPOSITORY / name, folder / name, symlinks=True, ignore=compiled)
        else:
            shutil.copy(real.REPOSITORY / name, folder)
    follow(session, folder, environment, sources=folder if session.clone else None)


def follow(session: Session, folder: Path, environment: dict[str, str], sources: Path | None) -> None:
    """Type the commands of a session, write its files, and compare what is printed."""
    printed: str | None = None
    for block in session.blocks:
        place = f"{session.page.name}:{block.line}"
        if block.kind.split(" ")[0] == "sh":
            printed, folder = typed(block, folder, environment, place)
            if session.page.name in _FIRST and "packyard init" not in _typed(session):
                assert not [match.group() for match in LATER.finditer(printed or "")], f"{place}:\n{printed}"
        elif block.file and sources and (sources / block.file).exists():
            compare(block.text.partition("\n")[2], (sources / block.file).read_text("utf-8"), place)
        elif block.file:
            if "/patches/" in block.file and (folder / block.file).exists():  # `packyard new` wrote it
                compare(_kept(block.text), _kept((folder / block.file).read_text("utf-8")), place)
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text.partition("\n")[2], "utf-8")
        elif block.follows and printed is not None:
            compare(block.text, printed, place)
            printed = None


def _kept(text: str) -> str:
    """Return a patch of `packyard new` without what its author is to change: how the program is started."""
    return re.sub(r"^(#| *(command|args):).*\n", "", text, flags=re.MULTILINE)


def typed(block: Block, folder: Path, environment: dict[str, str], place: str) -> tuple[str | None, Path]:
    """Run a block's commands; return what they print, None where none was run, and the folder that they end in."""
    lines = [line for line in block.text.splitlines() if not ELSEWHERE.fullmatch(line.partition(" #")[0].rstrip())]
    if not lines:
        return None, folder
    left = Path(environment["HOME"]) / "left"
    script = f"trap 'code=$?; pwd >\"{left}\"; exit $code' EXIT\n" + "\n".join(lines)
    done = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == ("refused" in block.kind), f"{place}:\n{block.text}\n{done.stdout}"
    return done.stdout, Path(left.read_text("utf-8").strip())


def compare(shown: str, seen: str, place: str) -> None:
    """Compare what a page shows with what is seen; ``…`` stands for anything in a line, or for any lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line.rstrip()).replace("…", ".*") + r"[ \t]*\n"
        for line in shown.splitlines()
    )
    assert re.fullmatch(pattern, seen if seen.endswith("\n") else seen + "\n"), f"{place}: seen is\n{seen}"
