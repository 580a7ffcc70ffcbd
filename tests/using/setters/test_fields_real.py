"""Values in all positions and types, read by the real kustomize after the real 3.8.7 and after us."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

import tiny
from core.files.krmfiles import one_setter
from packyard.core.errors import InputError
from packyard.using.setting import set_values
from real import Kustomize
from tiny import done

TEXTS = [
    *("abc", "a b", "yes", "no", "on", "off", "y", "N", "true", "True", "TRUE", "tRue", "false", "null", "Null", "~"),
    *("0", "1", "-1", "+1", "08", "012", "0o14", "0777", "0x1F", "0b11", "1_000", "123456789012345678901"),
    *("1.10", "1.", ".5", "-.5", "1e3", "1E3", "12e03", "1.5e-3", "1e", "e1", "1.2.3", "v1.10", ".", "..", "1:30"),
    *("2020-01-01", "2001-1-1", "2020-01-01T10:00:00Z", "2020-13", "12:30:45", "<<", "=", "-", "--", "-a", "a-"),
    *("?a", "a?", ":a", "a:b", "a#b", "#a", "/a/b", "/", "a/b:1.7", "docker.io/x@sha256:0a", "10.0.0.5", "::1"),
    *("$(VAR)", "${VAR}", "$HOME", "a=b", "a,b", "a;b", "(a)", "<a>", "^a$", "a|b", "a>b", "!", "a!b", "%", "a%b"),
    *("ä", "日本語", "é́", "a\u00a0b", "100m", "1Gi", "500Mi", "1000000000000", "0.1", "00", "0_1", "nan", "inf"),
]  # fmt: skip

RESOURCE = tiny.text("field-edits/r.yaml")


class Loader(yaml.CSafeLoader):
    """Reads what kustomize prints; ``=`` and ``<<`` are text there."""


Loader.add_constructor("tag:yaml.org,2002:value", yaml.CSafeLoader.construct_scalar)
Loader.add_constructor("tag:yaml.org,2002:merge", yaml.CSafeLoader.construct_scalar)


def make(directory: Path, kind: str = "", resource: str = RESOURCE) -> Path:
    tiny.write(directory / "Krmfile", one_setter("V", "x", *[f"type: {kind}"] * bool(kind)))
    (directory / "r.yaml").write_text(resource, "utf-8")
    (directory / "kustomization.yaml").write_text("resources:\n- r.yaml\n", "utf-8")
    return directory


def build(kustomize: Kustomize, directory: Path) -> list[dict[str, Any]]:
    return list(yaml.load_all(kustomize.done("build", directory), Loader))


def real_set(kustomize3: Kustomize, directory: Path, value: str) -> int:
    return kustomize3("cfg", "set", ".", "V", f"--values={value}", cwd=directory).returncode


CASES = [(value, kind) for value in TEXTS for kind in ("", "string")]
AT_ONCE = 40


@pytest.mark.parametrize(
    "cases",
    [CASES[start : start + AT_ONCE] for start in range(0, len(CASES), AT_ONCE)],
    ids=lambda cases: f"{len(cases)} from {cases[0][0]!r}",
)
def test_text_fields_read_as_after_the_real_set(
    kustomize3: Kustomize, kustomize5: Kustomize, tmp_path: Path, cases: list[tuple[str, str]]
) -> None:
    """Built in two runs of kustomize: each value in a namespace of its own, which keeps them apart."""
    values: dict[str, str] = {}
    accepted: list[str] = []
    for number, (value, kind) in enumerate(cases):
        name = f"n{number}"
        values[name] = value
        if real_set(kustomize3, make(tmp_path / "theirs" / name, kind), value) == 0:
            accepted.append(name)
        set_values(make(tmp_path / "ours" / name, kind), {"V": [value]})
    ours = build_all(kustomize5, tmp_path / "ours", values)
    theirs = build_all(kustomize5, tmp_path / "theirs", accepted)
    assert accepted
    for name, value in values.items():
        if name in accepted:
            assert ours[name] == theirs[name], repr(value)
        assert {str(text) for text in ours[name][0]["data"].values()} == {value}, repr(value)


def build_all(kustomize: Kustomize, folder: Path, names: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Build these directories of a folder in one run, each in the namespace of its name."""
    names = list(names)
    for name in names:
        with (folder / name / "kustomization.yaml").open("a") as kustomization:
            kustomization.write(f"namespace: {name}\n")
    lines = ["resources:", *(f"- {name}" for name in names)]
    (folder / "kustomization.yaml").write_text("\n".join(lines) + "\n", "utf-8")
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for item in build(kustomize, folder):
        found[item["metadata"].pop("namespace")].append(item)
    return found


NUMBERS = """\
apiVersion: example.com/v1
kind: Sample
metadata:
  name: sample
spec:
  plain: {old} # {{"$openapi":"V"}}
  list:
  - {old} # {{"$openapi":"V"}}
  flow: [{old}] # {{"$openapi":"V"}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: sample
spec:
  replicas: {old} # {{"$openapi":"V"}}
"""


@pytest.mark.parametrize(
    ("kind", "old", "value"),
    [
        *(("integer", "3", value) for value in ("4", "0", "-1", "0644", "0x10", "1_000", "2147483648", "+5")),
        *(("number", "3.5", value) for value in ("4.5", "-0.1", "1e-3", ".5")),
        *(("boolean", "true", value) for value in ("false", "true", "False", "TRUE")),
        *(("", "3", value) for value in ("4", "10", "0644")),
    ],
)
def test_numbers_and_booleans_stay_what_they_are(
    kustomize3: Kustomize, kustomize5: Kustomize, tmp_path: Path, kind: str, old: str, value: str
) -> None:
    resource = NUMBERS.format(old=old)
    theirs, ours = make(tmp_path / "theirs", kind, resource), make(tmp_path / "ours", kind, resource)
    assert real_set(kustomize3, theirs, value) == 0
    done("cfg", "set", ours, "V", f"--values={value}")
    assert build(kustomize5, ours) == build(kustomize5, theirs)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *(("integer", value) for value in ("abc", "1.5", "true", "yes", "null", "2020-01-01", "4x", "")),
        *(("number", value) for value in ("abc", "true", "1.2.3")),
        *(("boolean", value) for value in ("yes", "1", "on", "maybe")),
    ],
)
def test_a_value_of_another_type_is_refused_by_both_and_nothing_is_written(
    kustomize3: Kustomize, tmp_path: Path, kind: str, value: str
) -> None:
    resource = NUMBERS.format(old="3")
    theirs, ours = make(tmp_path / "theirs", kind, resource), make(tmp_path / "ours", kind, resource)
    assert real_set(kustomize3, theirs, value) != 0  # of a date it panics
    before = {file.name: file.read_bytes() for file in ours.iterdir()}
    with pytest.raises(InputError, match=r"V (takes (a whole number|a number|true or false), not |needs a value: )"):
        set_values(ours, {"V": [value]})
    assert {file.name: file.read_bytes() for file in ours.iterdir()} == before


def test_quoted_text_stays_text_under_an_integer_setter(kustomize5: Kustomize, tmp_path: Path) -> None:
    resource = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  USER_ID: "0" # {"$openapi":"V"}
"""
    package = make(tmp_path / "package", "integer", resource)
    set_values(package, {"V": ["1000"]})
    assert 'USER_ID: "1000" #' in (package / "r.yaml").read_text("utf-8")
    assert build(kustomize5, package)[0]["data"] == {"USER_ID": "1000"}
