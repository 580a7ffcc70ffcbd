"""An import as a whole: read, bound, written, composed once to see that the objects are the same."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from posixpath import basename
from typing import NamedTuple

from packyard.core.errors import BeyondError, InputError, Problem, refuse
from packyard.core.files import paths
from packyard.core.files.paths import WORKSPACE
from packyard.core.kubernetes.lenient import mapping, name_of, text
from packyard.core.yaml.content import Text, Tree, double, in_brackets
from packyard.core.yaml.document import source_of
from packyard.using.options.folder import PROGRAMS
from packyard.using.setters.definition import Setter
from packyard.using.setters.krmfile import KRMFILE
from packyard.using.setters.plan import set_fields
from packyard.writing.authoring import skeleton
from packyard.writing.authoring.import_ import bind, meaning, part, use_cases, values
from packyard.writing.authoring.import_.meaning import GIVEN, Definition
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note
from packyard.writing.authoring.import_.part import Part
from packyard.writing.authoring.import_.upstream import Build, Upstream, UseCase
from packyard.writing.source import compose, package, program, workspace
from packyard.writing.source.compose import Composed
from packyard.writing.source.package import NAME
from packyard.writing.source.workspace import Workspace

_PATCHED = (
    "fields that no part has: values in package.yaml and patches say what they change, and built.yaml what they add",
    "what users are to change there, bind before you import (packyard cfg init DIR, where it has no Krmfile, then "
    "packyard cfg create-setter DIR NAME VALUE --field PATH): an overlay then gives the setter a value; all else, look "
    "into in the folder behind each line. What a generator made has a fixed name in built.yaml",
)
_NOT_BUILT = "use cases that kustomize does not build, or to nothing", "mend them, and import again, or do without"


class Imported(NamedTuple):
    """What an import writes: files by their paths in the workspace, the use cases, and what to work through."""

    name: str
    files: dict[str, bytes]
    use_cases: Sequence[str]
    notes: list[Note]


def of_folder(here: Workspace, name: str, folder: Path, build: Build) -> Imported:
    """Return a package of the use cases that a folder holds.

    A use case whose parts compose to something else than kustomize builds gets values of its setters, and patches; one
    that does not compose, or not to that, is taken as it is built.
    """
    if not NAME.fullmatch(name):
        hint = "choose one: --name model-fp32-training-k8s"
        raise InputError(Problem(f"{name!r} is no name for a package", hint=hint))
    source = Upstream(folder, build)
    cases, notes = _take(here, source)
    pending: Sequence[UseCase] = cases
    while pending:
        files = _files(name, cases)
        mended = [*_try(here, name, pending, files, build)]
        is_shared = any(use_case.built is None for use_case in mended)  # what others take from its definitions is gone
        pending = cases if is_shared else mended
    for parent in sorted({path.rpartition("/")[0] for path in files}):
        if any(here.sources.list(f"{root}{parent}") for root in here.roots):
            file, hint = here.sources.shown(parent), "choose another name: --name NAME"
            raise InputError(Problem("exists already, and is not empty", file=file, hint=hint))
    notes = source.below([*notes, *_notes(cases), *source.left()])
    of_package = "what the package does", "say it in a sentence, for lists and the README"
    notes.append(Note(DOUBTFUL, *of_package, (f"packages/{name}/{package.DESCRIPTION}",)))
    return Imported(name, files, sorted(use_case.path for use_case in cases), notes)


def _take(here: Workspace, source: Upstream) -> tuple[list[UseCase], list[Note]]:
    """Take use cases; those that kustomize does not build, or to nothing, are left out, unless all are."""
    cases: list[UseCase] = []
    problems: dict[str, Sequence[Problem]] = {}
    for folder, path in _paths(here, source).items():
        try:
            use_case = source.use_case(folder, path)
            if not use_case.objects:
                raise InputError(Problem("holds no object", file=source.sources.shown(folder)))
            cases.append(use_case)
        except BeyondError:
            raise
        except InputError as error:
            problems[path] = error.problems
    refuse(dict.fromkeys(problem for some in problems.values() if not cases for problem in some))
    refused = tuple(f"{path}: {_first_line(some[0])}" for path, some in problems.items())
    return cases, [Note(LOST, *_NOT_BUILT, refused)] if refused else []


def _paths(here: Workspace, source: Upstream) -> dict[str, str]:
    """Return the folders of use cases with their paths."""
    shown = source.sources.shown(source.folder)
    if not source.folders:
        hint = "it needs manifests, a kustomization.yaml for each use case, or a Kptfile"
        raise InputError(Problem("holds no use case", file=shown, hint=hint))
    below = {paths.below(folder, source.folder): folder for folder in source.folders}
    named = use_cases.paths([*below], here.prefix, shown, basename(source.folder))
    return {folder: named[path] for path, folder in below.items()}


def _notes(cases: Sequence[UseCase]) -> Iterator[Note]:
    """Yield what is to be known of parts, and each line that patches of use cases stand for, with their folders."""
    parts = _parts(cases)
    yield from (note for item in parts for note in item.notes)
    for krmfile in {item.krmfile.source.name: item.krmfile for item in parts if item.krmfile}.values():
        users = (item for item in parts if item.krmfile and item.krmfile.source.name == krmfile.source.name)
        yield from bind.left(krmfile, {name for item in users for name in item.defined})
    folders: dict[str, dict[str, None]] = {}
    for use_case in filter(attrgetter("is_amended"), cases):
        for line in (line for item in use_case.part.all() for line in item.beyond):
            folders.setdefault(line, {})[use_case.part.folder] = None
    for line, names in folders.items():
        yield Note(DOUBTFUL, *_PATCHED, (f"{line} ({', '.join(names)})",))


def _first_line(problem: Problem) -> str:
    """Return what is wrong, without warnings of kustomize."""
    lines = str(problem).splitlines()
    return next((line.strip() for line in lines if line.startswith("Error:")), lines[0])


def _parts(cases: Iterable[UseCase]) -> list[Part]:
    return list({id(item): item for use_case in cases for item in use_case.part.all()}.values())


def _files(name: str, cases: Sequence[UseCase]) -> dict[str, bytes]:
    """Return the files of a workspace by their paths; what all parts define alike stands beside package.yaml.

    So does what one Krmfile defines for all: a use case whose fields have another value gives it.
    """
    parts = _parts(cases)
    part.name(parts, name.removesuffix("-k8s"))
    shared: dict[str, Definition] = {}
    several: set[str] = set()
    for definition in (definition for item in parts for definition in item.defined.values()):
        if not _is_alike(shared.setdefault(definition.name, definition), definition):
            several.add(definition.name)
    files: dict[str, bytes] = {}
    for item in parts:
        written = item.write()
        own = [definition for key, definition in item.defined.items() if key in several]
        written |= {KRMFILE: meaning.krmfile(own)} if own else {}
        files |= {f"{item.folder}/{file}": data for file, data in written.items()}
    values = {use_case.path: _values(use_case) for use_case in cases}
    first, *rest = values.values()
    common = {key: text for key, text in first.items() if rest and all(text == more.get(key) for more in rest)}
    tree = {use_case.path: _use_case(use_case.part, values[use_case.path], common) for use_case in cases}
    begun = skeleton.write(name, tree, setters=common)
    files |= {f"packages/{name}/{path}": data for path, data in begun.items()}
    if definitions := [definition for key, definition in shared.items() if key not in several]:
        files[f"packages/{name}/{KRMFILE}"] = meaning.krmfile(definitions)
    return files


def _is_alike(first: Definition, second: Definition) -> bool:
    """Say whether one definition is enough: what two parts have of one place may differ by its value."""
    if isinstance(first, Setter) and isinstance(second, Setter) and first[-2:] == second[-2:]:
        first, second = (setter._replace(value="", required=False) for setter in (first, second))
    return meaning.text(first) == meaning.text(second)


def _values(use_case: UseCase) -> dict[str, str]:
    """Return the values of setters that a use case says itself."""
    defined = {key: definition for item in use_case.part.all() for key, definition in item.defined.items()}
    setters = (setter for key in (*GIVEN, *use_case.values) if isinstance(setter := defined.get(key), Setter))
    return {setter.name: use_case.values.get(setter.name, setter.value) for setter in setters}


def _use_case(part: Part, values: Mapping[str, str], common: Mapping[str, str]) -> Tree:
    says: dict[str, Tree] = {"base": Text(basename(part.folder))}
    if part.namespace:
        says["namespace"] = Text(part.namespace)
    if own := {key: double(text) for key, text in values.items() if key not in common}:
        says["setters"] = own
    return in_brackets(says)


def _try(
    here: Workspace, name: str, use_cases: Iterable[UseCase], files: Mapping[str, bytes], build: Build
) -> Iterator[UseCase]:
    """Compose use cases in a workspace of its own, and mend and yield those that are not what was there."""
    head = f"apiVersion: packyard/v1\nkind: Workspace\nname: imported\nprefix: {here.prefix}\nlicense: {WORKSPACE}\n"
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        _put(folder, {WORKSPACE: head.encode(), **files})
        own = workspace.read(folder)
        described = package.read(own, name)
        by_path = {use_case.path: use_case for use_case in described.use_cases}

        def built(composed: Composed, files: Mapping[str, bytes]) -> list[object]:
            path = composed.use_case.path
            _put(folder / "built" / path, files)
            _put(folder / "built" / PROGRAMS, program.files(own.sources, [composed.sources]))
            return [*map(part.plain, part.documents(source_of(build(folder / "built" / path), path)))]

        for use_case in use_cases:
            objects: list[object] | None = None
            changed: dict[str, Setter] = {}
            try:
                composed = compose.make(own, described, by_path[use_case.path])
                objects = built(composed, composed.files)
                problems = tuple(_differences(use_case, objects))
                changed = values.find(composed, use_case.objects) if problems and not use_case.is_amended else {}
                if changed:
                    objects = built(composed, set_fields(composed.files, composed.definitions, changed).files)
            except InputError as error:
                problems = error.mapped(lambda problem: problem.renamed(f"{root}/", "")).problems
            if problems:
                use_case.mend(problems, objects, {key: setter.value for key, setter in changed.items()})
                yield use_case


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def _differences(use_case: UseCase, composed: Sequence[object]) -> Iterator[Problem]:
    pairs = (use_case.objects, composed), (composed, use_case.objects)
    differing = (mapping(value) for some, counterparts in pairs for value in some if value not in counterparts)
    for called in sorted({f"{text(value.get('kind'))} {name_of(value)}" for value in differing}):
        yield Problem(f"{called} is not composed as it was", file=use_case.path, hint="please report it")
