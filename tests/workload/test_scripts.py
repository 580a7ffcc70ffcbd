"""Scripts that packages ship, in their shell or in Python: as files, or in a ConfigMap.

Those that a use case runs are run by `test_use_cases`, for every index, with the variables of their pods. Here each is
read whole by what will run it, and what is Python is imported, up to the framework that its image has and we do not.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import real
from usecases import PACKAGES, shipped
from workload import deploy

#: What a script of ours may lack here: the frameworks, which its image has.
_FRAMEWORK = re.compile(r"ModuleNotFoundError: No module named '(tensorflow|torch|keras|horovod)\b")
_IMPORT = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='shipped')"


def _scripts() -> Iterator[tuple[str, bytes]]:
    for root in ("packages", "bases", "overlays"):
        for file in sorted((real.REPOSITORY / root).rglob("*")):
            if file.is_file() and _shell(file.name, file.read_bytes()):
                yield file.relative_to(real.REPOSITORY).as_posix(), file.read_bytes()
    for package in PACKAGES:
        for use_case in package.use_cases:
            for item in deploy.of_kind(shipped(package, use_case).parse(), "ConfigMap"):
                for key, text in item.get("data", {}).items():
                    if text and _shell(key, text.encode()):
                        yield f"{package.name}/{use_case.path}/{key}", text.encode()


def _shell(name: str, data: bytes) -> str | None:
    """Return what runs a script: the word on its first line, or what its name says."""
    interpreter = re.match(rb"#!(?:/usr/bin/env )?(\S+)", data)
    if interpreter:
        return interpreter[1].decode()
    return {".py": "python3", ".sh": "/bin/sh"}.get(Path(name).suffix)


def faults(name: str, data: bytes, folder: Path) -> str:
    """Return what the interpreter says of a script, nothing where it is content."""
    file = folder / "script"
    file.write_bytes(data)
    shell = _shell(name, data) or ""
    words = [shell, "-I", "-c", _IMPORT, file] if "python" in shell else [shell, "-n", file]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=folder, env={"PATH": "/usr/bin:/bin"})
    return "" if done.returncode == 0 or _FRAMEWORK.search(done.stderr) else done.stderr


SCRIPTS = list({data: pytest.param(name, data, id=name) for name, data in _scripts()}.values())


@pytest.mark.parametrize(("name", "data"), SCRIPTS)
def test_a_script_is_understood_by_what_runs_it(name: str, data: bytes, tmp_path: Path) -> None:
    assert not faults(name, data, tmp_path)


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
    assert faults(name, text.encode(), tmp_path)


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
    assert not faults(name, text.encode(), tmp_path)
