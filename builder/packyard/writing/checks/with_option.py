"""A use case with an option enabled: what is wrong with its objects then, and was not before.

    bases/job/job.yaml                  volumes: [{name: data, …}]
    overlays/options/cache/job.yaml     volumeMounts: [{name: cach, mountPath: /cache}]
                                        -> job.yaml of the option mounts a volume that the pod does not have

A finding stands at the option: at its own line, or where only the rest of the use case shows it, at the patch for the
object. Of several use cases that have it from one option it is one finding.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packyard.core.errors import InputError
from packyard.core.kubernetes.schemas import Judge
from packyard.core.yaml.document import mappings
from packyard.core.yaml.node import MappingNode, Node
from packyard.using.kustomize import selector
from packyard.using.kustomize.accumulate import SourceObject, accumulate
from packyard.using.kustomize.part import Part
from packyard.using.setters.definition import Definitions
from packyard.writing.checks.builds import Build
from packyard.writing.checks.finding import Finding
from packyard.writing.checks.lint import find_built
from packyard.writing.checks.subject import Subject


@dataclass(frozen=True, slots=True)
class Option:
    """An option that use cases may enable, and the files beside their objects that it needs then."""

    name: str
    part: Part
    beside: Collection[str] = ()

    @property
    def files(self) -> set[str]:
        """The files that it consists of, as messages show them."""
        nodes: list[Node] = [root for _, root in self.part.objects]
        nodes += [node for patch in self.part.patches for node in (patch.entry, patch.document.root) if node]
        return {node.source.name for node in nodes} | {pod.file for pod in self.part.pods}


def find(
    subject: Subject, option: Option, defined: Definitions, judges: Sequence[Judge], known: Collection[Finding]
) -> Iterator[Finding]:
    """Find what is wrong with a package where an option is enabled, but for what is ``known`` to be wrong without.

    ``defined`` are the definitions that the fields of options have.
    """
    keys = set(map(_key, known))
    for build in (of_case for of_case in subject.builds if of_case.kustomizations):
        if roots := _enable(subject, build, option):
            revised = subject.revised(build, roots, defined, frozenset(option.files))
            own = option.files | {subject.where + name for name in option.beside}
            for finding in find_built(revised, judges=judges):
                if _key(finding) not in keys:
                    yield finding if finding.file in own else _placed(finding, option, roots)


def _enable(subject: Subject, build: Build, option: Option) -> Sequence[MappingNode]:
    """Return the objects of a build of a package with an option; none where it does not fit, or changes nothing."""
    own = build.objects
    beside = [root for name in option.beside for root in _roots(subject, name) if root not in own]
    objects = [SourceObject(root, "") for root in (*own, *beside)]
    try:
        accumulate(option.part, objects)
    except InputError:
        return ()
    roots = [item.root for item in objects if not item.is_local]
    is_idle = len(roots) == len(own) and all(new is old for new, old in zip(roots, own, strict=True))
    return () if is_idle else roots


def _key(finding: Finding) -> tuple[str, int, int, str]:
    return finding.file, finding.line, finding.column, finding.rule


def _roots(subject: Subject, path: str) -> Iterator[MappingNode]:
    """Yield the objects of a file."""
    for root in (document.root for document in subject.files.get(path, ())):
        if isinstance(root, MappingNode):
            yield root
            yield from mappings(root.get("items"))


def _placed(finding: Finding, option: Option, roots: Iterable[MappingNode]) -> Finding:
    """Return a finding at its option, at the patch for the object that has it."""
    having = [root for root in roots if root.source.name == finding.file]
    file, line, column = next(_places(option.part, having), (finding.file, finding.line, finding.column))
    message = f"with the option {option.name}, {finding.message}"
    return replace(finding, file=file, line=line, column=column, message=message, fix="")


def _places(part: Part, having: Sequence[MappingNode]) -> Iterator[tuple[str, int, int]]:
    """Yield where an option is written that changes objects: the patches that name one of them first."""
    for patch in sorted(part.patches, key=lambda patch: not _selects(patch.target, having)):
        place = patch.entry
        yield place.source.name, *place.source.locate(place.start)
    for pods in sorted(part.pods, key=lambda pods: not any(_selects(target, having) for target in pods.targets)):
        yield pods.file, pods.line, 1


def _selects(target: Mapping[str, str] | None, having: Sequence[MappingNode]) -> bool:
    return target is not None and any(selector.selects(target, root, selector.identity(root)) for root in having)
