"""What a package's README tells its readers to type: blocks of commands, and those in its sentences.

## Run it
```sh
cd bert/quickstart/mlops             ->      Block("Run it", ("cd bert/quickstart/mlops", "kustomize build …"))
kustomize build pvc | kubectl apply -n ml -f -
```
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Programs that are named in sentences, beside those that blocks begin with.
_PROGRAMS = (
    "aws",
    "chgrp",
    "chmod",
    "docker",
    "git",
    "grep",
    "helm",
    "kpt",
    "kustomize",
    "make",
    "mkdir",
    "packyard",
    "pip",
    "python3",
    "sed",
    "ssh",
    "wget",
)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


@dataclass(frozen=True)
class Block:
    """Commands that stand together."""

    section: str
    commands: tuple[str, ...]


def blocks(readme: str) -> list[Block]:
    """Return the blocks in their order; every fence is one, or says ``text``."""
    found = []
    for fence in _FENCE.finditer(readme):
        assert fence[1] in ("sh", "text"), f"a block of {fence[1] or 'nothing'}, which no test runs"
        if fence[1] == "sh":
            sections = re.findall(r"^## (.*)$", readme[: fence.start()], re.MULTILINE)
            commands = tuple(filter(None, fence[2].replace("\\\n", "").splitlines()))
            found.append(Block(sections[-1] if sections else "", commands))
    return found


def in_sentences(readme: str) -> Iterator[str]:
    """Yield each command that a sentence or a table names with at least one word behind the program, once."""
    named = {command.split()[0].lstrip("(") for block in _FENCE.findall(readme) for command in block[1].splitlines()}
    for span in dict.fromkeys(_SPAN.findall(_FENCE.sub("", readme))):
        first, _, rest = span.partition(" ")
        if rest and first in {*named, *_PROGRAMS}:
            yield span
