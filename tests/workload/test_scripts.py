"""Scripts that packages ship, in their shell or in Python: as files, or in a ConfigMap.

Those that a use case runs are run by `test_use_cases`, for every index, with the variables of their pods. Here each is
read whole by what will run it, and what is Python is imported, up to the framework that its image has and we do not.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import real
from catalogue.usecases import each_package, shipped
from packyard.writing.source.package import Package
from workload import deploy
from workload.image import FRAMEWORKS
from workload.pod import PATIENCE

_LACKS_A_FRAMEWORK = re.compile(rf"ModuleNotFoundError: No module named '({'|'.join(FRAMEWORKS)})\b")
_IMPORT = "import runpy, sys; sys.path.insert(0, '.'); runpy.run_path(sys.argv[1], run_name='shipped')"


def _scripts() -> Iterator[tuple[str, str, Mapping[str, bytes]]]:
    """Yield each script in a file of its own: the folder, its name, and all that lies beside it."""
    for root in ("packages", "bases", "overlays"):
        for folder in sorted(path for path in (real.REPOSITORY / root).rglob("*") if path.is_dir()):
            beside = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
            yield from ((folder.relative_to(real.REPOSITORY).as_posix(), name, beside) for name in _shells(beside))


def _of_config_maps(package: Package) -> Iterator[tuple[str, Mapping[str, bytes]]]:
    """Yield each script in a ConfigMap of a use case, and all that lies beside it."""
    for use_case in package.use_cases:
        for item in deploy.of_kind(shipped(package, use_case).parse(), "ConfigMap"):
            beside = {key: (text or "").encode() for key, text in item.get("data", {}).items()}
            yield from ((name, beside) for name in _shells(beside))


def _shells(files: Mapping[str, bytes]) -> list[str]:
    return [name for name, data in sorted(files.items()) if _shell(name, data)]


def _shell(name: str, data: bytes) -> str | None:
    """Return what runs a script: the word on its first line, or what its name says."""
    interpreter = re.match(rb"#!(?:/usr/bin/env )?(\S+)", data)
    if interpreter:
        return interpreter[1].decode()
    return {".py": "python3", ".sh": "/bin/sh"}.get(Path(name).suffix)


def faults(name: str, beside: Mapping[str, bytes], folder: Path) -> str:
    """Return what the interpreter says of a script, nothing where it is content."""
    for each, data in beside.items():
        (folder / each).write_bytes(data)
    shell = _shell(name, beside[name]) or ""
    python = [sys.executable, "-I", "-S", "-c", _IMPORT]  # without this environment's packages, which images have not
    words = [*python, name] if "python" in shell else [real.program(shell), "-n", name]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, cwd=folder)
    return "" if done.returncode == 0 or _LACKS_A_FRAMEWORK.search(done.stderr) else done.stderr


#: Each but once, however many use cases have it.
SCRIPTS = {beside[name]: pytest.param(name, beside, id=f"{where}/{name}") for where, name, beside in _scripts()}


@pytest.mark.parametrize(("name", "beside"), SCRIPTS.values())
def test_a_script_is_understood_by_what_runs_it(name: str, beside: Mapping[str, bytes], tmp_path: Path) -> None:
    assert not faults(name, beside, tmp_path)


@each_package
def test_scripts_of_config_maps_are_understood_by_what_runs_them(package: Package, tmp_path: Path) -> None:
    scripts = {beside[name]: (name, beside) for name, beside in _of_config_maps(package)}
    for number, (name, beside) in enumerate(scripts.values()):
        (tmp_path / str(number)).mkdir()
        assert not faults(name, beside, tmp_path / str(number))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", "if true; then echo"),
        ("a", "#!/bin/sh\nfor"),
        ("a.py", "def f(:"),
        ("a.py", "import no_such_module\nimport tensorflow"),
        ("a.py", "undefined"),
        ("a", "#!/usr/bin/env python3\nimport tensorflow_of_ours"),
    ],
)
def test_sees_what_is_wrong_with_a_script(name: str, text: str, tmp_path: Path) -> None:
    assert faults(name, {name: text.encode()}, tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", "echo ok"),
        ("a.py", "import json\nimport tensorflow as tf"),
        ("a.py", "from keras.layers import Dense"),
        ("a.py", "if __name__ == '__main__': undefined"),
    ],
)
def test_lets_a_script_pass_that_lacks_nothing_but_its_framework(name: str, text: str, tmp_path: Path) -> None:
    assert not faults(name, {name: text.encode()}, tmp_path)
