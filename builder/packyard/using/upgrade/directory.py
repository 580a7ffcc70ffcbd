"""An untarred package on disk, moved to another version: read, merged, and written all or nothing."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from packyard.core.bundle import manifest
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import Manifest
from packyard.core.errors import ConflictError, InputError, IntegrityError, Problem, refuse
from packyard.core.files.paths import RECEIPT
from packyard.core.files.steps import StepLog
from packyard.core.files.tree import Tree
from packyard.using.upgrade.merge import Merged, Versions, merge

_AWAY = "move it away, then upgrade again"
_MEND = "choose the other side, or --conflicts markers, which writes all the same, for you to mend"
_DECIDE = "--conflicts ours keeps yours, theirs takes the new version's, markers writes both into the files"


def upgrade(
    folder: Path,
    base: Bundle,
    theirs: Bundle,
    decision: str = "",
    *,
    dry_run: bool = False,
    log: StepLog | None = None,
    receipt: bytes | None = None,
) -> Merged:
    """Move a package, which came from ``base``, to the version of another bundle.

    Raises `ConflictError` with every conflict, and changes nothing, unless a ``decision`` is given (`merge.merge`), or
    nothing is to be written (``dry_run``). Files that no bundle has stay as they are. The change goes into ``log``.
    ``receipt`` says where the new version is from, in a file beside those of the bundle.
    """
    tree = Tree(folder)
    extra = {} if receipt is None else {RECEIPT: receipt}
    with nullcontext() if dry_run else tree.locked(log):
        _check_same(tree, base, theirs)
        old, new = base.files, theirs.files
        _check_folders(tree, new)
        ours = dict(_read(tree, {*old, *new, *extra}))

        def placed(problem: Problem) -> Problem:
            return problem._replace(file=tree.prefix + problem.file)

        versions = Versions(base=old, ours=ours, theirs=new, root_dir=Path(tree.root), new=theirs.version)
        try:
            merged = merge(versions, decision)
        except InputError as error:
            own = {path for path, data in ours.items() if data not in (old.get(path), new.get(path))}
            raise error.mapped(lambda problem: placed(problem) if problem.file in own else problem) from error
        conflicts, broken = (tuple(map(placed, problems)) for problems in (merged.conflicts, merged.broken))
        if conflicts and not (decision or dry_run):
            raise undecided(conflicts)
        if broken and decision != "markers":
            number = f"--conflicts {decision} would break what is listed here; nothing was changed"
            raise ConflictError(*broken, Problem(number, hint=_MEND))
        if not dry_run:
            executable = [member.path for member in theirs.members if member.executable]
            files = {path: data for path, (_, data) in merged.files.items()}
            tree.write({**files, **extra}, executable=executable)
    return replace(merged, conflicts=conflicts, broken=broken)


def undecided(conflicts: Sequence[Problem]) -> ConflictError:
    """Return the error that lists conflicts which nobody has decided."""
    number = f"{len(conflicts)} conflict{'s' * (len(conflicts) > 1)}; nothing was changed"
    return ConflictError(*conflicts, Problem(number, hint=_DECIDE))


def _check_same(tree: Tree, base: Bundle, theirs: Bundle) -> None:
    """Refuse bundles of other packages."""
    names = {base.name, theirs.name}
    if tree.has_file(manifest.FILE):
        try:
            names.add(Manifest.parse(tree.read(manifest.FILE)).name)
        except IntegrityError as error:
            raise error.mapped(lambda problem: problem._replace(file=tree.prefix + problem.file, hint=_AWAY)) from error
    if len(names) > 1:
        raise InputError(Problem(f"these are different packages: {', '.join(sorted(names))}", file=str(tree.root_dir)))


def _read(tree: Tree, names: set[str]) -> Iterator[tuple[str, bytes]]:
    for path in sorted(names):
        try:
            if tree.has_file(path):
                yield path, tree.read(path)
            elif tree.has(path):
                raise InputError(Problem("must be a file: the package has one of this name", file=tree.prefix + path))
        except InputError as error:
            raise error.hinted(_AWAY) from error


def _check_folders(tree: Tree, files: Collection[str]) -> None:
    """Refuse files that stand where the new version has folders."""
    folders = {path[:at] for path in files for at, sign in enumerate(path) if sign == "/"}
    message = "must be a folder: the package has files in it"
    refuse(Problem(message, file=tree.prefix + path, hint=_AWAY) for path in sorted(folders) if tree.has_file(path))
