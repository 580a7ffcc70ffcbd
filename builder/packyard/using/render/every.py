"""The use cases below a directory, rendered as if values were set in them; the directory itself stays as it is."""

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from packyard.core.bundle import address, archive, delivery
from packyard.core.bundle.archive import LIMITS, Member
from packyard.core.errors import InputError, PackyardError, Problem, UnavailableError, every, refuse
from packyard.core.files import paths
from packyard.core.files.tree import Tree
from packyard.using.options.folder import use_cases
from packyard.using.render import directories
from packyard.using.render.render import render
from packyard.using.setters.krmfile import KRMFILE
from packyard.using.setting import set_values

Values = Mapping[str, Sequence[str]]
_LEFT_OUT = ".git"


def find(directory: Path) -> list[str]:
    """Return the paths of the use cases below a directory, or ``.`` for itself, sorted; what is in one is none."""
    tops: list[str] = []
    for use_case in use_cases(directory):
        if not (tops and paths.is_inside(use_case, tops[-1])):
            tops.append(use_case)
    if not tops:
        raise InputError(Problem("no use case here or below", file=str(directory), hint="name the folder of a package"))
    return sorted(os.path.relpath(use_case, directory) for use_case in tops)


def render_all(tree: Tree, *, path: str, command: str = "") -> dict[str, bytes]:
    """Render every use case below a directory, as `render` does; all problems of all of them are raised together."""
    use_cases = find(tree.root_dir)
    try:
        rendered = every(lambda case: render(tree.at(tree.root_dir / case), path=path, command=command), use_cases)
    except InputError as error:
        hint = f"to do without some, name one use case alone, such as {address.typed(tree.root_dir / use_cases[0])}"
        lost = [Problem("nothing was written", hint=hint)] if len(use_cases) > 1 else []
        raise type(error)(*error.problems, *lost) from error
    return dict(zip(use_cases, rendered, strict=True))


@contextmanager
def with_values(tree: Tree, values: Values, command: str = "", *, enabling: Sequence[str] = ()) -> Iterator[Tree]:
    """Yield a copy of a directory in which values are set; an error names the files of the directory itself.

    Without values, and options for ``enabling``, it is the directory. A value is set in every use case below that has
    the setter, and in the options that it has enabled. ``command`` is what the user typed before the values, for the
    hints of errors.
    """
    if not values and not enabling:
        yield tree
        return
    directory = tree.root_dir
    refuse(delivery.lost([directory], KRMFILE))
    package = paths.package_of(directory)
    tops = sorted({package, *_elsewhere(tree, package)})  # each before what is in it
    root = os.path.commonpath(tops)
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        copied = Path(os.path.realpath(folder), "package")
        copy = Tree(copied / os.path.relpath(os.path.realpath(directory), root))
        try:
            _check_size(tops, package)
            for top in tops:
                if not os.path.lexists(target := copied / os.path.relpath(top, root)):
                    shutil.copytree(top, target, symlinks=True, ignore=shutil.ignore_patterns(_LEFT_OUT))
        except shutil.Error as error:
            failed = (Problem(f"cannot be copied: {reason}", file=file) for file, _, reason in error.args[0])
            raise UnavailableError(*failed) from error
        except OSError as error:
            raise UnavailableError(Problem(f"cannot be copied: {error}", file=str(directory))) from error
        try:
            set_values(copy.root_dir, values, options=enabling, recursive=True, command=command, opened=copy)
            yield copy
        except PackyardError as error:
            names = (str(copy.root_dir), str(directory)), (str(copied), paths.seen(directory, root))
            raise error.mapped(lambda problem: problem.renamed(*names[0]).renamed(*names[1])) from error


def _elsewhere(tree: Tree, package: str) -> Iterator[str]:
    """Yield the real folders that use cases below a directory are built from, where these are not in its package."""
    if os.path.lexists(f"{package}/{paths.MANIFEST}"):
        return  # which has all that it is built from
    for use_case in use_cases(tree.root_dir):
        with suppress(PackyardError):  # the build says so
            for folder in directories.folders(tree.at(use_case)):
                if not paths.is_inside(real := os.path.realpath(folder.root_dir), package):
                    yield real


def _check_size(tops: Iterable[str], package: str) -> None:
    """Refuse to copy more than a package can be."""
    entries = size = 0
    for folder, folders, files in itertools.chain.from_iterable(map(os.walk, tops)):
        folders[:] = [name for name in folders if name != _LEFT_OUT]
        entries += len(folders) + len(files)
        size += sum(os.lstat(f"{folder}/{name}").st_size for name in files)
        if entries > LIMITS.entries or size > LIMITS.total_size:
            most = f"more than {LIMITS.entries} files and folders, or {LIMITS.total_size} bytes"
            hint = "name the folder of a package, or of a use case"
            raise InputError(Problem(f"has {most}", file=package, hint=hint))


def write(rendered: Mapping[str, bytes], out_dir: Path) -> list[Path]:
    """Make a directory with a file for each use case, ``OUT/PATH.yaml``, in one step; it must not be there yet."""
    files = {f"{'all' if path == os.curdir else path}.yaml": data for path, data in rendered.items()}
    archive.write(out_dir.name, (Member(path=path, data=data) for path, data in files.items()), out_dir.parent)
    return [out_dir / path for path in files]
