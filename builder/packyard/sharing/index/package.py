"""A package in an index: the record of its versions, what an index lists of it, and choosing a version.

The record has the versions, the oldest first, which of them are yanked or removed, and why:

{"apiVersion": "packyard/v1", "kind": "Package", "name": "bert", "versions":
    {"1.0": {"tar": "sha256:…", "digest": "sha256:…", "size": 1234, "yanked": "diverges", …}, "1.1": {…}}}

What is listed is the digest of the record, what `packyard list` prints, and the words that find it:

{"record": "sha256:…", "version": "1.1", "title": "BERT", "model": {"framework": "pytorch"}, "useCases": ["train"]}
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from packyard.core.bundle import record, reference
from packyard.core.bundle.record import FaultError, Record, checked, in_json, list_of, map_of, object_of, text
from packyard.core.bundle.reference import LATEST, Reference
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, Problem
from packyard.sharing.entry import IndexEntry

KIND = "Package"
_NAMED = 5  # versions in a message
_WORD = re.compile(r"[^\W_]+")
_NOWHERE = Digest("")
_TITLE = 100  # characters of a title
_RAISE = "a version that was removed is never published again: raise the version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """The versions of a name; those that were removed are among them.

    ``versions`` may be read one by one, as they are asked for: what a registry has under a tag is known only then, and
    may be nothing.
    """

    name: str
    versions: Mapping[str, IndexEntry] = field(default_factory=dict)
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes, digest: Digest, *, file: str) -> "Package":
        """Read a record that has this digest, or raise `IntegrityError`."""
        digest.verify(data, what=file)
        return record.parse(data, cls._read, kind=KIND, file=file)

    @classmethod
    def _read(cls, fields: Record) -> "Package":
        name = fields.take("name", checked(reference.check_name))
        listed = fields.take("versions", map_of(Record))
        named = {version: {**entry.rest(), "name": name, "version": version} for version, entry in listed.items()}
        versions = Record({"versions": named}).take("versions", map_of(object_of(IndexEntry)))
        if not versions:
            raise FaultError("expected one or more", "versions")
        return cls(name=name, versions=versions, extra=fields.rest())

    def to_bytes(self) -> bytes:
        """Return the record."""
        versions = {entry.version: entry.document() for entry in self.every}
        for document in versions.values():
            del document["name"], document["version"]
        fields = {"apiVersion": record.API_VERSION, "kind": KIND, "name": self.name, "versions": versions}
        return record.to_line({**fields, **self.extra})

    @property
    def every(self) -> tuple[IndexEntry, ...]:
        """The versions, the oldest first."""
        return tuple(sorted(self.versions.values(), key=lambda version: reference.order(version.version)))

    @property
    def entries(self) -> tuple[IndexEntry, ...]:
        """The versions that are there, the oldest first."""
        return tuple(entry for entry in self.every if not entry.removed)

    @property
    def removed(self) -> tuple[IndexEntry, ...]:
        """The versions that were removed, the oldest first."""
        return tuple(entry for entry in self.every if entry.removed)

    @property
    def latest(self) -> IndexEntry | None:
        """The highest version that is not a pre-release, or the highest if all are; yanked ones do not count."""
        return next((entry for entry in self.newest() if not entry.yanked), None)

    def newest(self, admits: Callable[[str], bool] = lambda _: True) -> Iterator[IndexEntry]:
        """Yield the versions that are there, and admitted: the highest first, every pre-release behind all others."""
        admitted = sorted(filter(admits, self.versions), key=reference.newest, reverse=True)
        return (entry for version in admitted if (entry := self.versions.get(version)) and not entry.removed)

    @property
    def leading(self) -> IndexEntry:
        """The version that says what the package is: the latest, or the last one where none is offered."""
        return self.latest or self.every[-1]

    def get(self, version: str) -> IndexEntry:
        """Return the entry of a version, however that is spelled, or raise `InputError` with those that are there."""
        entry = self.versions.get(version) or self._spelled(version)
        if entry is None or entry.removed:
            problem = why_gone(entry) if entry else f"the channel has no version {version!r} of {self.name}"
            raise InputError(Problem(problem, hint=f"it has {self.last_versions()}"))
        return entry

    def last_versions(self) -> str:
        """Return the last few versions, the newest first, for a message."""
        return ", ".join(entry.version for entry in reversed(self.entries[-_NAMED:])) or "no other version"

    def is_new(self, entry: IndexEntry) -> bool:
        """Return whether a version is not there yet; a `ConflictError` says what is in the way."""
        present = self.present(entry.version)
        if present and not present.is_same_file(entry):
            raise ConflictError(_conflict(present, entry))
        return present is None

    def present(self, version: str) -> IndexEntry | None:
        """Return what is there as a version, if anything; refuse one that was removed, or has another spelling."""
        present = self._spelled(version)
        if present and present.removed:
            raise ConflictError(Problem(why_gone(present), hint=_RAISE))
        if present and present.version != version:
            problem = f"{self.name}@{version} is published as {present}: one version has one spelling in a channel"
            raise ConflictError(Problem(problem, hint=f"publish as {present.version}, or raise the version"))
        return present

    def _spelled(self, version: str) -> IndexEntry | None:
        """Return what is there as a version in one of its spellings, this one first."""
        identity = reference.identity(version)
        same = [known for known in self.versions if reference.identity(known) == identity]
        same.sort(key=version.__ne__)
        return next(filter(None, map(self.versions.get, same)), None)

    def put(self, entry: IndexEntry) -> "Package":
        """Return the package with an entry, in place of the one of its version if there is one."""
        return replace(self, versions={**self.versions, entry.version: entry})


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A package by its latest version: a title, the facts of its model, the paths of its use cases, what they need.

    ``version`` is empty where every version is yanked or removed.
    """

    name: str = field(metadata=in_json(checked(reference.check_name)))
    record: Digest = field(default=_NOWHERE, metadata=in_json(record.digest))
    version: str = field(default="", metadata=in_json(checked(reference.check_version), ""))
    title: str = field(default="", metadata=in_json(text, ""))
    model: Mapping[str, str] = field(default_factory=dict, metadata=in_json(map_of(text), {}))
    use_cases: Sequence[str] = field(default=(), metadata=in_json(list_of(text), ()))
    kind: str = field(default="", metadata=in_json(text, ""))
    needs: Sequence[str] = field(default=(), metadata=in_json(list_of(text), ()))
    extra: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, package: Package, digest: Digest) -> "Summary":
        """Summarize a package, whose record has a digest."""
        leading = package.leading
        return cls(
            name=package.name,
            record=digest,
            version=package.latest.version if package.latest else "",
            title=title_of(leading),
            model=leading.model,
            use_cases=leading.use_cases,
            kind=leading.kind,
            needs=leading.needs,
        )

    def document(self) -> dict[str, object]:
        """Return its JSON, without the name, under which an index lists it."""
        fields: dict[str, object] = record.document(self)
        return {key: value for key, value in fields.items() if key != "name"}

    def has(self, words: Iterable[str]) -> bool:
        """Say whether every word begins a word of its name, its title, its facts, its use cases or what these need."""
        own = words_of((self.name, self.title, *self.model.values(), *self.use_cases, *self.needs))
        return all(any(word.startswith(start) for word in own) for start in words)


def title_of(entry: IndexEntry) -> str:
    """Return the title of a version."""
    return short(entry.description.partition(": ")[0])


def words_of(texts: Iterable[str]) -> list[str]:
    """Return the words in some texts as they are compared, each once: ``FP32-train`` has ``fp32`` and ``train``."""
    return list(dict.fromkeys(word for text in texts for word in _WORD.findall(text.casefold())))


def short(title: str) -> str:
    """Return a title of limited length."""
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"


#: Of a name that is in no channel.
NO_VERSIONS = Package(name="")


def choose(package: Package, wanted: Reference) -> tuple[IndexEntry, str]:
    """Return what is asked for, and why it is that one, or raise `InputError`, naming what there is.

    Without a version, and as ``latest``, it is the highest that is not a pre-release, or the highest if all are. One
    that is yanked is chosen only if its version is asked for.
    """
    if wanted.version is not None:
        return package.get(wanted.version), "the version that was asked for"
    yanked = list[IndexEntry]()
    for entry in package.newest(wanted.admits):
        if not entry.yanked:
            return entry, _why(wanted, package, entry, yanked)
        yanked.append(entry)
    raise InputError(_nothing(package, wanted, yanked))


def _nothing(package: Package, wanted: Reference, yanked: Sequence[IndexEntry]) -> Problem:
    if yanked:
        last = max(yanked, key=lambda entry: reference.order(entry.version))
        problem = f"every version of {wanted} is yanked: {last.version}: {last.yanked}"
        return Problem(problem, hint=f"to get one all the same, ask for it: {last}")
    if not package.entries:
        return Problem(f"every version of {package.name} was removed; the last: {why_gone(package.removed[-1])}")
    return Problem(f"no version of {package.name} is in {wanted.choice}", hint=f"it has {package.last_versions()}")


def _why(wanted: Reference, package: Package, entry: IndexEntry, yanked: Sequence[IndexEntry]) -> str:
    is_range = wanted.choice not in ("", LATEST)
    count = sum(map(wanted.admits, package.versions))
    why = f"the highest of {count} in {wanted.choice}" if is_range else "the latest version"
    if yanked:
        why += f"; {yanked[0].version} is yanked: {yanked[0].yanked}"
    elif not is_range and any(reference.order(item) > reference.order(entry.version) for item in package.versions):
        why += " that is not a pre-release"
    return why


def why_gone(entry: IndexEntry) -> str:
    """Say that a version was removed, and why."""
    return f"{entry} was removed: {entry.removed}"


def other_content(entry: IndexEntry, tar: Digest, new: Digest) -> Problem:
    """Say that a version is published with another tar than the new one."""
    problem = f"{entry} is published with other content: its tar is {tar}, the new one {new}"
    return Problem(problem, hint="a published version never changes: raise the version")


def _conflict(present: IndexEntry, entry: IndexEntry) -> Problem:
    if present.tar != entry.tar:
        return other_content(present, present.tar, entry.tar)
    return Problem(
        f"{present} is listed as {present.digest}, the file is {entry.digest}: the same tar, compressed differently",
        hint="publish the file that is listed",
    )
