"""An import as a whole: read, split, written, composed again to see that the objects are the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.files import regular
from packyard.core.files.tree import Tree
from packyard.core.yaml.document import source_of
from packyard.core.yaml.values import double_quoted
from packyard.writing.authoring.import_ import additions, bind, recomposed, rendering, write
from packyard.writing.authoring.import_.bind import Binder
from packyard.writing.authoring.import_.copied import Copy
from packyard.writing.authoring.import_.disagreement import FIELDS
from packyard.writing.authoring.import_.normal import Bound
from packyard.writing.authoring.import_.note import DOUBTFUL, LOST, Note, checklist, joined
from packyard.writing.authoring.import_.read import Reader, Variant
from packyard.writing.authoring.import_.split import Split, split
from packyard.writing.authoring.import_.structure import Build
from packyard.writing.source.package import NAME
from packyard.writing.source.workspace import Workspace

#: Beside package.yaml: what an author has to work through.
CHECKLIST = "import.md"
_MODEL = re.compile(r"(?P<name>.+)-(?P<precision>[a-z]*[0-9]+)-(?P<mode>training|inference)(-k8s)?")
_UNKNOWN = "unknown"
_RENDERED = "default"  # the use case of a rendering


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import writes: files by their paths in the workspace, the use cases, and what to work through.

    ``setters`` are those that use cases have.
    """

    name: str
    files: Mapping[str, bytes]
    use_cases: Sequence[str]
    notes: Sequence[Note]
    setters: frozenset[str] = frozenset()

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What an author asks of an import: which of two values counts, what alone is read, and what becomes options."""

    take: str = FIELDS
    only: Sequence[str] = ()
    options: Sequence[str] = ()


_NONE = Wishes()


def of_use_cases(
    here: Workspace,
    name: str,
    folder: Path,
    build: Build,
    origin: str,
    wishes: Wishes = _NONE,
    *,
    is_alone: bool = False,
) -> Imported:
    """Return a package of the use cases that a folder holds; what is ``is_alone`` reads nothing beside the folder."""
    check_name(here, name)
    reader = partial(Reader, folder, build=build, only=wishes.only, beyond=wishes.options, is_alone=is_alone)
    imported, unused = _read(here, name, reader(binder=Binder([], take=wishes.take)), wishes)
    if unused:
        imported, _ = _read(here, name, reader(binder=Binder([], take=wishes.take, unused=unused)), wishes)
    return imported.with_checklist(origin, below=f"{folder}/")


def _read(here: Workspace, name: str, reader: Reader, wishes: Wishes) -> tuple[Imported, frozenset[str]]:
    """Return what is read, and the setters of it that no use case has, and no option."""
    reading = _Taken(reader)
    reading.read(reader.paths(here.prefix))
    try:
        imported = _made(here, name, reading, wishes)
    except InputError:
        if not reading.copies:
            raise
        faults = {path: _fault(here, name, copy) for path, copy in reading.copies.items()}
        reading.drop({path: str(fault._replace(hint="")) for path, fault in faults.items() if fault})
        imported = _made(here, name, reading, wishes)
    text = b"\n".join(data for path, data in imported.files.items() if path.startswith(additions.FOLDER)).decode()
    setters = {name for name, word in reader.binder.words.items() if word.is_setter}
    in_options = {each for each in setters if f'"{each}"' in text or f"${{{each}}}" in text}
    return imported, frozenset(setters - imported.setters - in_options)


class _Taken:
    """The use cases of a folder by their paths: copies with the parts that they are made of, and variants."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.folders: dict[str, str] = {}
        self.copies: dict[str, Copy] = {}
        self.variants: dict[str, Variant] = {}

    def read(self, paths: Mapping[str, str]) -> None:
        """Read use cases, or refuse all that cannot be read; those without an object are left out, unless all are."""
        problems: list[Problem] = []
        for folder, path in paths.items():
            self.folders[path] = folder
            try:
                self._read(path)
            except InputError as error:
                problems += error.problems
        refuse(dict.fromkeys(problems))
        empty = [path for path, each in self.variants.items() if not each.objects]
        for path in empty if len(empty) < len(self.copies) + len(self.variants) else ():
            del self.variants[path]
            place = self.reader.sources.shown(self.folders[path])
            self.reader.binder.notes.append(Note(LOST, "use cases without an object", "nothing", (place,)))

    def _read(self, path: str) -> None:
        notes = self.reader.binder.notes
        before = list(notes)
        copy = self.reader.copy(self.folders[path], path)
        if copy:
            self.copies[path] = copy
            return
        notes[:] = before
        self.variants[path] = self.reader.variant(self.folders[path], path)

    def drop(self, faults: Mapping[str, str]) -> None:
        """Take the copies that have faults as they are built."""
        for path, fault in faults.items():
            del self.copies[path]
            self.variants[path] = self.reader.built(self.folders[path], path)
            what = "use cases that are not made of the parts that they had"
            todo = "mend what the message says, and import again, or keep what kustomize builds"
            case = f"{self.reader.sources.shown(self.folders[path])}: {fault}"
            self.reader.binder.notes.append(Note(DOUBTFUL, what, todo, (case,)))


def _fault(here: Workspace, name: str, copy: Copy) -> Problem | None:
    """Say why a copy alone composes to something else, or does not compose."""
    try:
        recomposed.check(here, [], [copy], _files(name, split([], name, bool), [copy], {}), name)
    except InputError as error:
        return error.problems[0]
    return None


def _made(here: Workspace, name: str, reading: _Taken, wishes: Wishes) -> Imported:
    variants, copies = [*reading.variants.values()], [*reading.copies.values()]
    objects = [root for each in variants for root in each.objects]
    objects += [root for each in copies for root in each.objects]
    binder = reading.reader.binder
    beside = additions.files(reading.reader.sources, wishes.options, objects, binder) if wishes.options else {}
    return _make(here, name, variants, copies, [*binder.notes, *binder.review()], beside)


def of_renderings(here: Workspace, name: str, first: Path, second: Path) -> Imported:
    """Return a package of two renderings: the first is composed, the values of the second are a preset."""
    check_name(here, name)
    notes: list[Note] = []
    one, other = (bind.documents(source_of(regular.read(path), str(path))) for path in (first, second))
    compared = rendering.compare(one, other, notes)
    objects = tuple(bind.objects(one, Bound(compared.bound)))
    variant = Variant(path=_RENDERED, objects=objects, words=compared.words)
    values = "".join(f"{key}: {double_quoted(text)}\n" for key, text in compared.others.items())
    preset = f"packages/{name}/files/presets/{name_of(second.stem) or 'second'}.yaml"
    files = {preset: f"# What {second.name} has.\n{values}".encode()} if values else {}
    return _make(here, name, [variant], (), notes, files).with_checklist(f"{first} and {second}")


def _make(
    here: Workspace,
    name: str,
    variants: Sequence[Variant],
    copies: Sequence[Copy],
    notes: Iterable[Note],
    beside: Mapping[str, bytes],
) -> Imported:
    """Return the files of a package that composes to the objects of some use cases, with others ``beside`` them."""
    refuse(Problem("holds no object", file=variant.path) for variant in variants if not variant.objects)
    division = split(variants, name, lambda folder: _is_free(here, folder))
    model = _model(name)
    files = _files(name, division, copies, beside)
    _check_free(here, dict.fromkeys(path.rpartition("/")[0] for path in files))
    setters = recomposed.check(here, variants, copies, files, name)
    all_notes = [*notes, *division.notes, *_silent(variants, files), _unknown(model)]
    paths = sorted([*(each.path for each in variants), *(each.path for each in copies)])
    return Imported(name, files, paths, all_notes, setters)


def _model(name: str) -> dict[str, str]:
    match = _MODEL.fullmatch(name)
    unknown = dict.fromkeys(("framework", "category", "precision", "mode"), _UNKNOWN)
    return {"name": name, **unknown, **(match.groupdict() if match else {})}


def _files(name: str, division: Split, copies: Sequence[Copy], beside: Mapping[str, bytes]) -> dict[str, bytes]:
    return {**write.write(division, name, _model(name), copies), **beside}


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


def write_to(here: Workspace, imported: Imported, *, over: bool = False) -> None:
    """Write all files into a workspace, or none; ``over`` those that are there, if that is said."""
    tree = Tree(here.root_dir)
    new_folders: list[Path] = []
    try:
        with tree.locked(below=False):
            for folder in dict.fromkeys((here.root_dir / path).parent for path in imported.files):
                for each in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
                    new_folders.append(each)
                    each.mkdir()
            for path in imported.files if over else ():
                tree.read(path)
            tree.write(imported.files)
    except BaseException:
        for folder in reversed(new_folders):
            with suppress(OSError):  # it is not there, or not empty
                folder.rmdir()
        raise


def name_of(text: str) -> str:
    """Return the name that a package gets by that of its folder or file."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def check_name(here: Workspace, name: str) -> None:
    """Refuse a name that no package can have, or that one has."""
    if not NAME.fullmatch(name):
        hint = "choose one: --name model-fp32-training-k8s"
        raise InputError(Problem(f"{name!r} is no name for a package", hint=hint))
    _check_free(here, (f"packages/{name}", f"bases/{name.removesuffix('-k8s')}"))


def _check_free(here: Workspace, folders: Iterable[str]) -> None:
    for folder in folders:
        if not _is_free(here, folder):
            file, hint = here.sources.shown(folder), "choose another name: --name NAME"
            raise InputError(Problem("exists already, and is not empty", file=file, hint=hint))


def _is_free(here: Workspace, folder: str) -> bool:
    return not any(here.sources.list(f"{root}{folder}") for root in here.roots)
