"""Everything that setting some values asks for: planned and checked as a whole, on bytes, before anything is written.

    plan(package, {"TAG": ["1.8"]}).files  ->  {"Krmfile": b"…", "deployment.yaml": b"…"}

Only the bytes of bound scalars and of the setters' own entries in the Krmfile change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from packyard.dataclass import dataclass, replace
from packyard.errors import InputError, Problem, refuse, shown, suggest
from packyard.setters import comment, value
from packyard.setters.definition import Definitions, Setter
from packyard.setters.fieldedits import FieldChange, FieldEdits
from packyard.setters.krmfile import Krmfile
from packyard.setters.packagefiles import PackageFiles, read_krmfile
from packyard.yaml.document import decode, parse_shared
from packyard.yaml.edit import Edit
from packyard.yaml.node import Source
from packyard.yaml.proof import apply_to_file

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from typing import Any

_NOTHING: Mapping[str, Any] = {}
_NO_DEFINITIONS = Definitions()


@dataclass(frozen=True, slots=True)
class Plan:
    """What would change: the fields, the new bytes of each file that differs, and each setter's number of fields.

    ``edits`` are those that made the new bytes of resource files, where they are known.
    """

    changes: tuple[FieldChange, ...] = ()
    files: Mapping[str, bytes] = _NOTHING
    counts: Mapping[str, int] = _NOTHING
    definitions: Definitions = _NO_DEFINITIONS
    edits: Mapping[str, Sequence[Edit]] = _NOTHING


def plan(
    package: PackageFiles,
    values: Mapping[str, Sequence[str]],
    *,
    mark: bool = True,
    set_by: str = "",
    description: str = "",
    krmfile: Krmfile | None = None,
    copies: Copies | None = None,
) -> Plan:
    """Plan to give setters these values, a list setter any number of them, the others the first; none empties them.

    ``mark`` records them as set by a user; ``krmfile`` is the package's, where it was read already; ``copies`` is that
    of a run over many packages. Raises `InputError` with every fault of every value.
    """
    refuse(Problem(f"{shown(text)} is not text in UTF-8") for text in (set_by, description) if not value.is_text(text))
    krmfile = krmfile or read_krmfile(package)
    changed = {
        name: replace(setter, is_set=mark or setter.is_set, set_by=set_by if mark else setter.set_by)
        for name, setter in _with_values(krmfile.definitions, values, package).items()
    }
    return _plan(package, krmfile, changed, description, copies or Copies())


def plan_fields(resources: Mapping[str, bytes], definitions: Definitions, changed: Mapping[str, Setter]) -> Plan:
    """Plan to give the fields of files the values of changed setters; the definitions are kept elsewhere."""
    return _plan_fields(PackageFiles(b"", resources), definitions.with_setters(changed), changed, Copies())


#: The values that a package was shipped with, by setter: a text, the items of a list, None for what is required.
Shipped = Mapping[str, "str | Sequence[str] | None"]
NOTHING_SHIPPED: Shipped = {}


def plan_unset(package: PackageFiles, names: Sequence[str], shipped: Shipped = NOTHING_SHIPPED) -> Plan:
    """Plan to take values back to the defaults of their definitions, else to what was shipped; they are not set then.

    A required setter without a default goes back to empty, so that it has to be set again.
    """
    krmfile = read_krmfile(package)
    setters = krmfile.definitions.setters
    refuse(_unknown(name, setters, package.where + package.name) for name in names if name not in setters)
    refuse(without_default(package, names, shipped).values())
    changed = {name: _unset(setters[name], shipped.get(name)) for name in names}
    return _plan(package, krmfile, changed, "", Copies())


def without_default(package: PackageFiles, names: Sequence[str], shipped: Shipped) -> dict[str, Problem]:
    """Return a problem for each setter of the package that has no value to go back to."""
    setters = read_krmfile(package).definitions.setters
    return {
        name: setters[name].problem(
            f"setter {name!r} has no default to go back to", f"set it: packyard set DIR {name}=VALUE"
        )
        for name in names
        if name in setters
        and setters[name].default is None
        and not setters[name].required
        and shipped.get(name) is None
    }


def _unset(setter: Setter, shipped: str | Sequence[str] | None) -> Setter:
    given = setter.default if setter.default is not None else shipped
    text = given if isinstance(given, str) else ""
    values = tuple(given or ()) if not isinstance(given, str) else ()
    return replace(setter, value=text, values=values if setter.is_list else setter.values, is_set=False, set_by="")


def _with_values(
    definitions: Definitions, values: Mapping[str, Sequence[str]], package: PackageFiles
) -> dict[str, Setter]:
    problems: list[Problem] = []
    refused: list[tuple[Setter, Sequence[str]]] = []
    changed: dict[str, Setter] = {}
    for name, texts in values.items():
        setter = definitions.setters.get(name)
        if setter is None:
            problems.append(_unknown(name, definitions.setters, package.where + package.name))
            continue
        if value.faults(setter, texts):
            from packyard.setters.refusal import explain

            problems.append(explain(setter, texts, package.where))
            refused.append((setter, texts))
        first = next(iter(texts), "")
        changed[name] = replace(setter, values=tuple(texts)) if setter.is_list else replace(setter, value=first)
    if problems and len(refused) == len(problems):
        raise value.ValuesError(refused, *problems)
    refuse(problems)
    return changed


def _unknown(name: str, known: Mapping[str, Setter], where: str) -> Problem:
    hint = suggest(name, known) or "packyard setters DIR lists them"
    return Problem(f'setter "{name}" is not found', file=where, hint=hint, missing=name)


class Copies:
    """What a run that gives many packages the same values has met: in a tree of copies most files are known by then.

    Files are known by all of their bytes, and resource files by those of their Krmfile too.
    """

    def __init__(self) -> None:
        self._krmfiles: dict[bytes, Krmfile] = {}
        self._planned: dict[tuple[bytes, bytes], _Planned] = {}
        self.proved: set[object] = set()  # what `proof` need not prove again

    def read_krmfile(self, package: PackageFiles) -> Krmfile:
        """Return what `read_krmfile` does; it is good until the next one is asked for."""
        krmfile = self._krmfiles.get(package.krmfile)
        if krmfile is None:
            name = package.where + package.name
            source = Source(name, decode(package.krmfile, name)[1])
            krmfile = self._krmfiles[package.krmfile] = Krmfile(source)  # its own, to be renamed
        else:
            krmfile.rename(package.where + package.name)
        return krmfile

    def plan(self, krmfile: bytes, data: bytes, name: str, planned: Callable[[bytes, str], _Planned]) -> _Planned:
        """Return what is planned for a file."""
        known = self._planned.get((krmfile, data))
        if known is None:
            self._planned[krmfile, data] = known = planned(data, name)
            return known
        changes = [replace(change, file=name) for change in known.changes]
        return _Planned(known.data, changes, known.counts, known.edits)


@dataclass(frozen=True, slots=True)
class _Planned:
    """One file's part of a plan; ``data`` is None where it stays as it is."""

    data: bytes | None
    changes: list[FieldChange]
    counts: Mapping[str, int]
    edits: Sequence[Edit]


def _plan(
    package: PackageFiles, krmfile: Krmfile, changed: Mapping[str, Setter], description: str, copies: Copies
) -> Plan:
    edits = [item for setter in changed.values() for item in krmfile.record(setter, description=description)]
    recorded = krmfile.edited(package.krmfile, edits, copies.proved)
    files = {} if recorded is None else {package.name: recorded}
    fields = _plan_fields(package, krmfile.definitions.with_setters(changed), changed, copies)
    return Plan(fields.changes, {**files, **fields.files}, fields.counts, fields.definitions)


def _plan_fields(
    package: PackageFiles, definitions: Definitions, changed: Mapping[str, Setter], copies: Copies
) -> Plan:
    changes: list[FieldChange] = []
    counts = dict.fromkeys(changed, 0)
    files: dict[str, bytes] = {}
    edits: dict[str, Sequence[Edit]] = {}
    names = _names(definitions, changed)

    def plan_file(data: bytes, name: str) -> _Planned:
        fields = FieldEdits(definitions, changed, names)
        source = Source(name, decode(data, name)[1])
        documents = parse_shared(source, around=names)
        for document in documents:
            fields.visit(document)
        new = apply_to_file(data, source, fields.edits, documents, copies.proved)
        edits = [Edit(item.start, item.end, item.replacement) for item in fields.edits]  # which keep no tree in memory
        return _Planned(new, fields.changes, fields.counts, edits)

    for path, data in package.resources.items():
        if comment.is_marked(data, names):
            planned = copies.plan(package.krmfile, data, package.where + path, plan_file)
            changes += planned.changes
            for name, count in planned.counts.items():
                counts[name] += count
            if planned.data is not None:
                files[path] = planned.data
                edits[path] = planned.edits
    return Plan(tuple(changes), files, counts, definitions, edits)


def _names(definitions: Definitions, changed: Mapping[str, Setter]) -> list[str]:
    """Return texts of which a file must hold one for any of its comments to reach a changed setter."""
    names = set(changed)
    for substitution in definitions.substitutions.values():
        try:
            reached = bool(definitions.reached(substitution, changed))
        except InputError:  # a broken one is an error where a field refers to it
            reached = True
        if reached:
            names.add(substitution.name)
    return sorted(names) if all(map(comment.is_plain, names)) else [""]
