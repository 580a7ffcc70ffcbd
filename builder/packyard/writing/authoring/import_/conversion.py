"""An import as a whole: read, split, written, composed again to see that the objects are the same."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.files import regular
from packyard.core.files.paths import WORKSPACE
from packyard.core.files.tree import Tree
from packyard.core.yaml.document import source_of
from packyard.core.yaml.sources import Sources
from packyard.core.yaml.values import double_quoted, to_value
from packyard.writing.authoring.import_ import bind, read, rendering, write
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note, checklist, joined
from packyard.writing.authoring.import_.read import Build, Variant
from packyard.writing.authoring.import_.split import split
from packyard.writing.source import compose, package, workspace
from packyard.writing.source.package import NAME
from packyard.writing.source.workspace import Workspace

#: Beside package.yaml: what an author has to work through.
CHECKLIST = "import.md"
_MODEL = re.compile(r"(?P<name>.+)-(?P<precision>[a-z]*[0-9]+)-(?P<mode>training|inference)(-k8s)?")
_UNKNOWN = "unknown"
_RENDERED = "default"  # the use case of a rendering


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

    @property
    def lines(self) -> int:
        """How many lines an author has to read, the checklist aside."""
        return sum(data.count(b"\n") for path, data in self.files.items() if path != self.checklist)


def of_use_cases(here: Workspace, name: str, folder: Path, build: Build, origin: str) -> Imported:
    """Return a package of the use cases that a folder holds."""
    check_name(here, name)
    notes: list[Note] = []
    variants = read.read(Sources(folder), here.prefix, build, notes)
    imported = _make(here, name, variants, notes, {})
    return imported.with_checklist(origin, below=f"{folder}/")


def of_renderings(here: Workspace, name: str, first: Path, second: Path) -> Imported:
    """Return a package of two renderings: the first is composed, the values of the second are a preset."""
    check_name(here, name)
    notes: list[Note] = []
    one, other = (bind.documents(source_of(regular.read(path), str(path))) for path in (first, second))
    found = rendering.compare(one, other, notes)
    variant = Variant(path=_RENDERED, objects=tuple(bind.objects(one, found.bound)), words=found.words)
    values = "".join(f"{key}: {double_quoted(text)}\n" for key, text in found.others.items())
    preset = f"packages/{name}/files/presets/{name_of(second.stem) or 'second'}.yaml"
    files = {preset: f"# What {second.name} has.\n{values}".encode()} if values else {}
    return _make(here, name, [variant], notes, files).with_checklist(f"{first} and {second}")


def _make(
    here: Workspace,
    name: str,
    variants: Sequence[Variant],
    notes: Iterable[Note],
    beside: Mapping[str, bytes],
) -> Imported:
    """Return the files of a package that composes to the objects of some use cases, with others ``beside`` them."""
    refuse(Problem("holds no object", file=variant.path) for variant in variants if not variant.objects)
    done = split(variants, name, lambda folder: _is_free(here, folder))
    model = dict.fromkeys(("framework", "category", "precision", "mode"), _UNKNOWN)
    known = _MODEL.fullmatch(name)
    model = {"name": name, **model, **(known.groupdict() if known else {})}
    files = {**write.write(done, name, model), **beside}
    for folder in dict.fromkeys(path.rpartition("/")[0] for path in files):
        if not _is_free(here, folder):
            raise _taken(here, folder)
    _check(here, variants, files, name)
    said = [*notes, *done.notes, *_silent(variants, files), _unknown(model)]
    return Imported(name, files, sorted(variant.path for variant in variants), said)


def _unknown(model: Mapping[str, str]) -> Note:
    unknown = ", ".join(key for key, text in model.items() if text == _UNKNOWN)
    return Note(DOUBTFUL, "what the model is", "say it in package.yaml, for lists and the README", (unknown,))


def _silent(variants: Sequence[Variant], files: Mapping[str, bytes]) -> Iterable[Note]:
    """Find comments that stand in no file."""
    written = b"\n".join(files.values()).decode()
    for variant in variants:
        for place, text in variant.prose:
            if text not in written:
                yield Note(LOST, "comments", "write those again that users need", (f"{place}: {text}",))


def write_to(here: Workspace, imported: Imported) -> None:
    """Write all files into a workspace, or none."""
    tree = Tree(here.root_dir)
    made: list[Path] = []
    try:
        with tree.locked(below=False):
            for folder in dict.fromkeys((here.root_dir / path).parent for path in imported.files):
                for each in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
                    made.append(each)
                    each.mkdir()
            tree.write(imported.files)
    except BaseException:
        for folder in reversed(made):
            with suppress(OSError):  # it is not there, or not empty
                folder.rmdir()
        raise


def name_of(text: str) -> str:
    """Return the name that a package gets by that of its folder or file."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def check_name(here: Workspace, name: str) -> None:
    """Refuse a name that no package can have, or that one has."""
    if not NAME.fullmatch(name):
        raise InputError(
            Problem(f"{name!r} is no name for a package", hint="choose one: --name model-fp32-training-k8s")
        )
    if not _is_free(here, f"packages/{name}"):
        raise _taken(here, f"packages/{name}")


def _taken(here: Workspace, folder: str) -> InputError:
    return InputError(
        Problem(
            "exists already, and is not empty", file=here.sources.shown(folder), hint="choose another name: --name NAME"
        )
    )


def _is_free(here: Workspace, folder: str) -> bool:
    return not any(here.sources.list(f"{root}{folder}") for root in here.roots)


def _check(here: Workspace, variants: Sequence[Variant], files: Mapping[str, bytes], name: str) -> None:
    """Refuse an import that composes to something else; it is composed in a workspace of its own."""
    head = f"apiVersion: packyard/v1\nkind: Workspace\nname: imported\nprefix: {here.prefix}\nlicense: {WORKSPACE}\n"
    with tempfile.TemporaryDirectory() as folder:
        for path, data in {WORKSPACE: head.encode(), **files}.items():
            file = Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        own = workspace.read(Path(folder))
        composed = compose.compose(own, package.read(own, name))
    made = {each.use_case.path: _by_identity(each.values(own.sources.memo)) for each in composed.use_cases}
    problems = []
    for variant in variants:
        wanted = _by_identity([to_value(root) for root in variant.objects])
        found = made.get(variant.path, {})
        different = [key for key in wanted.keys() | found.keys() if wanted.get(key) != found.get(key)]
        problems += [
            Problem(f"{' '.join(key)} cannot be imported exactly", file=variant.path, hint="please report it")
            for key in sorted(different)
        ]
    refuse(problems)


def _by_identity(values: Iterable[object]) -> dict[tuple[str, ...], object]:
    found: dict[tuple[str, ...], object] = {}
    for value in values:
        assert isinstance(value, dict)
        metadata = value["metadata"]
        key = (value["apiVersion"], value["kind"], metadata.get("namespace", ""), metadata["name"])
        found[tuple(map(str, key))] = value
    return found
