"""Standard streams that are full, closed or missing: a message and exit code 1, or nothing, but no traceback."""

import shlex
import subprocess
from pathlib import Path

import pytest

import real
from tiny import COMMAND, environment

PACKYARD = shlex.join(COMMAND)
KRMFILE = """\
openAPI:
  definitions:
    io.k8s.cli.setters.A:
      x-k8s-cli: {setter: {name: A, value: "1"}}
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "Krmfile").write_text(KRMFILE)
    (tmp_path / "cm.yaml").write_text('a: "1" # {"$openapi":"A"}\n')
    return tmp_path


def run(package: Path, script: str) -> subprocess.CompletedProcess[str]:
    command = [real.program("bash"), "-c", script.replace("packyard", PACKYARD)]
    return subprocess.run(command, cwd=package, env=environment(), capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("words", ["setters -o json", "set A=2", "version", "help", "cfg list-setters .", "list"])
def test_a_full_stdout_is_said(package: Path, words: str) -> None:
    process = run(package, f"packyard {words} >/dev/full")
    assert process.returncode == 1
    assert process.stderr.endswith("stdout: No space left on device (the output is not complete)\n")
    assert "Traceback" not in process.stderr


def test_a_full_stderr_is_exit_code_1(package: Path) -> None:
    for words in ("nonsense", "list"):
        process = run(package, f"packyard {words} 2>/dev/full")
        assert process.returncode in (1, 2)
        assert "Traceback" not in process.stderr


@pytest.mark.nightly
@pytest.mark.parametrize("words", ["setters", "set A=2", "nonsense", "fn list-setters"])
def test_streams_that_are_closed_are_the_null_device(package: Path, words: str) -> None:
    """And no file that a verb opens takes the place of one."""
    expected = run(package, f"mkdir copy; cp Krmfile cm.yaml copy; cd copy; packyard {words} </dev/null")
    assert expected.returncode < 3
    process = run(package, f"packyard {words} <&- >&- 2>&-")
    assert process.returncode == expected.returncode, expected.stderr
    for closed in ("<&-", ">&-", "2>&-"):
        again = run(package, f"cd copy; packyard {words} {closed}")
        assert again.returncode < 3
        assert "Traceback" not in again.stderr
    if words == "set A=2":
        assert (package / "cm.yaml").read_text() == 'a: "2" # {"$openapi":"A"}\n'


@pytest.mark.nightly
def test_who_reads_no_further_ends_a_command_quietly(package: Path) -> None:
    definitions = "".join(
        f"    io.k8s.cli.setters.S{number}:\n      x-k8s-cli: {{setter: {{name: S{number}, value: x}}}}\n"
        for number in range(5000)
    )
    (package / "Krmfile").write_text(KRMFILE + definitions)
    process = run(package, "packyard setters | head -1; exit ${PIPESTATUS[0]}")
    assert (process.returncode, process.stderr) == (1, "")
    assert process.stdout.startswith("NAME")


@pytest.mark.parametrize("words", ["list", "set A=2 --dry-run", "lint", "undo"])
def test_a_folder_that_is_gone_below_ones_feet_is_said(package: Path, words: str) -> None:
    process = run(package, f"mkdir gone; cd gone; rmdir ../gone; packyard {words}")
    assert "Traceback" not in process.stderr
    assert process.returncode == 1
