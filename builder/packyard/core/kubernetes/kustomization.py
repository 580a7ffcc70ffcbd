"""What a kustomization is: the names of its file, its two kinds, and the fields that list what it is built on.

    apiVersion: kustomize.config.k8s.io/v1beta1
    kind: Kustomization                             or Component, which changes what others build
    resources: [job.yaml, ../base]
    components: [../../options/queue]

`using.kustomize.reader` reads one with all that it builds on: `writing.source.parts` says what else composing follows,
`using.kustomize.dialect` what packyard's own build does not. `using.options.options` edits the components.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence

from packyard.core.errors import InputError, Problem
from packyard.core.files import regular
from packyard.core.yaml.document import items, mappings
from packyard.core.yaml.node import MappingNode, Node, Scalar, SequenceNode
from packyard.core.yaml.values import is_null

#: The name by which packyard writes one.
FILE = "kustomization.yaml"
#: The names that the file may have.
NAMES = (FILE, "kustomization.yml", "Kustomization")

GROUP = "kustomize.config.k8s.io"
#: The apiVersion of each kind.
VERSIONS = {"Kustomization": f"{GROUP}/v1beta1", "Component": f"{GROUP}/v1alpha1"}

#: Every field that kustomize has, or had.
FIELDS = (
    *("apiVersion", "kind", "metadata", "resources", "bases", "components", "crds", "configurations", "openapi"),
    *("patches", "patchesStrategicMerge", "patchesJson6902", "replacements", "vars", "images", "imageTags", "replicas"),
    *("namespace", "namePrefix", "nameSuffix", "labels", "commonLabels", "commonAnnotations", "buildMetadata"),
    *("configMapGenerator", "secretGenerator", "generatorOptions", "generators", "transformers", "validators"),
    *("helmCharts", "helmGlobals", "helmChartInflationGenerator", "sortOptions", "inventory"),
)
#: The fields that list the files and folders that a kustomization is built on.
LISTED = ("resources", "bases", "components")
#: The fields that list what may be the folder of another kustomization.
BUILT = (*LISTED, "generators", "transformers", "validators")


def names(is_file: Callable[[str], bool]) -> list[str]:
    """Return the names of the kustomization files in a folder, by the question whether it has a file of a name."""
    return [name for name in NAMES if is_file(name)]


def on_disk(folder: str | os.PathLike[str]) -> list[str]:
    """Return the names of the kustomization files in a folder of the disk."""
    return names(lambda name: regular.is_file(f"{folder}/{name}"))


def find(folder: str | os.PathLike[str], is_file: Callable[[str], bool], *, hint: str = "") -> str:
    """Return the name of a folder's kustomization file; several are refused, as kustomize refuses them."""
    files = names(is_file)
    if len(files) == 1:
        return files[0]
    message = f"has {' and '.join(files)}, where one is expected" if files else f"has no {FILE}"
    raise InputError(Problem(message, file=os.fspath(folder), hint="" if files else hint))


def header(kind: str = "Kustomization") -> list[str]:
    """Return the first lines of a file of a kind."""
    return [f"apiVersion: {VERSIONS[kind]}", f"kind: {kind}"]


def first_sentence(text: str) -> str:
    """Return the first sentence of what a kustomization says of itself, with its full stop."""
    head = text.partition(". ")[0].removesuffix(".")
    return f"{head}." if head else ""


def named(root: Node | None, fields: Sequence[str] = LISTED) -> Iterator[Scalar]:
    """Yield where a kustomization names files and folders in fields: the items of a list, or the ``path`` of each."""
    for item in (item for field in fields for item in items(root.get(field) if root else None)):
        if path := item if isinstance(item, Scalar) else item.scalar("path"):
            yield path


def may_call(text: str, name: str, roots: Sequence[MappingNode]) -> bool:
    """Say whether a text is the name of an object, also as the prefixes and suffixes of kustomizations lengthen it."""
    before, behind = ("|".join(re.escape(root.text(key)) for root in roots) for key in ("namePrefix", "nameSuffix"))
    return re.fullmatch(f"(?:{before})*{re.escape(name)}(?:{behind})*", text) is not None


def images(root: MappingNode) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the entries of ``images``: the name of the image, and its newName, newTag and digest where given."""
    for entry in mappings(root.get("images")):
        yield entry.text("name"), {key: text for key in ("newName", "newTag", "digest") if (text := entry.text(key))}


def is_empty(root: MappingNode) -> bool:
    """Say whether a kustomization says nothing but what it is, which kustomize refuses."""
    values = (entry.value for entry in root.entries if entry.name not in ("apiVersion", "kind"))
    return all(is_null(value) or (isinstance(value, Scalar) and not value.value) for value in values)


def has_lists(root: MappingNode) -> bool:
    """Say whether a kustomization has lists where it names files; of another nobody knows what it takes in."""
    nodes = (root.get(field) for field in ("resources", "components", "patches", "patchesStrategicMerge"))
    return all(node is None or isinstance(node, SequenceNode) or is_null(node) for node in nodes)
