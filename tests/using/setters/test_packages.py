"""Where a package ends: at a Krmfile, and at a Kptfile where that has definitions, or where kpt looks."""

from pathlib import Path

import pytest

import tiny
from tiny import done

OLD = """\
apiVersion: kpt.dev/v1alpha1
kind: Kptfile
metadata: {name: x}
openAPI:
  definitions:
    io.k8s.cli.setters.A: {x-k8s-cli: {setter: {name: A, value: "1"}}}
"""
KRMFILE = OLD.replace("kpt.dev/v1alpha1", "config.k8s.io/v1alpha1").replace("Kptfile", "Krmfile")
NEW = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: x}\n"


@pytest.mark.parametrize(
    ("top", "sub", "reached"),
    [
        ({"Kptfile": OLD}, {"sub/Kptfile": OLD}, False),
        ({"Kptfile": OLD}, {"sub/Kptfile": NEW}, False),
        ({"Kptfile": OLD}, {"sub/Krmfile": KRMFILE}, False),
        ({"Krmfile": KRMFILE}, {"sub/Kptfile": OLD}, False),
        ({"Krmfile": KRMFILE}, {"sub/Kptfile": NEW}, True),
        ({"Krmfile": KRMFILE, "Kptfile": NEW}, {"sub/Kptfile": NEW}, True),
        ({"Krmfile": KRMFILE}, {"sub/Krmfile": KRMFILE}, False),
        ({"Krmfile": KRMFILE}, {"sub/other": ""}, True),
    ],
)
def test_definitions_end_at_the_packages_below(
    tmp_path: Path, top: dict[str, str], sub: dict[str, str], reached: bool
) -> None:
    field = 'a: "1" # {"$kpt-set":"A"}\n'
    root = tmp_path / "pkg"
    tiny.write_all(root, {**top, **sub, "f.yaml": field, "sub/f.yaml": field})
    before = {file: file.read_bytes() for file in (root / "sub").iterdir()}
    done("set", root, "A=2", XDG_STATE_HOME=str(tmp_path / "state"))
    assert (root / "f.yaml").read_text("utf-8").startswith('a: "2"')
    assert (root / "sub/f.yaml").read_text("utf-8").startswith('a: "2"') is reached
    if not reached:
        assert {file: file.read_bytes() for file in before} == before
