"""A package in kpt's spelling: its Kptfile's values, the fields that kpt-set comments tag, and planning to set them.

A setter is what the Kptfile's pipeline gives to apply-setters, or what a comment names. Setting one changes its value
where the pipeline has it (in the Kptfile or in the file of a ``configPath``) and every field that it reaches, in
the package and in the packages below: what ``kpt fn render`` would do, and no other byte.

pipeline:
  mutators:
    - image: gcr.io/kpt-fn/apply-setters:v0.2     or exec: packyard fn apply-setters
      configMap:
        app: my-app                                or configPath: setters.yaml, a ConfigMap
"""

import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from packyard.core.errors import InputError, every, refuse, shown
from packyard.core.yaml.content import flow_text
from packyard.core.yaml.document import items, mappings, parse_file
from packyard.core.yaml.edit import Edit, Reading
from packyard.core.yaml.node import Document, MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.proof import apply_to_file
from packyard.core.yaml.span import expanded
from packyard.core.yaml.values import fits_plain, is_plain_text, meaning, single_quoted, type_of
from packyard.using.setters.definition import Definitions, Setter
from packyard.using.setters.fields import FieldChange
from packyard.using.setters.kpt.apply import Setting, apply, block_text, config_text, parse_list, set_scalar
from packyard.using.setters.kpt.derivation import Counted, derive
from packyard.using.setters.kpt.tags import MARK, Place, find
from packyard.using.setters.packages import KPTFILE, PackageFiles
from packyard.using.setters.plan import Given, Plan

#: A node, what it has to show, and the edits for that.
_Planned = tuple[Node, Reading, Sequence[Edit]]


@dataclass(frozen=True, slots=True)
class Declaration:
    """One place where the pipeline gives a setter its value."""

    name: str
    path: str
    node: Node
    mutator: MappingNode


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
    def tagged(self) -> list[Place]:
        """Every tagged field, file by file."""
        return [field for _, root in self._roots for field in find(root)]

    @property
    def _roots(self) -> list[tuple[str, Node | None]]:
        """The documents that are parsed, each with the path of its file."""
        return [(path, document.root) for path, documents in self._documents.items() for document in documents]

    def names(self) -> set[str]:
        """Return the name of every setter."""
        return {item.name for item in self.declarations}.union(*(field.pattern.names for field in self.tagged))

    def setters(self) -> list[Counted]:
        """Return every setter with the number of fields it reaches; its place is that of its value or comment."""
        tagged = self.tagged
        lists = [(field.pattern.sole_name or "", field.node) for field in reversed(tagged)]
        values = {
            name: flow_text(expanded(node), plain=True) for name, node in lists if isinstance(node, SequenceNode)
        } | self.values
        derived: dict[str, Setter] = {}
        for setter, count in derive(tagged, values):
            first = derived.setdefault(setter.name, setter)  # a list comes before a text of the same name
            if not count:
                derived[setter.name] = first._replace(value=setter.value)
        places = {
            name: (field.node.source, (field.entry or field.node).start)
            for field in reversed(tagged)
            for name in field.pattern.names
        }
        places |= {item.name: (item.node.source, item.node.start) for item in self.declarations}
        counts = Counter(name for field in tagged for name in set(field.pattern.names))
        listed = ((derived.get(name, Setter(name, type="string")), *place) for name, place in sorted(places.items()))
        return [(item._replace(file=of.name, line=of.locate(at)[0]), counts[item.name]) for item, of, at in listed]

    def set(self, values: Mapping[str, Sequence[str]], *, as_kustomize: bool = False) -> Plan:
        """Plan to give setters, which the package has, these values; several texts are a list.

        A setter that is no list takes one value, unless what is set is set ``as_kustomize``.

        Raises `InputError` with every fault.
        """
        setters = {setter.name: (setter, count) for setter, count in self.setters()}
        refuse(
            setters[name][0].problem(f"{name} takes one value, not {len(texts)}")
            for name, texts in values.items()
            if len(texts) > 1 and not as_kustomize and _takes_text(*setters[name], _is_list(texts))
        )
        new_values = {name: _text(texts, *setters[name]) for name, texts in values.items()}
        own_values = self.values
        planned = self._record(new_values)
        changes: list[FieldChange] = []
        counts = dict.fromkeys(new_values, 0)
        roots = self._roots
        applied = every(lambda place: apply(place[1], new_values, known=own_values, keep_types=True), roots)
        for (path, _), settings in zip(roots, applied, strict=True):
            for setting in settings:
                planned.setdefault(path, []).append((setting.node, setting.shows, setting.edits))
                changes.append(_change(setting, new_values))
                for name in new_values.keys() & set(setting.pattern.names):
                    counts[name] += 1
        applied_files = ((path, self._applied(path, file_plans)) for path, file_plans in planned.items())
        files = {path: data for path, data in applied_files if data is not None}
        definitions = Definitions({name: setters[name][0]._replace(value=text) for name, text in new_values.items()})
        return Plan(tuple(changes), files, counts, definitions)

    def _parse(self, path: str) -> list[Document]:
        if path not in self._documents:
            self._documents[path] = parse_file(self.package.files[path], self.package.where + path)
        return self._documents[path]

    def _declarations(self) -> Iterable[Declaration]:
        for mutator in find_mutators(self._root(KPTFILE)):
            path, data = KPTFILE, mutator.mapping("configMap")
            if data is None and mutator.text("configPath"):
                path = self._config_file(mutator)
                root = self._root(path)
                data = root.mapping("data") if root else None
            for entry in data.entries if data else ():
                yield Declaration(entry.name, path, entry.value, mutator)

    def _config_file(self, mutator: MappingNode) -> str:
        """Return the path of a configPath among the package's files, whatever ``./`` it has."""
        written = mutator.text("configPath")
        path = posixpath.normpath(written)
        if path not in self.package.files or ".." in written.split("/"):
            raise InputError(mutator.problem(f"configPath {written!r} is not a YAML file of the package"))
        return path

    def _root(self, path: str) -> Node | None:
        """Return what the first document of a file holds that is not empty."""
        return next((document.root for document in self._parse(path) if document.root is not None), None)

    def _record(self, new_values: Mapping[str, str]) -> dict[str, list[_Planned]]:
        """Plan to put the values where the pipeline has them, by files."""
        planned: dict[str, list[_Planned]] = {}

        def record(item: Declaration) -> None:
            if any(item.mutator.get(key) is not None for key in ("selectors", "exclude")):
                hint = "change the Kptfile, then: kpt fn render"
                raise InputError(item.node.problem(f"setter {item.name!r} is given to some objects only", hint))
            if not isinstance(item.node, Scalar):
                raise InputError(item.node.problem(f"the value of setter {item.name!r} must be a text"))
            text, data = _in_form_of(item.node, new_values[item.name]), item.mutator.mapping("configMap")
            edits = set_scalar(item.node, text, known=None, flow=bool(data and data.flow), keep_type=True)
            planned.setdefault(item.path, []).append((item.node, text, edits))

        every(record, [item for item in self.declarations if item.name in new_values])
        return planned

    def _applied(self, path: str, planned: Sequence[_Planned]) -> bytes | None:
        """Return a file with its edits made, once for a node that is reached twice; None where it stays as it is."""
        by_node = {node: (shows, edits) for node, shows, edits in reversed(planned)}
        refuse(
            node.problem(f"this would be set to {shown(str(first))} and to {shown(str(shows))}", "set one of the two")
            for node, shows, _ in planned
            if isinstance(first := by_node[node][0], str) and first != shows
        )
        edits = [edit for _, node_edits in by_node.values() for edit in node_edits]
        source, documents = self._parse(path)[0].source, self._parse(path)
        expected = [(node, shows) for node, shows, _ in planned]
        return apply_to_file(self.package.files[path], source, edits, documents, planned=expected)


def _is_list(texts: Sequence[str]) -> bool:
    return isinstance(texts, Given) and texts.is_list


def _takes_text(setter: Setter, count: int, is_list: bool) -> bool:
    """Say whether fields take one text, as far as they say what they are: a field without value may be any."""
    return bool(count and not setter.is_list and (setter.value or not is_list))


def _text(texts: Sequence[str], setter: Setter, count: int) -> str:
    """Return a value as YAML; words that are to be items stay texts where all items are texts now."""
    if len(texts) < 2 and not (_is_list(texts) and not _takes_text(setter, count, is_list=True)):
        return "".join(texts)
    old = parse_list(setter.value) if setter.is_list else None
    are_texts = old is not None and all(isinstance(item, Scalar) and type_of(item) == "string" for item in items(old))
    fits = is_plain_text if are_texts else fits_plain
    return "[" + ", ".join(text if fits(text, flow=True) else single_quoted(text) for text in texts) + "]"


def _in_form_of(old: Scalar, text: str) -> str:
    """Return a list as it is written now where it says the same, else an item a line where the old one was so."""
    try:
        listed, now = parse_list(text), parse_list(old.value)
    except InputError:  # a field that is a list refuses it, and says where
        return text
    if listed is None or now is None:
        return text
    if meaning(listed) == meaning(now):
        return old.value
    return block_text(listed) + "\n" if old.style in "|>" and old.value.startswith("- ") else text


def _change(setting: Setting, new_values: Mapping[str, str]) -> FieldChange:
    line, column = setting.node.source.locate(setting.node.start)
    name = next(name for name in setting.pattern.names if name in new_values)
    new = setting.new
    if not isinstance(setting.shows, str):  # what a list says may be written otherwise
        new = new or "[]" if setting.edits else setting.old
    return FieldChange(name, setting.node.source.name, line, column, setting.path, setting.old, new)


def find_mutators(root: Node | None) -> list[MappingNode]:
    """Return the functions of a Kptfile's pipeline that apply setters, in their order."""
    mutators = mappings(root.find("pipeline", "mutators")) if root else []
    return [node for node in mutators if any("apply-setters" in node.text(key) for key in ("image", "exec"))]
