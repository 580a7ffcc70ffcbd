"""A package in kpt's spelling: its Kptfile's values, the fields that kpt-set comments tag, and planning to set them.

A setter is what the Kptfile's pipeline gives to apply-setters, or what a comment names. Setting one changes its value
where the pipeline has it (in the Kptfile or in the file of a ``configPath``) and every field that it reaches, in
the package and in the packages below: what ``kpt fn render`` would do, and no other byte. Only a field without value,
which kpt passes over, gets one too.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.yaml.document import parse_file
from packyard.core.yaml.edit import Edit
from packyard.core.yaml.node import Document, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.proof import apply_to_file
from packyard.core.yaml.values import fits_plain, single_quoted
from packyard.using.setters.definition import Definitions, Setter
from packyard.using.setters.fields import FieldChange
from packyard.using.setters.kpt import kptfile
from packyard.using.setters.kpt.apply import Setting, apply, block_text, config_text, parse_list, set_scalar
from packyard.using.setters.kpt.derived import KptSetter, derive
from packyard.using.setters.kpt.kptfile import Mutator
from packyard.using.setters.kpt.tagged import MARK, Tagged, find
from packyard.using.setters.packages import KPTFILE, PackageFiles
from packyard.using.setters.plan import Plan


@dataclass(frozen=True, slots=True)
class Declaration:
    """One place where the pipeline gives a setter its value."""

    name: str
    path: str
    node: Node
    mutator: Mutator

    def problem(self, message: str, hint: str = "") -> Problem:
        """Describe something wrong with it, by its place."""
        return self.node.problem(message, hint)


class KptPackage:
    """The files of a package that has a Kptfile, those with setters parsed."""

    def __init__(self, package: PackageFiles) -> None:
        self.package = package
        self._documents: dict[str, list[Document]] = {}
        for path, data in package.files.items():
            if MARK in data:
                self._parse(path)
        self.declarations = list(self._declarations())

    @property
    def values(self) -> dict[str, str]:
        """What the pipeline gives; a later function's value goes before an earlier one's."""
        return {item.name: config_text(item.node) for item in self.declarations}

    @property
    def tagged(self) -> list[Tagged]:
        """Every tagged field, file by file."""
        roots = [item.root for documents in self._documents.values() for item in documents]
        return [field for root in roots for field in find(root, without_value=True)]

    def names(self) -> set[str]:
        """Return the name of every setter."""
        return {item.name for item in self.declarations}.union(*(field.pattern.names for field in self.tagged))

    def setters(self) -> list[KptSetter]:
        """Return every setter; its count is that of the fields it reaches, its place that of its value or comment."""
        tagged = self.tagged
        roots = [item.root for documents in self._documents.values() for item in documents]
        derived: dict[str, KptSetter] = {}
        for setter in derive(roots, self.values):
            listed = derived.get(setter.name)  # it comes before one of the same name that is text
            with_value = replace(listed, value=setter.value) if listed and not setter.count else listed
            derived[setter.name] = with_value or setter
        places = {
            name: (field.node.source, field.comment.start) for field in reversed(tagged) for name in field.pattern.names
        }
        places |= {item.name: (item.node.source, item.node.start) for item in self.declarations}
        counts = Counter(name for field in tagged for name in set(field.pattern.names))
        by_name = {name: derived.get(name, KptSetter(name, "", "str")) for name in places}
        lines = {name: source.locate(at)[0] for name, (source, at) in places.items()}
        return [
            replace(setter, count=counts[name], file=places[name][0].name, line=lines[name])
            for name, setter in sorted(by_name.items())
        ]

    def set(self, values: Mapping[str, Sequence[str]], *, as_kustomize: bool = False) -> Plan:
        """Plan to give setters, which the package has, these values; several texts are a list.

        A setter that is no list takes one value, unless what is set is set ``as_kustomize``.

        Raises `InputError` with every fault.
        """
        where = self.package.where + KPTFILE
        several = {name for name, texts in values.items() if len(texts) > 1 and not as_kustomize}
        refuse(
            Problem(f"{each.name} takes one value, not {len(values[each.name])}", file=each.file, line=each.line)
            for each in (self.setters() if several else ())
            if each.name in several and each.count and not each.is_list
        )
        new_values = {name: _text(texts) for name, texts in values.items()}
        own_values = self.values
        edits: dict[str, list[Edit]] = {path: list(file_edits) for path, file_edits in self._record(new_values).items()}
        changes: list[FieldChange] = []
        counts = dict.fromkeys(new_values, 0)
        problems: list[Problem] = []
        for path, documents in self._documents.items():
            for document in documents:
                try:
                    applied = apply(document.root, new_values, known=own_values, keep_types=True, without_value=True)
                except InputError as error:
                    problems += error.problems
                    continue
                edits.setdefault(path, []).extend(applied.edits)
                for setting in applied.settings:
                    changes += _changes(setting, new_values)
                    for name in new_values.keys() & set(setting.pattern.names):
                        counts[name] += 1
        refuse(problems)
        files = {path: self._applied(path, file_edits) for path, file_edits in edits.items()}
        definitions = Definitions({name: Setter(name, value=text, file=where) for name, text in new_values.items()}, {})
        return Plan(
            tuple(changes), {path: data for path, data in files.items() if data is not None}, counts, definitions
        )

    def _parse(self, path: str) -> list[Document]:
        if path not in self._documents:
            name = self.package.where + path
            data = self.package.files[path]
            self._documents[path] = parse_file(data, name)
        return self._documents[path]

    def _declarations(self) -> Iterable[Declaration]:
        roots = [document.root for document in self._parse(KPTFILE) if document.root is not None]
        for mutator in kptfile.find_mutators(roots[0] if roots else None):
            path, data = KPTFILE, mutator.config_map
            if mutator.config_path and data is None:
                path = self._config_file(mutator)
                data = self._data(path)
            for entry in data.entries if data else ():
                yield Declaration(entry.name, path, entry.value, mutator)

    def _config_file(self, mutator: Mutator) -> str:
        """Return the path of a configPath among the package's files, whatever ``./`` it has."""
        path = posixpath.normpath(mutator.config_path)
        if path not in self.package.files or ".." in mutator.config_path.split("/"):
            shown = repr(mutator.config_path)
            raise InputError(mutator.node.problem(f"configPath {shown} is not a YAML file of the package"))
        return path

    def _data(self, path: str) -> MappingNode | None:
        roots = [document.root for document in self._parse(path) if document.root is not None]
        return roots[0].mapping("data") if roots and isinstance(roots[0], MappingNode) else None

    def _record(self, new_values: Mapping[str, str]) -> dict[str, list[Edit]]:
        """Return the edits that put the values where the pipeline has them."""
        edits: dict[str, list[Edit]] = {}
        problems: list[Problem] = []
        for item in self.declarations:
            if item.name not in new_values:
                continue
            if item.mutator.is_selective:
                hint = "change the Kptfile, then: kpt fn render"
                problems.append(item.problem(f"setter {item.name!r} is given to some objects only", hint))
            elif not isinstance(item.node, Scalar):
                problems.append(item.problem(f"the value of setter {item.name!r} must be a text"))
            else:
                text, data = _in_form_of(item.node, new_values[item.name]), item.mutator.config_map
                scalar_edits = set_scalar(item.node, text, known=None, flow=bool(data and data.flow), keep_type=True)
                edits.setdefault(item.path, []).extend(scalar_edits)
        refuse(problems)
        return edits

    def _applied(self, path: str, edits: list[Edit]) -> bytes | None:
        """Return a file with its edits made, the first of two on one place; None where it stays as it is."""
        places = {(edit.start, edit.end): edit for edit in reversed(edits)}
        documents = self._parse(path)
        return apply_to_file(self.package.files[path], documents[0].source, places.values(), documents)


def find_uncounted(package: PackageFiles, name: str) -> Iterator[Problem]:
    """Yield the comments of kpt that name a setter in a package without a Kptfile, where they bind nothing."""
    for path, data in package.resources.items() if package.kptfile is None else ():
        for document in parse_file(data, package.where + path) if MARK in data else ():
            for field in find(document.root, without_value=True):
                if name in field.pattern.names:
                    line, _ = field.node.source.locate(field.comment.start)
                    message = f"{name} would set no field: a kpt-set comment binds one in a package with a Kptfile only"
                    hint = f'write # {{"$openapi":"{name}"}}, or make a Kptfile with: kpt pkg init'
                    yield Problem(message, file=field.node.source.name, line=line, hint=hint)


def _text(texts: Sequence[str]) -> str:
    if len(texts) < 2:
        return "".join(texts)
    return "[" + ", ".join(text if fits_plain(text, flow=True) else single_quoted(text) for text in texts) + "]"


def _in_form_of(old: Scalar, text: str) -> str:
    """Write a list an item a line where the old one was written so."""
    if old.style not in "|>" or not old.value.startswith("- "):
        return text
    try:
        listed = parse_list(text)
    except InputError:  # a field that is a list refuses it, and says where
        return text
    return block_text(listed) + "\n" if listed else text


def _changes(setting: Setting, new_values: Mapping[str, str]) -> Iterable[FieldChange]:
    line, column = setting.node.source.locate(setting.node.start)
    name = next(name for name in setting.pattern.names if name in new_values)
    new = setting.new if not isinstance(setting.node, SequenceNode) or setting.new else "[]"
    yield FieldChange(name, setting.node.source.name, line, column, setting.path, setting.old, new)
