"""What authors mistype is refused with what to type next."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import packyard as installed
import tiny
from running import suggested


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tiny.workspace(tmp_path / "zoo")


def test_a_folder_that_is_no_workspace_can_become_one(tmp_path: Path) -> None:
    assert f"(packyard init {tmp_path} begins one)" in tiny.refused("lint", "--workspace", tmp_path)


@pytest.mark.parametrize("words", ["test", "build --version 1 --to OUT", "publish --version 1 --to OUT"])
def test_a_workspace_without_packages_can_get_one(root: Path, words: str) -> None:
    (root / "packages/p/package.yaml").unlink()
    said = tiny.refused(*words.replace("OUT", str(root.parent / "out")).split(), "--workspace", root)
    assert said.startswith(f"error: {root}: has no packages (packyard new NAME --base job makes a package;")


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir])
def test_a_fragment_that_is_no_file_is_refused(root: Path, make: Callable[[Path], None]) -> None:
    fragment = root / "packages/p/docs/20-x.md"
    fragment.parent.mkdir(exist_ok=True)
    make(fragment)
    assert f"{fragment}: a fragment is a file" in tiny.refused(
        "build", "p", "--version", "1", "--to", root / "out", "--workspace", root
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("build", "packyard build --version 1.0.0 --to build"),
        ("build --version 1.0", "--to is missing; type packyard build --version 1.0 --to DIR"),
        ("build p/one --version 1 --to out", "(name the package as a whole: p)"),
        ("build --to FILE/x --version 1.0.0", "FILE: is a file, and a folder is needed here (name another folder)"),
        ("build --to OUT --version v.x", "'v.x' is not a version (use a form such as 2.7.0"),
        ("build --to OUT --version 1 --jobs x", "--jobs: invalid int value: 'x'; type packyard build --help"),
        ("build zzz --to OUT --version 1", "no package 'zzz' in packages (it has p)"),
        ("publish", "--version and --to are missing; type packyard publish --version 1.0.0 --to CHANNEL"),
        ("publish --to", "--to needs a value; type packyard publish --help"),
        ("publish p.tar.gz --to OUT --version 1", "(did you mean 'p'?)"),
        ("new", "NAME is missing: packyard new my-model --base job"),
        ("new x", "--base is missing; packyard new --list shows the bases"),
        ("new Foo_Bar --base one", "(did you mean 'foo-bar'?)"),
        ("new p --base one", "exists already (choose another name, or change its package.yaml)"),
        ("new x --base zzz", "no base 'zzz' (packyard new --list shows them)"),
        ("new x --base one --set A=b", "packages/x: was not written\n"),
        ("new --list onee", "no base 'onee' (did you mean 'one'?)"),
        ("new --list --set A=b", "packyard new: --set has no meaning beside --list"),
        ("new x --base one --set A", "packyard new: 'A' must be NAME=VALUE"),
        ("keys", "ACTION is missing; type packyard keys new NAME, packyard keys trust KEY CHANNEL, packyard keys list"),
        (
            "keys tru",
            "ACTION takes new, trust, list or untrust, not 'tru' (did you mean 'trust'?); type packyard keys --help",
        ),
        ("keys new", "keys new: expected NAME, found none; type packyard keys new NAME"),
        ("keys trust", "packyard keys trust KEY CHANNEL"),
        ("keys trust missing.pem channel", "missing.pem: no such file"),
        ("keys list x", "packyard keys list: expected no other word, found x; type packyard keys list"),
    ],
)
def test_words_of_authors_and_publishers_that_do_not_fit(
    words: str, says: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    (tmp_path / "FILE").write_text("")
    given = words.replace("FILE", f"{tmp_path}/FILE").replace("OUT", f"{tmp_path}/OUT")
    code, out, said = tiny.run(*given.split())
    assert code in (1, 2)
    assert not out
    assert says.replace("FILE", f"{tmp_path}/FILE", says.startswith("FILE")) in said
    assert not (tmp_path / "OUT").exists()


@pytest.mark.nightly
def test_no_message_names_a_verb_or_a_flag_that_there_is_not() -> None:
    faults, count = [], 0
    for file in sorted(Path(installed.__file__).parent.rglob("*.py")):
        for line, words in suggested.of_module(file):
            count += words[0] == "packyard"
            why = suggested.check_packyard(words) if words[0] == "packyard" else ""
            if re.search("no verb|unknown flag", why):
                faults.append(f"{file}:{line}: {why}")
    assert not faults
    assert count > 150, "they are found at all"
