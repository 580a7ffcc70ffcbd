"""The address of a use case, ``NAME/USECASE``, and which use cases a directory holds.

USECASE is the path of a use case in its package, or a part of it that no other has: ``llm-serving/several-nodes``. Who
names the directory of a package where a use case is wanted is told those that it holds:

bert: is not a use case, but holds 2: quickstart/multi-node/user-mounted-nfs, quickstart/single-node/user-mounted-nfs
(name one: packyard set bert/quickstart/multi-node/user-mounted-nfs WORKERS=2)

A directory that is half of a use case, a kustomization without a Krmfile or the reverse, is told what it lacks.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from packyard.core.bundle import address, delivery
from packyard.core.errors import InputError, Problem
from packyard.core.files import paths
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import kustomization
from packyard.using.options import folder as folders
from packyard.using.setters.krmfile import KRMFILE
from packyard.using.setters.packages import KPTFILE, all_below

_MOST = 12  # named in a message
_DEEPEST = 3


def find(word: str) -> Path | None:
    """Return the use case that NAME/USECASE names, of the package in the working directory or around it.

    It may be the folder of several. None where no package is named, or where a word without a ``/`` names none of the
    package around.
    """
    if os.path.lexists(word):  # a file
        return None
    folder, wanted = word.rstrip("/"), ""
    while folder and not os.path.isdir(folder):
        folder, _, name = folder.rpartition("/")
        wanted = f"{name}/{wanted}".rstrip("/")
    top = folder or os.path.relpath(paths.root_of(os.curdir))
    if not os.path.lexists(f"{paths.root_of(top)}/{paths.MANIFEST}"):  # other folders may be large
        return None
    name = os.path.basename(os.path.realpath(top))
    if not folder:
        wanted = "" if wanted == name else wanted.removeprefix(f"{name}/")
    known = [os.path.relpath(path, top) for path in below(Path(top))]
    if known in ([], ["."]) or ("/" not in word and not address.fits(known, wanted)):
        return None
    fitting = address.meant(known, wanted, folder or name)
    own = os.path.commonpath(fitting)
    if not wanted or address.fits(known, own) != fitting:  # no folder holds these alone
        own = address.only(known, wanted, folder or name)
    return Path(os.path.normpath(f"{top}/{own}"))


def below(directory: Path) -> list[str]:
    """Return the use cases below a directory, or else its packages, as paths from the working directory."""
    paths = list(folders.use_cases(directory)) or [f"{directory}/{path}" for path in all_below(Tree(directory))]
    return address.in_order([*map(os.path.normpath, paths)])


def packages(directory: Path) -> list[str]:
    """Return the packages that are at most three folders below a directory."""
    packages: list[str] = []
    for below, names, files in Tree(directory).walk():
        if below and paths.MANIFEST in files:
            packages.append(os.path.normpath(directory / below))
        names[:] = [name for name in names if name[0] != "." and below.count("/") < _DEEPEST - 1]
    return sorted(packages)


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return some names in words."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def refusal(directory: Path, command: str, rest: Sequence[str] = (), *, all_by: str = "") -> InputError:
    """Return why a command needs another directory, with those that there are; ``all_by`` takes all of them."""
    lacks, use_cases, remedy = _lacking(directory)
    words = [word.partition("=")[0] for word in rest if "=" in word] or rest[:1]
    setters = {word for word in words if command == "set" and not word.startswith("-")}
    if len(use_cases) == 1 and not kustomization.on_disk(directory):  # whose address is that of the directory
        directory = Path(use_cases[0])
        lacks, use_cases, remedy = _lacking(directory)
    if not use_cases:
        above = next((parent for parent in directory.resolve().parents if kustomization.on_disk(parent)), None)
        is_bare = setters and kustomization.on_disk(directory) and not any(delivery.lost([directory], KRMFILE))
        top = os.path.relpath(paths.root_of(directory))
        known = map(Path, below(Path(top)) if is_bare else ())
        if having := [address.of(path) for path in known if setters <= delivery.values(path).keys()]:
            names = [name.removeprefix(f"{top}/") for name in having]
            lacks = f"has no parameters; {' and '.join(sorted(setters))} is one of {listed(names)}"
            remedy = " ".join(map(quote, ("packyard", "set", having[0], *rest)))
        missing = "name the directory of a package; packyard get NAME fetches one"
        hint = f"its use case is {os.path.relpath(above)}" if above else missing
        message = lacks if remedy else "is not a use case, and holds none"
        return InputError(Problem(message, file=str(directory), hint=remedy or hint))
    either = f", or add {all_by} for all" if all_by and len(use_cases) > 1 else ""
    names = [*address.shortened([os.path.relpath(path, directory) for path in use_cases]).values()]
    by_word = {word: at for at, it in zip(use_cases, names, strict=True) for word in (at, it, address.of(Path(at)))}
    meant = next((word for word in rest if word in by_word), "")  # where DIR is not typed first
    if command == "enable" and rest and not meant and len(use_cases) > 1:
        either = f", or for all: echo 'options: [{', '.join(rest)}]' | packyard set {quote(str(directory))} -R -f -"
    if len(several := packages(directory)) > 1 and not meant:
        hint = f"name a use case of one, which packyard setters {quote(several[0])} lists{either}"
        message = f"{lacks}, but holds {len(several)} packages: {listed(several)}"
        return InputError(Problem(message, file=str(directory), hint=hint))
    held = f", but holds {len(use_cases) if len(use_cases) > 1 else 'one'}: {listed(names, _MOST)}"
    message = lacks + ("; DIR goes first" if meant else held)
    fitting = (path for path in use_cases if all(name in delivery.values(Path(path)) for name in setters))
    named = typed(Path(by_word[meant] if meant else next(fitting, use_cases[0])), directory)
    rest = [word for word in rest if word != meant]
    example = " ".join(("packyard", command, named, *map(quote, rest)))
    return InputError(Problem(message, file=str(directory), hint=f"name one: {example}{either}"))


def typed(use_case: Path, above: Path) -> str:
    """Return the address, for a command, of one of several use cases, of which packyard.json may know no other."""
    return address.typed(use_case) if address.of(use_case) != str(above) else quote(str(use_case))


def _lacking(directory: Path) -> tuple[str, list[str], str]:
    """Return what a directory lacks to be what a command needs, those below that have it, and how to add it."""
    tree = Tree(directory)
    if kustomization.on_disk(directory):
        packages = sorted(os.path.normpath(f"{directory}/{path}") for path in all_below(tree))
        typed = quote(str(directory))
        remedy = f"packyard cfg init {typed} makes one, packyard cfg create-setter {typed} NAME VALUE a setter"
        return f"has no {KRMFILE}", packages, next((lost.hint for lost in delivery.lost([directory], KRMFILE)), remedy)
    use_cases = [path for path in below(directory) if path != os.path.normpath(directory)]
    if any(map(tree.has, (KRMFILE, KPTFILE))):
        remedy = "write one that lists the files under resources:, as kustomize create --autodetect does"
        return f"has no {kustomization.FILE}", use_cases, remedy
    return "is not a use case", use_cases, ""


def chosen(directory: Path, command: str, rest: Sequence[str] = (), *, all_by: str = "") -> Path:
    """Return a directory that is a use case, or the only one below it; refuse another one.

    To `set`, where ``all_by`` takes all, one without setters is none.
    """
    own = kustomization.on_disk(directory)
    if not directory.is_dir() or (own and not all_by):
        return directory
    cases = [] if own else below(directory) if all_by else list(folders.use_cases(directory))
    if len(cases) == 1 and (not all_by or any(map(Tree(Path(cases[0])).has, (KRMFILE, KPTFILE)))):
        return Path(os.path.normpath(cases[0]))
    raise refusal(directory, command, rest, all_by=all_by)
