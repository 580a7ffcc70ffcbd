"""A whole option folded into a draft, and out of it: its definitions, its rules, its operations, its files.

What goes into lines of its own is found again by where it is and what it says, whatever values its setters have by
then; what it replaced is found in the Krmfile.
"""

from __future__ import annotations

from collections.abc import Callable

from packyard.errors import ConflictError, InputError, Problem
from packyard.setters import krmfile
from packyard.setters.definition import Definitions
from packyard.setters.rules import rule as rules
from packyard.source.enabling import component, fit, replaced, splice
from packyard.source.enabling.component import KUSTOMIZATION, Component, Operation
from packyard.source.enabling.draft import Draft, unquoted
from packyard.source.enabling.replaced import Replaced
from packyard.text.document import parse_shared
from packyard.text.node import Entry, Item, Node

_DEFINITIONS = ("openAPI", "definitions")


def fold(draft: Draft, option: Component) -> None:
    """Fold an option in, with the values that its setters have by now."""
    _define(draft, option)
    draft.append(krmfile.NAME, rules.KEY, [rule.item for rule in option.rules])
    known = draft.krmfile().definitions
    fit.check(option, known.setters)
    was: list[Replaced] = []
    for path, number, operation in list(draft.places(option)):
        made = splice.fold(draft.root(path, number), operation)
        draft.take(path, made, known)
        if made.was is not None:
            was.append(Replaced(path, operation.pointer, made.was, made.index))
    for name in option.resources:
        _add(draft, option, name, known)
    draft.append(KUSTOMIZATION, "resources", replaced.listed("resources", [f"- {name}" for name in option.resources]))
    replaced.note(draft, option.name, was)


def unfold(draft: Draft, option: Component) -> None:
    """Take an option out; what was changed by hand in what it put there is refused by file and line."""
    was = replaced.read(draft)[option.name]
    known = draft.krmfile().definitions
    for name in option.resources:
        _remove(draft, option, name)
    others = others_in(draft, option.name)
    added = {name for other in others for name in other.resources}
    for path, number, operation in reversed(list(draft.places(option, without=added))):
        if operation.name != "test":
            _take_back(draft, path, number, operation, was, known)
    draft.drop(KUSTOMIZATION, "resources", [_names(name) for name in option.resources])
    replaced.forget(draft, option.name)
    draft.drop(krmfile.NAME, rules.KEY, [_says(rule.item) for rule in option.rules])
    own = [entry.name for entry in option.definitions if not any(_defines(other, entry.name) for other in others)]
    draft.take_out(krmfile.NAME, _DEFINITIONS, [name for name in own if _defined(draft, name)])


def others_in(draft: Draft, name: str) -> list[Component]:
    """Return the other options that are in."""
    return [component.read(draft.tree, other) for other in replaced.read(draft) if other != name]


def _define(draft: Draft, option: Component) -> None:
    others = others_in(draft, option.name)
    there = {entry.name: _defined(draft, entry.name) for entry in option.definitions}
    for name, known in there.items():
        if known is not None and not any(_defines(other, name) for other in others):
            message = f"{name} is defined here already, and by option {option.name!r}"
            raise ConflictError(known.key.problem(message))
    new = [entry for entry in option.definitions if there[entry.name] is None]
    if new:
        operations = [Operation("add", (*_DEFINITIONS, entry.name), entry, entry.key) for entry in new]
        draft.take(krmfile.NAME, splice.append(draft.root(krmfile.NAME), operations))


def _defines(option: Component, name: str) -> bool:
    return any(entry.name == name for entry in option.definitions)


def _defined(draft: Draft, name: str) -> Entry | None:
    section = draft.root(krmfile.NAME).mapping(*_DEFINITIONS)
    return section.entry(name) if section else None


def _add(draft: Draft, option: Component, name: str, known: Definitions) -> None:
    if draft.has(name):
        message = f"is there already, and option {option.name!r} adds it"
        raise ConflictError(Problem(message, file=draft.tree.prefix + name))
    draft.add(name, draft.text(f"{option.folder}/{name}"), known)


def _remove(draft: Draft, option: Component, name: str) -> None:
    """Remove a file that an option added, if it is as it was put there."""
    model = parse_shared(draft.source(f"{option.folder}/{name}"))
    actual = parse_shared(draft.source(name))
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
    draft.remove(name)


def _take_back(
    draft: Draft, path: str, number: int, operation: Operation, was: list[Replaced], known: Definitions
) -> None:
    """Take one operation back, with what it replaced, which is taken out of ``was``."""
    kept = next((one for one in reversed(was) if (one.file, one.path) == (path, operation.pointer)), None)
    if kept is not None:
        was.remove(kept)
    text, index = (kept.was, kept.index) if kept else (None, None)
    draft.take(path, splice.unfold(draft.root(path, number), operation, text, index), known)


def _names(path: str) -> Callable[[Node], bool]:
    return lambda node: unquoted(node) == path


def _says(item: Item) -> Callable[[Node], bool]:
    return lambda node: splice.difference(Item(node, node.start), item) is None
