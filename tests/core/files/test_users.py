"""Users without a name, a home or rights: commands work, or their errors name the file."""

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from core.files.krmfiles import FILES, field_values, make_package
from faults import SOMEBODY, Outcome, become, forked, leftovers
from packyard.cli.main import main
from packyard.core.files import paths

pytestmark = pytest.mark.nightly  # only root can be another user


def somebody(*words: object, **variables: str) -> Outcome:
    """Run a command line as a user without a name, who has no variables but these."""

    def command() -> int:
        become(SOMEBODY)
        os.environ.clear()
        os.environ.update(variables)
        return main([str(word) for word in words])

    return forked(command)


@pytest.fixture
def root(open_dir: Path) -> Path:
    """A package of this user's."""
    root = make_package(open_dir / "package")
    (root / "kustomization.yaml").write_text("resources: []\n", "utf-8")
    for path in (root, *root.rglob("*")):
        os.chown(path, SOMEBODY, SOMEBODY)
    return root


def in_a_foreign_group(root: Path) -> None:
    for name in FILES:
        os.chown(root / name, SOMEBODY, 54321)


def of_another_user(root: Path) -> None:
    for name in FILES:
        os.chown(root / name, 0, 0)
        (root / name).chmod(0o666)


def in_a_folder_of_all(root: Path) -> None:
    of_another_user(root)
    os.chown(root / "sub", 0, 0)
    (root / "sub").chmod(0o1777)


@pytest.mark.parametrize("arrange", [in_a_foreign_group, of_another_user, in_a_folder_of_all])
def test_files_that_a_user_may_write_are_set_and_stay_whose_they_are(
    root: Path, arrange: Callable[[Path], None]
) -> None:
    arrange(root)
    owners = {name: ((root / name).stat().st_uid, (root / name).stat().st_gid) for name in FILES}
    done = somebody("set", root, "V=b")
    assert (done.code, field_values(root)) == (0, {"b"}), done
    assert {name: ((root / name).stat().st_uid, (root / name).stat().st_gid) for name in FILES} == owners
    assert not leftovers(root)


def test_a_file_that_may_be_read_but_not_written_is_refused_by_name(root: Path) -> None:
    for name in FILES:
        os.chown(root / name, 0, 0)
    refused = somebody("set", root, "V=b")
    assert (refused.code, field_values(root)) == (1, {"a"})
    for name in FILES:
        assert f"{root / name}: Permission denied; nothing was changed" in refused.text
    for folder in (root, root / "sub"):
        folder.chmod(0o555)
    says = f"error: {root}: no permission to write in this folder, nor in 1 more; nothing was changed\n"
    assert somebody("set", root, "V=b").text.endswith(says)
    assert somebody("set", root, "V=b").text.count("error: ") == 1


@pytest.mark.parametrize(
    "words", [("set", "DIR", "V=b"), ("render", "DIR"), ("setters", "DIR"), ("cfg", "set", "DIR", "V", "b")]
)
@pytest.mark.parametrize("name", ["Krmfile", "kustomization.yaml", "one.yaml"])
def test_a_file_that_may_not_be_read_is_refused_by_name(root: Path, name: str, words: tuple[str, ...]) -> None:
    import_module("packyard.cli.using.render")  # Python's own files may be closed to that user
    (root / name).chmod(0)
    outcome = somebody(*(str(root) if word == "DIR" else word for word in words))
    assert outcome.code == (0 if name == "one.yaml" and words[0] == "render" else 1), outcome
    assert not outcome.code or f"{root / name}: Permission denied" in outcome.text


def test_a_history_that_may_not_be_read_is_refused_by_name(root: Path, open_dir: Path) -> None:
    (open_dir / "state/packyard/steps").mkdir(parents=True)
    (open_dir / "state").chmod(0o700)
    refused = somebody("undo", root, XDG_STATE_HOME=str(open_dir / "state"))
    assert refused.code == 1
    assert f"{open_dir}/state/packyard/steps: Permission denied" in refused.text
    done = somebody("set", root, "V=b", XDG_STATE_HOME=str(open_dir / "state"))
    assert (done.code, field_values(root)) == (0, {"b"}), done
    assert f"no history is kept: {open_dir}/state/packyard/steps: Permission denied" in done.text


def test_root_sees_what_lies_above_in_the_package_of_another_user(open_dir: Path) -> None:
    root = make_package(open_dir / "bundle/use-case")
    (open_dir / "bundle/packyard.json").write_text('{"files": {"use-case/Krmfile": ""}}', "utf-8")
    for path in (open_dir / "bundle", *(open_dir / "bundle").rglob("*")):
        os.chown(path, SOMEBODY, SOMEBODY)
    assert paths.root_of(root) == str(open_dir / "bundle")
    os.chown(open_dir / "bundle", SOMEBODY + 1, SOMEBODY + 1)
    assert paths.root_of(root) == str(root)
