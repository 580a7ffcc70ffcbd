"""`cfg set` and `cfg list-setters` on the command line, beside the real 3.8.7: exit codes, errors, files."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

import tiny
from packyard.using.setting import set_values
from real import Kustomize
from tiny import inside

pytestmark = pytest.mark.oracle

LINES = """\
set . V new
set . V new -R
set . V new -R=false
set . V new -R=x
set . V new -Rx
set . V new extra
set .
set . V -1
set . V -- -1
set . V --values=-1
set . V new --values x
set . V new --set-by
set . V new --set-by=you --description 'another text'
set . V new --foo
set . V new --stack-trace
set . V 'a"b'
set . N 9
set . N abc
set . N 4 -R
set . NOPE x
set . NOPE x -R
set . S x
set . E large
set . E huge
set . L x y z
set . L x y z w
set nope V x
set r.yaml V x
set sub/ V new
list-setters .
list-setters . V -R=false
list-setters . NOPE
list-setters . --include-subst
list-setters nope
list-setters
init a b
"""


#: Files of the package that hold something else than JSON, and one that is empty.
NO_JSON = [f"create-setter . n 3 --schema-path json/{number}" for number in range(9)]


def run(program: Callable[..., subprocess.CompletedProcess[str]], root: Path, words: list[str]) -> tuple[object, ...]:
    """Return the exit code, and what the files say; what is printed differs on purpose."""
    done = program("cfg", *words, cwd=root)
    files = (file for file in root.rglob("*[el]") if file.is_file())
    says = {file.relative_to(root): list(yaml.load_all(file.read_bytes(), yaml.BaseLoader)) for file in files}
    return done.returncode, says


@pytest.mark.parametrize("line", [*LINES.splitlines(), *NO_JSON])
def test_a_command_line_does_what_it_does_in_the_real_program(kustomize3: Kustomize, tmp_path: Path, line: str) -> None:
    root = tmp_path / "package"
    theirs = run(kustomize3, shutil.copytree(tiny.TREES / "setters", root), shlex.split(line))
    shutil.rmtree(root)
    assert run(inside, shutil.copytree(tiny.TREES / "setters", root), shlex.split(line)) == theirs


@pytest.mark.parametrize("name", ["größe", 'a"b', "a b", "a#b", "a{b}", "a\\b", "日本", "plain"])
def test_reads_the_names_that_the_real_program_writes(kustomize3: Kustomize, tmp_path: Path, name: str) -> None:
    words = ("cfg", "create-setter", ".", name, "3", "--field", "spec.replicas")
    sides = []
    for program in (kustomize3, inside):
        root = shutil.copytree(tiny.TREES / "deployment", tmp_path / str(len(sides)))
        done = program(*words, cwd=root)
        sides.append((done.returncode, re.findall("# {.*", (root / "r.yaml").read_text("utf-8"))))
    assert sides[0] == sides[1]
    assert sides[0][0] == 0
    changed = set_values(tmp_path / "0", {name: ["4"]})
    assert changed.changes[0].plan.counts == {name: 1}
