"""An import as a whole: read, bound, written, composed once to see that the objects are the same."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import basename

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.files.paths import WORKSPACE
from packyard.core.yaml.document import parse_text, source_of
from packyard.core.yaml.values import double_quoted, quoted, to_value
from packyard.using.kustomize import builtin
from packyard.using.setters.definition import Setter
from packyard.writing.authoring.import_ import upstream, use_cases
from packyard.writing.authoring.import_.definitions import GIVEN, krmfile
from packyard.writing.authoring.import_.definitions import text as definition_text
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note, checklist, joined
from packyard.writing.authoring.import_.upstream import Build, Part, Tree, UseCase
from packyard.writing.source import compose, package, workspace
from packyard.writing.source.package import NAME
from packyard.writing.source.workspace import Workspace

#: Beside package.yaml: what an author has to work through.
CHECKLIST = "import.md"
_DESCRIPTION = "docs/10-description.md"
_UNKNOWN = ("framework", "category", "precision", "mode")  # of the model


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import writes: files by their paths in the workspace, the use cases, and what to work through."""

    name: str
    files: Mapping[str, bytes]
    use_cases: Sequence[str]
    notes: Sequence[Note]

    def with_checklist(self, origin: str, below: str = "") -> Imported:
        """Return the import with its checklist, in which places are those below a folder."""
        notes = joined(note.below(below) for note in self.notes)
        files = {**self.files, self.checklist: checklist(origin, notes).encode()}
        return replace(self, files=files, notes=notes)

    @property
    def checklist(self) -> str:
        """The path of what an author has to work through."""
        return f"packages/{self.name}/{CHECKLIST}"


def of_folder(
    here: Workspace,
    name: str,
    folder: Path,
    build: Build,
    origin: str,
) -> Imported:
    """Return a package of the use cases that a folder holds.

    A use case whose parts compose to something else than kustomize builds is taken as it is built.
    """
    check_name(here, name)
    source = Tree(folder, build)
    paths = _paths(here, source)
    as_built: dict[str, str] = {}
    while True:
        taken = _take(source, paths, as_built)
        files = _files(name, taken)
        faults = _faults(here, name, taken, files)
        if not faults or faults.keys() <= as_built.keys():
            break
        as_built |= {path: str(problems[0]._replace(hint="")) for path, problems in faults.items()}
    problems = [problem for some in faults.values() for problem in some]
    refuse(problems)
    _check_free(here, dict.fromkeys(path.rpartition("/")[0] for path in files))
    notes = [*source.notes, *source.left()]
    notes += [
        Note(DOUBTFUL, "what the model is", "say it in package.yaml, for lists and the README", (", ".join(_UNKNOWN),)),
        Note(
            DOUBTFUL,
            "what the package does",
            "say it in a sentence, for lists and the README",
            (f"packages/{name}/{_DESCRIPTION}",),
        ),
    ]
    return Imported(name, files, sorted(file.path for file in taken), notes).with_checklist(origin, f"{folder}/")


def _paths(here: Workspace, source: Tree) -> dict[str, str]:
    """Return the folders of use cases with their paths."""
    shown = source.sources.shown("")
    if not source.folders:
        hint = "it needs manifests, a kustomization.yaml for each use case, or a Kptfile"
        raise InputError(Problem("holds no use case", file=shown, hint=hint))
    return use_cases.paths(source.folders, here.prefix, shown, source.sources.root_dir.resolve().name)


def _take(source: Tree, paths: Mapping[str, str], as_built: Mapping[str, str]) -> list[UseCase]:
    """Take use cases, or refuse all that cannot be taken; those without an object are left out, unless all are."""
    source.begin()
    taken: list[UseCase] = []
    problems: list[Problem] = []
    for folder, path in paths.items():
        try:
            taken.append(source.use_case(folder, path, as_built.get(path, "")))
        except InputError as error:
            problems += error.problems
    refuse(dict.fromkeys(problems))
    filled = [use_case for use_case in taken if use_case.objects]
    refuse(Problem("holds no object", file=source.sources.shown(use_case.folder)) for use_case in taken if not filled)
    places = tuple(source.sources.shown(use_case.folder) for use_case in taken if not use_case.objects)
    source.notes += [Note(LOST, "use cases without an object", "nothing", places)] if places else []
    for part in _parts(filled):
        part.bind(source.notes)
    return filled


def _parts(taken: Iterable[UseCase]) -> list[Part]:
    return list({id(part): part for use_case in taken for part in use_case.part.all()}.values())


def _files(name: str, taken: Sequence[UseCase]) -> dict[str, bytes]:
    """Return the files of a workspace by their paths; what all parts define alike stands beside package.yaml."""
    parts = _parts(taken)
    upstream.name(parts, name.removesuffix("-k8s"))
    texts: dict[str, set[str]] = {}
    for definition in (definition for part in parts for definition in part.defined.values()):
        texts.setdefault(definition.name, set()).add(definition_text(definition))
    files: dict[str, bytes] = {}
    for part in parts:
        written = part.write(f"{basename(part.folder)} of {name}.")
        own = [definition for key, definition in part.defined.items() if len(texts[key]) > 1]
        written |= {"Krmfile": krmfile(own)} if own else {}
        files |= {f"{part.folder}/{file}": data for file, data in written.items()}
    files[f"packages/{name}/package.yaml"] = _package(name, taken)
    files[f"packages/{name}/docs/00-title.md"] = f"# {name}\n".encode()
    files[f"packages/{name}/{_DESCRIPTION}"] = b"Imported, and not described yet.\n"
    shared = {key: definition for part in parts for key, definition in part.defined.items() if len(texts[key]) == 1}
    if shared:
        files[f"packages/{name}/Krmfile"] = krmfile(shared.values())
    return files


def _package(name: str, taken: Sequence[UseCase]) -> bytes:
    head = ", ".join([f"name: {quoted(name, flow=True)}", *(f"{key}: unknown" for key in _UNKNOWN)])
    lines = ["apiVersion: packyard/v1", "kind: Package", f"model: {{{head}}}", "useCases:"]
    for use_case in taken:
        says = {"base": basename(use_case.part.folder)}
        says |= {"namespace": quoted(use_case.namespace, flow=True)} if use_case.namespace else {}
        defined = {key: definition for part in use_case.part.all() for key, definition in part.defined.items()}
        setters = (setter for key in GIVEN if isinstance(setter := defined.get(key), Setter))
        values = [f"{setter.name}: {double_quoted(setter.value)}" for setter in setters]
        says |= {"setters": f"{{{', '.join(values)}}}"} if values else {}
        lines.append(f"  {use_case.path}: {{{', '.join(f'{key}: {text}' for key, text in says.items())}}}")
    return "".join(f"{line}\n" for line in lines).encode()


def _faults(
    here: Workspace, name: str, taken: Sequence[UseCase], files: Mapping[str, bytes]
) -> dict[str, Sequence[Problem]]:
    """Compose all use cases in a workspace of its own, and say by their paths which are not what was there."""
    faults: dict[str, Sequence[Problem]] = {}
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        head = (
            f"apiVersion: packyard/v1\nkind: Workspace\nname: imported\nprefix: {here.prefix}\nlicense: {WORKSPACE}\n"
        )
        _put(folder, {WORKSPACE: head.encode(), **files})
        own = workspace.read(folder)
        made = {use_case.path: use_case for use_case in package.read(own, name).use_cases}
        for file in taken:
            try:
                composed = compose.make(own, package.read(own, name), made[file.path]).composed
                _put(folder / "built" / file.path, composed.files)
                text = builtin.build(folder / "built" / file.path)
                objects = [to_value(one.root) for one in parse_text(source_of(text, file.path)) if one.root is not None]
                refuse(_differences(file, objects))
            except InputError as error:
                mapped = error.mapped(lambda problem: problem._replace(file=problem.file.removeprefix(f"{root}/")))
                faults[file.path] = mapped.problems
    return faults


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def _differences(use_case: UseCase, composed: Iterable[object]) -> Iterator[Problem]:
    imported, rebuilt = _by_identity(use_case.objects), _by_identity(composed)
    for key in sorted(key for key in imported.keys() | rebuilt.keys() if imported.get(key) != rebuilt.get(key)):
        yield Problem(f"{' '.join(key)} is not composed as it was", file=use_case.path, hint="please report it")


def _by_identity(values: Iterable[object]) -> dict[tuple[str, ...], object]:
    by_identity: dict[tuple[str, ...], object] = {}
    for value in values:
        assert isinstance(value, dict)
        metadata = value["metadata"]
        key = (value["apiVersion"], value["kind"], metadata.get("namespace", ""), metadata["name"])
        by_identity[tuple(str(text) for text in key)] = value
    return by_identity


def name_of(text: str) -> str:
    """Return the name that a package gets by that of its folder."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def check_name(here: Workspace, name: str) -> None:
    """Refuse a name that no package can have, or that one has."""
    if not NAME.fullmatch(name):
        hint = "choose one: --name model-fp32-training-k8s"
        raise InputError(Problem(f"{name!r} is no name for a package", hint=hint))
    _check_free(here, (f"packages/{name}", f"bases/{name.removesuffix('-k8s')}"))


def _check_free(here: Workspace, folders: Iterable[str]) -> None:
    for folder in folders:
        if any(here.sources.list(f"{root}{folder}") for root in here.roots):
            file, hint = here.sources.shown(folder), "choose another name: --name NAME"
            raise InputError(Problem("exists already, and is not empty", file=file, hint=hint))
