"""Bases and overlays on disk: their kustomization.yaml, its resources, components and patches, and their Krmfile.

The composer understands what `Reader` reads, ``replacements``, in a base ``labels`` and ``images``, and what
`pod_patch` reads beside it. Every other field is refused by name and line, rather than to compose something else than
kustomize would build.
"""

from dataclasses import replace
from posixpath import basename, dirname, join, normpath

from packyard.core.kubernetes import kustomization
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Scalar
from packyard.core.yaml.sources import Sources
from packyard.using.kustomize import reader, replacement
from packyard.using.kustomize.part import KrmfileData, Part, Patch
from packyard.using.kustomize.reader import Reader
from packyard.using.setters.krmfile import KRMFILE
from packyard.writing.source import pod_patch, transformers
from packyard.writing.source.pod_operations import PodPatch
from packyard.writing.source.workspace import BASE, FOLDERS, PODS, Workspace


def of(workspace: Workspace, path: str) -> Part:
    """Read a base or an overlay of a workspace, such as ``bases/job``."""
    kind = "Kustomization" if path.startswith(f"{FOLDERS[BASE]}/") else "Component"
    return read(workspace.sources, workspace.part_dir(path), kind)


def read(sources: Sources, folder: str, kind: str) -> Part:
    """Read a part and all that it builds on, once in a run; ``kind`` is Kustomization or Component."""
    return Composer(sources).read(folder, kind)


class Composer(Reader):
    """Reads parts."""

    def part(self, folder: str, kind: str, within: tuple[str, ...]) -> Part:
        """Read a part; an overlay may be nothing but patches of pods."""
        pods = pod_patch.read_beside(self.sources, folder) if kind == "Component" else ()
        if pods and not has_kustomization(self.sources, folder):
            folder = self.sources.resolve(folder)
            return Part(folder, pods=pods, krmfile=read_krmfile(self.sources, folder), head=pods[0].head)
        return replace(part := super().part(folder, kind, within), pods=(*pods, *part.pods))

    def end(self, part: Part, fields: Fields, kind: str) -> Part:
        """Read what else the composer understands, and the Krmfile beside it."""
        file = file_of(self.sources, part.folder)
        for patch in part.patches:
            if patch.file and pod_patch.is_one([patch.document]):
                message, hint = "patches pods, which kustomize cannot", f"name the file {PODS}, and take it out of here"
                fields.fault(patch.entry, "patches", f"{basename(patch.file)!r} {message}", hint)
        for generated in part.generated:
            if any("/" in name for name in generated.files):
                fields.fault(generated.entry, "configMapGenerator.files", "its files must stand beside this one")
        listed = fields.items("replacements")
        replacements = [item for node in listed for item in replacement.read(fields, node, file, self.sources)]
        changes = transformers.read(fields, file) if kind == "Kustomization" else []
        for key in kustomization.FIELDS:
            hint = "bind metadata.name to a setter, such as RUN_NAME" if key in ("namePrefix", "nameSuffix") else ""
            fields.elsewhere(key, hint, "packyard does not compose it")
        return replace(
            part,
            pods=tuple(changes),
            replacements=tuple(replacements),
            krmfile=read_krmfile(self.sources, part.folder),
            head=tuple(fields.node.entries[0].head) if fields.node else (),
        )


def read_shared(workspace: Workspace) -> tuple[KrmfileData | None, ...]:
    """Return the Krmfile at the root of a workspace, which all of its parts share, behind those of its libraries.

    Of two libraries the first one counts, as with parts: it is the last. A tree without a Krmfile has None.
    """
    roots = (*reversed([*workspace.libraries]), "")
    return tuple(read_krmfile(workspace.sources, root) for root in roots)


def read_krmfile(sources: Sources, folder: str) -> KrmfileData | None:
    """Read the Krmfile of a folder, if there is one."""
    path = join(folder, KRMFILE)
    return (sources.shown(path), sources.read(path)) if sources.is_file(path) else None


def file_of(sources: Sources, folder: str) -> str:
    """Return the kustomization of a folder; of one that is nothing but patches of pods these."""
    if not has_kustomization(sources, folder) and sources.is_file(join(folder, PODS)):
        return join(folder, PODS)
    return reader.file_of(sources, folder)


def has_kustomization(sources: Sources, folder: str) -> bool:
    """Say whether a folder has a kustomization; an overlay that is nothing but patches of pods needs none."""
    return bool(kustomization.names(lambda name: sources.is_file(join(folder, name))))


def read_patches(sources: Sources, parent: Fields, listing: str) -> tuple[list[Patch], list[PodPatch]]:
    """Read the patches that a use case of a package lists: as kustomizations have them, or by path alone.

    What is listed by path alone may patch pods.
    """
    patches: list[Patch] = []
    pods: list[PodPatch] = []
    composer = Composer(sources)
    for node in parent.items("patches"):
        path = parent.find_file(node, "patches", dirname(listing), sources) if isinstance(node, Scalar) else None
        if path and pod_patch.is_one(sources.documents(path)):
            pods += pod_patch.read(sources, normpath(path))
        elif path and isinstance(node, Scalar):
            patches.append(composer.patch_file(path, None, node, node))
        elif not isinstance(node, Scalar) and (patch := composer.patch(parent, node, listing)):
            patches.append(patch)
    return patches, pods
