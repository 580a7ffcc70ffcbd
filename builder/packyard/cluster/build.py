"""Our own build of the flat layout that packyard ships, with objects equal to those of kustomize.

    resources: [config-map.yaml, mpi-job.yaml]     local files
    namespace: ml                                  as `kustomize edit set namespace` writes it

Any other field is refused by name and line: whoever uses one has, or can install, the real program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packyard.cluster import manifest, namespace, objects
from packyard.cluster.objects import Object
from packyard.errors import InputError, Problem, refuse, suggest
from packyard.files import regular
from packyard.files.paths import Gate
from packyard.text.document import decode, parse_one
from packyard.text.node import Mapping, Node, Scalar, Source
from packyard.text.node import Sequence as SequenceNode
from packyard.text.scalar import implicit_type

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
HINT = "install kustomize or kubectl, which packyard then builds with"

_API_VERSION = "kustomize.config.k8s.io/v1beta1"
_FIELDS = ("apiVersion", "kind", "resources", "namespace")

#: What is read for one directory at most.
MAX_FILES, MAX_BYTES = 1000, 8 * 1024 * 1024

#: The order in which kustomize puts kinds; those between stand in the order of group, version and kind.
_FIRST = (
    "Namespace", "ResourceQuota", "StorageClass", "CustomResourceDefinition", "ServiceAccount", "PodSecurityPolicy",
    "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ConfigMap", "Secret", "Endpoints", "Service",
    "LimitRange", "PriorityClass", "PersistentVolume", "PersistentVolumeClaim", "Deployment", "StatefulSet",
    "CronJob", "PodDisruptionBudget",
)  # fmt: skip
_MOST = 20  # problems that get a hint
_LOCAL = "config.kubernetes.io/local-config"


@dataclass(frozen=True, slots=True)
class Kustomization:
    """What a kustomization file says: paths of files as written, each with its node's place."""

    file: Path
    resources: tuple[tuple[str, Problem], ...]
    namespace: str


def build(directory: Path) -> bytes:
    """Build a directory; YAML, a document per object, in kustomize's order."""
    left = Budget(directory)
    kustomization = read(directory, left)
    items: list[Object] = []
    for path in _files(kustomization):
        items += objects.parse(Source(str(path), left.read(path)))
    _check_identities(items, "is there twice")
    namespace.apply(items, kustomization.namespace, HINT)
    _check_identities(items, f"is there twice in namespace {kustomization.namespace!r}")
    kept = [item for item in items if not _is_local(item)]
    return manifest.write(item.root for item in sorted(kept, key=_order))


def find(directory: Path) -> Path:
    """Return the directory's kustomization file."""
    found = [directory / name for name in NAMES if regular.is_file(directory / name)]
    if len(found) == 1:
        return found[0]
    if not found:
        is_folder = regular.is_folder(directory)
        hint = "name the directory of one use case" if is_folder else ""
        message = "has no kustomization.yaml" if is_folder else "is no directory"
        raise InputError(Problem(message, file=str(directory), hint=hint))
    names = " and ".join(file.name for file in found)
    raise InputError(Problem(f"has {names}, where one is expected", file=str(directory)))


class Budget:
    """Reads files for one directory as text, up to a number of them and of bytes; more is no use case."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files = MAX_FILES
        self._bytes = MAX_BYTES

    def read(self, file: Path) -> str:
        """Return the text of a file."""
        data = regular.read(file, limit=MAX_BYTES)
        self._files -= 1
        self._bytes -= len(data)
        if self._files < 0 or self._bytes < 0:
            most = f"more than {MAX_FILES} files, or {MAX_BYTES} bytes"
            raise InputError(Problem(f"is built from {most}", file=str(self._directory), hint=HINT))
        return decode(data, str(file))[1]


def read(directory: Path, left: Budget | None = None) -> Kustomization:
    """Read a kustomization of the flat layout; every fault in it is named at once."""
    file = find(directory)
    if leads := Gate(directory, {}).outside(str(file)):
        message = f"leads to {leads}, outside of the directory"
        raise InputError(Problem(message, file=str(file), hint="kustomize refuses it as well"))
    root = parse_one((left or Budget(directory)).read(file).encode(), str(file)).root
    if not isinstance(root, Mapping):
        raise InputError(Problem("is no mapping", file=str(file), line=1))
    problems = [
        entry.key.problem(f"field {entry.name!r} is beyond packyard's own build", _hint(entry.name))
        for entry in root.entries
        if entry.name not in _FIELDS
    ]
    for name, expected in (("apiVersion", _API_VERSION), ("kind", "Kustomization")):
        value = root.get(name)
        if value is not None and root.text(name) not in ("", expected):
            problems.append(value.problem(f"{name} is {root.text(name)!r}, not {expected!r}", HINT))
    resources, faults = _resources(root.get("resources"))
    stated = root.get("namespace")
    if stated is not None and not _is_text(stated) and not _is_null(stated):
        faults.append(stated.problem("namespace is no text", "put it in quotes"))
    refuse(problems + faults)
    text = root.text("namespace") if stated is not None and not _is_null(stated) else ""
    if not isinstance(root.get("resources"), SequenceNode) and not text:
        raise InputError(Problem("has no resources", file=str(file), line=1))
    return Kustomization(file, resources, text)


def _hint(name: str) -> str:
    return suggest(name, _FIELDS) if name.casefold() in (field.casefold() for field in _FIELDS) else HINT


def _resources(node: Node | None) -> tuple[tuple[tuple[str, Problem], ...], list[Problem]]:
    if node is None or _is_null(node):
        return (), []
    if not isinstance(node, SequenceNode):
        return (), [node.problem("resources is no list")]
    found = [item.value for item in node.items]
    faults = [item.problem("a resource is the path of a file") for item in found if not _is_text(item)]
    return tuple((item.value, item.problem("")) for item in found if isinstance(item, Scalar)), faults


def _files(kustomization: Kustomization) -> list[Path]:
    """Return the files that are listed; all have to lie in the directory, as for kustomize."""
    files: list[Path] = []
    problems: list[Problem] = []
    directory = kustomization.file.parent
    gate = Gate(directory, {})
    for text, place in kustomization.resources[: MAX_FILES + 1]:
        path = directory / text
        fault, hint = "", ""
        if "\0" in text or len(problems) == _MOST:
            fault = "is no file here"
        elif regular.is_folder(path):
            fault, hint = "is a directory, which packyard's own build does not follow", HINT
        elif not regular.is_file(path):
            fault = "is no file here"
            hint = HINT if "//" in text else suggest(text, [file.name for file in directory.glob("*.y*ml")])
        elif gate.outside(str(path)):
            fault, hint = "lies outside of the directory", "kustomize refuses it as well"
        if fault:
            problems.append(
                Problem(f"resource {text!r} {fault}", file=place.file, line=place.line, column=place.column, hint=hint)
            )
        files.append(path)
    refuse(problems)
    return files


def _check_identities(items: Sequence[Object], complaint: str) -> None:
    seen: dict[tuple[str, str, str, str], Object] = {}
    for item in items:
        identity = (item.api_version, item.kind, namespace.effective(item), item.name)
        other = seen.setdefault(identity, item)
        if other is not item:
            place = f"{other.file}:{other.line}"
            raise InputError(item.problem(f"{item.kind} {item.name!r} {complaint}", f"also at {place}"))


def _is_local(item: Object) -> bool:
    annotations = item.metadata.get("annotations")
    return isinstance(annotations, dict) and annotations.get(_LOCAL, "false") != "false"


def _order(item: Object) -> tuple[int, str, str]:
    position = _FIRST.index(item.kind) - len(_FIRST) if item.kind in _FIRST else 0
    group, _, version = item.api_version.rpartition("/")
    return position, f"{group or '~G'}_{version or '~V'}_{item.kind}", f"{item.namespace or '~X'}|{item.name}"


def _is_text(node: Node) -> bool:
    return isinstance(node, Scalar) and (node.style != "plain" or implicit_type(node.value) == "string")


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.style == "plain" and implicit_type(node.value) == "null"
