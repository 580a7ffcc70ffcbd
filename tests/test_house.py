"""Holds what is true of every file of the repository: none knows the machine it was written on, or is named as another.

And of the lock that `make venv` installs from: it has all that pyproject.toml asks for, with hashes.
"""

import re
import tomllib
from pathlib import PurePath

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import real

# Put together from halves, so that this file is not a case of what it looks for.
_PATHS = (
    rf"(?<![\w.*}})>$-])/(?:{'wo' + 'rk'}/|{'ro' + 'ot'}/(?!\.ssh))"  # .ssh: where the MPI operator mounts its keys
)
_HOSTS = r"\b(?:{})\b".format(
    "|".join(
        re.escape(f"{host}.{domain}")
        for host, domain in [
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("proxy.golang", "org"),
            ("sum.golang", "org"),
            ("registry.npmjs", "org"),
        ]
    )
)
FORBIDDEN = re.compile(f"{_PATHS}|{_HOSTS}".encode())


def test_pytest_passes_over_no_folder_of_tests(pytestconfig: pytest.Config) -> None:
    """By default it does over every folder called ``build`` or ``dist``."""
    files = [PurePath(name) for name in real.checkout_files() if name.startswith("tests/")]
    folders = {folder for file in files if file.match("test_*.py") for folder in file.parents}
    patterns = pytestconfig.getini("norecursedirs")
    assert [str(folder) for folder in sorted(folders) if any(folder.match(pattern) for pattern in patterns)] == []


@pytest.mark.nightly
def test_no_file_names_a_path_of_this_machine_or_a_package_registry() -> None:
    faults = [
        f"{name}:{number}: {match.group().decode()}"
        for name in real.checkout_files()
        for number, line in enumerate((real.REPOSITORY / name).read_bytes().splitlines(), start=1)
        for match in FORBIDDEN.finditer(line)
    ]
    assert not faults, "\n" + "\n".join(faults)


# The locks: all that is asked for stands in one of them, and a version is the same in each.

LOCKS = [file.read_text() for file in sorted((real.REPOSITORY / "tests/requirements").glob("*.txt"))]
LOCK = "".join(LOCKS)
PROJECT = tomllib.loads((real.REPOSITORY / "pyproject.toml").read_text())["project"]
REQUIRED = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
ASKED = sorted({text for texts in REQUIRED for text in texts if not text.startswith("packyard[")})


def test_the_lock_has_what_pyproject_asks_for() -> None:
    for asked in map(Requirement, ASKED):
        locked = re.findall(rf"^{canonicalize_name(asked.name)}==([\w.]+)", LOCK, re.MULTILINE)
        assert locked, f"{asked}: make update-tools"
        assert all(map(asked.specifier.contains, locked)), locked


def test_each_version_of_the_lock_has_hashes() -> None:
    versions = re.split(r"^(?=\S)", LOCK, flags=re.MULTILINE)
    unhashed = [each for each in versions if each and not each.startswith("#") and "--hash=sha256:" not in each]
    assert not unhashed


def test_a_version_is_the_same_in_each_lock() -> None:
    pinned = [dict(re.findall(r"^(\S+)==(\S+.*?)(?: \\)?$", lock, re.MULTILINE)) for lock in LOCKS]
    together = {name: version for lock in pinned for name, version in lock.items()}
    assert [lock.items() <= together.items() for lock in pinned] == [True] * len(LOCKS)
    assert len(LOCKS) == 3
