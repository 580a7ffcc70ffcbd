"""The JSON Schemas of package.yaml, packyard.yaml, pods.yaml, Krmfiles and tests of packages: files beside this.

tests/json_schemas.py makes them from the code that reads those files. A schema knows a file by itself; which parts
there are, only the reader does.
"""

from __future__ import annotations

from pathlib import Path

NAMES = ("package", "workspace", "pods", "krmfile", "test")


def read(name: str) -> bytes:
    """Return one of the schemas."""
    return Path(__file__).with_name(f"{name}.json").read_bytes()
