"""One package directory in memory: the bytes of its definitions and of the files that they may reach.

Where these are on disk is known to `directory`; here nothing is read or written.
"""

from __future__ import annotations

from collections.abc import Mapping

from packyard.dataclass import dataclass, replace
from packyard.setters.krmfile import NAME, Krmfile
from packyard.work.memo import Memo, once
from packyard.yaml.document import source_of

#: The name of kpt's file; one of its first format holds definitions as a Krmfile does.
KPTFILE = "Kptfile"
#: What a Kptfile must hold to define anything.
DEFINITIONS = b"openAPI"
_NONE: Mapping[str, bytes] = {}


@dataclass(frozen=True, slots=True)
class PackageFiles:
    """One package directory in memory: its Krmfile, and its resource files by their path below it.

    ``where`` stands before paths in messages; it is empty, or ends in a slash. ``name`` is that of the file with the
    definitions. A ``kptfile`` comes with what it reaches besides: the files of packages below, ``nested``. ``patches``
    are files of RFC 6902, in which nothing is bound, for those who look at them.
    """

    krmfile: bytes
    resources: Mapping[str, bytes]
    where: str = ""
    name: str = NAME
    kptfile: bytes | None = None
    nested: Mapping[str, bytes] = _NONE
    patches: Mapping[str, bytes] = _NONE

    @property
    def is_of_kustomize(self) -> bool:
        """Whether it has definitions as kustomize knows them, in a Krmfile or in a Kptfile of kpt 0.x."""
        return self.name == NAME or DEFINITIONS in self.krmfile

    @property
    def files(self) -> dict[str, bytes]:
        """Every file by its path below the package."""
        kptfile = {} if self.kptfile is None else {KPTFILE: self.kptfile}
        return {self.name: self.krmfile, **kptfile, **self.resources, **self.nested}

    def with_files(self, files: Mapping[str, bytes]) -> PackageFiles:
        """Return the package with other bytes in some of its files."""
        return replace(
            self,
            krmfile=files.get(self.name, self.krmfile),
            resources={path: files.get(path, data) for path, data in self.resources.items()},
            kptfile=None if self.kptfile is None else files.get(KPTFILE, self.kptfile),
            nested={path: files.get(path, data) for path, data in self.nested.items()},
        )


def read_krmfile(package: PackageFiles, memo: Memo | None = None) -> Krmfile:
    """Parse a package's definitions; with a memo once for all that have the same bytes, by the name of the last one."""
    name = package.where + package.name
    krmfile = once(memo, ("definitions", package.krmfile), lambda: Krmfile(source_of(package.krmfile, name)))
    if krmfile.source.name != name:
        krmfile.rename(name)
    return krmfile
