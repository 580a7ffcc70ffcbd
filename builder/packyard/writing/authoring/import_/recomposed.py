"""An import composed again, in a workspace of its own, to see that its objects are those that were imported."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.files.paths import WORKSPACE
from packyard.core.yaml.node import Source
from packyard.core.yaml.values import to_value
from packyard.using.kustomize import builtin
from packyard.writing.authoring.import_ import bind
from packyard.writing.authoring.import_.copied import Copy
from packyard.writing.authoring.import_.read import Variant
from packyard.writing.source import compose, package, workspace
from packyard.writing.source.workspace import Workspace


def check(
    here: Workspace, variants: Sequence[Variant], copies: Sequence[Copy], files: Mapping[str, bytes], name: str
) -> frozenset[str]:
    """Refuse an import that composes to something else, or return the setters that its use cases have.

    It is composed in a workspace of its own.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            return _compose(here, variants, copies, files, name, Path(folder))
        except InputError as error:
            problems = (each._replace(file=each.file.removeprefix(f"{folder}/")) for each in error.problems)
            raise InputError(*problems) from error


def _compose(
    here: Workspace,
    variants: Sequence[Variant],
    copies: Sequence[Copy],
    files: Mapping[str, bytes],
    name: str,
    folder: Path,
) -> frozenset[str]:
    """Refuse what composes to something else, in an empty folder; return the setters of all use cases."""
    head = f"apiVersion: packyard/v1\nkind: Workspace\nname: imported\nprefix: {here.prefix}\nlicense: {WORKSPACE}\n"
    _put(folder, {WORKSPACE: head.encode(), **files})
    own = workspace.read(folder)
    composed = {each.use_case.path: each for each in compose.compose(own, package.read(own, name)).use_cases}
    imported = {each.path: each.objects for each in variants} | {each.path: each.objects for each in copies}
    paths = [each.path for each in variants if each.path in composed]
    values: dict[str, Sequence[object]] = {path: composed[path].values(own.sources.memo) for path in paths}
    for each in copies:  # with their namespaces, as kustomize builds them
        _put(folder / "built" / each.path, composed[each.path].files)
        text = builtin.build(folder / "built" / each.path).decode()
        values[each.path] = [to_value(one.root) for one in bind.documents(Source(each.path, text))]
    pairs = ((path, map(to_value, roots), values.get(path, ())) for path, roots in imported.items())
    refuse(problem for pair in pairs for problem in _differences(*pair))
    return frozenset(name for each in composed.values() for name in each.definitions.setters)


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def _differences(path: str, imported: Iterable[object], composed: Iterable[object]) -> Iterable[Problem]:
    one, other = _by_identity(imported), _by_identity(composed)
    for key in sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key)):
        yield Problem(f"{' '.join(key)} cannot be imported exactly", file=path, hint="please report it")


def _by_identity(values: Iterable[object]) -> dict[tuple[str, ...], object]:
    by_identity: dict[tuple[str, ...], object] = {}
    for value in values:
        assert isinstance(value, dict)
        metadata = value["metadata"]
        key = (value["apiVersion"], value["kind"], metadata.get("namespace", ""), metadata["name"])
        by_identity[tuple(map(str, key))] = value
    return by_identity
