"""A package with a setter that its users have to set."""

from pathlib import Path

import pytest

import tiny

KRMFILE = tiny.krmfile("""\
    # Required: the size.
    io.k8s.cli.setters.SIZE:
      description: How much.
      example: "3"
      pattern: ^([0-9]+)?$
      x-k8s-cli: {setter: {name: SIZE, value: "", required: true}}
""")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tiny.workspace(tmp_path / "workspace")
    tiny.replace(folder / "bases/one/cm.yaml", '"1"', '"" # {"$openapi":"SIZE"}')
    tiny.write(folder / "bases/one/Krmfile", KRMFILE)
    return folder
