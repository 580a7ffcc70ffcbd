"""`cfg set` and `cfg list-setters` on the command line, beside the real 3.8.7: words, output, errors, exit codes."""

from __future__ import annotations

import json
import random
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from running import inside
from served import Served

KRMFILE = """\
apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
openAPI:
  definitions:
    io.k8s.cli.setters.V:
      description: a value
      x-k8s-cli:
        setter:
          name: V
          value: old
          setBy: me
    io.k8s.cli.setters.N:
      type: integer
      maximum: 5
      x-k8s-cli:
        setter:
          name: N
          value: "3"
          required: true
    io.k8s.cli.setters.E:
      x-k8s-cli:
        setter:
          name: E
          value: small
          enumValues: {small: "1", large: "9"}
    io.k8s.cli.setters.L:
      type: array
      maxItems: 3
      items: {type: string}
      x-k8s-cli:
        setter:
          name: L
          listValues: [a, b]
    io.k8s.cli.substitutions.S:
      x-k8s-cli:
        substitution:
          name: S
          pattern: ${V}:${N}
          values:
          - marker: ${V}
            ref: '#/definitions/io.k8s.cli.setters.V'
          - marker: ${N}
            ref: '#/definitions/io.k8s.cli.setters.N'
"""
RESOURCE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: x
spec:
  replicas: 3 # {"$openapi":"N"}
  image: old:3 # {"$openapi":"S"}
  v: old # {"$openapi":"V"}
  e: 1 # {"$openapi":"E"}
  l: # {"$openapi":"L"}
  - a
  - b
"""
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
list-setters . --include-subst --markdown -R=false
list-setters nope
list-setters
annotate nope --kv a=b
init a b
"""


def make(root: Path) -> Path:
    (root / "sub").mkdir(parents=True)
    (root / "Krmfile").write_text(KRMFILE, "utf-8")
    (root / "r.yaml").write_text(RESOURCE, "utf-8")
    (root / "sub" / "Krmfile").write_text(KRMFILE.split("    io.k8s.cli.setters.N")[0], "utf-8")
    (root / "sub" / "r.yaml").write_text('v: old # {"$openapi":"V"}\n', "utf-8")
    return root


def run(program: Callable[..., subprocess.CompletedProcess[str]], root: Path, words: list[str]) -> tuple[object, ...]:
    """Return the exit code, what was printed (of errors the text before the usage), and what the files say.

    Types are not compared: which texts are quoted differs on purpose.
    """
    done = program("cfg", *words, cwd=root)
    error = done.stderr.split("Usage:")[0].split("The `cfg` commands")[0].rstrip()
    files = (file for file in root.rglob("*[el]") if file.is_file())
    says = {file.relative_to(root): list(yaml.load_all(file.read_bytes(), yaml.BaseLoader)) for file in files}
    return done.returncode, done.stdout, error, says


@pytest.mark.parametrize("line", LINES.splitlines())
def test_a_command_line_does_what_it_does_in_the_real_program(served3: Served, tmp_path: Path, line: str) -> None:
    root = tmp_path / "package"
    theirs = run(served3, make(root), shlex.split(line))
    shutil.rmtree(root)
    assert run(inside, make(root), shlex.split(line)) == theirs


def cell(draw: random.Random, words: int) -> str:
    found = [
        "".join(draw.choices("abc日é|-`*", k=draw.choice([1, 3, 7, 12, 31]))) for _ in range(draw.randint(0, words))
    ]
    return draw.choice([" ", " ", "  ", "\n"]).join(found) + draw.choice(["", "", " "])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("flags", [["--include-subst"], ["--include-subst", "--markdown"]])
def test_tables_are_those_of_the_real_program(served3: Served, tmp_path: Path, seed: int, flags: list[str]) -> None:
    draw = random.Random(seed)
    definitions: dict[str, object] = {}
    for number in range(3):
        setter = {"name": f"s{number}", "value": cell(draw, 6), "setBy": cell(draw, 3)}
        definitions[f"io.k8s.cli.setters.s{number}"] = {
            "description": cell(draw, 14),
            "x-k8s-cli": {"setter": setter},
        }
        values = [{"marker": "x", "ref": "#/definitions/io.k8s.cli.setters.s0"}]
        substitution = {"name": f"t{number}", "pattern": cell(draw, 10), "values": values}
        definitions[f"io.k8s.cli.substitutions.t{number}"] = {"x-k8s-cli": {"substitution": substitution}}
    (tmp_path / "Krmfile").write_text(json.dumps({"openAPI": {"definitions": definitions}}), "utf-8")
    theirs = run(served3, tmp_path, ["list-setters", ".", *flags])
    assert theirs[0] == 0
    assert run(inside, tmp_path, ["list-setters", ".", *flags]) == theirs
