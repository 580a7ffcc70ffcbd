"""Folding an option of ``options/NAME`` into a use case's own files, and taking it out again to the same bytes.

What goes into lines of its own is found again by where it is and what it says, whatever values its setters have by
then. What it replaced is kept in the Krmfile, where kustomize 3.8.7 leaves keys that it does not know alone::

    options:
    - name: debug
      replaced:
      - file: job.yaml
        path: /spec/template/spec/containers/0/command
        lines:
        - ""
        - "        - python"
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packyard.errors import ConflictError, InputError, Problem
from packyard.setters import krmfile
from packyard.setters.change import Keep
from packyard.setters.definition import Definitions
from packyard.setters.krmfile import Krmfile, parse_krmfile
from packyard.setters.plan import refresh
from packyard.source import component, splice
from packyard.source.component import KUSTOMIZATION, Component, Operation
from packyard.source.splice import Splice
from packyard.text import journal
from packyard.text.document import decode, parse_shared
from packyard.text.node import Entry, Item, Node, Part, Source
from packyard.text.node import Mapping as MappingNode
from packyard.text.node import Sequence as SequenceNode
from packyard.text.scalar import double_quoted
from packyard.text.sharing import Sharing
from packyard.text.tree import Tree

KEY = "options"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, or would be: the bytes of each file that differs, before and after; None where there is none.

    Nothing differs where the option was enabled, or disabled, already.
    """

    name: str
    description: str
    before: dict[str, bytes | None] = field(default_factory=dict)
    after: dict[str, bytes | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Replaced:
    """What an option replaced or removed: where, its bytes, and for a part that was removed its place."""

    file: str
    path: str
    was: str
    index: int | None


def enable(directory: Path, name: str, *, dry_run: bool = False, keep: Keep | None = None) -> Outcome:
    """Fold an option in, with the values that its setters have now; one that is in stays as it is.

    Refused where another option that is in touches the same place. All or nothing; with ``dry_run`` nothing is written.
    """
    with journal.locked(directory, [directory]), Sharing():
        use_case = _UseCase(directory)
        option = component.read(use_case.tree, name)
        if name not in use_case.enabled():
            _refuse_component(use_case, name)
            _refuse_overlap(use_case, option)
            _fold(use_case, option)
        return use_case.finish(option, dry_run, keep)


def disable(directory: Path, name: str, *, dry_run: bool = False, keep: Keep | None = None) -> Outcome:
    """Take an option out: the bytes are those that the values set meanwhile would have given without it.

    What was changed by hand in what it put there is refused by file and line, and nothing is changed.
    """
    with journal.locked(directory, [directory]), Sharing():
        use_case = _UseCase(directory)
        option = component.read(use_case.tree, name)
        if name in use_case.enabled():
            _unfold(use_case, option)
        return use_case.finish(option, dry_run, keep)


class _UseCase:
    """The files of a use case's directory, and the texts that they are to have."""

    def __init__(self, directory: Path) -> None:
        self.tree = Tree(directory)
        for name in (krmfile.NAME, KUSTOMIZATION):
            if not self.tree.has_file(name):
                raise InputError(Problem(f"has no {name}: it is no use case", file=str(directory)))
        self.texts: dict[str, str | None] = {}
        self.before: dict[str, bytes | None] = {}

    def text(self, path: str) -> str:
        """Return a file's text as it is by now, without its byte order mark."""
        if path not in self.texts:
            data = self.tree.read(path)
            self.before[path] = data
            self.texts[path] = decode(data, self.tree.prefix + path)[1]
        text = self.texts[path]
        assert text is not None
        return text

    def source(self, path: str) -> Source:
        """Return it for parsing."""
        return Source(self.tree.prefix + path, self.text(path))

    def root(self, path: str, number: int = 0) -> MappingNode:
        """Parse one document of a file."""
        root = parse_shared(self.source(path))[number].root
        if not isinstance(root, MappingNode):
            raise InputError(Problem("its root is no mapping", file=self.tree.prefix + path, line=1))
        return root

    def krmfile(self) -> Krmfile:
        """Parse the Krmfile as it is by now."""
        return parse_krmfile(self.source(krmfile.NAME))

    def enabled(self) -> dict[str, list[_Replaced]]:
        """Return the options that are in, and what each replaced."""
        listed = self.root(krmfile.NAME).get(KEY)
        items = [item.value for item in listed.items] if isinstance(listed, SequenceNode) else []
        return {item.text("name"): list(_replaced(item)) for item in items if isinstance(item, MappingNode)}

    def resources(self) -> list[str]:
        """Return the files that the kustomization lists."""
        listed = self.root(KUSTOMIZATION).get("resources")
        names = [item.value for item in listed.items] if isinstance(listed, SequenceNode) else []
        return [
            path for path in map(_scalar, names) if self.texts.get(path, "") is not None and self.tree.has_file(path)
        ]

    def places(self, option: Component, without: Collection[str] = ()) -> Iterator[tuple[str, int, Operation]]:
        """Yield each operation of an option with the file and the number of each document that it is for.

        ``without`` are files that were not there when it was folded in.
        """
        for patch in option.patches:
            found = [
                (path, number)
                for path in self.resources()
                if path not in without
                for number, document in enumerate(parse_shared(self.source(path)))
                if patch.fits(document.root)
            ]
            if not found:
                raise InputError(patch.node.problem(f"no object of the use case is what this is for: {patch.kind}"))
            for operation in patch.operations:
                yield from ((path, number, operation) for path, number in found)

    def take(self, path: str, made: Splice, definitions: Definitions | None = None) -> None:
        """Let a file have the text that a splice made, what is new in it with the values of setters."""
        self.texts[path] = made.text
        if definitions is not None:
            self.texts[path] = refresh(self.source(path), definitions, [(made.start, made.end)])

    def finish(self, option: Component, dry_run: bool, keep: Keep | None) -> Outcome:
        """Write what differs, and say what that is."""
        after: dict[str, bytes | None] = {}
        for path, text in self.texts.items():
            old = self.before.get(path)
            mark = b"\xef\xbb\xbf" if old is not None and old.startswith(b"\xef\xbb\xbf") else b""
            new = None if text is None else mark + text.encode()
            if new != old:
                after[path] = new
        before = {path: self.before.get(path) for path in after}
        if after and not dry_run:
            root_dir = self.tree.root_dir
            if keep:
                keep({root_dir / path: data for path, data in before.items()},
                     {root_dir / path: data for path, data in after.items()})  # fmt: skip
            self.tree.write(after)
        return Outcome(option.name, option.description, before, after)


def _scalar(node: Node) -> str:
    return node.lexeme.strip("'\"")


def _replaced(item: MappingNode) -> Iterator[_Replaced]:
    listed = item.get("replaced")
    for one in listed.items if isinstance(listed, SequenceNode) else ():
        assert isinstance(one.value, MappingNode)
        lines = one.value.get("lines")
        texts = [line.value.value for line in lines.items] if isinstance(lines, SequenceNode) else []  # type: ignore[attr-defined]
        index = one.value.text("index")
        yield _Replaced(one.value.text("file"), one.value.text("path"), "\n".join(texts), int(index) if index else None)


def _fold(use_case: _UseCase, option: Component) -> None:
    known = use_case.krmfile().definitions
    here = use_case.root(krmfile.NAME).mapping("openAPI", "definitions")
    shared = _definitions_of_others(use_case, option)
    for entry in option.definitions:
        there = here.entry(entry.name) if here else None
        if there is None:
            operation = Operation("add", ("openAPI", "definitions", entry.name), entry, entry.key)
            use_case.take(krmfile.NAME, splice.fold(use_case.root(krmfile.NAME), operation))
        elif entry.name not in shared:
            raise ConflictError(
                there.key.problem(f"{entry.name} is defined here already, and by option {option.name!r}")
            )
    _fold_list(use_case, krmfile.NAME, "rules", option.rules)
    known = use_case.krmfile().definitions
    replaced: list[_Replaced] = []
    for path, number, operation in list(use_case.places(option)):
        made = splice.fold(use_case.root(path, number), operation)
        use_case.take(path, made, known)
        if made.was is not None:
            replaced.append(_Replaced(path, operation.pointer, made.was, made.index))
    for name in option.resources:
        _add_file(use_case, option, name, known)
    _fold_list(use_case, KUSTOMIZATION, "resources", _listed("resources", [f"- {name}" for name in option.resources]))
    _fold_list(use_case, krmfile.NAME, KEY, _listed(KEY, list(_record(option.name, replaced))))


def _add_file(use_case: _UseCase, option: Component, name: str, known: Definitions) -> None:
    if use_case.tree.has(name) or name in use_case.texts:
        raise ConflictError(
            Problem(f"is there already, and option {option.name!r} adds it", file=use_case.tree.prefix + name)
        )
    text = use_case.text(f"{option.folder}/{name}")
    use_case.before[name] = None
    use_case.texts[name] = text
    use_case.texts[name] = refresh(use_case.source(name), known, [(0, len(text))])


def _fold_list(use_case: _UseCase, path: str, key: str, parts: Sequence[Part]) -> None:
    """Add items to a list at the root of a file, which is made where it is missing."""
    if not parts:
        return
    there = use_case.root(path).entry(key)
    if there is None:
        listed = SequenceNode(parts[0].value.source, 0, 0, False, None, None)
        listed.items = [part for part in parts if isinstance(part, Item)]
        made = Operation("add", (key,), Entry(listed, listed, 0), parts[0].value)
        use_case.take(path, splice.fold(use_case.root(path), made))
        return
    if not isinstance(there.value, SequenceNode) or not there.value.items:
        raise InputError(there.value.problem(f"{key} is no list with something in it", "write one, or take it out"))
    for part in parts:
        operation = Operation("add", (key, "-"), part, part.value)
        use_case.take(path, splice.fold(use_case.root(path), operation))


def _listed(key: str, lines: Sequence[str]) -> list[Item]:
    if not lines:
        return []
    root = parse_shared(Source("", "\n".join([f"{key}:", *lines, ""])))[0].root
    assert isinstance(root, MappingNode)
    listed = root.get(key)
    assert isinstance(listed, SequenceNode)
    return listed.items


def _record(name: str, replaced: Sequence[_Replaced]) -> Iterator[str]:
    yield f"- name: {double_quoted(name)}"
    if replaced:
        yield "  replaced:"
    for one in replaced:
        yield f"  - file: {double_quoted(one.file)}"
        yield f"    path: {double_quoted(one.path)}"
        if one.index is not None:
            yield f"    index: {one.index}"
        yield "    lines:"
        yield from (f"    - {double_quoted(line)}" for line in one.was.split("\n"))


def _unfold(use_case: _UseCase, option: Component) -> None:
    replaced = use_case.enabled()[option.name]
    known = use_case.krmfile().definitions
    for name in option.resources:
        _take_file(use_case, option, name)
    others = [component.read(use_case.tree, name) for name in use_case.enabled() if name != option.name]
    added = {name for other in others for name in other.resources}
    for path, number, operation in reversed(list(use_case.places(option, without=added))):
        if operation.name == "test":
            continue
        kept = next((one for one in reversed(replaced) if (one.file, one.path) == (path, operation.pointer)), None)
        if kept is not None:
            replaced.remove(kept)
        was, index = (kept.was, kept.index) if kept else (None, None)
        use_case.take(path, splice.unfold(use_case.root(path, number), operation, was, index), known)
    for name in option.resources:
        _drop_item(use_case, KUSTOMIZATION, "resources", lambda node, name=name: _scalar(node) == name)
    own = {entry.name for entry in option.definitions} - _definitions_of_others(use_case, option)
    _drop_item(
        use_case, krmfile.NAME, KEY, lambda node: isinstance(node, MappingNode) and node.text("name") == option.name
    )
    for rule in option.rules:
        _drop_item(use_case, krmfile.NAME, "rules", lambda node, rule=rule: _says(node, rule))
    for name in own:
        here = use_case.root(krmfile.NAME).mapping("openAPI", "definitions")
        if here is not None and here.entry(name) is not None:
            use_case.texts[krmfile.NAME] = splice.take_out(
                use_case.root(krmfile.NAME), ("openAPI", "definitions", name)
            )


def _says(node: Node, rule: Part) -> bool:
    return splice.difference(Item(node, node.start), rule) is None


def _take_file(use_case: _UseCase, option: Component, name: str) -> None:
    model = parse_shared(use_case.source(f"{option.folder}/{name}"))
    actual = parse_shared(use_case.source(name))
    where: Node | None = actual[0].root if actual else None
    for one, other in zip(actual, model, strict=False):
        if one.root is not None and other.root is not None:
            where = splice.difference(Item(one.root, 0), Item(other.root, 0))
            if where is not None:
                break
    if where is not None or len(actual) != len(model):
        hint = "take your change out, then disable the option; nothing was changed"
        message = f"is not as option {option.name!r} put it there: it was changed by hand"
        raise InputError(where.problem(message, hint) if where else Problem(message, file=name, line=1, hint=hint))
    use_case.texts[name] = None


def _drop_item(use_case: _UseCase, path: str, key: str, says: object) -> None:
    listed = use_case.root(path).get(key)
    for number, item in reversed(list(enumerate(listed.items if isinstance(listed, SequenceNode) else ()))):
        if says(item.value):  # type: ignore[operator]
            use_case.texts[path] = splice.take_out(use_case.root(path), (key, str(number)))
            return


def _definitions_of_others(use_case: _UseCase, option: Component) -> set[str]:
    """Return the definitions that other options which are in have too."""
    others = [name for name in use_case.enabled() if name != option.name]
    return {entry.name for name in others for entry in component.read(use_case.tree, name).definitions}


def _refuse_component(use_case: _UseCase, name: str) -> None:
    listed = use_case.root(KUSTOMIZATION).get("components")
    for item in listed.items if isinstance(listed, SequenceNode) else ():
        if _scalar(item.value).removeprefix("./").rstrip("/") == f"options/{name}":
            raise ConflictError(
                item.value.problem(
                    f"option {name!r} is added here as a component", "take that line out, then enable it"
                )
            )


def _refuse_overlap(use_case: _UseCase, option: Component) -> None:
    """Refuse an option that touches what another one touches: neither could be taken out alone."""
    mine = list(use_case.places(option))
    for name in use_case.enabled():
        other = component.read(use_case.tree, name)
        for path, _, operation in mine:
            if path in other.resources:
                raise ConflictError(operation.problem(f"{path} is a file that option {name!r} added"))
        for path, number, theirs in use_case.places(other):
            for here, document, operation in mine:
                if (here, document) == (path, number) and _meet(operation, theirs):
                    raise ConflictError(
                        operation.problem(
                            f"option {option.name!r} changes {operation.pointer} of {path}, and option {name!r}, which "
                            f"is enabled, {theirs.pointer}: one could not be taken out without the other",
                            f"packyard disable DIR {name}",
                        )
                    )


def _meet(one: Operation, other: Operation) -> bool:
    if one.steps[-1] == other.steps[-1] == "-" and one.steps == other.steps:
        return False
    short, long = sorted((one.steps, other.steps), key=len)
    return long[: len(short)] == short or _shifts(one, other) or _shifts(other, one)


def _shifts(one: Operation, other: Operation) -> bool:
    """Whether one operation moves the parts of a list or mapping among which the other finds its place."""
    *parent, last = one.steps
    if not (one.name == "remove" or (one.name == "add" and last.isdigit())):
        return False
    if other.steps[: len(parent)] != tuple(parent) or len(other.steps) == len(parent):
        return False
    return other.name == "remove" or other.steps[len(parent)].isdigit()
