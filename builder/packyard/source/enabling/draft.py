"""The files of a use case's directory, and the texts that they are to have. Nothing is written here."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from packyard.errors import InputError, Problem
from packyard.files import regular
from packyard.files.paths import inside
from packyard.files.tree import Tree
from packyard.setters import krmfile
from packyard.setters.definition import Definitions
from packyard.setters.krmfile import Krmfile, parse_krmfile
from packyard.setters.plan import refresh
from packyard.source.enabling import splice
from packyard.source.enabling.component import KUSTOMIZATION, Component, Operation
from packyard.source.enabling.splice import Splice
from packyard.text.document import decode, parse_shared
from packyard.text.node import Entry, Item, Node, Source
from packyard.text.node import Mapping as MappingNode
from packyard.text.node import Sequence as SequenceNode
from packyard.text.proof import apply_to_text


class Draft:
    """A use case under change; its paths are those below the directory."""

    def __init__(self, directory: Path) -> None:
        self.tree = Tree(directory)
        for name in (krmfile.NAME, KUSTOMIZATION):
            if not self.tree.has_file(name):
                raise InputError(Problem(f"has no {name}: it is no use case", file=str(directory)))
        self._texts: dict[str, str | None] = {}
        self._before: dict[str, bytes | None] = {}

    def text(self, path: str) -> str:
        """Return a file's text as it is by now, without its byte order mark."""
        if path not in self._texts:
            data = self.tree.read(path)
            self._before[path] = data
            self._texts[path] = decode(data, self.tree.prefix + path)[1]
        text = self._texts[path]
        assert text is not None
        return text

    def source(self, path: str) -> Source:
        """Return it for parsing."""
        return Source(self.tree.prefix + path, self.text(path))

    def root(self, path: str, number: int = 0) -> MappingNode:
        """Parse one document of a file."""
        documents = parse_shared(self.source(path))
        root = documents[number].root if number < len(documents) else None
        if root is None:
            raise InputError(Problem("is empty", file=self.tree.prefix + path, line=1))
        if not isinstance(root, MappingNode):
            raise InputError(Problem("its root is no mapping", file=self.tree.prefix + path, line=1))
        return root

    def items(self, path: str, key: str) -> list[Item]:
        """Return the items of a list at the root of a file; none where there is no such list."""
        listed = self.root(path).get(key)
        return listed.items if isinstance(listed, SequenceNode) else []

    def krmfile(self) -> Krmfile:
        """Parse the Krmfile as it is by now."""
        return parse_krmfile(self.source(krmfile.NAME))

    def places(self, option: Component, without: Collection[str] = ()) -> Iterator[tuple[str, int, Operation]]:
        """Yield each operation of an option with the file and the number of each document that it is for.

        ``without`` are files that were not there when it was folded in.
        """
        for patch in option.patches:
            found = [
                (path, number)
                for path in self._resources()
                if path not in without
                for number, document in enumerate(parse_shared(self.source(path)))
                if patch.fits(document.root)
            ]
            if not found:
                raise InputError(patch.node.problem(f"no object of the use case is what this is for: {patch.kind}"))
            for operation in patch.operations:
                yield from ((path, number, operation) for path, number in found)

    def _resources(self) -> list[str]:
        """Return the files that the kustomization lists, and that are there by now."""
        listed = [self._below(item.value) for item in self.items(KUSTOMIZATION, "resources")]
        return [path for path in listed if path and self._texts.get(path, "") is not None and self.tree.has_file(path)]

    def _below(self, node: Node) -> str:
        """Return a path that the kustomization lists; an empty text for another folder, or what is not on disk."""
        path = unquoted(node)
        if regular.is_folder(self.tree.root_dir / path) or "://" in path:
            return ""
        try:
            inside(self.tree.root_dir, path)
        except InputError as error:
            raise InputError(node.problem(f"{path} {error.problems[0].message}")) from error
        return path

    def take(self, path: str, made: Splice, definitions: Definitions | None = None) -> None:
        """Let a file have the text that a splice made; what is new in it with the values of ``definitions``."""
        self._texts[path] = apply_to_text(self.source(path), [made.edit(self.text(path))])
        if definitions is not None:
            self._texts[path] = refresh(self.source(path), definitions, [(made.start, made.end)])

    def add(self, path: str, text: str, definitions: Definitions) -> None:
        """Add a file, its fields with the values of ``definitions``."""
        self._before[path] = None
        self._texts[path] = text
        self._texts[path] = refresh(self.source(path), definitions, [(0, len(text))])

    def has(self, path: str) -> bool:
        """Say whether there is anything at a path, on disk or by now."""
        return self.tree.has(path) or path in self._texts

    def remove(self, path: str) -> None:
        """Let a file be no more."""
        self._texts[path] = None

    def append(self, path: str, key: str, items: Sequence[Item]) -> None:
        """Add items to a list at the root of a file, which is made where it is missing."""
        if not items:
            return
        there = self.root(path).entry(key)
        if there is None:
            listed = SequenceNode(items[0].value.source, 0, 0, False, None, None)
            listed.items = list(items)
            made = Operation("add", (key,), Entry(listed, listed, 0), items[0].value)
            self.take(path, splice.fold(self.root(path), made))
            return
        if not isinstance(there.value, SequenceNode) or not there.value.items:
            raise InputError(there.value.problem(f"{key} is no list with something in it", "write one, or take it out"))
        operations = [Operation("add", (key, "-"), item, item.value) for item in items]
        self.take(path, splice.append(self.root(path), operations))

    def drop(self, path: str, key: str, tests: Sequence[Callable[[Node], bool]]) -> None:
        """Take items out of a list at the root of a file: the last of which each test holds, if there is one."""
        left = dict(enumerate(self.items(path, key)))
        taken: list[str] = []
        for is_it in tests:
            number = next((number for number, item in reversed(left.items()) if is_it(item.value)), None)
            if number is not None:
                del left[number]
                taken.append(str(number))
        self.take_out(path, [key], taken)

    def take_out(self, path: str, steps: Sequence[str], last: Collection[str]) -> None:
        """Take parts out of the collection at a place of a file; if nothing is left, the collection."""
        if last:
            self._texts[path] = apply_to_text(self.source(path), splice.take_out(self.root(path), steps, last))

    def changed(self) -> dict[str, tuple[bytes | None, bytes | None]]:
        """Return the bytes of each file that differs, before and after; None where there is no such file."""
        found = {}
        for path, text in self._texts.items():
            old = self._before.get(path)
            mark = BOM_UTF8 if old is not None and old.startswith(BOM_UTF8) else b""
            new = None if text is None else mark + text.encode()
            if new != old:
                found[path] = (old, new)
        return found


def unquoted(node: Node) -> str:
    """Return a path as it is written in a list, without quotes."""
    return node.lexeme.strip("'\"")
