"""The KRM functions apply-setters, create-setters and list-setters: a ResourceList's bytes in, its bytes out.

They know kpt's comments. Everything is decided before anything is returned, for an empty answer makes kpt delete the
package. What fails gives the items as they came, with the errors as results; the caller has to exit with 1.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from packyard.core.errors import InputError, suggest
from packyard.core.yaml.compare import Planned, PlannedNode
from packyard.core.yaml.document import entries
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Collection
from packyard.core.yaml.splice import remove
from packyard.core.yaml.values import double_quoted
from packyard.using.functions.resourcelist import ID_ANNOTATIONS, NAME, ResourceItem, ResourceList, Result
from packyard.using.functions.tagger import Tagger
from packyard.using.setters.definition import Setter
from packyard.using.setters.kpt.apply import apply, config_text
from packyard.using.setters.kpt.derivation import derive
from packyard.using.setters.kpt.kptpackage import find_mutators
from packyard.using.setters.kpt.tags import find
from packyard.using.setters.packages import KPTFILE

#: The types of scalars by their names in definitions, each with that of its YAML tag, which kpt prints.
_TAGS = {"integer": "int", "number": "float", "boolean": "bool", "string": "str"}


#: The edits of the list, what there is to say, and what is planned.
_Answer = tuple[Sequence[Edit], Sequence[Result], Planned]


class FunctionOutput(NamedTuple):
    """What a function printed, and what it has to say."""

    output: bytes
    results: Sequence[Result]

    @property
    def failed(self) -> bool:
        """Whether the exit code is 1."""
        return any(result.severity == "error" for result in self.results)


def run(name: str, data: bytes) -> FunctionOutput:
    """Run a function of `FUNCTIONS` on a ResourceList; raises `InputError` for anything else."""
    resources = ResourceList(data)
    try:
        edits, results, planned = FUNCTIONS[name](resources)
    except InputError as error:
        first = error.problems[0]  # in kpt's words where it is of an object, whose place the result has
        edits, results, planned = (), [_error(name, first.message if first.file == NAME else str(first))], ()
    return FunctionOutput(resources.with_results(edits, results, planned), results)


def _apply_setters(resources: ResourceList) -> _Answer:
    values = resources.values()
    known = {name for item in resources.items for field in find(item.root) for name in field.pattern.names}
    if values and values.keys() <= known:
        return _set(resources, values)
    hint = "packyard fn list-setters lists the names"
    if resources.has_setters_of_krmfiles:
        hint = "packyard set DIR sets those of a Krmfile"
    unknown = [name for name in values if name not in known]
    messages = [f'setter "{name}" is not found ({suggest(name, known) or hint})' for name in unknown]
    errors = [_error("apply-setters", message) for message in messages or ["there are no values to set"]]
    return (), [*errors, *_blind(resources)], ()


def _error(name: str, message: str) -> Result:
    return Result(message=f"failed to {name.replace('-', ' ')}: {message}", severity="error")


def _set(resources: ResourceList, values: Mapping[str, str]) -> _Answer:
    """Set the fields that kpt's comments tag."""
    edits: list[Edit] = []
    planned: list[PlannedNode] = []
    results: list[Result] = []
    for item in resources.items:
        settings = apply(item.root, values)
        edits += (edit for setting in settings for edit in setting.edits)
        planned += ((setting.node, setting.shows) for setting in settings)
        for setting in settings:
            shown = {"currentValue": setting.old, "proposedValue": setting.new}
            message = f"set field value to {double_quoted(setting.new)}"
            results.append(Result(message=message, item=item, field_path=setting.path, values=shown))
        if any(isinstance(item.node, Collection) and not (item.node.flow or item.shows) for item in settings):
            # An orchestrator copies the comment of a key whose list became ``[]`` to the field behind it, where it
            # would set that field. It leaves an item alone without the annotations that pair it with its input.
            unpaired = remove(item.annotations, ID_ANNOTATIONS) if item.annotations else []
            edits += unpaired
            message = "a list became empty: comments of this object are as the function wrote them"
            results += [Result(message=message, severity="warning", item=item)] if unpaired else []
    return edits, results, planned


def _blind(resources: ResourceList) -> list[Result]:
    """Warn where no item says which file it is from: ``kustomize build`` drops every comment before a function runs."""
    if not resources.items or any(item.path for item in resources.items):
        return []
    message = "no comment was seen: kustomize build drops them all; run this function by kpt, or packyard set"
    return [Result(message=message, severity="warning")]


def _create_setters(resources: ResourceList) -> _Answer:
    tagger = Tagger(resources.values())
    config = ResourceItem(resources.config) if resources.config else None
    for item in resources.items:
        is_config = config is not None and (config.reference, config.path) == (item.reference, item.path)
        if item.root.text("kind") != KPTFILE and not is_config:
            tagger.tag(item)
    if not any(result.severity == "info" for result in tagger.results):
        raise InputError("no matches for the input list of setters")
    return tagger.edits, tagger.results, ()


def _list_setters(resources: ResourceList) -> _Answer:
    setters = derive((field for item in resources.items for field in find(item.root)), _given(resources.items))
    results = [Result(message=_line(setter, count)) for setter, count in setters]
    if not results:
        notes = ["no setters found"]
        if resources.has_setters_of_krmfiles:
            notes.append("packyard setters DIR lists those of a Krmfile")
        results = [*(Result(message=note, severity="warning") for note in notes), *_blind(resources)]
    return (), results, ()


def _line(setter: Setter, count: int) -> str:
    """Return the one line that kpt prints."""
    return f"Name: {setter.name}, Value: {setter.value}, Type: {_TAGS.get(setter.type, setter.type)}, Count: {count}"


def _given(items: Iterable[ResourceItem]) -> dict[str, str]:
    """Return what the root's Kptfile gives setters: nothing at all where one of its functions has no values."""
    files = {item.path: item.root for item in reversed(list(items)) if item.path}
    values: dict[str, str] = {}
    for mutator in find_mutators(files.get(KPTFILE)):
        path, data = mutator.text("configPath"), mutator.mapping("configMap")
        if data is None:
            if path not in files:
                return {}
            data = files[path].mapping("data")
        values |= {entry.name: config_text(entry.value) for entry in entries(data)}
    return values


#: Each function by its name.
FUNCTIONS: Mapping[str, Callable[[ResourceList], _Answer]] = {
    "apply-setters": _apply_setters,
    "create-setters": _create_setters,
    "list-setters": _list_setters,
}
