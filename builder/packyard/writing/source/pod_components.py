"""Patches of pods as what is shipped: plain patches of a Component, for the kinds that a package has.

    - {path: pods.yaml, target: {kind: JobSet}}               pods.yaml brings the values that setters change
    - target: {kind: JobSet}
      patch: |-
        - {op: test, path: /spec/replicatedJobs/0/name, value: worker}
        - {op: copy, from: /option/tolerations/0, path: /spec/replicatedJobs/0/…/tolerations/-}
    - target: {kind: JobSet}
      patch: "- {op: remove, path: /option}"                 also from those that got nothing of it

Objects of one kind that need other operations are told apart by the label of their component, and one more label or
annotation at most.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection as Collection_
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace

from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes.kinds import Kind, group_of
from packyard.core.yaml import make
from packyard.core.yaml.content import Text, flow, flow_text
from packyard.core.yaml.document import entries
from packyard.core.yaml.layout import WIDTH
from packyard.core.yaml.node import Node
from packyard.using.kustomize.accumulate import SourceObject, accumulate
from packyard.using.kustomize.part import Part
from packyard.using.kustomize.patch import MisfitError
from packyard.writing.source import pod_operations
from packyard.writing.source.pod_operations import Operation, PodPatch, is_bound, to_node
from packyard.writing.source.pod_values import OPTION, Brought, is_brought
from packyard.writing.source.workspace import PODS

#: The label that tells objects apart before others do.
_COMPONENT = "app.kubernetes.io/component"
_SELECTORS = {"labels": "labelSelector", "annotations": "annotationSelector"}
#: What selects objects, as a ``target`` says it.
Target = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Written:
    """The lines of ``patches`` that patches of pods come to, and the files that these name."""

    lines: tuple[str, ...] = ()
    files: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    values: tuple[Node, ...] = ()


def write(part: Part, use_cases: Mapping[str, Sequence[SourceObject]], fitting: Iterable[str]) -> Written:
    """Write the patches of pods of an option for the objects of a package, by its use cases."""
    states = {path: [item.copy() for item in items] for path, items in use_cases.items()}
    for path in fitting:
        accumulate(replace(part, pods=()), states[path])
    lines: list[str] = []
    values: list[Node] = []
    kinds: set[str] = set()
    brought = Brought(part.folder)
    for patch in part.pods:
        assert isinstance(patch, PodPatch)
        steps = _steps(patch, states, frozenset(fitting))
        if steps:
            lines += [comment.text for comment in patch.head] if patch.head != part.head else []
            listed = [operation for step in steps for operation in step.operations]
            lines += [line for step in steps for line in _lines(step, brought, listed)]
            values += patch.roots
            kinds.update(kind for step in steps if any(map(is_brought, step.operations)) for kind in step.kinds)
    if not brought:
        return Written(tuple(lines), {}, tuple(values))
    target = _target(kinds, ())
    around = (
        f"- {{path: {PODS}, target: {target}}}",
        f"- target: {target}",
        f'  patch: "- {{op: remove, path: {OPTION}}}"',
    )
    return Written((around[0], *lines, *around[1:]), {PODS: brought.write()}, tuple(values))


@dataclass(frozen=True, slots=True)
class _Step:
    """Operations, and the objects that they are for."""

    kinds: list[str]
    selector: Target
    operations: Sequence[Operation]


def _steps(patch: PodPatch, states: Mapping[str, Sequence[SourceObject]], fitting: frozenset[str]) -> list[_Step]:
    """Return what a patch does to the objects of use cases, and do it.

    Objects of a use case that the option does not fit may be selected, too, where the operations stop its build.
    """
    inside = {id(item) for path in fitting for item in states[path]}
    named = any(_value(item, "labels", _COMPONENT) for items in states.values() for item in items)
    groups = _group(patch, [item for items in states.values() for item in items if not item.is_local])
    by_target: dict[tuple[str, Target], _Step] = {}
    for (kind, text), (operations, items) in groups.items():
        if not operations or not any(id(item) in inside for item in items):
            continue
        others = [item for of, (_, rest) in groups.items() if of[0] == kind and of[1] != text for item in rest
                  if id(item) in inside or not _is_refused(item, operations)]  # fmt: skip
        selector = _selector(patch, kind[1], items, others, named=named)
        by_target.setdefault((text, selector), _Step([], selector, operations)).kinds.append(kind[1])
        for item in items:
            if id(item) in inside:
                item.operate(to_node(operations, patch.file))
    return list(by_target.values())


def _group(
    patch: PodPatch, items: Sequence[SourceObject]
) -> dict[tuple[Kind, str], tuple[Sequence[Operation], list[SourceObject]]]:
    """Return objects by their kinds and by what a patch does to them: what it does, not where that is from."""
    groups: dict[tuple[Kind, str], tuple[Sequence[Operation], list[SourceObject]]] = {}
    for item in items:
        made = None
        with suppress(MisfitError):
            made = pod_operations.find(patch, item.root, item.identity)
        operations = made[0] if made else ()
        kind = group_of(item.identity[0]), item.identity[1]
        groups.setdefault((kind, "\n".join(map(_operation, operations))), (operations, []))[1].append(item)
    return groups


def _is_refused(item: SourceObject, operations: Iterable[Operation]) -> bool:
    """Say whether operations stop a build with an object that they are not for."""
    try:
        item.copy().operate(to_node(operations, ""))
    except MisfitError:
        return True
    return False


def _selector(
    patch: PodPatch, kind: str, own: Sequence[SourceObject], others: Sequence[SourceObject], *, named: bool
) -> Target:
    """Return what selects objects among others of their kind.

    Where a package has ``named`` components, it selects those: a Component may be added to another package's use case.
    """
    first = [("labels", _COMPONENT)] if named else []
    keys = [(field, key) for field in _SELECTORS for key in _keys(field, [*own, *others])]
    for way in (first, *([*first, key] for key in keys)):
        rest, target = list(others), dict[str, list[str]]()
        for field, key in way:
            mine = {_value(item, field, key) for item in own}
            if text := _requirement(key, mine, {_value(item, field, key) for item in rest}):
                target.setdefault(_SELECTORS[field], []).append(text)
            rest = [item for item in rest if _value(item, field, key) in mine]
        if not rest:
            return tuple((word, ",".join(texts)) for word, texts in target.items())
    names = sorted({item.root.source.name for item in (*own, *others)})
    message = f"needs other operations in some {kind}s than in others, and no label tells them apart"
    hint = f"give {' and '.join(names)} a label such as {_COMPONENT}"
    raise InputError(Problem(message, file=patch.file, line=patch.line, hint=hint))


def _keys(field: str, items: Sequence[SourceObject]) -> list[str]:
    """Return the labels or annotations of objects that no setter changes."""
    listed = [entry for item in items for entry in entries(item.root.find("metadata", field))]
    names = {entry.name for entry in listed} - {entry.name for entry in listed if is_bound(entry)}
    return sorted(names, key=lambda key: (key != _COMPONENT, key))


def _requirement(name: str, mine: Set[str | None], theirs: Set[str | None]) -> str:
    """Return what objects have of a label, as a selector says it; empty where some have it and some have not."""
    values = sorted(text for text in mine if text is not None)
    if None not in mine:
        return f"{name}={values[0]}" if len(values) == 1 else f"{name} in ({','.join(values)})"
    if not values:
        return f"!{name}"
    rest = sorted(text for text in theirs - mine if text is not None)
    return f"{name} notin ({','.join(rest)})" if rest else ""


def _value(item: SourceObject, field: str, key: str) -> str | None:
    value = item.root.scalar("metadata", field, key)
    return value.value if value else None


def _target(kinds: Collection_[str], selector: Target) -> str:
    either = "|".join(sorted(kinds))
    either = either if len(kinds) == 1 else f"({either})"
    return flow({"kind": either, **{key: Text(text) for key, text in selector}})


def _lines(step: _Step, brought: Brought, patch: Sequence[Operation]) -> Iterator[str]:
    """Yield the entry of ``patches`` for one target; ``patch`` has the operations for all."""
    yield f"- target: {_target(step.kinds, step.selector)}"
    operations = [f"- {_operation(operation, brought, patch)}" for operation in step.operations]
    line = f'  patch: "{operations[0]}"'
    if len(operations) == 1 and len(line) <= WIDTH and '"' not in operations[0]:
        yield line
    else:
        yield from ("  patch: |-", *(f"    {operation}" for operation in operations))


def _operation(operation: Operation, brought: Brought | None = None, patch: Sequence[Operation] = ()) -> str:
    node = operation.to_node("")
    if brought is not None and is_brought(operation):
        node = make.mapping("", {"op": "copy", "from": brought.add(operation, patch), "path": operation.path})
    return flow_text(node, plain=True)
