"""The KRM functions apply-setters, create-setters and list-setters: a ResourceList's bytes in, its bytes out.

apply-setters knows both spellings of a comment: kpt's, and kustomize's, whose setters a Krmfile defines. Everything is
decided before anything is returned, for an empty answer makes kpt delete the package. What fails gives the items as
they came, with the errors as results; the caller has to exit with 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packyard.core.errors import InputError, suggest
from packyard.core.yaml.compare import Planned
from packyard.core.yaml.document import entries
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Collection, Node
from packyard.core.yaml.splice import remove
from packyard.using.functions import defined, listedpackages
from packyard.using.functions.defined import Applied
from packyard.using.functions.listedpackages import ListedPackage
from packyard.using.functions.resourcelist import ID_ANNOTATIONS, NAME, ResourceItem, ResourceList, Result
from packyard.using.setters import fields
from packyard.using.setters.kpt import kptfile
from packyard.using.setters.kpt.apply import apply, config_text
from packyard.using.setters.kpt.derived import derive
from packyard.using.setters.kpt.parameterize import read_wanted, tag
from packyard.using.setters.kpt.tagged import find
from packyard.using.setters.packages import KPTFILE


@dataclass(frozen=True, slots=True)
class _Answer:
    """The edits of the list, what there is to say, the Krmfiles that are to have other bytes, and what is planned."""

    edits: Sequence[Edit] = ()
    results: Sequence[Result] = ()
    krmfiles: Sequence[tuple[ListedPackage, bytes]] = field(default=())
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


def run(name: str, data: bytes, directory: Path | None = None) -> FunctionOutput:
    """Run a function of `FUNCTIONS` on a ResourceList; raises `InputError` for anything else.

    ``directory`` is the folder that the paths of the objects begin at, where the caller knows it.
    """
    resources = ResourceList(data)
    function, prefix = FUNCTIONS[name]
    try:
        answer = function(resources, directory)
    except InputError as error:
        answer = _Answer(results=[Result(message=prefix + _told(error), severity="error")])
    if answer.failed:
        return FunctionOutput(resources.with_results([], answer.results), tuple(answer.results), failed=True)
    output = resources.with_results(answer.edits, answer.results, answer.planned)
    return FunctionOutput(listedpackages.with_krmfiles(output, answer.krmfiles), tuple(answer.results))


def _told(error: InputError) -> str:
    """Say the first problem: one of an object in kpt's words, as a result has its place; any other with its file."""
    first = error.problems[0]
    return first.message if first.file == NAME else str(first)


def _apply_setters(resources: ResourceList, directory: Path | None) -> _Answer:
    values = resources.values()
    packages = listedpackages.find(resources, directory)
    tagged = {name for item in resources.items for field in find(item.root) for name in field.pattern.names}
    unknown = _unknown(values, {*tagged, *defined.names(packages)})
    if unknown or not values:
        return _Answer(results=[*(unknown or [_error("there are no values to set")]), *_blind(resources)])
    by_comments = _apply_tagged(resources, {name: text for name, text in values.items() if name in tagged})
    applied = [defined.apply(package, values, packages) for package in packages]
    return _Answer(
        [*by_comments.edits, *(edit for each in applied for edit in each.edits)],
        [*by_comments.results, *(result for each in applied for result in each.results), *_without_fields(applied)],
        [(each.package, each.krmfile) for each in applied if each.krmfile is not None],
        [*by_comments.planned, *(plan for each in applied for plan in each.planned)],
    )


def _unknown(values: Iterable[str], known: set[str]) -> list[Result]:
    """Return what is to be said of values for setters that neither a comment nor a Krmfile knows."""
    hints = ((name, suggest(name, known) or "packyard fn list-setters lists the names") for name in values)
    return [_error(f'setter "{name}" is not found ({hint})') for name, hint in hints if name not in known]


def _without_fields(applied: Iterable[Applied]) -> list[Result]:
    """Return what is to be said of values that are recorded in Krmfiles, and that no field shows."""
    counts: Counter[str] = Counter()
    for each in applied:
        counts.update(each.counts)
    return [_error(f"{name} reaches no field of these objects") for name, count in counts.items() if not count]


def _error(message: str) -> Result:
    return Result(message="failed to apply setters: " + message, severity="error")


def _apply_tagged(resources: ResourceList, values: Mapping[str, str]) -> _Answer:
    """Set the fields that kpt's comments tag."""
    edits: list[Edit] = []
    planned: list[tuple[Node, str | Node | Sequence[str]]] = []
    results: list[Result] = []
    for item in resources.items:
        settings = apply(item.root, values)
        edits += (edit for each in settings for edit in each.edits)
        planned += ((each.node, each.shows) for each in settings)
        results += (Result.of_field(item, each.path, each.old, each.new) for each in settings)
        if any(isinstance(each.node, Collection) and not (each.node.flow or each.shows) for each in settings):
            comment_edits = _let_comments_go(item)
            edits += comment_edits
            results += [_let_go(item)] if comment_edits else []
    return _Answer(edits, results, planned=planned)


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


def _create_setters(resources: ResourceList, _: Path | None) -> _Answer:
    wishes = read_wanted(resources.values())
    edits: list[Edit] = []
    results: list[Result] = []
    for item in resources.items:
        if item.root.text("kind") == KPTFILE or _is_config(resources, item):
            continue
        tags = tag(item.root, wishes)
        edits += tags.edits
        for tagging in tags.tags:
            message = f'Added line comment "kpt-set: {tagging.pattern}" for field with value "{tagging.value}"'
            results.append(Result(message=message, item=item, field_path=tagging.path))
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


def _list_setters(resources: ResourceList, _: Path | None) -> _Answer:
    setters = derive((item.root for item in resources.items), _given(resources.items))
    results = [Result(message=setter.text) for setter in setters]
    if not results:
        notes = ["no setters found"]
        if any(fields.find(item.document) for item in resources.items):
            notes.append("packyard setters DIR lists those of a Krmfile")
        results = [*(Result(message=note, severity="warning") for note in notes), *_blind(resources)]
    return _Answer(results=results)


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
FUNCTIONS: Mapping[str, tuple[Callable[[ResourceList, Path | None], _Answer], str]] = {
    "apply-setters": (_apply_setters, "failed to apply setters: "),
    "create-setters": (_create_setters, "failed to create setters: "),
    "list-setters": (_list_setters, "failed to list setters: "),
}
