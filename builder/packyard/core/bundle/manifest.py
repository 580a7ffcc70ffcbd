"""``packyard.json``, which describes a bundle: the digests of its files, and the setters and needs of each use case.

Only machines write it. The version of packyard is not in it: the same sources give the same bytes whichever release
packed them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packyard.core.bundle import record, reference
from packyard.core.bundle.prerequisite import Prerequisite
from packyard.core.bundle.record import FaultError, checked, digest, in_json, list_of, map_of, object_of, text
from packyard.core.digest import Digest
from packyard.core.errors import IntegrityError, Problem, refuse
from packyard.core.files import paths

if TYPE_CHECKING:
    from packyard.core.bundle.archive import Member

FILE = paths.MANIFEST
LIMIT = 4 << 20  # parsed, it takes twenty times as much memory; the largest has 90 KB
#: The kinds of bundles: of a package, and of a library that packages are built on.
BUNDLE, LIBRARY = "Bundle", "Library"

#: A setter's shipped value: a text, the items of a list, or None where it is required.
ShippedValue = str | tuple[str, ...] | None


def _value(value: object) -> ShippedValue:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise FaultError("expected a text, a list of texts or null")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippedUseCase:
    """The setters and requirements of one directory that users deploy, and what it is for.

    ``requires`` are texts such as ``PersistentVolumeClaim PVC_NAME``, where the setter's name stands for a value that
    is still to be set. ``after`` are the keys of the use cases that run before it, in the order of work. The folder of
    a package's options has setters only.
    """

    setters: Mapping[str, ShippedValue] = field(metadata=in_json(map_of(_value)))
    requires: tuple[str, ...] = field(default=(), metadata=in_json(list_of(text), ()))
    description: str = field(default="", metadata=in_json(text, ""))
    after: tuple[str, ...] = field(default=(), metadata=in_json(list_of(text), ()))
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The content of ``packyard.json``; ``files`` names every file of the bundle but this one.

    A library has parts in the place of use cases, with the setters that they define; ``.`` are those that all share.
    ``kubernetes`` are the versions whose schemas its objects keep to. ``moved`` tells users what replaced a former
    setter or use case. ``requires`` is what authors say that a cluster must have, ``options`` the same of options
    by their names. ``exceptions`` are those that sources make to rules of lint: by the path of a file and by the rule,
    the reason.
    """

    kind: str = field(default=BUNDLE, metadata=in_json(text, BUNDLE))
    name: str = field(metadata=in_json(checked(reference.check_name)))
    version: str = field(metadata=in_json(checked(reference.check_version)))
    model: Mapping[str, str] = field(metadata=in_json(map_of(text)))
    images: tuple[str, ...] = field(default=(), metadata=in_json(list_of(text)))
    kubernetes: tuple[str, ...] = field(default=(), metadata=in_json(list_of(text), ()))
    moved: Mapping[str, str] = field(default_factory=dict, metadata=in_json(map_of(text), {}))
    requires: tuple[Prerequisite, ...] = field(default=(), metadata=in_json(list_of(object_of(Prerequisite)), ()))
    options: Mapping[str, tuple[Prerequisite, ...]] = field(
        default_factory=dict, metadata=in_json(map_of(list_of(object_of(Prerequisite))), {})
    )
    exceptions: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict, metadata=in_json(map_of(map_of(text)), {})
    )
    use_cases: Mapping[str, ShippedUseCase] = field(metadata=in_json(map_of(object_of(ShippedUseCase))))
    files: Mapping[str, Digest] = field(default_factory=dict, metadata=in_json(map_of(digest)))
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes) -> "Manifest":
        """Read the file, or raise `IntegrityError`; what `to_bytes` wrote keeps its bytes, unknown fields included."""
        if len(data) > LIMIT:
            raise IntegrityError(Problem(f"is larger than {LIMIT} bytes", file=FILE))
        return record.parse(data, lambda fields: fields.take_all(cls), kind=(BUNDLE, LIBRARY), file=FILE)

    def to_bytes(self) -> bytes:
        """Return the file's bytes, the same for equal manifests, with a line for each file."""
        fields = {"apiVersion": record.API_VERSION, "kind": BUNDLE, **record.document(self)}
        return record.to_lines(fields, levels={"exceptions": 1, "useCases": 2, "files": 1})

    def deployed(self) -> tuple[str, ...]:
        """Return the paths of the use cases in the order of work, without folders of options.

        It is that of package.yaml, but before each stands what has to run before it.
        """
        use_cases = (path for path in self.use_cases if path.rpartition("/")[2] != paths.OPTIONS)
        after = {path: self.use_cases[path].after for path in use_cases}
        ordered = (name for path, earlier in after.items() for name in (*earlier, path))
        return tuple(dict.fromkeys(path for path in ordered if path in after))

    def required_of(self, path: str, options: Iterable[str] = ()) -> tuple[Prerequisite, ...]:
        """Return what authors say that the use case at a path needs, and options that are enabled in it."""
        words = set(self.use_cases[path].requires) if path in self.use_cases else set()
        own = (require for require in self.requires if words.issuperset(require.words))
        return tuple(dict.fromkeys([*own, *(required for name in options for required in self.options.get(name, ()))]))

    def different(self, digests: Mapping[str, Digest]) -> dict[str, str]:
        """Return the paths of files that differ, by their digests: ``changed``, ``missing`` or ``extra``.

        ``packyard.json`` is ignored.
        """
        paths = sorted(path for path in {*self.files, *digests} - {FILE} if self.files.get(path) != digests.get(path))
        return {
            path: "missing" if path not in digests else "changed" if path in self.files else "extra" for path in paths
        }

    def compare(self, digests: Mapping[str, Digest]) -> None:
        """Raise `IntegrityError` if files are `different`, naming each."""
        words = {"missing": "is missing", "extra": f"is extra: {FILE} does not name it"}
        problems = (
            Problem(words.get(state) or f"expected {self.files[path]}, found {digests[path]}", file=path)
            for path, state in self.different(digests).items()
        )
        refuse(problems, IntegrityError)


def file_digests(members: "Iterable[Member]") -> dict[str, Digest]:
    """Return the digests of files as `Manifest.files` has them."""
    return {member.path: Digest.of(member.data) for member in members if member.path != FILE}
