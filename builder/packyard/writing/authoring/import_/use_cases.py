"""Where use cases are in a folder, and what they are called."""

from collections.abc import Sequence
from posixpath import commonpath, dirname, join, normpath, relpath
from shlex import quote

from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.node import MappingNode, Node
from packyard.core.yaml.sources import Sources
from packyard.using.options.folder import OPTIONS, PROGRAMS
from packyard.using.setters.packages import KPTFILE
from packyard.writing.source.package import NAME, slug

#: A use case has a group and its own step; a folder of this name is no group.
_GROUPED, _OVERLAYS = 2, "overlays"
_OUTER = "default"  # what a use case is called whose folder holds others


def leaves(sources: Sources, top: str) -> tuple[dict[str, bool], list[str]]:
    """Return the folders of use cases, each with whether others build on it, and of overlays that are none.

    Use cases are kustomizations that no other one builds on, overlays beside them, as prod is on which prod-eu builds,
    and packages of kpt without any.
    """
    own: set[str] = set()
    on: dict[str, set[str]] = {}
    for path in (path for name in kustomization.NAMES for path in visible(sources, top, name)):
        folder, says = dirname(path), root(sources, path)
        on[folder] = {normpath(join(folder, node.value)) for node in kustomization.named(says)}
        if not isinstance(says, MappingNode) or says.text("kind") != "Component":
            own.add(folder)
    inner = {"" if path == "." else path for paths in on.values() for path in paths}
    leaves = dict.fromkeys(own - inner, False)
    beside, overlays = {*map(dirname, leaves)}, [folder for folder in sorted(own & inner) if on[folder] & own]
    leaves |= {folder: True for folder in overlays if dirname(folder) in beside}
    for folder in map(dirname, visible(sources, top, KPTFILE)):
        if not any(holds(folder, other) for other in on) and not any(holds(leaf, folder) for leaf in leaves):
            leaves[folder] = False
    return dict(sorted(leaves.items())), [folder for folder in overlays if folder not in leaves]


def visible(sources: Sources, top: str, pattern: str) -> list[str]:
    """Return the files of a name below a folder, those of outer folders first, without what is hidden."""
    files = [path for path in sources.list(top, f"**/{pattern}") if "/." not in f"/{relpath(path, top or '.')}"]
    return sorted(filter(sources.is_file, files), key=lambda path: path.count("/"))


def kustomizations(sources: Sources, folder: str) -> list[str]:
    """Return the kustomizations in a folder, of which kustomize takes one alone."""
    return [path for name in kustomization.NAMES if sources.is_file(path := join(folder, name))]


def holds(folder: str, path: str) -> bool:
    """Say whether a path is a folder, or below it."""
    return not folder or f"{path}/".startswith(f"{folder}/")


def paths(folders: Sequence[str], prefix: str, shown: str, name: str) -> dict[str, str]:
    """Name use cases by their folders: below the prefix, or else below what all have in common but for two steps."""
    partitions = {folder: f"/{folder}".rpartition(f"/{prefix}/") for folder in folders}
    marked = {folder: path for folder, (_, _, path) in partitions.items()}
    packages = sorted({head.strip("/") for head, mark, _ in partitions.values() if mark})
    if len(packages) > 1:
        hint = f"import each by itself, first: packyard import {quote(join(shown, packages[0]))}"
        raise InputError(Problem(f"holds several packages: {', '.join(packages)}", file=shown, hint=hint))
    if not all(mark for _, mark, _ in partitions.values()):
        common = [step for step in commonpath(map(dirname, folders)).split("/") if step]
        common = common if len(folders) > 1 or common == [_OVERLAYS] else []
        least = _GROUPED if common != [_OVERLAYS] else 1
        skipped = max(0, min(len(common), *(len(folder.split("/")) - least for folder in folders)))
        marked = {folder: "/".join(folder.split("/")[skipped:]) or name for folder in folders}
    named = {folder: "/".join(map(slug, path.split("/"))) for folder, path in marked.items()}
    reserved = {folder for folder, path in named.items() if path.split("/")[0] in (OPTIONS, PROGRAMS)}
    named |= {folder: f"{slug(name)}/{named[folder]}" for folder in reserved}
    for folder, path in named.items():
        if any(outer.startswith(f"{path}/") for outer in named.values()):
            named[folder] = f"{path}/{_OUTER}"  # beside those in it
    for folder, path in named.items():
        inner = [outer for outer in folders if outer != folder and f"{named[outer]}/".startswith(f"{path}/")]
        if inner or not all(map(NAME.fullmatch, path.split("/"))):
            what = f"would be one use case with {inner[0]}" if inner else "is no name for a use case"
            hint = "rename the folder: lower case letters, digits and dashes"
            raise InputError(Problem(f"{path!r} {what}", file=folder, hint=hint))
    return named


def root(sources: Sources, path: str) -> Node | None:
    """Return the root of a file's first document."""
    documents = sources.documents(path)
    return documents[0].root if documents else None
