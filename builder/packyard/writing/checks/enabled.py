"""A use case with an option enabled: what is wrong with its objects then, and was not before.

    bases/job/job.yaml                  volumes: [{name: data, …}]
    overlays/options/cache/job.yaml     volumeMounts: [{name: cach, mountPath: /cache}]
                                        -> job.yaml of the option mounts a volume that the pod does not have

A finding stands at the option: at its own line, or where only the rest of the use case shows it, at the patch for the
object. Of several use cases that have it from one option it is one finding.
"""

from __future__ import annotations

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
from packyard.writing.checks.parsed import Parsed


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


#: The objects of a use case with an option: each before, None for one that is new, and now.
_Objects = Sequence[tuple[MappingNode | None, MappingNode]]


def _enable(parsed: Parsed, build: Build, option: Option) -> _Objects:
    """Return the objects of a build of a package with an option; none where it does not fit, or changes nothing."""
    own = build.objects
    beside = [root for name in option.beside for root in _roots(parsed, name) if root not in own]
    begun = [SourceObject(root, "") for root in (*own, *beside)]
    objects = list(begun)
    try:
        accumulate(option.part, objects)
    except InputError:
        return ()
    before = {id(item): root for item, root in zip(begun, own, strict=False)}
    roots = [(before.get(id(item)), item.root) for item in objects if not item.is_local]
    is_idle = len(roots) >= len(own) and all(old is new for old, new in roots)
    return () if is_idle else roots


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How options are tried, one at a time in each use case; ``defined`` are the definitions that their fields have."""

    options: Sequence[Option]
    defined: Definitions
    judges: Sequence[Judge]

    def find(self, parsed: Parsed, baseline: Iterable[Finding]) -> Iterator[Finding]:
        """Find what is wrong with a package where an option is enabled; ``baseline`` is what is wrong without one."""
        keys = {_key(finding) for finding in baseline}
        for build in (of_case for of_case in parsed.builds if of_case.kustomizations):
            for option in self.options:
                if roots := _enable(parsed, build, option):
                    revised = parsed.revised(build, roots, self.defined, frozenset(option.files))
                    own = option.files | {parsed.where + name for name in option.beside}
                    for each in find_built(revised, judges=self.judges):
                        if _key(each) not in keys:
                            yield each if each.file in own else _placed(each, option, roots)


def _key(finding: Finding) -> tuple[str, int, int, str]:
    return finding.file, finding.line, finding.column, finding.rule


def _roots(parsed: Parsed, path: str) -> Iterator[MappingNode]:
    """Yield the objects of a file."""
    for root in (document.root for document in parsed.files.get(path, ())):
        if isinstance(root, MappingNode):
            yield root
            yield from mappings(root.get("items"))


def _placed(finding: Finding, option: Option, roots: _Objects) -> Finding:
    """Return a finding at its option, at the patch for the object that has it."""
    having = [new for _, new in roots if new.source.name == finding.file]
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
