"""A package directory, parsed once for all checks: definitions, documents with their bound fields, objects."""

from __future__ import annotations

from dataclasses import dataclass

from packyard.checks.finding import Finding, finding
from packyard.errors import InputError
from packyard.setters import binding as bindings
from packyard.setters.binding import Binding
from packyard.setters.definition import Definitions
from packyard.setters.krmfile import Krmfile
from packyard.setters.packagefiles import PackageFiles, read_krmfile
from packyard.text.document import check_keys, decode, parse_text
from packyard.text.node import Document, Mapping, Scalar, Sequence, Source

_KUSTOMIZATION = ("kustomization.yaml", "kustomization.yml", "Kustomization")
#: The fields of a kustomization that leave names and references as they are in its files.
_FLAT = ("apiVersion", "kind", "resources", "namespace")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a package holds; ``krmfile`` is None where it cannot be read."""

    krmfile: Krmfile | None
    documents: tuple[Document, ...]
    bound: tuple[Binding, ...]
    objects: tuple[Mapping, ...]  # the Kubernetes objects that are built, whole ones
    complete: bool  # whether no object can come from elsewhere, or be changed on the way
    unreadable: tuple[Finding, ...]


def parse(package: PackageFiles) -> Parsed:
    """Parse every file; a file that cannot be parsed is left out and found fault with."""
    unreadable: list[Finding] = []
    krmfile: Krmfile | None = None
    try:
        krmfile = read_krmfile(package)
    except InputError as error:
        unreadable += findings(error)
    files: dict[str, list[Document]] = {}
    for path, data in package.resources.items():
        name = package.where + path
        try:
            documents = parse_text(Source(name, decode(data, name)[1]))
            for document in documents:
                check_keys(document)
        except InputError as error:
            unreadable += findings(error)
        else:
            files[path] = documents
    documents = [document for parsed in files.values() for document in parsed]
    listed, complete = _listed(files)
    objects = [
        document.root
        for path, parsed in files.items()
        if listed is None or path in listed
        for document in parsed
        if isinstance(document.root, Mapping) and _is_object(document.root)
    ]
    return Parsed(
        krmfile=krmfile,
        documents=tuple(documents),
        bound=tuple(bound for document in documents for bound in bindings.find(document)),
        objects=tuple(objects),
        complete=complete and not unreadable,
        unreadable=tuple(unreadable),
    )


def reached(parsed: Parsed) -> dict[int, frozenset[str]]:
    """Return the names of the setters that change each bound field, by its node; none where a definition is broken."""
    definitions = parsed.krmfile.definitions if parsed.krmfile else Definitions()
    found: dict[int, frozenset[str]] = {}
    for bound in parsed.bound:
        definition = definitions.resolve(bound.reference)
        try:
            found[id(bound.node)] = definitions.setters_of(definition) if definition else frozenset()
        except InputError:  # of which the checks of setters tell
            found[id(bound.node)] = frozenset()
    return found


def findings(error: InputError) -> list[Finding]:
    """Return a finding for each problem of something that cannot be read."""
    return [finding("unreadable", "error", problem) for problem in error.problems]


def _listed(files: dict[str, list[Document]]) -> tuple[set[str] | None, bool]:
    """Return the files that the kustomization lists (None: there is none), and whether it lists files alone."""
    roots = [document.root for name in _KUSTOMIZATION for document in files.get(name, ())]
    if not roots:
        return None, True
    root = roots[0]
    if not isinstance(root, Mapping):
        return set(), False
    resources = root.get("resources")
    items = resources.items if isinstance(resources, Sequence) else []
    listed = {item.value.value.removeprefix("./") for item in items if isinstance(item.value, Scalar)}
    return listed, listed <= set(files) and all(entry.name in _FLAT for entry in root.entries)


def _is_object(root: Mapping) -> bool:
    version = root.text("apiVersion")
    return bool(root.text("kind")) and not version.startswith("kustomize.config.k8s.io/")
