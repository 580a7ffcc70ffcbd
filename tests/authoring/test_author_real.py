"""Creating setters and substitutions, annotating, and setters of version 1: beside the real 3.8.7, tree by tree.

Judged are the exit code, what is printed, the values of every file, the definitions, and which fields the real program
sets afterwards on either side's files. Where ours differs on purpose, the test says how, and still runs both.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from contents import content
from packyard.setters.change import change_setters
from running import COMMAND, inside
from served import Served

HEADER = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n"
DEFINED = (
    HEADER
    + """\
openAPI:
  definitions:
    io.k8s.cli.setters.name:
      x-k8s-cli:
        setter:
          name: name
          value: nginx
    io.k8s.cli.substitutions.inner:
      x-k8s-cli:
        substitution:
          name: inner
          pattern: a-${name}
          values:
          - marker: ${name}
            ref: '#/definitions/io.k8s.cli.setters.name'
"""
)
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: nginx, tier: front}
spec:
  replicas: 3
  other:
    replicas: "3"
  template:
    spec:
      containers:
      - name: nginx
        image: nginx:1.7.9
        args:
        - "3"
        - b
      - name: sidecar
        image: sidecar:1.7.9
---
apiVersion: v1
kind: ConfigMap
data:
  replicas: '3'
"""


#: Runs words in a folder, ``cwd``.
Program = Callable[..., subprocess.CompletedProcess[str]]


@dataclass(frozen=True)
class Side:
    """What one program did to a tree."""

    code: int
    stdout: str
    files: dict[str, str]
    error: str


@dataclass(frozen=True)
class Case:
    """A tree and a command; ``then`` is the setter that is set afterwards, to a value."""

    args: list[str]
    files: dict[str, str] = field(default_factory=lambda: {"Krmfile": HEADER, "r.yaml": DEPLOYMENT})
    then: str = ""


def tree(text: str, krmfile: str = HEADER) -> dict[str, str]:
    return {"Krmfile": krmfile, "r.yaml": text}


def run(program: Program, directory: Path, case: Case) -> Side:
    for path, text in case.files.items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    done = program("cfg", *case.args, cwd=directory)
    found = {
        file.relative_to(directory).as_posix(): file.read_bytes().decode()
        for file in sorted(directory.rglob("*"))
        if file.is_file()
    }
    assert done.returncode in (0, 1), done.stderr
    return Side(done.returncode, done.stdout, found, done.stderr.partition("\n")[0])


def both(theirs: Program, tmp_path: Path, case: Case, ours: Program = inside) -> tuple[Side, Side]:
    (tmp_path / "ours").mkdir(parents=True)
    (tmp_path / "theirs").mkdir(parents=True)
    return run(ours, tmp_path / "ours", case), run(theirs, tmp_path / "theirs", case)


def set_by_theirs(served3: Served, directory: Path, name: str) -> dict[str, object]:
    """Set a setter with the real program, whoever wrote the files, and return what the files then say."""
    said = served3.done("cfg", "set", ".", name, "changed", "-R", cwd=directory)
    return {"said": said, **{file.name: content(file.read_text("utf-8")) for file in directory.rglob("*.yaml")}}


def comments(text: str) -> list[str]:
    """Return the setter comments in the order of the text."""
    return re.findall(r'# (\{"\$openapi".*)', text)


def judge(served3: Served, tmp_path: Path, case: Case) -> None:
    ours, theirs = both(served3, tmp_path, case)
    assert (ours.code, ours.stdout) == (theirs.code, theirs.stdout)
    assert ours.files.keys() == theirs.files.keys()
    for path, text in theirs.files.items():
        if path.endswith("Krmfile"):
            assert yaml.safe_load(ours.files[path]) == yaml.safe_load(text)
        else:
            assert content(ours.files[path]) == content(text)
            assert comments(ours.files[path]) == comments(text)
    if case.then:
        reached = [set_by_theirs(served3, tmp_path / side, case.then) for side in ("ours", "theirs")]
        assert reached[0] == reached[1]
        assert "changed" in str(reached[0])


CREATE_SETTER = {
    "by value": Case(["create-setter", ".", "n", "3"], then="n"),
    "by value and end of path": Case(["create-setter", ".", "n", "3", "--field", "replicas"], then="n"),
    "by value and whole path": Case(["create-setter", ".", "n", "3", "--field", "spec.replicas"], then="n"),
    "by the end of a path, not its middle": Case(
        ["create-setter", ".", "n", "3", "--field", "replicas"],
        tree("replicas: 3\nmyreplicas: 3\nreplicasmy: 3\nreplicas-x:\n  a: 3\nb.replicas.c: 3\n"),
        then="n",
    ),
    "by path alone": Case(["create-setter", ".", "n", "", "--field", "image"], then="n"),
    "in items": Case(["create-setter", ".", "n", "b"], then="n"),
    "that matches nothing": Case(["create-setter", ".", "n", "nowhere"]),
    "with everything recorded": Case(
        ["create-setter", ".", "--required", "n", "--value", "3", "--description", "a: b", "--set-by", "true"], then="n"
    ),
    "with a type": Case(["create-setter", ".", "n", "3", "--type", "integer"]),
    "with a type that is none": Case(["create-setter", ".", "n", "3", "--type", "int"]),
    "a value that looks like another type": Case(
        ["create-setter", ".", "n", "yes"], tree("a: yes\nb: 'yes'\n"), then="n"
    ),
    "a name that looks like another type": Case(["create-setter", ".", "true", "3"], then="true"),
    "names with odd signs": Case(["create-setter", ".", "a.b-c_d e", "3"], then="a.b-c_d e"),
    "names that a URL cannot hold": Case(["create-setter", ".", 'größe "1" <2>', "3"], then='größe "1" <2>'),
    "a name that is taken": Case(["create-setter", ".", "name", "3"], tree(DEPLOYMENT, DEFINED)),
    "a name that a substitution has": Case(["create-setter", ".", "inner", "3"], tree(DEPLOYMENT, DEFINED)),
    "no value": Case(["create-setter", ".", "n"]),
    "too many words": Case(["create-setter", ".", "n", "3", "4"]),
    "an unknown flag": Case(["create-setter", ".", "n", "3", "--foo"]),
    "without a Krmfile": Case(["create-setter", ".", "n", "3"], {"r.yaml": DEPLOYMENT}),
    "an empty Krmfile": Case(["create-setter", ".", "n", "3"], tree(DEPLOYMENT, "\n")),
    "a Krmfile in brackets": Case(["create-setter", ".", "n", "3"], tree(DEPLOYMENT, "{}\n"), then="n"),
    "a Krmfile with an empty mapping": Case(
        ["create-setter", ".", "n", "3"], tree(DEPLOYMENT, HEADER + "openAPI: {}\n"), then="n"
    ),
    "a Krmfile with definitions in brackets": Case(
        ["create-setter", ".", "n", "3"],
        tree(
            DEPLOYMENT, 'openAPI: {definitions: {io.k8s.cli.setters.a: {x-k8s-cli: {setter: {name: a, value: "1"}}}}}'
        ),
        then="n",
    ),
    "a Krmfile that is indented by four": Case(
        ["create-setter", ".", "n", "3"],
        tree(
            DEPLOYMENT,
            "openAPI:\n    definitions:\n        io.k8s.cli.setters.a:\n            x-k8s-cli:\n"
            "                setter: {name: a, value: b}\n# the end\nother: 1",
        ),
        then="n",
    ),
    "a Krmfile with CRLF": Case(
        ["create-setter", ".", "n", "3"], tree(DEPLOYMENT, DEFINED.replace("\n", "\r\n")), then="n"
    ),
    "a Krmfile without a final newline": Case(
        ["create-setter", ".", "n", "3"], tree(DEPLOYMENT, HEADER.rstrip()), then="n"
    ),
    "a list": Case(["create-setter", ".", "n", "--type", "array", "--field", "args"], then="n"),
    "a list, with a value that is ignored": Case(
        ["create-setter", ".", "n", "zz", "--type", "array", "--field", "containers.args"], then="n"
    ),
    "a list without a path": Case(["create-setter", ".", "n", "--type", "array"]),
    "a list that is not there": Case(["create-setter", ".", "n", "--type", "array", "--field", "nowhere"]),
    "lists that differ": Case(
        ["create-setter", ".", "n", "--type", "array", "--field", "l"], tree("l:\n- a\n- b\nm:\n  l:\n  - a\n")
    ),
    "a list of other types": Case(
        ["create-setter", ".", "n", "--type", "array", "--field", "l"],
        tree('l:\n- 1\n- true\n- "a: b"\n- yes\n'),
        then="n",
    ),
    "a list whose key has a comment": Case(
        ["create-setter", ".", "n", "--type", "array", "--field", "l"], tree("l: # note\n- a\nm:\n  l:\n  - b\n")
    ),
    "a schema": Case(
        ["create-setter", ".", "n", "3", "--schema-path", "s.json"],
        {
            "Krmfile": HEADER,
            "r.yaml": DEPLOYMENT,
            "s.json": '{"type":"string","maxLength":7,"x-foo":1,"pattern":"^[0-9a-z]*$","foo":1,"default":"1",'
            '"nullable":true,"properties":{"a":{"type":"string","foo":[1,null,{}]}},"enum":["3","changed"]}',
        },
        then="n",
    ),
    "a schema that is not there": Case(["create-setter", ".", "n", "3", "--schema-path", "nowhere.json"]),
    "a schema that is no JSON": Case(
        ["create-setter", ".", "n", "3", "--schema-path", "s"], {**tree("a: 3\n"), "s": "e"}
    ),
    "a schema with two types": Case(
        ["create-setter", ".", "n", "3", "--schema-path", "s"], {**tree("a: 3\n"), "s": '{"type":["string","null"]}'}
    ),
    "a schema of another type than the flag": Case(
        ["create-setter", ".", "n", "3", "--type", "integer", "--schema-path", "s"],
        {**tree("a: 3\n"), "s": '{"type":"string"}'},
    ),
    "a schema of an array": Case(
        ["create-setter", ".", "n", "a", "--field", "l", "--schema-path", "s"],
        {**tree("l:\n- a\n"), "s": '{"type":"array","maxItems":3}'},
    ),
    "in packages below": Case(
        ["create-setter", "p", "n", "3", "-R"],
        {
            "p/Krmfile": HEADER,
            "p/r.yaml": "a: 3\n",
            "p/Apps/Krmfile": DEFINED,
            "p/Apps/s.yaml": "a: 3\n",
            "p/z/q/Krmfile": HEADER,
            "p/z/q/t.yaml": "a: 4\n",
        },
    ),
    "in packages below, one of which has it": Case(
        ["create-setter", ".", "name", "3", "-R"],
        {"a/Krmfile": DEFINED, "a/r.yaml": "a: 4\n", "b/Krmfile": HEADER, "b/s.yaml": "a: 3\n"},
    ),
    "of lists in packages below, of which some differ": Case(
        ["create-setter", ".", "n", "--type", "array", "--field", "l", "-R"],
        {
            "a/Krmfile": HEADER,
            "a/r.yaml": "l:\n- x\n",
            "b/Krmfile": HEADER,
            "b/r.yaml": "l:\n- x\nm:\n  l:\n  - y\n",
            "c/Krmfile": HEADER,
            "c/r.yaml": "l:\n- z\n",
        },
        then="n",
    ),
    "behind every kind of scalar": Case(
        ["create-setter", ".", "n", "v"],
        tree(
            "a: v\nb: \"v\"\nc: 'v'\nd: &q v\ne: *q\nf: !!str v\ng:\n  v\nh:\n- v\n- k: v\n  l: w\n-   - v\n"
            '"quoted key": v\n"": v\n? long\n: v\ni: v # {"$openapi":"other"}\n# {"$openapi":"other"}\nj: v\n# a\n# b\n'
            "k: v\nl:\n# above\n- v\n"
        ),
        then="n",
    ),
    "inside brackets": Case(
        ["create-setter", ".", "n", "v"],
        tree(
            "a: {x: w, k: v}\nb: [w, v]\nc: [v]\nd: {k: v}\ne: [[v], {k: v}]\nf: {a: v, b: v, c: w}\ng: [v,\n  v\n  ]\n"
            'h:\n  i:\n  - {a: v, b: w}\n  - [v , w]\n  - - {a: [v]}\nj: [\n  v,\n  v, # {"$openapi":"other"}\n]\n'
        ),
        then="n",
    ),
    "null and empty values": Case(
        ["create-setter", ".", "n", "", "--field", "a"], tree('a:\nb:\n  a: null\nc:\n  a: ~\nd:\n  a: ""\n'), then="n"
    ),
    "text of several lines": Case(
        ["create-setter", ".", "n", "v w"], tree('a: "v\n  w"\nb: v\n  w\nc: v w\n'), then="n"
    ),
}

CREATE_SUBST = {
    "with new setters": Case(
        ["create-subst", ".", "s", "--field-value", "nginx:1.7.9", "--pattern", "${image}:${tag}"], then="tag"
    ),
    "with a setter that is there": Case(
        ["create-subst", ".", "s", "--field-value", "nginx:1.7.9", "--pattern", "${name}:${tag}"],
        tree(DEPLOYMENT, DEFINED),
        then="tag",
    ),
    "with another substitution": Case(
        ["create-subst", ".", "s", "--field-value", "a-nginx:1", "--pattern", "${inner}:${tag}"],
        tree("a: a-nginx:1\n", DEFINED),
        then="name",
    ),
    "with a marker twice": Case(["create-subst", ".", "s", "--field-value", "a:a", "--pattern", "${n}:${n}"]),
    "with text around": Case(
        ["create-subst", ".", "s", "--field-value", "p/1/z", "--pattern", "p/${true}/z"],
        tree("a: p/1/z\n"),
        then="true",
    ),
    "with an empty marker": Case(["create-subst", ".", "s", "--field-value", "p//z", "--pattern", "p/${a}/z"]),
    "at a path": Case(
        ["create-subst", ".", "s", "--field-value", "3", "--pattern", "${n}", "--field", "spec.replicas"], then="n"
    ),
    "that matches nothing": Case(["create-subst", ".", "s", "--field-value", "zz:1", "--pattern", "${a}:${b}"]),
    "of a name that is taken": Case(
        ["create-subst", ".", "inner", "--field-value", "a", "--pattern", "${n}"], tree("a: a\n", DEFINED)
    ),
    "of a name that a setter has": Case(
        ["create-subst", ".", "name", "--field-value", "a", "--pattern", "${n}"], tree("a: a\n", DEFINED)
    ),
    "without a marker": Case(["create-subst", ".", "s", "--field-value", "a", "--pattern", "a"]),
    "of itself": Case(["create-subst", ".", "s", "--field-value", "a:b", "--pattern", "${n}:${s}"]),
    "without its flags": Case(["create-subst", ".", "s"]),
    "without one flag": Case(["create-subst", ".", "s", "--pattern", "${a}"]),
    "with too many words": Case(["create-subst", ".", "s", "t", "--field-value", "a", "--pattern", "${n}"]),
    "in packages below": Case(
        ["create-subst", ".", "s", "--field-value", "nginx:1", "--pattern", "${name}:${tag}", "-R"],
        {"a/Krmfile": DEFINED, "a/r.yaml": "a: nginx:1\n", "b/Krmfile": HEADER, "b/s.yaml": "a: 3\n"},
        then="tag",
    ),
}

INIT = {
    "here": Case(["init"], {}),
    "there": Case(["init", "p"], {"p/r.yaml": "a: 1\n"}),
    "where one is": Case(["init", "."], {"Krmfile": "a: 1\n"}),
    "nowhere": Case(["init", "q"], {}),
    "in a file": Case(["init", "r.yaml"], {"r.yaml": "a: 1\n"}),
    "twice": Case(["init", ".", "."], {}),
}

ANNOTATE = {
    "a document": Case(["annotate", ".", "--kv", "a=b"]),
    "several": Case(["annotate", ".", "--kv", "z=b", "--kv", "a=it's,b c=x=y,true-ish=3,d="]),
    "quoted commas": Case(["annotate", ".", "--kv", '"x=q,r",c=1']),
    "by kind": Case(["annotate", ".", "--kv", "a=b", "--kind", "ConfigMap"]),
    "by everything": Case(
        ["annotate", ".", "--kv", "a=b", "--kind", "Deployment", "--apiVersion", "apps/v1", "--name", "web"]
    ),
    "by a namespace that none has": Case(["annotate", ".", "--kv", "a=b", "--namespace", "x"]),
    "no annotation": Case(["annotate", "."]),
    "what is no pair": Case(["annotate", ".", "--kv", "a"]),
    "too many words": Case(["annotate", ".", "..", "--kv", "a=b"]),
    "a directory that is not there": Case(["annotate", "nowhere", "--kv", "a=b"]),
    "a file": Case(["annotate", "r.yaml", "--kv", "a=b"]),
    "packages below": Case(
        ["annotate", ".", "--kv", "a=b", "-R"],
        {
            "Apps/Krmfile": HEADER,
            "Apps/r.yaml": "a: 1\n",
            "s.yaml": "a: 1\n",
            "z/Krmfile": HEADER,
            "z/t.yaml": "a: 1\n",
        },
    ),
    "packages below, not asked for": Case(
        ["annotate", ".", "--kv", "a=b"], {"s.yaml": "a: 1\n", "z/Krmfile": HEADER, "z/t.yaml": "a: 1\n"}
    ),
    **{
        f"into {text!r}": Case(["annotate", ".", "--kv", "a=1,b=x"], {"r.yaml": text})
        for text in (
            "metadata:\n  name: a\n",
            "kind: X",
            "metadata:\n  annotations: {a: 1, z: 2}\n  name: b\n",
            "metadata: {name: b}\n",
            "metadata:\n  annotations:\n    a: x\n    b: 'y'\n",
            "metadata:\n  annotations:\n    a: &q x\n    b: *q\n    c: d\n",
            "metadata:\n  annotations:\n    a: |\n      x\n    b: >-\n      y\n",
            "metadata:\n  annotations:\n    a: on\n    b: null\n",
            "metadata:\n    name: x\n    annotations:\n        q: r\nz: 1\n",
            "metadata:\n  annotations:\n  - x\n",
        )
    },
}

ASM = '"x-kustomize":{"setter":{"name":"p","value":"asm"}}}'
ASMS = f'a: asm # {{"type":"string",{ASM}\nb: 3\n'
NUMBER = 'a: 3 # {"type":"integer","x-kustomize":{"setBy":"me you","setter":{"name":"n","value":"3"}}}\n'
PARTS = (
    'a: as/sm # {"description":"d d","type":"string","x-kustomize":{"setBy":"x","partialSetters":'
    '[{"name":"p","value":"as"},{"name":"q","value":"sm"}]}}\n'
    'b: z # {"type":"integer","x-kustomize":{"setter":{"name":"p","value":"z"}}}\n'
)

VERSION_1 = {
    "set": Case(["set", ".", "p", "new"], {"r.yaml": ASMS}),
    "set, with everything recorded": Case(
        ["set", ".", "p", "new", "--set-by", "me", "--description", "d d"], {"r.yaml": ASMS}
    ),
    "set by flag": Case(["set", ".", "p", "--values", "x"], {"r.yaml": ASMS}),
    "set what is set": Case(["set", ".", "p", "asm"], {"r.yaml": ASMS}),
    "set what is not there": Case(["set", ".", "nope", "new"], {"r.yaml": ASMS}),
    "set below too": Case(["set", ".", "p", "x"], {"r.yaml": ASMS, "s/Krmfile": HEADER, "s/t.yaml": ASMS}),
    "set, the value forgotten": Case(["set", ".", "p"], {"r.yaml": ASMS}),
    "set an integer": Case(["set", ".", "n", "4"], {"r.yaml": NUMBER}),
    "set an integer to text": Case(["set", ".", "n", "x"], {"r.yaml": NUMBER}),
    "set a number": Case(["set", ".", "n", "x"], {"r.yaml": NUMBER.replace("integer", "number")}),
    "set a boolean to a number": Case(["set", ".", "n", "4"], {"r.yaml": NUMBER.replace("integer", "boolean")}),
    "set a string to a number": Case(["set", ".", "n", "4"], {"r.yaml": NUMBER.replace("integer", "string")}),
    "set a quoted integer": Case(["set", ".", "n", "4"], {"r.yaml": NUMBER.replace("a: 3", "a: '3'")}),
    "set without a type": Case(["set", ".", "n", "abc"], {"r.yaml": NUMBER.replace("integer", "")}),
    "set text without a type": Case(["set", ".", "p", "4"], {"r.yaml": ASMS.replace("string", "")}),
    "set what needs quotes": Case(["set", ".", "p", "a: b"], {"r.yaml": ASMS}),
    "set a part": Case(["set", ".", "p", "x y"], {"r.yaml": PARTS.replace("integer", "string")}),
    "set a part to nothing": Case(["set", ".", "q", ""], {"r.yaml": PARTS}),
    "list": Case(["list-setters", "."], {"r.yaml": PARTS}),
    "list one": Case(["list-setters", ".", "q"], {"r.yaml": PARTS}),
    "list what is not there": Case(["list-setters", ".", "nope"], {"r.yaml": PARTS}),
    "create": Case(["create-setter", ".", "q", "3"], {"r.yaml": ASMS}),
    "create, with everything recorded": Case(
        ["create-setter", ".", "q", "3", "--type", "integer", "--set-by", "me", "--description", "d"], {"r.yaml": ASMS}
    ),
    "create in place of another": Case(["create-setter", ".", "q", "asm"], {"r.yaml": ASMS}),
    "create a part": Case(["create-setter", ".", "q", "sm", "--partial"], {"r.yaml": ASMS + "c: x/sm\n"}),
    "create by key": Case(["create-setter", ".", "q", "3", "--field", "b"], {"r.yaml": ASMS + "c: 3\nd:\n  b: '3'\n"}),
    "create by kind": Case(["create-setter", ".", "q", "3", "--kind", "X"], {"r.yaml": ASMS + "---\nkind: X\nb: 3\n"}),
    "create what matches nothing": Case(["create-setter", ".", "q", "zz"], {"r.yaml": ASMS}),
    "create the first": Case(["create-setter", ".", "q", "3", "--version", "v1"], tree("b: 3\n")),
}


@pytest.mark.parametrize("name", CREATE_SETTER)
def test_creates_setters_as_the_real_program_does(served3: Served, tmp_path: Path, name: str) -> None:
    judge(served3, tmp_path, CREATE_SETTER[name])


@pytest.mark.parametrize("text", ['{"a":b}', '{"a":1,}', '{"a" 1}', "{a:1}", '{"a"', "[1,]", "1 2", '"a', ""])
def test_words_what_is_no_json_as_the_real_program_does(served3: Served, tmp_path: Path, text: str) -> None:
    case = Case(["create-setter", ".", "n", "3", "--schema-path", "s"], {**tree("a: 3\n"), "s": text})
    ours, theirs = both(served3, tmp_path, case)
    assert ours == theirs
    assert bool(ours.error) is bool(text)


@pytest.mark.parametrize("name", CREATE_SUBST)
def test_creates_substitutions_as_the_real_program_does(served3: Served, tmp_path: Path, name: str) -> None:
    judge(served3, tmp_path, CREATE_SUBST[name])


@pytest.mark.parametrize("name", INIT)
def test_initializes_as_the_real_program_does(served3: Served, tmp_path: Path, name: str) -> None:
    ours, theirs = both(served3, tmp_path, INIT[name])
    assert ours == theirs
    modes = [[file.stat().st_mode for file in sorted((tmp_path / side).rglob("*"))] for side in ("ours", "theirs")]
    assert modes[0] == modes[1]


@pytest.mark.parametrize("name", ANNOTATE)
def test_annotates_as_the_real_program_does(served3: Served, tmp_path: Path, name: str) -> None:
    judge(served3, tmp_path, ANNOTATE[name])


@pytest.mark.parametrize("name", VERSION_1)
def test_reads_version_1_as_the_real_program_does(served3: Served, tmp_path: Path, name: str) -> None:
    case = VERSION_1[name]
    judge(served3, tmp_path, case)
    sides = [(tmp_path / side / "r.yaml").read_text("utf-8").replace('"4"', "'4'") for side in ("ours", "theirs")]
    assert sides[0] == sides[1]


def test_annotates_what_comes_from_standard_input(kustomize3: Path, tmp_path: Path) -> None:
    def reading(*command: object) -> Program:
        def run(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
            text = "kind: A\n---\n# c\nkind: B\n"
            return subprocess.run([*map(str, (*command, *words))], cwd=cwd, input=text, capture_output=True, text=True)

        return run

    case = Case(["annotate", "--kv", "a=b"], {})
    ours, theirs = both(reading(kustomize3), tmp_path, case, reading(*COMMAND))
    assert ours == theirs


@pytest.mark.parametrize("name", ["größe", 'a"b', "a b", "a#b", "a{b}", "a\\b", "日本", "plain"])
def test_reads_the_names_that_the_real_program_writes(served3: Served, tmp_path: Path, name: str) -> None:
    case = Case(["create-setter", ".", name, "3", "--field", "spec.replicas"])
    _, theirs = both(served3, tmp_path, case)
    assert theirs.code == 0
    changed = change_setters(tmp_path / "theirs", {name: ["4"]})
    assert changed[0].plan.counts == {name: 1}
    judge(served3, tmp_path / "again", case)


#: Cases whose layout changes for good: lines are broken, a comment is replaced, an empty mapping is filled.
FOR_GOOD = {
    "behind every kind of scalar",
    "inside brackets",
    "a Krmfile in brackets",
    "a Krmfile with an empty mapping",
    "a Krmfile with definitions in brackets",
}


@pytest.mark.parametrize("name", [name for name, case in CREATE_SETTER.items() if case.then and name not in FOR_GOOD])
def test_deleting_what_was_created_restores_the_bytes(tmp_path: Path, name: str) -> None:
    """But for a Krmfile's last line break."""
    case = CREATE_SETTER[name]
    (tmp_path / "tree").mkdir()
    created = run(inside, tmp_path / "tree", case)
    assert created.files != case.files
    case = Case(["delete-setter", case.args[1], case.then, *(["-R"] if "-R" in case.args else [])], created.files)
    (tmp_path / "after").mkdir()
    deleted = run(inside, tmp_path / "after", case)
    assert deleted.code == 0
    before = CREATE_SETTER[name].files
    assert {path: text.rstrip() for path, text in deleted.files.items() if path.endswith("Krmfile")} == {
        path: text.rstrip() for path, text in before.items() if path.endswith("Krmfile")
    }
    assert {path: text for path, text in deleted.files.items() if not path.endswith("Krmfile")} == {
        path: text for path, text in before.items() if not path.endswith("Krmfile")
    }
