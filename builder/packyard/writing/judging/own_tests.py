"""A test of a package's own, made in a use case as its users have it: untarred, options enabled, values set, rendered.

What is required, and no value of the test is for, gets its example.
"""

import json
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from packyard.core.bundle import delivery
from packyard.core.bundle.bundle import Bundle
from packyard.core.errors import PackyardError, Problem, suggest
from packyard.core.errors import shown as in_quotes
from packyard.core.files import regular
from packyard.core.files.tree import Tree
from packyard.core.kubernetes.kinds import kind_of
from packyard.core.kubernetes.lenient import Object, name_of
from packyard.core.yaml.node import Source
from packyard.using.kustomize import objects
from packyard.using.options.switch import switch
from packyard.using.render.render import Inputs, render
from packyard.using.setters import regexp, valuesfile
from packyard.using.setting import set_values
from packyard.writing.source import fieldpath
from packyard.writing.source.fieldpath import AbsentError
from packyard.writing.source.tests import Expectation, PackageTest


def unmet(test: PackageTest, bundle: Bundle, use_case: str, *, path: str, kinds: Collection[str] = ()) -> list[Problem]:
    """Return how a use case of a bundle is not what a test expects; ``path`` is where kustomize is looked for.

    What is not there may be misspelt: ``kinds`` are those that are known.
    """
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        real = os.path.realpath(folder)
        directory = bundle.unpack(Path(real)) / use_case
        try:
            rendered = _given(test, directory, path)
        except PackyardError as error:
            return _otherwise(test, [problem.renamed(f"{real}/", "") for problem in error.problems])
    if test.refused:
        return [test.problem(f"is not refused, where {test.refused!r} is expected")]
    return [test.problem(fault, item.line) for item in test.expected for fault in _judge(item, rendered, kinds)]


def _given(test: PackageTest, directory: Path, path: str) -> Sequence[Object]:
    """Return the objects of a use case with what a test gives it."""
    if test.options:
        switch(Tree(directory), test.options)
    values: dict[str, Sequence[str]] = {}
    if test.preset:
        file = delivery.preset(directory, test.preset)
        values |= valuesfile.parse(regular.read(file), str(file)).by_name
    fill_in(directory, {**values, **test.values})
    return objects.parse(Source("", render(Tree(directory), path=path).decode()))


def fill_in(directory: Path, values: Mapping[str, Sequence[str]]) -> None:
    """Set values, and what a use case and its options require beyond them to the examples."""
    examples = {setter.name: [setter.example] for setter in Inputs.read(Tree(directory)).unset if setter.example}
    if to_set := {**examples, **values}:
        set_values(directory, to_set)


def _otherwise(test: PackageTest, problems: Sequence[Problem]) -> list[Problem]:
    """Return a refusal that is not the expected one, at the line of the value that it is about."""
    if not test.refused:
        lines = {problem: problem.line if problem.file == test.file else 0 for problem in problems}
        bare = {problem: problem._replace(file="", line=0) if line else problem for problem, line in lines.items()}
        return [test.problem(f"is refused: {bare[problem]}", line) for problem, line in lines.items()]
    texts = [*map(str, problems)]
    is_expected = any(test.refused in text for text in texts)
    return [] if is_expected else [test.problem(f"is refused otherwise than by {test.refused!r}: {'; '.join(texts)}")]


def _judge(expected: Expectation, rendered: Sequence[Object], kinds: Collection[str]) -> Iterator[str]:
    """Yield how objects do not meet an expectation."""
    pattern, is_there = expected.name or "*", expected.wanted is not False or expected.check != "exists"
    called = [(kind_of(item)[1], name_of(item), item) for item in rendered]
    chosen = [(name, item) for kind, name, item in called if kind == expected.kind and fnmatchcase(name, pattern)]
    if not chosen and is_there:
        listing = ", ".join(sorted({f"{kind} {name}" for kind, name, _ in called}))
        named = " ".join(filter(None, (expected.kind, expected.name)))
        yield f"there is no {named}; there are {listing}"
    elif not chosen and expected.kind not in kinds and (hint := suggest(expected.kind, kinds)):
        yield f"there is no kind {expected.kind!r} ({hint})"
    for name, item in chosen:
        if fault := _fault(expected, item):
            yield f"{expected.kind} {name}: {fault}"


def _fault(expected: Expectation, item: Object) -> str:
    """Say how an object does not meet an expectation."""
    is_wanted = expected.check != "exists" or expected.wanted
    try:
        values = list(fieldpath.find(fieldpath.parse(expected.path) or (), item, expected.kind))
    except AbsentError as error:
        return str(error) if is_wanted else ""
    what = expected.path or "it"
    if not is_wanted:
        return f"{what} is there" + (f", {_text(values[0])}" if expected.path else "")
    if expected.check == "exists":
        return ""
    meets, verb = _CHECKS[expected.check]
    wrong = [value for value in values if not meets(value, expected.wanted)]
    return f"{what} is {_text(wrong[0])}, which {verb} {_text(expected.wanted)}" if wrong else ""


def _matches(value: object, wanted: object) -> bool:
    text = value if isinstance(value, str) else json.dumps(value)
    return isinstance(value, str | int | float) and regexp.matches(str(wanted), text)


def _contains(value: object, wanted: object) -> bool:
    """Say whether a text has a part, a list an item, or a mapping these fields; of an item only the fields count."""
    if isinstance(value, str):
        return isinstance(wanted, str) and wanted in value
    if isinstance(value, list):
        return any(_holds(item, wanted) for item in value)
    return isinstance(wanted, dict) and _holds(value, wanted)


def _holds(value: object, wanted: object) -> bool:
    if isinstance(value, dict) and isinstance(wanted, dict):
        return all(key in value and _holds(value[key], inner) for key, inner in wanted.items())
    return _same(value, wanted)


def _same(value: object, expected: object) -> bool:
    """Say whether two values are the same: 1 is neither "1" nor true."""
    return json.dumps(value, sort_keys=True) == json.dumps(expected, sort_keys=True)


def _text(value: object) -> str:
    return in_quotes(value, quoted=True) if isinstance(value, str) else in_quotes(json.dumps(value, ensure_ascii=False))


#: What a value has to be, and how a fault says so.
_CHECKS: Mapping[str, tuple[Callable[[object, object], bool], str]] = {
    "equal": (_same, "is not"),
    "contains": (_contains, "does not contain"),
    "matches": (_matches, "does not match"),
}
