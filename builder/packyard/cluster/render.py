"""The objects of a use case, ready for ``kubectl apply -f -``; not before all that must be set is, by the rules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from packyard.cluster import build, kustomize
from packyard.errors import Problem, refuse
from packyard.setters.definition import Setter
from packyard.setters.krmfile import NAME, Krmfile
from packyard.setters.rules import rule
from packyard.text.document import decode, parse
from packyard.text.node import Mapping, Scalar, Sequence, Source


def render(directory: Path, *, path: str) -> bytes:
    """Build a directory by the first of kustomize, kubectl and our own build that is there.

    ``path`` is where programs are looked for, as in the variable PATH; an empty one asks for our own build. A program
    that is there and fails is an error: nothing falls back.

    Raises `InputError` naming every required setter that is still unset and every rule between setters that is broken,
    before anything is built.
    """
    krmfiles = _krmfiles(directory)
    problems = [_problem(setter, directory) for krmfile in krmfiles for setter in _unset(krmfile)]
    refuse([*problems, *(problem for krmfile in krmfiles for problem in _broken(krmfile))])
    program = kustomize.find(path)
    return program.build(directory) if program else build.build(directory)


def unset(directory: Path) -> list[Setter]:
    """Return the required setters that nobody has given a value, of a directory and of those that it builds on."""
    return [setter for krmfile in _krmfiles(directory) for setter in _unset(krmfile)]


def _unset(krmfile: Krmfile) -> list[Setter]:
    return [setter for setter in krmfile.definitions.setters.values() if setter.must_be_set]


def _broken(krmfile: Krmfile) -> Iterator[Problem]:
    return rule.find_broken(krmfile.root, krmfile.definitions.setters)


def _krmfiles(directory: Path) -> list[Krmfile]:
    files = [folder / NAME for folder in dict.fromkeys(_reached(directory, ()))]
    return [Krmfile(Source(str(file), decode(file.read_bytes(), str(file))[1])) for file in files if file.is_file()]


def _reached(directory: Path, within: tuple[Path, ...]) -> Iterator[Path]:
    """Yield a directory, and the local ones that its kustomization names, a component that is switched on say."""
    yield directory
    file = build.find(directory)
    for document in parse(file.read_bytes(), str(file))[:1]:
        root = document.root
        for field in ("resources", "bases", "components"):
            listed = root.get(field) if isinstance(root, Mapping) else None
            for item in listed.items if isinstance(listed, Sequence) else ():
                folder = directory / item.value.value if isinstance(item.value, Scalar) else directory
                if folder.is_dir() and folder.resolve() not in (*within, directory.resolve()):
                    yield from _reached(folder, (*within, directory.resolve()))


def _problem(setter: Setter, directory: Path) -> Problem:
    described = f": {setter.description}" if setter.description else ""
    value = setter.example or "VALUE"
    return setter.problem(f"{setter.name} is not set{described}", f"packyard set {directory} {setter.name}={value}")
