"""What setting some values changes in one package: planned and checked as a whole, on bytes; nothing is written.

    plan(package, Assignment({"TAG": ["1.8"]})).files  ->  {"Krmfile": b"…", "deployment.yaml": b"…"}

A value is accepted by its definition, recorded in the Krmfile, and written into the fields that it reaches. Only the
bytes of those fields and of the setters' own entries in the Krmfile change.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from packyard.core.errors import InputError, Problem, absent, refuse, shown
from packyard.core.work.memo import Memo
from packyard.core.yaml.document import parse_shared, source_of
from packyard.core.yaml.proof import apply_to_file
from packyard.using.setters import check, comment
from packyard.using.setters.definition import Definitions, Setter
from packyard.using.setters.fields import FieldChange, FieldEdits
from packyard.using.setters.krmfile import Krmfile
from packyard.using.setters.packages import PackageFiles, read_krmfile

_NOTHING: Mapping[str, Any] = {}
_NAMED = 6  # setters that a message lists
_NO_DEFINITIONS = Definitions()

#: The values that a package was shipped with, by setter: a text, the items of a list, None for what is required.
Shipped = Mapping[str, "str | Sequence[str] | None"]


class Given(tuple[str, ...]):
    """The texts that a line of a values file gives a setter; ``is_list`` says that they are a list there."""

    file = ""
    line = 0
    is_list = False

    @classmethod
    def at(cls, file: str, line: int, texts: Iterable[str], *, is_list: bool = False) -> "Given":
        """Return texts with the place of their name."""
        value = cls(texts)
        value.file, value.line, value.is_list = file, line, is_list
        return value

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with what is given, by its place."""
        return Problem(message, file=self.file, line=self.line, hint=hint)


class Assignment(NamedTuple):
    """What a command asks of setters: values for some, a list setter any number of them; others taken back.

    An empty list of values empties a setter. ``set_by`` and ``description`` are recorded with the values. What
    kustomize 3.8.7 admits is admitted ``as_kustomize``.
    ``command`` is what the user typed before the values, for hints; by default `packyard set DIR`.
    """

    values: Mapping[str, Sequence[str]]
    unset: Sequence[str] = ()
    set_by: str = ""
    description: str = ""
    as_kustomize: bool = False
    command: str = ""

    @property
    def names(self) -> list[str]:
        """The setters that are asked for."""
        return [*self.values, *self.unset]

    def among(self, names: Collection[str]) -> "Assignment":
        """Return what is asked of these setters."""
        values = {name: texts for name, texts in self.values.items() if name in names}
        return self._replace(values=values, unset=[name for name in self.unset if name in names])


class Plan(NamedTuple):
    """What would change: the fields, the new bytes of each file that differs, and each setter's number of fields.

    ``definitions`` are those afterwards, ``former`` the Krmfile's before.
    """

    changes: tuple[FieldChange, ...] = ()
    files: Mapping[str, bytes] = {}
    counts: Mapping[str, int] = {}
    definitions: Definitions = _NO_DEFINITIONS
    former: Definitions = _NO_DEFINITIONS


def plan(
    package: PackageFiles, assignment: Assignment, *, shipped: Shipped = _NOTHING, krmfile: Krmfile | None = None
) -> Plan:
    """Plan to give setters values, and to take others back to the defaults of their definitions, else to ``shipped``.

    What is taken back is not set then: a required setter without a default is empty, and has to be set again.
    ``krmfile`` is the package's, where it was read already. Raises `InputError` with every fault of every value.
    """
    krmfile = krmfile or read_krmfile(package)
    setters = krmfile.definitions.setters
    texts = (assignment.set_by, assignment.description)
    refuse(Problem(f"{shown(text)} is not text in UTF-8") for text in texts if not check.is_text(text))
    refuse(unknown(name, setters, package, krmfile.definitions) for name in assignment.unset if name not in setters)
    refuse(no_default(setters[name]) for name in assignment.unset if not _has_default(setters[name], shipped))
    changed = {name: _taken_back(setters[name], shipped) for name in assignment.unset}
    accepted = _accept(krmfile.definitions, assignment, package)
    changed |= {name: setter._replace(is_set=True, set_by=assignment.set_by) for name, setter in accepted.items()}

    descriptions = dict.fromkeys(accepted, assignment.description)
    recorded = krmfile.recorded(package.krmfile, changed.values(), descriptions)
    fields = set_fields(package.resources, krmfile.definitions, changed, where=package.where)
    files = {} if recorded is None else {package.name: recorded}
    return fields._replace(files={**files, **fields.files})


def set_fields(
    resources: Mapping[str, bytes],
    before: Definitions,
    changed: Mapping[str, Setter],
    memo: Memo | None = None,
    where: str = "",
) -> Plan:
    """Plan to write changed setters into the fields of files; their definitions are recorded elsewhere.

    ``memo`` remembers documents; ``where`` stands before paths in messages.
    """
    definitions = before.with_setters(changed)
    files: dict[str, bytes] = {}
    names = _names(definitions, changed)
    fields = FieldEdits(definitions, changed, names)
    for path, data in resources.items():
        if comment.is_marked(data, names):
            source = source_of(data, where + path)
            documents = parse_shared(source, memo)
            edits, planned = fields.visit(documents)
            new = apply_to_file(data, source, edits, documents, planned)
            if new is not None:
                files[path] = new
    return Plan(tuple(fields.changes), files, fields.counts, definitions, former=before)


def unknown(
    name: str, names: Collection[str], package: PackageFiles, definitions: Definitions, command: str = ""
) -> Problem:
    """Describe a setter that a package does not have; a substitution is told by what it is made of."""
    where = package.where.rstrip("/") or "."
    file = package.where + package.name
    if problem := made_of(name, definitions, where, command):
        return problem._replace(file=file, missing=name)
    first = ", ".join([*definitions.setters][:_NAMED]) + ", …" * (len(definitions.setters) > _NAMED)
    hint = f"it has {first or 'none'}: packyard setters {_typed(where)} lists them"
    return absent(f"parameter {name!r} is not found", name, names, hint, file)


def made_of(name: str, definitions: Definitions, where: str, command: str = "") -> Problem | None:
    """Say of which setters a substitution of this name is made, for those who would set it; None if there is none.

    ``command`` is that of `Assignment`.
    """
    substitution = definitions.substitutions.get(name)
    if substitution is None:
        return None
    if not (setters := sorted(definitions.setters_of(substitution))):
        return Problem(f"{name} is made by the package, and cannot be set")
    hint = f"set one of them: {command or f'packyard set {_typed(where)}'} {setters[0]}=VALUE"
    return Problem(f"{name} is made of {', '.join(setters)}", hint=hint)


def placed(problem: Problem, texts: Sequence[str]) -> Problem:
    """Return what is wrong with a value at the line of the values file that gives it, if one does."""
    return problem._replace(file=texts.file, line=texts.line) if isinstance(texts, Given) else problem


def _typed(where: str) -> str:
    from packyard.core.bundle import address  # for who has to type something else

    return address.typed(where)


def no_default(setter: Setter) -> Problem:
    """Describe a setter that has no value to go back to."""
    message = f"parameter {setter.name!r} has no default to go back to"
    where = setter.file.rpartition("/")[0] or "."
    return setter.problem(message, f"set it: packyard set {_typed(where)} {setter.name}=VALUE")


def _has_default(setter: Setter, shipped: Shipped) -> bool:
    return setter.default is not None or setter.required or shipped.get(setter.name) is not None


def _taken_back(setter: Setter, shipped: Shipped) -> Setter:
    default = setter.default if setter.default is not None else shipped.get(setter.name)
    texts = [default] if default and isinstance(default, str) else default or ()
    return setter.with_value(texts)._replace(is_set=False, set_by="")


def is_as_shipped(setter: Setter, shipped: Shipped) -> bool:
    """Say whether nobody has set or edited a setter."""
    if setter.is_set or setter.name not in shipped:
        return not setter.is_set
    return _taken_back(setter._replace(default=None), shipped).texts == setter.texts


def _accept(definitions: Definitions, assignment: Assignment, package: PackageFiles) -> dict[str, Setter]:
    """Return the setters with the values that they are given; refuse what their definitions do not admit."""
    setters = definitions.setters
    problems: list[Problem] = []
    accepted: dict[str, Setter] = {}
    for name, texts in assignment.values.items():
        setter = setters.get(name)
        if setter is None:
            problems.append(placed(unknown(name, setters, package, definitions, assignment.command), texts))
        elif check.is_refused(setter, texts, as_kustomize=assignment.as_kustomize):
            from packyard.using.setters.refusal import explain

            problems.append(placed(explain(setter, texts, package.where, assignment.command), texts))
        else:
            accepted[name] = setter.with_value(texts)
    refuse(problems)
    return accepted


def _names(definitions: Definitions, changed: Mapping[str, Setter]) -> list[str]:
    """Return texts of which a file must hold one for any of its comments to reach a changed setter."""
    names = set(changed)
    for substitution in definitions.substitutions.values():
        try:
            is_changed = bool(definitions.setters_of(substitution) & changed.keys())
        except InputError:  # a broken one is an error where a field refers to it
            is_changed = True
        if is_changed:
            names.add(substitution.name)
    return sorted(names) if all(map(comment.is_plain, names)) else [""]
