"""The entries of ``libraries`` in packyard.yaml: what each asks for, checked.

    libraries:
    - builtin                                                what the installed packyard carries
    - {name: zoo-parts, version: ^1.2, from: https://…}      a bundle in a channel
    - {path: ../parts}                                       a folder
    - {git: https://…/parts.git, commit: <40 hex digits>}    a repository at a commit
    - {git: https://…/parts.git, tag: v1.2}                  a repository at a tag, whose commit packyard.lock pins

A folder or a repository is called by the last part of its path, unless it is given a ``name``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, Problem
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Node, Scalar
from packyard.core.yaml.sources import LIBRARIES

BUILTIN = "builtin"
#: How git may fetch. Anything else, such as ``ext::``, could run a program.
PROTOCOLS = ("https", "ssh", "file")

#: What libraries are called.
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
COMMIT = re.compile(r"[0-9a-f]{40}")
#: What git admits, and no option or pattern of its: v1.2, parts/1.2.
_TAG = re.compile(r"(?!.*(\.\.|//|\.lock$|[./]$))[A-Za-z0-9][-A-Za-z0-9._/+]*")
_KEYS = ("name", "version", "from", "path", "git", "commit", "tag")
_MEANINGFUL = ({"name", "version"}, {"name", "version", "from"}, {"path"}, {"git", "commit"}, {"git", "tag"})
_FORMS = "write builtin, {name: NAME, version: ^1.2}, {path: ../FOLDER} or {git: https://…, tag: v1.2}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry. It has ``path``, or ``git`` with ``commit`` or ``tag``, or ``reference`` to a channel.

    packyard's own has none of them.
    """

    name: str
    path: str = ""
    git: str = ""
    commit: str = ""
    tag: str = ""
    reference: Reference | None = None
    channel: str = ""
    file: str
    line: int

    @property
    def repository(self) -> str:
        """The address of its repository, with the tag in it that is asked for: what a lock calls its channel."""
        return f"{self.git}#{self.tag}" if self.tag else self.git

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the library, by the line that names it."""
        return Problem(f"the library {self.name} {message}", file=self.file, line=self.line, hint=hint)


def read(fields: Fields) -> list[Entry]:
    """Read ``libraries`` of a packyard.yaml; faults are noted."""
    by_name: dict[str, Entry] = {}
    for node in fields.items(LIBRARIES):
        entry = _entry(fields, node)
        if entry and entry.name in by_name:
            fields.fault(node, LIBRARIES, f"names {entry.name!r} twice", "give one of them another `name`")
        elif entry:
            by_name[entry.name] = entry
    return list(by_name.values())


def _entry(parent: Fields, node: Node) -> Entry | None:
    line = node.source.locate(node.start)[0]
    if isinstance(node, Scalar):
        if node.value == BUILTIN:
            return Entry(name=BUILTIN, file=parent.file, line=line)
        parent.fault(node, LIBRARIES, f"{node.value!r} is not a library", _FORMS)
        return None
    before = len(parent.problems)
    fields = Fields(node, parent.file, LIBRARIES, parent.problems)
    texts = {key: text for key in _KEYS if (text := fields.text(key, ""))}
    fields.done()
    if len(parent.problems) == before and not any(texts.keys() in (each, each | {"name"}) for each in _MEANINGFUL):
        fields.fault(node, "", "is not a library", _FORMS)
    if len(parent.problems) > before:
        return None
    name = texts.get("name") or _last(texts.get("path") or texts["git"])
    for key, fault in _faults(name, texts):
        fields.fault(fields.node.get(key) if fields.node else node, key, fault)
    if len(parent.problems) > before:
        return None
    return Entry(
        name=name,
        path=texts.get("path", ""),
        git=texts.get("git", ""),
        commit=texts.get("commit", ""),
        tag=texts.get("tag", ""),
        reference=None if texts.keys() & {"path", "git"} else _reference(name, texts),
        channel=texts.get("from", ""),
        file=parent.file,
        line=line,
    )


def _last(path: str) -> str:
    """Return the last part of a path or of the address of a repository."""
    return path.rstrip("/").rpartition("/")[2].removesuffix(".git")


def _reference(name: str, texts: Mapping[str, str]) -> Reference:
    return Reference.parse(f"{name}@{texts['version']}")


def _faults(name: str, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong, each with its key."""
    if not NAME.fullmatch(name) or (name == BUILTIN and texts):
        known = f"; {BUILTIN} is packyard's own" if name == BUILTIN else ""
        yield "name", f"{name[:80]!r} cannot be a library's name: add a `name` of lower case words and dashes{known}"
    elif not texts.keys() & {"path", "git"}:
        try:
            _reference(name, texts)
        except InputError as error:
            yield "version", ": ".join(filter(None, (error.problems[0].message, error.problems[0].hint)))
    if (path := texts.get("path", "")) and ("\0" in path or path.startswith("/")):
        yield "path", "must be a path from the folder of packyard.yaml"
    if git := texts.get("git", ""):
        yield from (("git", fault) for fault in _faults_of_address(git))
        if "commit" in texts and not COMMIT.fullmatch(texts["commit"]):
            yield "commit", f"must be the 40 hex digits of a commit, found {texts['commit'][:80]!r}"
        if "tag" in texts and not _TAG.fullmatch(texts["tag"]):
            yield "tag", f"must be the name of a tag, such as v1.2, found {texts['tag'][:80]!r}"


def _faults_of_address(address: str) -> Iterator[str]:
    try:
        parts = urlsplit(address)
        host, password = parts.hostname or "", parts.password
    except ValueError:
        host, password, parts = "", None, urlsplit("")
    is_place = bool(parts.path.strip("/")) and (parts.scheme == "file" or host[:1] not in ("", "-"))
    if parts.scheme not in PROTOCOLS or not is_place or not address.isprintable() or " " in address:
        yield f"must be an address such as {', '.join(f'{each}://…' for each in PROTOCOLS)}, found {address[:80]!r}"
    elif password is not None:
        yield "must not have a password, which the lock would tell: git has credential helpers"
