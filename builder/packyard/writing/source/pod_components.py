"""Patches of pods as what is shipped: plain patches of a Component, for the kinds that a package has.

    - {path: pods.yaml, target: {kind: JobSet}}               pods.yaml brings the values that setters change
    - target: {kind: JobSet}
      patch: |-
        - {op: test, path: /spec/replicatedJobs/0/name, value: worker}
        - {op: copy, from: /option/tolerations/0, path: /spec/replicatedJobs/0/…/tolerations/-}
    - target: {kind: JobSet}
      patch: "- {op: remove, path: /option}"                 also from those that got nothing of it

Objects of one kind that need other operations are told apart by the label of their component, and by the targets that
the author of the patch lists.
"""

import dataclasses
from collections.abc import Collection as Collection_
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes.kinds import Kind, group_of
from packyard.core.yaml import make
from packyard.core.yaml.content import Text, flow, flow_text
from packyard.core.yaml.layout import WIDTH
from packyard.core.yaml.node import Node
from packyard.using.kustomize import selector
from packyard.using.kustomize.accumulate import SourceObject, accumulate
from packyard.using.kustomize.part import Part
from packyard.using.kustomize.patch import MisfitError
from packyard.writing.source import pod_operations
from packyard.writing.source.pod_operations import Operation, PodPatch, to_node
from packyard.writing.source.pod_values import OPTION, Brought, is_brought
from packyard.writing.source.workspace import PODS

#: The label that tells objects of a kind apart.
_COMPONENT = "app.kubernetes.io/component"
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
    """Return what a patch does to the objects of use cases, and do it: for each of its targets and each component.

    Objects of a use case that the option does not fit may be selected, too, where the operations stop its build.
    """
    inside = {id(item) for path in fitting for item in states[path]}
    items = [item for of_case in states.values() for item in of_case if not item.is_local]
    named = any(map(_component, items))
    by_target: dict[tuple[str, Target], _Step] = {}
    changed: dict[int, tuple[SourceObject, Sequence[Operation]]] = {}
    for target in patch.targets or ({},):
        groups = _group(patch, target, items)
        for (kind, text), (operations, own) in groups.items():
            if not operations or not any(id(item) in inside for item in own):
                continue
            chosen = _selector(target, own, named=named)
            others = [item for of, (_, rest) in groups.items() if of[0] == kind and of[1] != text for item in rest
                      if selector.selects({"kind": kind[1], **dict(chosen)}, item.root, item.identity)
                      and (id(item) in inside or not _is_refused(item, operations))]  # fmt: skip
            if others or any(id(item) in changed for item in own):
                raise _undecided(patch, kind[1], [*own, *others])
            by_target.setdefault((text, chosen), _Step([], chosen, operations)).kinds.append(kind[1])
            changed |= {id(item): (item, operations) for item in own if id(item) in inside}
    for item, operations in changed.values():
        item.operate(to_node(operations, patch.file))
    return list(by_target.values())


def _group(
    patch: PodPatch, target: Mapping[str, str], items: Sequence[SourceObject]
) -> dict[tuple[Kind, str], tuple[Sequence[Operation], list[SourceObject]]]:
    """Return objects by their kinds and by what a patch does to them: what it does, not where that is from."""
    groups: dict[tuple[Kind, str], tuple[Sequence[Operation], list[SourceObject]]] = {}
    for item in items:
        made = None
        with suppress(MisfitError):
            if selector.selects(target, item.root, item.identity):
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


def _selector(target: Mapping[str, str], own: Sequence[SourceObject], *, named: bool) -> Target:
    """Return what selects objects of a kind: what the author says, and their components, if any are ``named``.

    A Component may be added to another package's use case, or to one with objects of its user.
    """
    words = {word: text for word, text in target.items() if word != "kind"}
    components = {_component(item) for item in own}
    if named and (components == {""} or "" not in components) and _COMPONENT not in words.get("labelSelector", ""):
        first, *more = sorted(components)
        only = f"{_COMPONENT}={first}" if first else f"!{_COMPONENT}"
        own_label = f"{_COMPONENT} in ({','.join((first, *more))})" if more else only
        words["labelSelector"] = ",".join(filter(None, (own_label, words.get("labelSelector"))))
    return tuple(words.items())


def _component(item: SourceObject) -> str:
    label = item.root.scalar("metadata", "labels", _COMPONENT)
    return label.value if label else ""


def _undecided(patch: PodPatch, kind: str, items: Iterable[SourceObject]) -> InputError:
    """Return that objects which get different operations are not told apart."""
    message = f"needs other operations in some {kind}s than in others, and no target tells them apart"
    names = sorted({item.root.source.name for item in items})
    hint = f"list targets that do, or give {' and '.join(names)} a label {_COMPONENT}"
    return InputError(Problem(message, file=patch.file, line=patch.line, hint=hint))


def _target(kinds: Collection_[str], words: Target) -> str:
    either = "|".join(sorted(kinds))
    either = either if len(kinds) == 1 else f"({either})"
    return flow({"kind": either, **{key: Text(text) for key, text in words}})


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
