"""Variables in the scripts of shells that nobody sets, and that are nearly one that somebody does.

args: ["exec serve --master=$MASTER_ADRR"]      the container has MASTER_ADDR
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from packyard.core.errors import suggest
from packyard.core.yaml.node import Scalar
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach, within
from packyard.writing.checks.parsed import Parsed

_USED = re.compile(r"(?<![\\$])\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*)|\(([A-Z][A-Z0-9_]+)\))")
#: What gives a variable its value; one with a default may have none.
_SET = re.compile(
    r"(?:^|[\s;&|(!])(?:export\s+|local\s+|readonly\s+|declare\s+(?:-\w+\s+)*)?([A-Za-z_]\w*)\+?=|\bfor\s+(\w+)"
    r"|\b(?:read|mapfile|readarray|export|getopts\s+\S+)\s+((?:-\w+\s+)*[\w ]+)|\$\{([A-Za-z_]\w*)[-:=+?]",
    re.MULTILINE,
)
_SHELL = re.compile(r"(?:.*/)?(?:ba|da|z|k)?sh\Z")
#: What shells and Kubernetes set, and torchrun.
_SHELLS_OWN = (
    *("PATH", "HOME", "HOSTNAME", "USER", "PWD", "OLDPWD", "RANDOM", "SECONDS", "SHELL", "TMPDIR", "LANG", "UID"),
    *("IFS", "OPTARG", "OPTIND", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "JOB_GLOBAL_INDEX", "JOB_INDEX"),
    *("LOCAL_RANK", "NNODES", "NPROC_PER_NODE"),
)


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find variables of scripts that are misspelled."""
    names: set[str] = set()
    for root in parsed.objects:
        for container in parsed.containers_of(root):
            own = variables.find(container, parsed).named
            names |= set(own)
            words = list(variables.words(container))
            for word in words if any(_SHELL.match(word.value) for word in words[:2]) else ():
                yield from _script(word, own)
    for root in parsed.objects:
        data = variables.data_of(root)
        for value in (entry.value for entry in data if entry.name.endswith(".sh")):
            if isinstance(value, Scalar):
                yield from _script(value, names | {each.name for each in data})


def _script(node: Scalar, own: Collection[str]) -> Iterator[Finding]:
    names = {*own, *_SHELLS_OWN, *variables.GIVEN}
    for match in _SET.finditer(node.value):
        names.update(" ".join(filter(None, match.groups())).split())
    reported: set[str] = set()
    for match in _USED.finditer(node.value):
        name = match[1] or match[2] or match[3]
        if name in names or name in reported:
            continue
        reported.add(name)
        near = suggest(name, _alike(name, names))
        if near:
            message = f"nobody sets {name}, which is empty here"
            yield breach("undefined-variable", within(node, match.group()), message, near, severity="warning")


def _alike(name: str, names: Collection[str]) -> list[str]:
    """Return the names that may have been meant: about as long, and with the same beginning or end."""
    return [each for each in names if abs(len(each) - len(name)) <= 1 and len(each) > len("RANK")]
