"""What is wrong with a folder, whoever made it: its packages, the manifests that belong to none, its documents.

Below a packyard.json is a user's copy: what is required may be set there. Of any other folder nobody knows whether its
values are as they are shipped, or somebody has set them. The templates of Helm charts are not YAML, and left out.
"""

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from packyard.core.bundle import manifest
from packyard.core.bundle.delivery import package_of
from packyard.core.errors import InputError, IntegrityError
from packyard.core.files import regular
from packyard.core.files.paths import root_of
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import kustomization, schemas
from packyard.core.kubernetes.kinds import CUSTOM
from packyard.core.kubernetes.schemas import Judge
from packyard.core.yaml.document import parse_file, walk
from packyard.core.yaml.node import Document, MappingNode
from packyard.core.yaml.values import to_value
from packyard.using.options.folder import OPTIONS, PROGRAMS
from packyard.using.setters.krmfile import EMPTY, KRMFILE
from packyard.using.setters.packages import KPTFILE, PackageFiles, find_packages, read_package, read_resources
from packyard.writing.checks import documents, exception, kubernetes_schema, kustomizations, secret_texts
from packyard.writing.checks.documents import Folder
from packyard.writing.checks.finding import Finding
from packyard.writing.checks.lint import find, in_order
from packyard.writing.checks.subject import Subject, parse

_CHART = "Chart.yaml"
_PAGE = re.compile(r"\.(md|markdown)\Z", re.IGNORECASE)
#: Components that use cases of a package share.
_PROGRAM = re.compile(rf"(^|/){PROGRAMS}/[^/]+/{re.escape(kustomization.FILE)}\Z")
#: What Go's templates and Jinja fill in.
_TEMPLATE = re.compile(rb"\{\{|\{%")


@dataclass(frozen=True, slots=True)
class Linted:
    """What was found in a folder; ``use_cases`` are the folders in it that are built.

    ``unchecked`` says which kinds have no schema.
    """

    findings: list[Finding]
    use_cases: list[str]
    unchecked: Sequence[str] = ()


class _Opened:
    """A folder whose files are read: its ``packages`` by their folders, and what belongs to none, as ``subjects``.

    ``copies`` are the roots of untarred packages: ``shipped`` says of a package in one that its values are a user's;
    of any other nobody knows. ``contents`` is what documents may name.
    """

    def __init__(self, tree: Tree) -> None:
        files = [f"{folder}/{name}" if folder else name for folder, _, names in tree.walk() for name in names]
        charts = [posixpath.dirname(file) for file in files if posixpath.basename(file) == _CHART]
        programs = {file: tree.read(file) for file in files if _PROGRAM.search(file) and tree.has_file(file)}
        self.tree, self.files, self.packages = tree, files, dict[str, PackageFiles]()
        for folder, package in _packages(tree, files):
            shared = {posixpath.relpath(path, folder or "."): data for path, data in programs.items()}
            beside = {path: data for path, data in shared.items() if path.startswith("..")}
            package = package._replace(resources={**package.resources, **beside})
            self.packages[folder] = _without_charts(charts, folder, package)
        self.subjects = {folder: parse(package) for folder, package in self.packages.items()}
        described = (posixpath.dirname(file) for file in files if posixpath.basename(file) == manifest.FILE)
        roots = {folder: root_of(Path(tree.root_dir, folder)) for folder in ("", *self.packages, *described)}
        self.copies = {root for root in roots.values() if regular.is_file(f"{root}/{manifest.FILE}")}
        self.shipped = {folder: False if roots[folder] in self.copies else None for folder in self.packages}
        # Where one cannot be read, pages may speak of setters that it has.
        own = self.subjects.items() if all(subject.krmfile for subject in self.subjects.values()) else ()
        setters = {folder: subject.definitions.setters for folder, subject in own if subject.definitions.setters}
        self.contents = Folder(files, setters)

    @property
    def use_cases(self) -> list[str]:
        """The folders that are built: those with setters, and of the rest those with a kustomization."""
        own = [folder for folder, package in self.packages.items() if package.name]
        rest = [folder for folder in self.packages if folder not in own]
        tops = [
            build.kustomizations[0] for folder in rest for build in self.subjects[folder].builds if build.kustomizations
        ]
        below = [posixpath.dirname(root.source.name.removeprefix(self.tree.prefix)) for root in tops]
        folders = dict.fromkeys([*own, *(below or rest)])
        return [folder for folder in folders if OPTIONS not in folder.split("/")]

    def exists(self, path: str) -> bool | None:
        """Say whether kustomize finds a file, or a folder to build."""
        below = path.removeprefix(self.tree.prefix)
        is_here = self.contents.has(below) if path.startswith(self.tree.prefix) else None
        if is_here and below in self.contents.folders:
            return any(kustomization.names(lambda name: f"{below}/{name}" in self.contents.files))
        return is_here

    def read(self, is_meant: Callable[[str], object]) -> dict[str, bytes]:
        """Return files by their names in messages."""
        return {self.tree.prefix + file: self.tree.read(file) for file in self.files if is_meant(file)}


def lint(tree: Tree, *, judges: Sequence[Judge]) -> Linted:
    """Return what is wrong with a folder, which need not have a Krmfile or a kustomization."""
    opened = _Opened(tree)
    judges = _with_definitions(judges, opened.subjects.values())
    findings = _of_packages(opened, judges)
    if opened.contents.setters:
        pages = {file: tree.read(file) for file in opened.files if _PAGE.search(file)}
        findings += documents.check(pages, opened.contents, tree.prefix)
    findings += secret_texts.check_files(
        opened.read(lambda file: secret_texts.is_looked_into(file) and tree.has_file(file))
    )
    excepted = set(_exceptions(tree, opened.copies))
    findings = [finding for finding in findings if (os.path.normpath(finding.file), finding.rule) not in excepted]
    named = opened.read(lambda file: exception.may_have(file) and tree.has_file(file))
    # A copy may not need its exceptions, and a file that cannot be read may.
    is_open = bool(opened.copies) or any(subject.unreadable for subject in opened.subjects.values())
    judged = [] if is_open else list(named)
    left = exception.apply(dict.fromkeys(findings), named, judged)
    unchecked = {text for subject in opened.subjects.values() for text in kubernetes_schema.unchecked(subject, judges)}
    return Linted(in_order(left), opened.use_cases, sorted(unchecked))


def _of_packages(opened: _Opened, judges: Sequence[Judge]) -> list[Finding]:
    """Return what is wrong with each package; what is in the folder of one is not told again of the whole."""
    findings: list[Finding] = []
    below = tuple(f"{opened.tree.prefix}{folder}/" for folder in opened.packages if folder)
    for folder, package in opened.packages.items():
        subject, shipped = opened.subjects[folder], opened.shipped[folder]
        built = find(package, subject, shipped=shipped, judges=judges, exists=opened.exists)
        findings += (
            finding
            for finding in _with_templates(built, package, subject)
            if folder or not finding.file.startswith(below)
        )
    return findings


def _with_definitions(judges: Sequence[Judge], subjects: Iterable[Subject]) -> list[Judge]:
    """Return judges by the CustomResourceDefinitions of a folder itself, and by others for its other kinds."""
    by_file: dict[str, list[Mapping[str, object]]] = {}
    for root in (document.root for subject in subjects for document in subject.documents):
        if root and root.text("kind") == CUSTOM[1]:
            with suppress(InputError):  # which other checks report
                value = to_value(root)
                by_file.setdefault(root.source.name, []).append(value if isinstance(value, dict) else {})
    # Of two of one kind either may be the cluster's.
    own = [schemas.of_definitions(name, values) for name, values in by_file.items()]
    return [*own, *(judge.without(schemas.kinds_of(own)) for judge in judges)] if own else list(judges)


def _packages(tree: Tree, files: Sequence[str]) -> Iterator[tuple[str, PackageFiles]]:
    """Yield the packages of a folder, and what belongs to none."""
    has_krmfile = any(posixpath.basename(file) in (KRMFILE, KPTFILE) for file in files)
    packages = find_packages(tree, recursive=True, kpt=True) if has_krmfile else []
    for folder in packages:
        yield folder, read_package(tree, folder)._replace(resources=read_resources(tree, folder))
    resources = {} if "" in packages else read_resources(tree, "")
    if any(_builds_on(path, data, packages) for path, data in resources.items()):  # of which nothing is said here
        resources = read_resources(tree, "", below_too=True)
    if resources:
        yield "", PackageFiles(EMPTY, resources, tree.prefix, "")


def _builds_on(path: str, data: bytes, packages: Iterable[str]) -> bool:
    """Say whether a file is a kustomization that builds on packages."""
    if posixpath.basename(path) not in kustomization.NAMES or not packages:
        return False
    with suppress(InputError):
        named = [node for document in parse_file(data, path) for node in kustomization.named(document.root)]
        below = [posixpath.normpath(posixpath.join(posixpath.dirname(path), node.value)) for node in named]
        return any(folder in packages for folder in below)
    return False


def _with_templates(findings: Iterable[Finding], package: PackageFiles, subject: Subject) -> Iterator[Finding]:
    """Yield findings; of a template, which no kustomization lists, only a warning that it cannot be read."""
    listed, hint = kustomizations.listed(subject), "if it is a template, give it another ending, such as .tpl"
    templates = {item.source.name for item in subject.documents if "{{" in item.source.text and _is_filled_in(item)}
    for finding in findings:
        data = package.resources.get(finding.file.removeprefix(package.where), b"")
        is_open = os.path.normpath(finding.file) not in listed
        if is_open and finding.rule == "unreadable" and _TEMPLATE.search(data):
            yield replace(finding, severity="warning", hint=hint)
        elif not (is_open and finding.file in templates):
            yield finding


def _is_filled_in(document: Document) -> bool:
    """Say whether a value is ``{{ .Name }}``, which YAML takes for a mapping whose key is one."""
    mapping_nodes = (node for node in walk(document.root) if isinstance(node, MappingNode)) if document.root else ()
    return any(isinstance(entry.key, MappingNode) for node in mapping_nodes for entry in node.entries)


def _without_charts(charts: Iterable[str], folder: str, package: PackageFiles) -> PackageFiles:
    """Leave out the templates of Helm charts, also those that they read as files."""
    below = f"{folder}/" if folder else ""
    inside = tuple(f"{chart}/".lstrip("/").removeprefix(below) for chart in charts)
    resources = {
        path: data
        for path, data in package.resources.items()
        if not (inside and path.startswith(inside) and (_TEMPLATE.search(data) or "templates/" in path))
    }
    return package._replace(resources=resources)


def _exceptions(tree: Tree, copies: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the normal paths of files and the rules that untarred packages, here or around, make exceptions to."""
    here = os.path.realpath(tree.root_dir)
    for root in copies:
        with suppress(IntegrityError):  # of which verify tells
            described = package_of(Path(root))
            for path, rules in described[1].exceptions.items() if described else ():
                shown = os.path.normpath(tree.prefix + os.path.relpath(f"{root}/{path}", here))
                yield from ((shown, rule) for rule in rules)
