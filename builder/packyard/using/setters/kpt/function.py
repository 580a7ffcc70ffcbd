"""The KRM functions apply-setters, create-setters and list-setters: a ResourceList's bytes in, its bytes out.

Everything is decided before anything is returned, for an empty answer makes kpt delete the package. What fails gives
the items as they came, with the error as a result; the caller has to exit with 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from packyard.core.errors import InputError
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.splice import remove
from packyard.core.yaml.values import double_quoted
from packyard.using.setters.kpt import kptfile
from packyard.using.setters.kpt.apply import Setting, apply
from packyard.using.setters.kpt.derived import derive
from packyard.using.setters.kpt.parameterize import read_wanted, tag
from packyard.using.setters.kpt.resourcelist import ID_ANNOTATIONS, ResourceItem, ResourceList, Result, config_text
from packyard.using.setters.packages import KPTFILE

_Answer = tuple[list[Edit], list[Result]]


@dataclass(frozen=True, slots=True)
class FunctionOutput:
    """What a function printed, and what it has to say; ``failed`` asks for exit code 1."""

    output: bytes
    results: tuple[Result, ...]
    failed: bool = False


def run(name: str, data: bytes) -> FunctionOutput:
    """Run a function of `FUNCTIONS` on a ResourceList; raises `InputError` for anything else."""
    resources = ResourceList(data)
    function, prefix = FUNCTIONS[name]
    try:
        edits, results = function(resources)
    except InputError as error:
        failures = [Result(message=prefix + error.problems[0].message, severity="error")]
        return FunctionOutput(resources.with_results([], failures), tuple(failures), failed=True)
    return FunctionOutput(resources.with_results(edits, results), tuple(results))


def _apply_setters(resources: ResourceList) -> _Answer:
    values = resources.values()
    edits: list[Edit] = []
    results: list[Result] = []
    for item in resources.items:
        applied = apply(item.root, values)
        edits += applied.edits
        results += (_set(item, setting) for setting in applied.settings)
        if any(setting.emptied for setting in applied.settings):
            found = _let_comments_go(item)
            edits += found
            results += [_let_go(item)] if found else []
    return edits, results or [Result(message="no matches for input setter(s)"), *_blind(resources)]


def _set(item: ResourceItem, setting: Setting) -> Result:
    message = f"set field value to {double_quoted(setting.new)}"
    values = {"currentValue": setting.old, "proposedValue": setting.new}
    return Result(message=message, item=item, field_path=setting.path, values=values)


def _let_comments_go(item: ResourceItem) -> list[Edit]:
    """Take out what pairs an item with its input.

    An orchestrator copies the comment of a key whose list became ``[]`` to the field behind it, where it would set that
    field; an item without these annotations is left alone.
    """
    annotations = item.annotations
    return remove(annotations, ID_ANNOTATIONS) if annotations else []


def _let_go(item: ResourceItem) -> Result:
    message = "a list became empty: comments of this object are as the function wrote them"
    return Result(message=message, severity="warning", item=item)


def _blind(resources: ResourceList) -> list[Result]:
    """Warn where no item says which file it is from: ``kustomize build`` drops every comment before a function runs."""
    if not resources.items or any(item.path for item in resources.items):
        return []
    message = "no comment was seen: kustomize build drops them all; run this function by kpt, or packyard set"
    return [Result(message=message, severity="warning")]


def _create_setters(resources: ResourceList) -> _Answer:
    wanted = read_wanted(resources.values())
    edits: list[Edit] = []
    results: list[Result] = []
    for item in resources.items:
        if item.root.text("kind") == KPTFILE or _is_config(resources, item):
            continue
        tags = tag(item.root, wanted)
        edits += tags.edits
        for found in tags.tags:
            message = f'Added line comment "kpt-set: {found.pattern}" for field with value "{found.value}"'
            results.append(Result(message=message, item=item, field_path=found.path))
        for path in tags.left_out:
            message = "a field inside brackets cannot carry a comment"
            results.append(Result(message=message, severity="warning", item=item, field_path=path))
    if not any(result.severity == "info" for result in results):
        raise InputError("no matches for the input list of setters")
    return edits, results


def _is_config(resources: ResourceList, item: ResourceItem) -> bool:
    """Say whether an item is the function's own configuration."""
    if resources.config is None:
        return False
    config = ResourceItem(resources.config)
    return (config.reference, config.path) == (item.reference, item.path)


def _list_setters(resources: ResourceList) -> _Answer:
    setters = derive((item.root for item in resources.items), _given(resources.items))
    if not setters:
        return [], [Result(message="no setters found", severity="warning"), *_blind(resources)]
    return [], [Result(message=setter.text) for setter in setters]


def _given(items: Iterable[ResourceItem]) -> dict[str, str]:
    """Return what the root's Kptfile gives setters: nothing at all where one of its functions has no values."""
    files = {item.path: item for item in reversed(list(items))}
    root = files.get(KPTFILE)
    if root is None:
        return {}
    kptfile.check(root.root)
    given: dict[str, str] = {}
    for mutator in kptfile.find_mutators(root.root):
        data = mutator.config_map
        if data is None:
            config = files.get(mutator.config_path) if mutator.config_path else None
            if config is None:
                return {}
            data = config.root.mapping("data")
        given |= {entry.name: config_text(entry.value) for entry in data.entries} if data else {}
    return given


#: Each function, and what its errors begin with.
FUNCTIONS: Mapping[str, tuple[Callable[[ResourceList], _Answer], str]] = {
    "apply-setters": (_apply_setters, "failed to apply setters: "),
    "create-setters": (_create_setters, "failed to create setters: "),
    "list-setters": (_list_setters, "failed to list setters: "),
}
