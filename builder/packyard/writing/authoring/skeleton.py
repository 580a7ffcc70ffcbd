"""What every package begins with: its package.yaml, and the first fragments of its README."""

from collections.abc import Mapping

from packyard.core.yaml.content import Text, Tree, block
from packyard.writing.source.package import DESCRIPTION, FILE

_ASKED = "{# What it does, in a sentence; lint asks for it. #}"


def write(
    name: str, use_cases: Mapping[str, Tree], *, setters: Mapping[str, str], description: str = ""
) -> dict[str, bytes]:
    """Return the files by their paths in the folder of the package."""
    tree: dict[str, Tree] = {"apiVersion": "packyard/v1", "kind": "Package"}
    if setters:
        tree["setters"] = {key: Text(value) for key, value in setters.items()}
    tree["useCases"] = use_cases
    text_of_readme = {"docs/00-title.md": f"# {name}\n", DESCRIPTION: f"{description or _ASKED}\n"}
    return {FILE: text(tree), **{path: written.encode() for path, written in text_of_readme.items()}}


def text(tree: Tree) -> bytes:
    """Write a file."""
    return "".join(f"{line}\n" for line in block(tree)).encode()
