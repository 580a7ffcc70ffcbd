"""The objects of a use case, ready for ``kubectl apply -f -``; not before all that must be set is, by the rules."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from packyard.core.bundle import delivery
from packyard.core.errors import BeyondError, InputError, Problem, refuse
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.document import unmerged
from packyard.using.kustomize import builtin
from packyard.using.options.option_setters import OptionSetters, read_enabled
from packyard.using.render import directories, programs
from packyard.using.setters.check import is_refused
from packyard.using.setters.definition import Setter
from packyard.using.setters.krmfile import KRMFILE, Krmfile
from packyard.using.setters.packages import own_krmfile
from packyard.using.setters.refusal import begin, explain
from packyard.using.setters.rules import rule

_PARSED = (KRMFILE, *kustomization.NAMES)  # which say so themselves
_MOST_READ = 1 << 20  # bytes of a file that is looked at for markers: a ConfigMap cannot hold more


@dataclass(frozen=True, slots=True)
class Inputs:
    """What can be set in a directory: the Krmfiles of it and of those that it builds on, and its enabled options."""

    tree: Tree
    krmfiles: Sequence[Krmfile]
    options: Sequence[OptionSetters]

    @classmethod
    def read(cls, tree: Tree) -> "Inputs":
        """Read each Krmfile once; files that a merge left undecided are refused, in whatever language they are."""
        folders = list(directories.folders(tree))
        places = (place for folder in folders for place in (folder.root_dir, folder.root_dir.parent))
        refuse(delivery.lost(dict.fromkeys(places), KRMFILE))  # options have one above them
        refuse(problem for folder in folders for problem in _unmerged(folder))
        return cls(tree, [*filter(None, map(own_krmfile, folders))], read_enabled(tree))

    @property
    def setters(self) -> list[Setter]:
        """The setters of the directory itself and of its options."""
        return [setter for setter in self._every if self._is_here(setter)]

    @property
    def unset(self) -> list[Setter]:
        """The required setters that nobody has given a value."""
        return [setter for setter in self._every if setter.must_be_set]

    def check(self, command: str = "") -> None:
        """Refuse required setters that are unset, values that definitions refuse, and rules that are broken.

        ``command`` sets what is written behind it, for hints; by default `packyard set DIR`.
        """
        problems = [_problem(setter, self._settable_in(setter), command) for setter in self.unset]
        problems += [
            explain(setter, setter.texts, self._settable_in(setter), typed=command)
            for setter in self._every
            if setter.is_set
            and not setter.must_be_set
            and is_refused(setter, setter.texts)  # set by others, or by hand
        ]
        for krmfile in self.krmfiles:
            problems += [*krmfile.misnamed(), *rule.find_broken(krmfile.root, krmfile.definitions.setters)]
        for option in self.options:
            problems += rule.find_broken(option.krmfile.root, option.krmfile.definitions.setters, option.setters)
        refuse(problems)

    @property
    def _every(self) -> list[Setter]:
        """The setters of all Krmfiles, and those of options that share one, each once."""
        own = [setter for krmfile in self.krmfiles for setter in krmfile.definitions.setters.values()]
        shared = {name: setter for option in self.options for name, setter in option.setters.items()}
        return [*own, *shared.values()]

    def _settable_in(self, setter: Setter) -> str:
        """Return the directory that `packyard set` takes for a setter: this one, or one that it builds on."""
        return str(self.tree.root_dir if self._is_here(setter) else Path(setter.file).parent)

    def _is_here(self, setter: Setter) -> bool:
        return setter.file == self.tree.prefix + KRMFILE or any(setter.name in item.setters for item in self.options)


def render(tree: Tree, *, path: str, inputs: Inputs | None = None, command: str = "") -> bytes:
    """Build a directory by the first of kustomize, kubectl and our own build that is there.

    ``path`` is where programs are looked for, as in the variable PATH; an empty one asks for our own build. A program
    that is there and fails is an error: nothing falls back. ``inputs`` are the directory's, where they are known.
    ``command`` is that of `Inputs.check`.

    Raises `InputError` naming every required setter that is still unset, every value that was set and that its
    definition refuses, and every rule between setters that is broken, before anything is built.
    """
    (inputs or Inputs.read(tree)).check(command)
    program = programs.find(path)
    if program is None:
        return builtin.build(tree)
    try:
        return program.build(tree.root_dir)
    except InputError:
        with suppress(BeyondError):
            builtin.build(tree)  # which names the file and the line
        raise


def _unmerged(tree: Tree) -> Iterator[Problem]:
    """Yield the files with markers; one that may not be read is left to kustomize, which may not need it."""
    for file in sorted(tree.root_dir.iterdir()) if tree.root_dir.is_dir() else ():
        is_read = file.name not in _PARSED and tree.has_file(file.name) and os.access(file, os.R_OK)
        if is_read and file.stat().st_size <= _MOST_READ:
            with suppress(InputError):  # a link out of the package, which no build follows
                if problem := unmerged(str(file), tree.read(file.name).decode("utf-8", "replace")):
                    yield problem


def _problem(setter: Setter, directory: str, command: str) -> Problem:
    described = f": {setter.description}" if setter.description else ""
    value = quote(setter.example or "VALUE")
    return setter.problem(f"{setter.name} is not set{described}", f"{begin(directory, command)} {setter.name}={value}")
