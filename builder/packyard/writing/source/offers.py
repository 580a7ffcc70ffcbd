"""The parts that a workspace offers to its packages, and what each needs from the others and defines itself.

A part that others are made of, and no package should name, says so in its own kustomization.yaml or pods.yaml:

    # packyard: internal
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from packyard.core.errors import InputError
from packyard.core.kubernetes import groups, kustomization, operators, pods
from packyard.core.yaml.document import find_comments, mappings
from packyard.core.yaml.sources import Sources
from packyard.using.kustomize.part import Part
from packyard.using.setters import comment
from packyard.writing.source import parts, words
from packyard.writing.source.workspace import BASE, FOLDERS, PODS, STORAGE, Workspace

_INTERNAL = b"# packyard: internal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A part: ``kind`` is base, storage, programs or options, ``folder`` where it lies, ``objects`` are their kinds.

    ``defines`` are the names of its own Krmfiles; ``needs`` those that its comments and patterns have and neither it
    nor the workspace's Krmfile defines: a storage, a program, or the package has to. ``volume`` says whether a pod has
    the volume that a storage takes the place of; ``operators`` are those that its objects need on a cluster.
    """

    kind: str
    name: str
    folder: str
    description: str
    internal: bool = False
    objects: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    volume: bool = False
    operators: tuple[str, ...] = ()


def find(workspace: Workspace, tell: Callable[[str], None]) -> Iterator[Offered]:
    """Yield all parts: bases first, each kind sorted by name; what is wrong with one that cannot be read is told."""
    for kind, name in ((kind, name) for kind, above in FOLDERS.items() for name in workspace.part_dirs(above)):
        try:
            yield _describe(workspace, kind, name)
        except InputError as error:
            tell(str(error))


def _describe(workspace: Workspace, kind: str, name: str) -> Offered:
    sources, path = workspace.sources, f"{FOLDERS[kind]}/{name}"
    part, folder = parts.of(workspace, path), workspace.part_dir(path)
    own = [[krmfile] for krmfile in part.krmfiles()]
    known = words.Words(parts.read_shared(workspace), own, {}, sources.memo)
    defined = {word for word, layer in known.layers.items() if layer > 0}
    names = words.named({*_asked(sources, part), *defined}, known.pattern)
    files = [path for name in (kustomization.FILE, PODS) if sources.is_file(path := f"{folder}/{name}")]
    roots = [root for inner in reversed([*part.parts()]) for _, root in inner.objects]
    installed = (operators.of(groups.definition(root.text("apiVersion"), root.text("kind"))) for root in roots)
    volumes = (volume.text("name") for pod in pods.find_all(roots) for volume in mappings(pod.spec.get("volumes")))
    return Offered(
        kind=kind,
        name=name,
        folder=folder,
        description=part.description,
        internal=any(_INTERNAL in sources.read(path) for path in files),
        objects=tuple(dict.fromkeys(root.text("kind") for root in roots)),
        defines=tuple(sorted(defined)),
        needs=tuple(sorted(names - known.defined.keys())),
        volume=kind == BASE and STORAGE in volumes,
        operators=tuple(sorted({operator.operator for operator in installed if operator})),
    )


def _asked(sources: Sources, part: Part) -> Iterator[str]:
    """Yield the names in the comments of a part and of all that it is made of."""
    for inner in part.parts():
        named = [
            *inner.files,
            *(patch.file for patch in inner.patches if patch.file),
            *{pod.path for pod in inner.pods},
        ]
        for document in (document for path in named for document in sources.documents(path)):
            references = (comment.parse(note.text) for note in find_comments(document.root))
            yield from (reference.name for reference in references if reference)
