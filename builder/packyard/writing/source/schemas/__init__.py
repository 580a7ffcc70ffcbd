"""The JSON Schemas of package.yaml, packyard.yaml, pods.yaml, Krmfiles and tests of packages: files beside this.

A schema knows a file by itself; which parts there are, only the reader does. tests/writing/source/test_schemas.py holds
them to what the readers refuse.
"""

from pathlib import Path

NAMES = ("package", "workspace", "pods", "krmfile", "test")


def read(name: str) -> bytes:
    """Return one of the schemas."""
    return Path(__file__).with_name(f"{name}.json").read_bytes()
