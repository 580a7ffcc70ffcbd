"""Reading what people write in package.yaml and packyard.yaml: every key known, every value of its kind.

Faults are gathered, each with file, line, column and path, and raised together by `Fields.done`.
"""

from collections.abc import Iterator, Sequence
from posixpath import dirname, join, relpath
from typing import TYPE_CHECKING

from packyard.core.errors import InputError, Problem, suggest
from packyard.core.yaml.document import only
from packyard.core.yaml.node import MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.values import is_null

if TYPE_CHECKING:
    from packyard.core.yaml.sources import Sources

_MOST = 100  # faults that are told at once


class Fields:
    """The entries of one mapping. What is asked for is known; `done` refuses the rest."""

    def __init__(self, node: Node | None, file: str, path: str, problems: list[Problem] | None = None) -> None:
        self.file = file
        self.path = path
        self.problems: list[Problem] = [] if problems is None else problems
        self._known: list[str] = []
        self._owns = problems is None
        self.node = node if isinstance(node, MappingNode) else None
        if self.node is None:
            self.fault(node, "", "must be a mapping")

    @classmethod
    def of_file(cls, sources: "Sources", path: str) -> "Fields":
        """Read a file that holds one document, a mapping."""
        file = sources.shown(path)
        return cls(only(sources.documents(path), file).root, file, "")

    def fault(self, node: Node | None, key: str, message: str, hint: str = "") -> None:
        """Note a fault at a node, named by the path of a key below this mapping."""
        if len(self.problems) >= _MOST:
            raise InputError(*self.problems, Problem("there are more faults", file=self.file))
        line, column = node.source.locate(node.start) if node else (0, 0)
        path = self._path(key)
        text = f"{path}: {message}" if path else message
        self.problems.append(Problem(text, file=self.file, line=line, column=column, hint=hint))

    def reach(self, node: Node, key: str, text: str, path: str, sources: "Sources") -> bool:
        """Say whether a path that the file names by a text may be asked about, or note why not."""
        try:
            sources.exists(path)
        except InputError as error:
            for problem in error.problems:
                self.fault(node, key, f"{text!r} {problem.message}")
            return False
        return True

    def find_file(self, node: Node, key: str, folder: str, sources: "Sources", name: str = "") -> str | None:
        """Return the path of a file that a scalar (or a ``name`` in it) says from a folder, or note why not."""
        name = name or (node.value if isinstance(node, Scalar) else "")
        path = join(folder, name)
        if not self.reach(node, key, name, path, sources):
            return None
        if not sources.is_file(path):
            beside = (relpath(file, folder) for file in sources.list(dirname(path)))
            self.fault(node, key, f"no file {name!r}", suggest(name, beside))
            return None
        return path

    def expect_header(self, api_version: str, *kinds: str) -> str:
        """Ask for apiVersion and one of some kinds, and return the kind."""
        for key, allowed in (("apiVersion", (api_version,)), ("kind", kinds)):
            value = self.one_of(key, allowed)
        return value

    def one_of(self, key: str, allowed: Sequence[str], default: str | None = None) -> str:
        """Ask for a scalar that is one of some texts."""
        text = self.text(key, default)
        if text and text not in allowed:
            self.fault(self.anything(key), key, f"must be {' or '.join(allowed)}, not {text!r}")
        return text

    def text(self, key: str, default: str | None = None) -> str:
        """Ask for the text of a scalar, empty for null; required, and not empty, unless there is a default."""
        node = self.anything(key)
        if node is None:
            if default is None and self.node:  # otherwise it is said that this is no mapping
                self.fault(self.node, key, "is missing")
            return default or ""
        if not isinstance(node, Scalar):
            self.fault(node, key, "must be a string")
            return ""
        if default is None and not node.text():
            self.fault(node, key, "is empty")
        return node.text()

    def texts(self, key: str) -> list[str]:
        """Ask for the texts of a list of scalars; a missing one is empty."""
        return [scalar.value for scalar in self.scalars(key)]

    def scalars(self, key: str) -> list[Scalar]:
        """Ask for a list of scalars; a missing one is empty."""
        nodes = self.items(key)
        for node in nodes:
            if not isinstance(node, Scalar):
                self.fault(node, key, "must be a list of strings")
        return [node for node in nodes if isinstance(node, Scalar)]

    def items(self, key: str) -> list[Node]:
        """Ask for a list; one that is missing or null is empty."""
        node = self.anything(key)
        if node is None or is_null(node):
            return []
        if not isinstance(node, SequenceNode):
            self.fault(node, key, "must be a list")
            return []
        return [item.value for item in node.items]

    def mapping(self, key: str) -> dict[str, Scalar]:
        """Ask for a mapping of names to scalars; a missing one is empty."""
        scalars = {}
        for name, node in self._pairs(key):
            if isinstance(node, Scalar):
                scalars[name] = node
            else:
                self.fault(node, f"{key}.{name}", "must be a string")
        return scalars

    def sentences(self, key: str) -> dict[str, str]:
        """Ask for a mapping of names to sentences, none of them empty; a missing one is empty."""
        scalars = self.mapping(key)
        for name, node in scalars.items():
            if not node.value.strip():
                self.fault(node, f"{key}.{name}", "is empty")
        return {name: node.value for name, node in scalars.items()}

    def children(self, key: str) -> "dict[str, Fields]":
        """Ask for a mapping of names to mappings; a missing one is empty."""
        return {
            name: Fields(node, self.file, self._path(f"{key}.{name}"), self.problems) for name, node in self._pairs(key)
        }

    def child(self, key: str) -> "Fields | None":
        """Ask for a mapping; None where it is missing."""
        node = self.anything(key)
        return None if node is None else Fields(node, self.file, self._path(key), self.problems)

    def elsewhere(self, key: str, hint: str, message: str = "does not stand here") -> None:
        """Refuse a key that nobody asked for, which another file has, or another program, and say which."""
        if key not in self._known and self.node and (node := self.node.get(key)) is not None:
            self._known.append(key)
            self.fault(node, key, message, hint)

    def done(self) -> None:
        """Refuse keys that nobody asked for; the outermost mapping raises all faults."""
        for entry in self.node.entries if self.node else ():
            if entry.name not in self._known:
                hint = suggest(entry.name, self._known)
                missing = tuple(f"{self._path(key)}: is missing" for key in self._known if repr(key) in hint)
                self.problems[:] = (problem for problem in self.problems if not problem.message.startswith(missing))
                self.fault(entry.key, entry.name, "is not a known key", hint)
        if self._owns and self.problems:
            raise InputError(*self.problems)

    def anything(self, key: str) -> Node | None:
        """Ask for a value of whatever kind; None where it is missing."""
        self._known.append(key)
        return self.node.get(key) if self.node else None

    def _pairs(self, key: str) -> Iterator[tuple[str, Node]]:
        node = self.anything(key)
        if node is not None and not isinstance(node, MappingNode):
            self.fault(node, key, "must be a mapping")
        elif node is not None:
            yield from ((entry.name, entry.value) for entry in node.entries)

    def _path(self, key: str) -> str:
        return ".".join(part for part in (self.path, key) if part)
