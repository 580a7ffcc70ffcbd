"""The options of the packages in a folder, tried on the use cases there: those that are enabled, and each other one.

Of a built package as it was shipped its authors' lint has tried them. What no longer applies is found by
`builtin.find_misfits`.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from packyard.core.bundle.shipped import package_of
from packyard.core.digest import Digest
from packyard.core.errors import InputError, IntegrityError, UnavailableError
from packyard.core.files import regular
from packyard.core.files.tree import Tree
from packyard.core.kubernetes.schemas import Judge
from packyard.core.work.memo import Memo
from packyard.core.yaml.document import source_of
from packyard.using.kustomize import supported
from packyard.using.options import folder as folders
from packyard.using.options.enabled import EnabledOptions
from packyard.using.options.folder import Folder
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.krmfile import NAME as KRMFILE
from packyard.using.setters.krmfile import parse_krmfile
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.enabled import Option, Trial, TriedOptions
from packyard.writing.checks.finding import Finding
from packyard.writing.checks.parsed import Parsed, parse


class ShippedOptions:
    """Options by the folders that hold them, each read once."""

    def __init__(self, memo: Memo) -> None:
        self._memo = memo
        self._tried: TriedOptions = set()

    def find(
        self,
        package: PackageFiles,
        parsed: Parsed,
        baseline: Iterable[Finding],
        *,
        judges: Sequence[Judge],
        shipped: bool | None,
    ) -> Iterator[Finding]:
        """Yield what is wrong with use cases of a package and their options; ``baseline`` is what is without them.

        Nothing is known of fields whose Krmfile cannot be read.
        """
        if parsed.krmfile is None:
            return
        for there, alone, on in self._use_cases(package, parsed):
            is_judged = all(map(self._is_as_shipped, (there.use_case, there.real)))
            if is_judged and not on:
                continue
            options, defined = self._read(there)
            trial = Trial(
                options=[] if is_judged else options,
                defined=defined,
                judges=judges,
                on=on,
                shipped=shipped,
                tried=self._tried,
            )
            yield from trial.find(alone, baseline)

    def _is_as_shipped(self, folder: str) -> bool:
        """Say whether a folder of a built package has the files that its authors' lint judged."""
        return self._memo.once(("as shipped", folder), partial(_is_as_shipped, folder))

    def _read(self, there: Folder) -> tuple[list[Option], Definitions]:
        return self._memo.once(("options", there.real), partial(_read, there))

    def _use_cases(self, package: PackageFiles, parsed: Parsed) -> Iterator[tuple[Folder, Parsed, list[Option]]]:
        """Yield each use case that has options: where these are, it without them, and those that are enabled."""
        for build in (each for each in parsed.builds if each.kustomizations):
            directory = posixpath.dirname(build.kustomizations[0].source.name)
            with suppress(InputError):  # which is reported where it is
                there = folders.find(Path(directory))
                here = EnabledOptions.read(Tree(Path(directory)), there) if there else None
                if there and here:
                    on = [each for each in self._read(there)[0] if each.name in here.options] if here.options else []
                    yield there, self._without(package, parsed.of(build), directory, here), on

    def _without(self, package: PackageFiles, parsed: Parsed, directory: str, here: EnabledOptions) -> Parsed:
        """Return a use case as it is without its options."""
        if not here.options:
            return parsed
        path = posixpath.join(directory, here.name).removeprefix(package.where)
        alone = parse(package.with_files({path: here.without(here.options)}), self._memo)
        named = parsed.builds[0].kustomizations[0].source.name
        same = (each for each in alone.builds if any(root.source.name == named for root in each.kustomizations))
        return alone.of(next(same))


def _is_as_shipped(folder: str) -> bool:
    with suppress(IntegrityError, InputError, UnavailableError):  # of which verify tells
        if package := package_of(Path(folder)):
            root, described = package
            below = f"{os.path.relpath(folder, root)}/"
            own = {path: digest for path, digest in described.files.items() if path.startswith(below)}
            return bool(own) and all(Digest.of(regular.read(f"{root}/{path}")) == own[path] for path in own)
    return False


def _read(there: Folder) -> tuple[list[Option], Definitions]:
    """Read options, but those that only kustomize understands, and the definitions that all of them have.

    Where a Krmfile cannot be read, nothing is known of the fields of any option.
    """
    tree, options = Tree(Path(there.shown)), list[Option]()
    setters, substitutions = dict[str, Setter](), dict[str, Substitution]()
    for name in there.names():
        with suppress(InputError):
            part = supported.read(Path(there.shown, name), kind="Component")
            options.append(Option(name, part, folders.needed(regular.read(there.file(name), limit=folders.LONGEST))))
        for file in (file for file in (KRMFILE, f"{name}/{KRMFILE}") if tree.has_file(file)):
            try:
                own = parse_krmfile(source_of(tree.read(file), file)).definitions
            except InputError:  # which is reported where it is
                return [], Definitions()
            setters.update(own.setters)
            substitutions.update(own.substitutions)
    return options, Definitions(setters, substitutions)
