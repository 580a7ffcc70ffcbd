"""The KRM functions apply-setters, create-setters and list-setters: a ResourceList's bytes in, its bytes out.

They know kpt's comments. Everything is decided before anything is returned, for an empty answer makes kpt delete the
package. What fails gives the items as they came, with the errors as results; the caller has to exit with 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.errors import InputError, suggest
from packyard.core.yaml.compare import Planned
from packyard.core.yaml.document import entries
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Collection, Node
from packyard.core.yaml.splice import remove
from packyard.core.yaml.values import double_quoted
from packyard.using.functions.resourcelist import ID_ANNOTATIONS, NAME, ResourceItem, ResourceList, Result
from packyard.using.setters.definition import Setter
from packyard.using.setters.kpt import kptfile
from packyard.using.setters.kpt.apply import apply, config_text
from packyard.using.setters.kpt.derived import derive
from packyard.using.setters.kpt.parameterize import read_wanted, tag
from packyard.using.setters.kpt.tagged import find
from packyard.using.setters.packages import KPTFILE

#: The types of scalars by their names in definitions, each with that of its YAML tag, which kpt prints.
_TAGS = {"integer": "int", "number": "float", "boolean": "bool", "string": "str"}


@dataclass(frozen=True, slots=True)
class _Answer:
    """The edits of the list, what there is to say, and what is planned."""

    edits: Sequence[Edit] = ()
    results: Sequence[Result] = ()
    planned: Planned = ()

    @property
    def failed(self) -> bool:
        return any(result.severity == "error" for result in self.results)


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
        answer = function(resources)
    except InputError as error:
        answer = _Answer(results=[Result(message=prefix + _told(error), severity="error")])
    if answer.failed:
        return FunctionOutput(resources.with_results([], answer.results), tuple(answer.results), failed=True)
    output = resources.with_results(answer.edits, answer.results, answer.planned)
    return FunctionOutput(output, tuple(answer.results))


def _told(error: InputError) -> str:
    """Say the first problem: one of an object in kpt's words, as a result has its place; any other with its file."""
    first = error.problems[0]
    return first.message if first.file == NAME else str(first)


def _apply_setters(resources: ResourceList) -> _Answer:
    values = resources.values()
    known = {name for item in resources.items for field in find(item.root) for name in field.pattern.names}
    if values and values.keys() <= known:
        return _set(resources, values)
    hint = "packyard fn list-setters lists the names"
    if resources.has_setters_of_krmfiles:
        hint = "packyard set DIR sets those of a Krmfile"
    hints = ((name, suggest(name, known) or hint) for name in values if name not in known)
    errors = [_error(f'setter "{name}" is not found ({hint})') for name, hint in hints]
    return _Answer(results=[*(errors or [_error("there are no values to set")]), *_blind(resources)])


def _error(message: str) -> Result:
    return Result(message="failed to apply setters: " + message, severity="error")


def _set(resources: ResourceList, values: Mapping[str, str]) -> _Answer:
    """Set the fields that kpt's comments tag."""
    edits: list[Edit] = []
    planned: list[tuple[Node, str | Node | Sequence[str]]] = []
    results: list[Result] = []
    for item in resources.items:
        settings = apply(item.root, values)
        edits += (edit for setting in settings for edit in setting.edits)
        planned += ((setting.node, setting.shows) for setting in settings)
        for setting in settings:
            shown = {"currentValue": setting.old, "proposedValue": setting.new}
            message = f"set field value to {double_quoted(setting.new)}"
            results.append(Result(message=message, item=item, field_path=setting.path, values=shown))
        if any(isinstance(each.node, Collection) and not (each.node.flow or each.shows) for each in settings):
            comment_edits = _let_comments_go(item)
            edits += comment_edits
            results += [_let_go(item)] if comment_edits else []
    return _Answer(edits, results, planned)


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
    wishes = read_wanted(resources.values())
    edits: list[Edit] = []
    results: list[Result] = []
    for item in resources.items:
        if item.root.text("kind") == KPTFILE or _is_config(resources, item):
            continue
        tags = tag(item.root, wishes)
        edits += tags.edits
        for path, value, pattern in tags.tags:
            message = f'Added line comment "kpt-set: {pattern}" for field with value "{value}"'
            results.append(Result(message=message, item=item, field_path=path))
        for path in tags.left_out:
            message = "a field inside brackets cannot carry a comment"
            results.append(Result(message=message, severity="warning", item=item, field_path=path))
    if not any(result.severity == "info" for result in results):
        raise InputError("no matches for the input list of setters")
    return _Answer(edits, results)


def _is_config(resources: ResourceList, item: ResourceItem) -> bool:
    """Say whether an item is the function's own configuration."""
    if resources.config is None:
        return False
    config = ResourceItem(resources.config)
    return (config.reference, config.path) == (item.reference, item.path)


def _list_setters(resources: ResourceList) -> _Answer:
    setters = derive((item.root for item in resources.items), _given(resources.items))
    results = [Result(message=_line(setter, count)) for setter, count in setters]
    if not results:
        notes = ["no setters found"]
        if resources.has_setters_of_krmfiles:
            notes.append("packyard setters DIR lists those of a Krmfile")
        results = [*(Result(message=note, severity="warning") for note in notes), *_blind(resources)]
    return _Answer(results=results)


def _line(setter: Setter, count: int) -> str:
    """Return the one line that kpt prints."""
    return f"Name: {setter.name}, Value: {setter.value}, Type: {_TAGS.get(setter.type, setter.type)}, Count: {count}"


def _given(items: Iterable[ResourceItem]) -> dict[str, str]:
    """Return what the root's Kptfile gives setters: nothing at all where one of its functions has no values."""
    files = {item.path: item.root for item in reversed(list(items))}
    values: dict[str, str] = {}
    for mutator in kptfile.find_mutators(files.get(KPTFILE)):
        config = files.get(mutator.config_path) if mutator.config_path else None
        data = mutator.config_map or (config.mapping("data") if config else None)
        if mutator.config_map is None and config is None:
            return {}
        values |= {entry.name: config_text(entry.value) for entry in entries(data)}
    return values


#: Each function, and what its errors begin with.
FUNCTIONS: Mapping[str, tuple[Callable[[ResourceList], _Answer], str]] = {
    "apply-setters": (_apply_setters, "failed to apply setters: "),
    "create-setters": (_create_setters, "failed to create setters: "),
    "list-setters": (_list_setters, "failed to list setters: "),
}
