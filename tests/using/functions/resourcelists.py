"""ResourceLists, the standard input of KRM functions: made of files, and what they say."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from packyard.core.yaml.values import implicit_type

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"


def resource_list(files: dict[str, str], config: str | None = None) -> bytes:
    """Write what an orchestrator sends: each document an item, with the file that it is from."""
    lines = [*HEAD.splitlines(), "items:"]
    for path, text in files.items():
        for index, document in enumerate(text.split("\n---\n") if path.endswith((".yaml", ".yml", "Kptfile")) else []):
            body = document.rstrip().splitlines()
            metadata = next(number for number, line in enumerate(body) if line.startswith("metadata:"))
            has_own = "  annotations:" in body[metadata:]
            at = body.index("  annotations:", metadata) + 1 if has_own else metadata + 1
            found = [] if has_own else ["  annotations:"]
            for prefix in ("internal.config.kubernetes.io", "config.kubernetes.io"):  # newer and older programs
                found += [f"    {prefix}/path: '{path}'", f"    {prefix}/index: '{index}'"]
            body[at:at] = found
            lines += ["- " + body[0], *("  " + line for line in body[1:])]
    if config:
        lines += ["functionConfig:", *("  " + line for line in config.splitlines())]
    return ("\n".join(lines) + "\n").encode()


def said(text: str) -> list[tuple[str, ...]]:
    """Return every scalar of a ResourceList's items with its path, its type, and the comment that belongs to it.

    Of a list the comment behind its key is said, or behind its brackets.
    """
    root = yaml.compose(text, Loader=yaml.CSafeLoader)
    lines = text.splitlines()
    items = next((value for key, value in root.value if key.value == "items"), None)
    return list(_below(items, "", lines)) if items else []


def _below(node: Any, path: str, lines: list[str]) -> Iterator[tuple[str, ...]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inside = f"{path}.{key.value}"
            if isinstance(value, yaml.SequenceNode):
                yield (
                    inside,
                    str(len(value.value)),
                    "list",
                    _comment(lines, (value if value.flow_style else key).end_mark),
                )
            yield from _below(value, inside, lines)
    elif isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _below(item, f"{path}[{index}]", lines)
    elif isinstance(node, yaml.ScalarNode):
        kind = "string" if node.style or not node.tag.startswith("tag:yaml.org") else implicit_type(node.value)
        yield (
            path,
            "null" if kind == "null" else node.value,
            kind,
            _comment(lines, node.start_mark if node.style in ("|", ">") else node.end_mark),
        )


def _comment(lines: list[str], mark: Any) -> str:
    """Return the comment behind a place on its line, unless something else stands between."""
    rest = lines[mark.line][mark.column :] if mark.line < len(lines) else ""
    found = re.match(r"([&!]\S* |[|>][-+0-9]*|[ \t,:])*(#.*)", rest)
    return found.group(2).rstrip() if found else ""
