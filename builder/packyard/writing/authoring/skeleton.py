"""What every package begins with: its package.yaml, and the first fragments of its README."""

from __future__ import annotations

from collections.abc import Mapping

from packyard.core.yaml.content import Text, Tree, block, in_brackets
from packyard.writing.source.package import FILE

DESCRIPTION = "docs/10-description.md"
_ASKED = ("framework", "category", "precision")


def write(
    name: str, model: Mapping[str, str], use_cases: Mapping[str, Tree], *, setters: Mapping[str, str], description: str
) -> dict[str, bytes]:
    """Return the files by their paths in the folder of the package; ``model`` is what is known of it."""
    tree: dict[str, Tree] = {"apiVersion": "packyard/v1", "kind": "Package"}
    tree["model"] = in_brackets({key: Text(value) for key, value in {"name": name, **model}.items()})
    if setters:
        tree["setters"] = {key: Text(value) for key, value in setters.items()}
    tree["useCases"] = use_cases
    return {FILE: text(tree), "docs/00-title.md": f"# {name}\n".encode(), DESCRIPTION: f"{description}\n".encode()}


def model(word: str, mode: str) -> dict[str, str]:
    """Return a model of which nobody has said more than its mode."""
    return {**dict.fromkeys(_ASKED, word), "mode": mode}


def text(tree: Tree) -> bytes:
    """Write a file."""
    return "".join(f"{line}\n" for line in block(tree)).encode()
