"""Libraries: trees of bases and overlays that a workspace, or another library, builds on without a copy of its own.

    libraries:
    - builtin                                                        what the installed packyard carries
    - {path: ../parts}                                               a folder, called by its last part or by a `name`
    - {name: zoo-parts, version: 1.2.0, digest: sha256:…, from: …}   a bundle in a channel

The library NAME has its place at ``libraries/NAME``: a base that builds on one of its bases says
``resources: [../../libraries/NAME/bases/job]``, wherever its files are. ``digest`` is that of the bundle's tar, so that
the same sources build on the same bytes. A library that was fetched leads to no folder of its user.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from posixpath import join

from packyard.core.bundle import archive, manifest, reference
from packyard.core.bundle.archive import Member
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, PackyardError, Problem, refuse
from packyard.core.files.paths import RECEIPT, WORKSPACE
from packyard.core.work.memo import Memo
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Node, Scalar
from packyard.core.yaml.sources import LIBRARIES, Sources

BUILTIN = "builtin"
#: What others may build on.
KINDS = ("Library", "Workspace")
#: What a library consists of: files and folders at its root.
CONTENT = ("bases", "overlays", "crds", "docs/readme", "Krmfile", WORKSPACE, "LICENSE")
#: How many libraries a workspace may have in all, and how deep they may build on each other.
MOST, DEEPEST = 50, 8

#: What editors, systems and pip leave beside files.
LEFT = re.compile(r"(^|/)(\.|__pycache__(/|$))|~(/|$)")
#: What libraries are called.
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_KEYS = ("name", "version", "digest", "from", "path")
_FORMS = "write builtin, {path: ../FOLDER} or {name: NAME, version: 1.2.0, digest: sha256:…, from: CHANNEL}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of ``libraries``: it has a ``path``, or a ``version``, or is packyard's own."""

    name: str
    path: str = ""
    version: str = ""
    digest: Digest | None = None
    channel: str = ""
    file: str
    line: int

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with the library, by the line that names it."""
        return Problem(f"the library {self.name} {message}", file=self.file, line=self.line, hint=hint)


#: Returns the folder of a library that is a bundle.
Obtain = Callable[[Entry], Path]


def carried_dir() -> Path:
    """Return the folder of the catalogue that this installation carries, or in a checkout the checkout's own."""
    here = Path(__file__).resolve().parents[2]
    carried = here / "catalogue"
    return carried if (carried / WORKSPACE).is_file() else here.parent.parent


def members(sources: Sources) -> list[Member]:
    """Return the files of a library: its parts, definitions and fragments of READMEs, but no packages.

    Of one that came as a bundle it is all files.
    """
    if sources.is_file(manifest.FILE):
        paths = [path for path in sources.list("", "**/*") if not path.startswith(RECEIPT)]
    else:
        paths = [path for name in CONTENT for path in (name, *sources.list(name, "**/*"))]
        paths = [path for path in paths if not LEFT.search(path)]
    return [
        Member(path=path, data=sources.read(path), executable=sources.is_executable(path))
        for path in paths
        if sources.is_file(path)
    ]


def digest(name: str, root_dir: Path) -> Digest:
    """Return the digest of the tar that the files of a library make."""
    return Digest.of(archive.pack(name, members(Sources(root_dir))))


def entries(root_dir: Path, memo: Memo | None = None) -> list[Entry]:
    """Return what ``libraries`` of a packyard.yaml says; none where there is no such file."""
    sources = Sources(root_dir, memo)
    if not sources.is_file(WORKSPACE):
        return []
    fields = Fields.of_file(sources, WORKSPACE)
    listed = read(fields)
    refuse(fields.problems)
    return listed


def read(fields: Fields) -> list[Entry]:
    """Read ``libraries`` of a packyard.yaml; faults are noted."""
    by_name: dict[str, Entry] = {}
    for node in fields.items(LIBRARIES):
        entry = _entry(fields, node)
        if entry and entry.name in by_name:
            fields.fault(node, LIBRARIES, f"names {entry.name!r} twice", "give one of them another `name`")
        elif entry:
            by_name[entry.name] = entry
    return list(by_name.values())


def find(root_dir: Path, memo: Memo | None = None, obtain: Obtain | None = None) -> dict[str, Path]:
    """Find the libraries of a workspace, and those that they build on: their folders by their places.

    ``obtain`` is asked for bundles.
    """
    memo, obtained = Memo() if memo is None else memo, obtain or _absent
    folders: dict[str, Path] = {}

    def find_below(folder: Path, within: dict[str, str], above: str = "", fetched: str = "") -> None:
        """Add the libraries of a folder; ``within`` has the names of those that build on it, by real folders.

        ``fetched`` is the name of the one of them that came from elsewhere, if one did.
        """
        for entry in entries(folder, memo):
            if entry.path and fetched:
                says = f"is a folder outside of the library {fetched}, which was fetched"
                raise InputError(entry.problem(says, "ask whoever publishes that to publish this one, too"))
            if len(folders) >= MOST or len(within) > DEEPEST:
                raise InputError(entry.problem(f"is one too many: a workspace has at most {MOST}, {DEEPEST} deep"))
            inner = obtained(entry) if entry.version else _folder(entry, folder)
            real = os.path.realpath(inner)
            if real in within:
                circle = " -> ".join((*filter(None, within.values()), entry.name))
                raise InputError(entry.problem(f"builds on itself: {circle}", "remove it from one of them"))
            _check(entry, inner, memo)
            place = join(above, LIBRARIES, entry.name)
            folders[place] = inner
            find_below(inner, {**within, real: entry.name}, place, fetched or (entry.name if entry.version else ""))

    find_below(root_dir, {os.path.realpath(root_dir): ""})
    return folders


def _folder(entry: Entry, above_dir: Path) -> Path:
    if not entry.path:
        return carried_dir()
    folder = Path(os.path.normpath(above_dir / entry.path))
    if not folder.is_dir():
        raise InputError(entry.problem(f"is not there: no folder {str(folder)!r}", "correct `path`"))
    return folder


def _absent(entry: Entry) -> Path:
    raise InputError(entry.problem(f"{entry.version} was not fetched", "packyard build fetches it"))


def _check(entry: Entry, root_dir: Path, memo: Memo) -> None:
    """Refuse a folder that is not a library, or not the one that is pinned."""
    sources = Sources(root_dir, memo)
    try:
        if not sources.is_file(WORKSPACE):
            raise InputError(Problem("no such file, so this is not a library", file=sources.shown(WORKSPACE)))
        fields = Fields.of_file(sources, WORKSPACE)
        if fields.text("apiVersion") != "packyard/v1" or fields.text("kind") not in KINDS:
            raise InputError(Problem(f"must be a {' or a '.join(KINDS)} of packyard/v1", file=fields.file, line=1))
    except PackyardError as error:
        raise InputError(entry.problem("cannot be used"), *error.problems) from error
    if entry.digest and (tar := digest(entry.name, root_dir)) != entry.digest:
        says = f"is not what `digest` pins: expected {entry.digest}, its files are {tar}"
        hint = f"what is published never changes: ask its publisher, or remove {root_dir} to fetch it again"
        raise IntegrityError(entry.problem(says, hint))


def _entry(parent: Fields, node: Node) -> Entry | None:
    line = node.source.locate(node.start)[0]
    if isinstance(node, Scalar):
        if node.value == BUILTIN:
            return Entry(name=BUILTIN, file=parent.file, line=line)
        parent.fault(node, LIBRARIES, f"{node.value!r} is not a library", _FORMS)
        return None
    before = len(parent.problems)
    fields = Fields(node, parent.file, LIBRARIES, parent.problems)
    texts = {key: text for key in _KEYS if (text := fields.text(key, ""))}
    fields.done()
    is_bundle = {"name", "version"} <= texts.keys() and "path" not in texts
    if len(parent.problems) == before and not is_bundle and not {"path"} <= texts.keys() <= {"path", "name"}:
        fields.fault(node, "", "is not a library", _FORMS)
    name = texts.get("name") or texts.get("path", "").rstrip("/").rpartition("/")[2]
    for key, fault in _faults(name, texts) if len(parent.problems) == before else ():
        fields.fault(node.get(key), key, fault)
    if len(parent.problems) > before:
        return None
    return Entry(
        name=name,
        path=texts.get("path", ""),
        version=texts.get("version", ""),
        digest=Digest(texts["digest"]) if "digest" in texts else None,
        channel=texts.get("from", ""),
        file=parent.file,
        line=line,
    )


def _faults(name: str, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong, each with its key."""
    if not NAME.fullmatch(name) or name == BUILTIN:
        known = f"; {BUILTIN} is packyard's own" if name == BUILTIN else ""
        yield "name", f"{name[:80]!r} cannot be a library's name: add a `name` of lower case words and dashes{known}"
    for key, check in (("version", reference.check_version), ("digest", Digest.parse)):
        try:
            check(texts[key]) if key in texts else None
        except InputError as error:
            yield key, ": ".join(filter(None, (error.problems[0].message, error.problems[0].hint)))
    if (path := texts.get("path", "")) and ("\0" in path or path.startswith("/")):
        yield "path", "must be a path from the folder of packyard.yaml"
