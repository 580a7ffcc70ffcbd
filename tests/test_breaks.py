"""The breaks that `make breaks` makes: each still applies, names tests that are there, and each room has one."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import breaks

PACKAGE = breaks.REPOSITORY / "builder" / "packyard"
_CHANGED = re.compile(r"^\+\+\+ b/(.+)$", re.MULTILINE)


@pytest.mark.parametrize("name", breaks.find())
def test_applies_to_the_code_as_it_is(name: str) -> None:
    """Where the code went on, change the patch with it: the mistake stays a mistake."""
    assert breaks.apply(breaks.find()[name], "--check") == ""


def test_each_names_tests_that_exist() -> None:
    for name, patch in breaks.find().items():
        paths = [word for word in breaks.found_by(patch) if word.startswith("tests/")]
        assert paths, name
        assert [path for path in paths if not (breaks.REPOSITORY / path).exists()] == [], name


def test_each_room_has_one() -> None:
    changed = (file for patch in breaks.find().values() for file in _CHANGED.findall(patch.read_text("utf-8")))
    assert _rooms(PACKAGE.glob("*/**/*.py")) <= _rooms(breaks.REPOSITORY / file for file in changed)


def _rooms(files: Iterable[Path]) -> set[str]:
    """Return the folders of modules below a house; the hallway is one, and `cfg` in it another."""
    folders = {file.parent.relative_to(PACKAGE) for file in files if file.name != "__init__.py"}
    inside = {folder.as_posix() for folder in folders if folder.parts[0] != "cli" and len(folder.parts) > 1}
    return inside | {"cli/cfg" if folder.name == "cfg" else "cli" for folder in folders if folder.parts[0] == "cli"}
