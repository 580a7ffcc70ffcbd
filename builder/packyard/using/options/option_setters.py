"""The values of options: the setters of `options/Krmfile`, and which option has which.

A value stands once in a package: it holds for every use case that has the option enabled.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from packyard.core.bundle import address, delivery
from packyard.core.errors import Problem, is_a_letter_away
from packyard.core.files import paths
from packyard.core.files.tree import Tree
from packyard.using.options.folder import description, has_options
from packyard.using.options.options import Options, find, names
from packyard.using.setters import packages
from packyard.using.setters.definition import Setter
from packyard.using.setters.krmfile import EMPTY, KRMFILE, Krmfile
from packyard.using.setters.listing import ListedSetter, list_setters, tagged
from packyard.using.setters.packages import PackageFiles, all_below, find_packages, read_krmfile, read_package
from packyard.using.setters.patterns import choices
from packyard.using.setters.plan import Given

_FEW = 2  # setters that a name may mean


class Beside(NamedTuple):
    """What a change of a directory reaches beside it, in the folder of options.

    ``tree`` holds the directory and that folder, ``directory`` is the path from there; ``names`` are the setters that
    are reached there, each with the options that have it.
    """

    tree: Tree
    directory: str
    names: Mapping[str, Sequence[str]]


class OptionSetters(NamedTuple):
    """One option of a package.

    ``files`` are the Krmfile of all options, which may be `EMPTY`, and the option's own resource files; ``krmfile`` is
    that Krmfile parsed; ``listed`` are the setters that reach a field in the files.
    """

    name: str
    description: str
    files: PackageFiles
    krmfile: Krmfile
    listed: Sequence[ListedSetter]
    is_enabled: bool

    @property
    def setters(self) -> dict[str, Setter]:
        """The setters by their names."""
        return {listed_setter.setter.name: listed_setter.setter for listed_setter in self.listed}


def read_options(use_case: Tree) -> list[OptionSetters]:
    """Return the options of a use case's package, by name; none where it has no options."""
    options = find(use_case)
    return list(_read(options, options.enabled if has_options(use_case) else ())) if options else []


def read_enabled(use_case: Tree) -> list[OptionSetters]:
    """Return the options that a use case has enabled."""
    return [option for option in read_options(use_case) if option.is_enabled] if has_options(use_case) else []


def list_choices(tree: Tree) -> dict[str, list[str]]:
    """Return the setters of a package or of those below and of enabled options, each with the values to choose from."""
    by_setter: dict[str, list[str]] = {}
    for package in all_below(tree):
        files = read_package(tree, package)
        use_case = tree.at(tree.root_dir / package)
        listed = [listed_setter for option in read_enabled(use_case) for listed_setter in option.listed]
        own = read_krmfile(files).definitions.setters.values()
        for setter in (*own, *(listed_setter.setter for listed_setter in (*tagged(files), *listed))):
            by_setter.setdefault(setter.name, []).extend(choices(setter))
    return by_setter


def reach(tree: Tree, names: Sequence[str], *, recursive: bool, options: Collection[str] = ()) -> Beside | None:
    """Find the options that setting these names in a use case reaches; None where it reaches none.

    ``recursive`` asks for all use cases below. ``options`` are going to be enabled.
    """
    top_options = find(tree)
    if top_options is None:
        return None
    real, below = top_options.real, find_packages(tree, recursive=recursive, kpt=True)
    use_cases = [tree.at(tree.root_dir / package) for package in below]
    on = {*options}.union(*(Options(item, real).enabled for item in use_cases if has_options(item)))
    if not on or not packages.own_setters(top_options.folder).keys() & {*names}:
        return None
    enabled = [option for option in _read(top_options, on) if option.is_enabled]
    by_name = {name: having for name in names if (having := [item.name for item in enabled if name in item.setters])}
    if not by_name:
        return None
    top = os.path.dirname(real)
    path = paths.below(top_options.use_case, top)
    return Beside(tree.at(paths.seen(tree.root_dir, top)), path, by_name)


def elsewhere(use_case: Tree, problem: Problem) -> Problem:
    """Say of a setter that is missing in a use case that an option has it, or another version has it by another name.

    That another use case has it is a hint. What is missing in a line of a values file stays a problem of that line.
    """
    name, directory, known = problem.missing, use_case.root_dir, None
    if not name:
        return problem
    if problem.line and is_a_letter_away(name, "options"):
        known = problem._replace(hint="did you mean 'options'?")
    elif having := disabled(use_case, name):
        message = f"{name} is a parameter of {listed(having)}, which {directory} has not enabled"
        hint = f"packyard enable {address.typed(directory)} {having[0].name}"
        known = having[0].setters[name].problem(message, hint)
    elif replacement := delivery.replacement(directory, name):
        known = replacement
    elif name in names(directory):
        known = problem._replace(hint=f"{name} is an option: packyard enable {address.typed(directory)} {name}")
    elif not problem.is_guess and (place := _others(directory, name)):
        known = problem._replace(hint=f"{place} has it")
    elif meant := _described(use_case, name, 1 if problem.is_guess else _FEW):
        known = problem._replace(hint=f"did you mean {meant}?")
    is_placed = known and not problem.line and known.file
    return known._replace(file=problem.file, line=problem.line) if known and not is_placed else known or problem


def _others(directory: Path, name: str) -> str:
    """Return the address of a use case of the package that has a setter."""
    package = delivery.package_of(directory)
    having = [path for path, item in package[1].use_cases.items() if name in item.setters] if package else []
    return address.of(Path(paths.seen(directory, package[0]), having[0])) if package and having else ""


def _described(use_case: Tree, name: str, most: int) -> str:
    """Return the setters, of the use case or of options, whose names and descriptions have every word of a name.

    Of a word one of several counts for many; LR stands for LEARNING_RATE.
    """
    words = _stems(name)
    setters = [("", setter) for setter in packages.own_setters(use_case).values()]
    for option in read_options(use_case):
        setters += ((f" of the option {option.name!r}", setter) for setter in option.setters.values())
    initials = re.compile(r"(?<![^\W_])[^\W_]")
    texts = {
        f"{item.name!r}{where}": f"{item.name} {''.join(initials.findall(item.name))} {item.description}"
        for where, item in setters
    }
    matching = [shown for shown, text in texts.items() if words <= _stems(text)]
    return " or ".join(matching) if len(matching) <= most else ""


def _stems(text: str) -> set[str]:
    return {word.removesuffix("s") for word in re.findall(r"[^\W_]+", text.casefold())}


def disabled(use_case: Tree, name: str) -> list[OptionSetters]:
    """Return the options that have a setter; none if the use case has one of them enabled."""
    having = [option for option in read_options(use_case) if name in option.setters]
    return [] if any(option.is_enabled for option in having) else having


def listed(options: Sequence[OptionSetters]) -> str:
    """Name options in a sentence."""
    return f"the option {' and '.join(repr(option.name) for option in options)}"


def idle(use_case: Tree, values: Mapping[str, Sequence[str]], options: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the names of values files that only options have which are not enabled, nor going to be, and say so.

    What is typed is none of these: it is refused. A value that begins as the option's does stays as it is.
    """
    given = {name for name, texts in values.items() if isinstance(texts, Given)}
    having = [option for option in read_options(use_case) if given & option.setters.keys()] if given else []
    own = packages.own_setters(use_case).values() if having else ()
    for name in sorted(given - list_choices(use_case).keys()) if having else ():
        found = [option for option in having if name in option.setters]
        if found and not {*options} & {option.name for option in found}:
            start = f"{found[0].setters[name].value or ' '}/"
            alike = (item for item in own if item.value.startswith(start) and item.name not in values)
            stays = "".join(f" ({item.name} stays {item.value})" for item in alike)
            yield name, f"{name} is a parameter of {listed(found)}, which is not enabled: passed over{stays}"


def _read(options: Options, on: Collection[str]) -> Iterator[OptionSetters]:
    tree = options.folder
    shared = read_package(tree, "") if tree.has_file(KRMFILE) else PackageFiles(EMPTY, {}, tree.prefix)
    krmfile = read_krmfile(shared)
    for name in options.names():
        resources = {path: data for path, data in shared.resources.items() if path.startswith(f"{name}/")}
        files = shared._replace(resources=resources)
        listed = [row for row in list_setters(files, krmfile.definitions) if row.field_count]
        text = description(tree.read(options.option_file(name)))
        yield OptionSetters(name, text, files, krmfile, listed, is_enabled=name in on)
