"""An import as a whole: read, bound, written, composed once to see that the objects are the same."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from posixpath import basename, relpath
from types import MappingProxyType
from typing import NamedTuple

from packyard.core.errors import BeyondError, InputError, Problem, refuse
from packyard.core.files.paths import WORKSPACE
from packyard.core.kubernetes.lenient import mapping, name_of, text
from packyard.core.yaml.content import Text, Tree, double, in_brackets
from packyard.using.options.folder import PROGRAMS
from packyard.using.setters.definition import Setter
from packyard.writing.authoring import skeleton
from packyard.writing.authoring.import_ import bind, part, use_cases, values
from packyard.writing.authoring.import_.meaning import GIVEN, Definition, krmfile
from packyard.writing.authoring.import_.meaning import text as definition_text
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note
from packyard.writing.authoring.import_.part import BUILT, GENERATED, Part
from packyard.writing.authoring.import_.upstream import Build, Upstream, UseCase
from packyard.writing.source import compose, package, program, workspace
from packyard.writing.source.package import NAME
from packyard.writing.source.workspace import Workspace

_PATCHED = (
    "fields that no part has: setters of package.yaml and patches write what they change, and built.yaml what they add",
    "look into the folder behind each line, and make setters of what users are to change",
)
_FROZEN = (
    "generators that no part has: built.yaml has what they made, and no file of theirs is left",
    "change it there; a hash behind its name does not follow any more",
)
_NOT_BUILT = "use cases that kustomize does not build, or to nothing", "mend them, and import again, or do without"


class _Trial(NamedTuple):
    """What is wrong with a use case; of one that composes its objects, and values for its setters."""

    problems: Sequence[Problem]
    objects: Sequence[object] | None = None
    values: Mapping[str, str] = MappingProxyType({})


class _Attempt(NamedTuple):
    """How a use case is taken: with values of setters, with patches of what its parts compose, or as it is built."""

    given: Mapping[str, str] = MappingProxyType({})
    composed: Sequence[object] | None = None
    fault: str = ""

    def next(self, trial: _Trial, source: Upstream, parts: Sequence[Part]) -> _Attempt:
        """Return what to do about what is wrong."""
        if self.fault:
            raise InputError(*trial.problems)
        if trial.values and not self.given:
            return _Attempt(trial.values)
        if trial.objects is not None and self.composed is None:
            return self._replace(composed=trial.objects)
        return self._replace(fault=str(source.original(trial.problems[0], parts)._replace(hint="")))


class Imported(NamedTuple):
    """What an import writes: files by their paths in the workspace, the use cases, and what to work through."""

    name: str
    files: dict[str, bytes]
    use_cases: Sequence[str]
    notes: list[Note]


def of_folder(here: Workspace, name: str, folder: Path, build: Build) -> Imported:
    """Return a package of the use cases that a folder holds.

    A use case whose parts compose to something else than kustomize builds gets values of its setters, then patches; one
    that does not compose, or not to that, is taken as it is built.
    """
    if not NAME.fullmatch(name):
        raise InputError(
            Problem(f"{name!r} is no name for a package", hint="choose one: --name model-fp32-training-k8s")
        )
    source = Upstream(folder, build)
    paths = _paths(here, source)
    attempts = dict.fromkeys(paths.values(), _Attempt())
    while True:
        taken = _take(source, paths, attempts)
        files = _files(name, taken, attempts)
        trials = dict(_try(here, name, taken, files, build))
        if not trials:
            break
        attempts |= {path: attempts[path].next(trial, source, _parts(taken)) for path, trial in trials.items()}
    for parent in sorted({path.rpartition("/")[0] for path in files}):
        if any(here.sources.list(f"{root}{parent}") for root in here.roots):
            file, hint = here.sources.shown(parent), "choose another name: --name NAME"
            raise InputError(Problem("exists already, and is not empty", file=file, hint=hint))
    patched: dict[tuple[tuple[str, str], str], list[str]] = {}
    for use_case in taken:
        attempt = attempts[use_case.path]
        for each in use_case.part.all() if attempt.composed is not None and not attempt.fault else ():
            for line in each.beyond:
                is_frozen = BUILT in each.files and "Generator" in line and GENERATED not in line
                patched.setdefault((_FROZEN if is_frozen else _PATCHED, line), []).append(use_case.part.folder)
    for (what, line), at in patched.items():
        source.notes.append(Note(DOUBTFUL, *what, (f"{line} ({', '.join(dict.fromkeys(at))})",)))
    notes = source.all_notes()
    of_package = "what the package does", "say it in a sentence, for lists and the README"
    notes.append(Note(DOUBTFUL, *of_package, (f"packages/{name}/{package.DESCRIPTION}",)))
    return Imported(name, files, sorted(use_case.path for use_case in taken), notes)


def _paths(here: Workspace, source: Upstream) -> dict[str, str]:
    """Return the folders of use cases with their paths."""
    shown = source.sources.shown(source.folder)
    if not source.folders:
        hint = "it needs manifests, a kustomization.yaml for each use case, or a Kptfile"
        raise InputError(Problem("holds no use case", file=shown, hint=hint))
    below = {relpath(folder, source.folder).removeprefix("."): folder for folder in source.folders}
    named = use_cases.paths([*below], here.prefix, shown, basename(source.folder))
    return {folder: named[path] for path, folder in below.items()}


def _take(source: Upstream, paths: Mapping[str, str], attempts: Mapping[str, _Attempt]) -> list[UseCase]:
    """Take use cases; those that kustomize does not build, or to nothing, are left out, unless all are."""
    source.begin()
    taken: list[UseCase] = []
    problems: dict[str, Sequence[Problem]] = {}
    for folder, path in paths.items():
        try:
            use_case = source.use_case(folder, path, attempts[path].fault, attempts[path].composed)
            if not use_case.objects:
                raise InputError(Problem("holds no object", file=source.sources.shown(folder)))
            taken.append(use_case)
        except BeyondError:
            raise
        except InputError as error:
            problems[path] = error.problems
    refuse(dict.fromkeys(problem for some in problems.values() if not taken for problem in some))
    refused = tuple(f"{path}: {_first_line(some[0])}" for path, some in problems.items())
    source.notes += [Note(LOST, *_NOT_BUILT, refused)] if refused else []
    parts = _parts(taken)
    for each in parts:
        each.bind(source.notes)
    for file in {each.krmfile.source.name: each.krmfile for each in parts if each.krmfile}.values():
        users_of_file = [each for each in parts if each.krmfile and each.krmfile.source.name == file.source.name]
        source.notes += bind.left(file, {name for each in users_of_file for name in each.defined})
    return taken


def _first_line(problem: Problem) -> str:
    """Return what is wrong, without warnings of kustomize."""
    lines = str(problem).splitlines()
    return next((line.strip() for line in lines if line.startswith("Error:")), lines[0])


def _parts(taken: Iterable[UseCase]) -> list[Part]:
    return list({id(each): each for use_case in taken for each in use_case.part.all()}.values())


def _files(name: str, taken: Sequence[UseCase], attempts: Mapping[str, _Attempt]) -> dict[str, bytes]:
    """Return the files of a workspace by their paths; what all parts define alike stands beside package.yaml.

    So does what one Krmfile defines for all: a use case whose fields have another value gives it.
    """
    parts = _parts(taken)
    part.name(parts, name.removesuffix("-k8s"))
    shared: dict[str, Definition] = {}
    several: set[str] = set()
    for definition in (definition for each in parts for definition in each.defined.values()):
        if not _is_alike(shared.setdefault(definition.name, definition), definition):
            several.add(definition.name)
    files: dict[str, bytes] = {}
    for each in parts:
        written = each.write()
        own = [definition for key, definition in each.defined.items() if key in several]
        written |= {"Krmfile": krmfile(own)} if own else {}
        files |= {f"{each.folder}/{file}": data for file, data in written.items()}
    values = {use_case.path: _values(use_case.part, attempts[use_case.path].given) for use_case in taken}
    first, *others = values.values()
    common = {key: text for key, text in first.items() if others and all(text == each.get(key) for each in others)}
    tree = {use_case.path: _use_case(use_case.part, values[use_case.path], common) for use_case in taken}
    begun = skeleton.write(name, tree, setters=common)
    files |= {f"packages/{name}/{path}": data for path, data in begun.items()}
    if definitions := [definition for key, definition in shared.items() if key not in several]:
        files[f"packages/{name}/Krmfile"] = krmfile(definitions)
    return files


def _is_alike(first: Definition, second: Definition) -> bool:
    """Say whether one definition is enough: what two parts have of one place may differ by its value."""
    if isinstance(first, Setter) and isinstance(second, Setter) and first[-2:] == second[-2:]:
        first, second = (each._replace(value="", required=False) for each in (first, second))
    return definition_text(first) == definition_text(second)


def _values(part: Part, given: Mapping[str, str]) -> dict[str, str]:
    """Return the values of setters that a use case says itself."""
    defined = {key: definition for each in part.all() for key, definition in each.defined.items()}
    setters = (setter for key in (*GIVEN, *given) if isinstance(setter := defined.get(key), Setter))
    return {setter.name: given.get(setter.name, setter.value) for setter in setters}


def _use_case(part: Part, values: Mapping[str, str], common: Mapping[str, str]) -> Tree:
    says: dict[str, Tree] = {"base": Text(basename(part.folder))}
    if part.namespace:
        says["namespace"] = Text(part.namespace)
    if own := {key: double(text) for key, text in values.items() if key not in common}:
        says["setters"] = own
    return in_brackets(says)


def _try(
    here: Workspace, name: str, taken: Sequence[UseCase], files: Mapping[str, bytes], build: Build
) -> Iterator[tuple[str, _Trial]]:
    """Compose all use cases in a workspace of its own, and yield those that are not what was there by their paths."""
    head = f"apiVersion: packyard/v1\nkind: Workspace\nname: imported\nprefix: {here.prefix}\nlicense: {WORKSPACE}\n"
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        _put(folder, {WORKSPACE: head.encode(), **files})
        own = workspace.read(folder)
        described = package.read(own, name)
        made = {use_case.path: use_case for use_case in described.use_cases}
        for file in taken:
            try:
                composed = compose.make(own, described, made[file.path])
                _put(folder / "built" / file.path, composed.files)
                _put(folder / "built" / PROGRAMS, program.files(own.sources, [composed.sources]))
                objects = part.objects_of(build(folder / "built" / file.path), file.path)
                if differences := list(_differences(file, objects)):
                    yield file.path, _Trial(differences, objects, values.find(composed, file.objects))
            except InputError as error:
                yield file.path, _Trial(error.mapped(lambda problem: _without(problem, f"{root}/")).problems)


def _without(problem: Problem, folder: str) -> Problem:
    """Return a problem without a folder that is there for a moment."""
    message, file, hint = (each.replace(folder, "") for each in (problem.message, problem.file, problem.hint))
    return problem._replace(message=message, file=file, hint=hint)


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def _differences(use_case: UseCase, composed: Sequence[object]) -> Iterator[Problem]:
    pairs = (use_case.objects, composed), (composed, use_case.objects)
    differing = (mapping(value) for some, others in pairs for value in some if value not in others)
    for called in sorted({f"{text(value.get('kind'))} {name_of(value)}" for value in differing}):
        yield Problem(f"{called} is not composed as it was", file=use_case.path, hint="please report it")
