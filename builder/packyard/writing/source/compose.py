"""A package from its parts: the same objects that kustomize builds from them, with the setter comments that it drops.

resources: [bases/mpi-job]  +  components: [overlays/storage/user-mounted-nfs]  +  patches: […]
    ->  config-map.yaml  mpi-job.yaml  service-account.yaml  kustomization.yaml  Krmfile
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from posixpath import basename

from packyard.core.bundle.prerequisite import Prerequisite
from packyard.core.errors import InputError, Problem, refuse, suggest
from packyard.core.kubernetes import kustomization, pods
from packyard.core.kubernetes.fieldtypes import merge_keys
from packyard.core.work.memo import Memo
from packyard.core.yaml import aliases
from packyard.core.yaml.node import MappingNode, Source
from packyard.core.yaml.sources import Sources
from packyard.core.yaml.values import quoted, to_value
from packyard.using.kustomize import idle_patches, reader, selector
from packyard.using.kustomize.accumulate import SourceObject, accumulate, file_names, is_same
from packyard.using.kustomize.idle_patches import Idle
from packyard.using.kustomize.part import KrmfileData, Part
from packyard.using.kustomize.patch import no_container
from packyard.using.options.folder import OPTIONS, PROGRAMS
from packyard.using.setters.definition import Definitions
from packyard.using.setters.krmfile import KRMFILE
from packyard.using.setters.plan import set_fields
from packyard.using.setters.rules.rule import Rule
from packyard.writing.source import (
    closure,
    needs,
    option,
    parts,
    preset,
    program,
    use_case_rules,
)
from packyard.writing.source.option import Options
from packyard.writing.source.package import Package, UseCase
from packyard.writing.source.preset import Preset
from packyard.writing.source.words import UndefinedError, Words, read
from packyard.writing.source.workspace import FOLDERS, STORAGE, Workspace

_HEAD = "# the parameters of this use case: packyard set . NAME=VALUE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """The files of one use case by their name, and the objects in them as (kind, file).

    Files that its kustomization does not list are ``beside`` the others, for users to add. ``idle`` are patches that
    reach nothing in it.
    """

    use_case: UseCase
    files: Mapping[str, bytes]
    objects: tuple[tuple[str, str], ...]
    beside: tuple[str, ...]
    definitions: Definitions  # those of its Krmfile
    rules: Sequence[Rule]
    description: str
    shared: Mapping[str, bytes]  # what it shares, with what it adds
    requires: tuple[Prerequisite, ...]  # as its authors say
    named: Mapping[str, SourceObject]  # what files of objects were written from
    sources: Sequence[SourceObject]  # the objects before words were folded
    idle: Sequence[Idle]
    words: Words

    @property
    def resources(self) -> dict[str, bytes]:
        """The files of objects, also those beside the others."""
        own = {name: data for name, data in self.files.items() if name not in (KRMFILE, kustomization.FILE)}
        return {**own, **self.shared}

    def values(self, memo: Memo) -> list[dict[str, object]]:
        """Return the objects as plain values."""
        return values({**{name: self.files[name] for _, name in self.objects}, **self.shared}, memo)


@dataclass(frozen=True, slots=True)
class ComposedPackage:
    """A package composed: its use cases and its options; ``idle`` are patches of its parts that reach nothing in it."""

    package: Package
    use_cases: tuple[Composed, ...]
    options: Options
    presets: Sequence[Preset]
    programs: Mapping[str, bytes]  # their files by their path below ``programs``
    idle: Idle

    @property
    def files(self) -> dict[str, bytes]:
        """Every file by its path below the prefix of the workspace."""
        by_path = {f"{item.use_case.path}/{name}": data for item in self.use_cases for name, data in item.files.items()}
        for folder, files in ((OPTIONS, self.options.files), (PROGRAMS, self.programs)):
            by_path.update({f"{folder}/{name}": data for name, data in files.items()})
        return by_path


def compose(workspace: Workspace, package: Package) -> ComposedPackage:
    """Compose a package; values that none of its use cases can use are refused, and presets that do not fit."""
    composed = tuple(make(workspace, package, use_case) for use_case in package.use_cases)
    _check_values(package, composed)
    presets = preset.read_all(workspace.sources, package)
    preset.check(presets, {item.use_case.path: (item.definitions, item.rules) for item in composed})
    nothing = [part for item in composed for part in item.idle]
    objects = {item.use_case.path: item.sources for item in composed}
    options = option.gather(workspace, dict(sorted(objects.items())), nothing)
    programs = program.files(workspace.sources, objects.values())
    return ComposedPackage(package, composed, options, presets, programs, idle_patches.join(nothing))


def make(workspace: Workspace, package: Package, use_case: UseCase) -> Composed:
    """Compose a use case; one without a storage that lacks what storages define is told to name one."""
    try:
        return _make(workspace, package, use_case)
    except UndefinedError as error:
        sources, folders = workspace.sources, workspace.part_dirs(FOLDERS[STORAGE])
        krmfiles = {name: parts.read_krmfile(sources, folder) for name, folder in folders.items()}
        defining = [name for name, data in krmfiles.items() if data and {*error.names} & {*read(data, sources.memo)}]
        if use_case.storage or not defining:
            raise
        message = f"useCases.{use_case.name}: has no storage, which would define {error.names[-1]}"
        hint = f"give it storage: [{'none' if 'none' in defining else defining[0]}]"
        raise InputError(Problem(message, file=package.file, line=use_case.line, hint=hint)) from error


def _make(workspace: Workspace, package: Package, use_case: UseCase) -> Composed:
    sources, memo = workspace.sources, workspace.sources.memo
    used = [parts.of(workspace, path) for path in use_case.parts]
    if sum(part.size for part in used) > reader.MAX_PARTS:
        message = f"use case {use_case.path} is made of more than {reader.MAX_PARTS} kustomizations"
        raise InputError(Problem(message, file=package.file, line=use_case.line))
    objects, nothing = _objects(sources, package, use_case, used)
    named = dict(zip(file_names(objects), objects, strict=True))
    beside = {basename(path): SourceObject(root, PurePosixPath(path).stem) for path, root in _beside(sources, used[0])}
    by_file = {**beside, **named}
    layers = _layers(sources, package, *used)
    krmfiles = [krmfile for layer in layers for krmfile in layer]
    lent = [[krmfile] for krmfile in package.lent]
    words = Words(parts.read_shared(workspace), [*lent, *layers], use_case.setters, memo)
    folded = {name: item.copy(words.fold(item.root)) for name, item in sorted(by_file.items())}
    program.check(objects)
    shared = {name: item.write() for name, item in folded.items() if program.is_shared(item)}
    own = {name: program.write(part, use_case.path) for name, item in folded.items() if (part := program.own(item))}
    reach = closure.reach(words, own)
    setters = reach.definitions.setters
    rules = use_case_rules.gather(krmfiles, memo)
    refuse(use_case_rules.check(rules, setters, workspace, use_case.setters))
    rules = [rule for rule in rules if use_case_rules.is_here(rule, setters)]
    files = {**own, **set_fields(own, reach.definitions, setters, memo).files}
    programs = program.lines(use_case.path, program.find(objects), shared.keys() & own.keys())
    files[kustomization.FILE] = _kustomization(use_case, named.keys() - shared.keys(), programs)
    if setters:
        files[KRMFILE] = closure.write(_HEAD, reach.sections, rules)
    return Composed(
        use_case=use_case,
        files=files,
        objects=tuple((item.identity[1], name) for name, item in sorted(named.items()) if name in own),
        beside=tuple(sorted(beside)),
        definitions=reach.definitions,
        rules=rules,
        description=_purpose(use_case, used),
        shared={**shared, **set_fields(shared, reach.definitions, setters, memo).files},
        requires=tuple(dict.fromkeys([*package.requires, *needs.gather(krmfiles, memo)])),
        named={name: part for name, item in by_file.items() if (part := program.own(item))},
        sources=objects,
        idle=nothing,
        words=words,
    )


def _kustomization(use_case: UseCase, resources: Iterable[str], programs: Iterable[str]) -> bytes:
    lines = [*kustomization.header(), "resources:", *(f"- {name}" for name in sorted(resources)), *programs]
    lines += [f"namespace: {quoted(use_case.namespace)}"] if use_case.namespace else []
    return "".join(f"{line}\n" for line in lines).encode()


def _beside(sources: Sources, base: Part) -> Iterator[tuple[str, MappingNode]]:
    """Read the objects beside a base, and beside those that it builds on, that no kustomization lists; with files."""
    for part in base.parts():
        for path in sorted(set(sources.list(part.folder, "*.yaml")) - part.own_files()):
            yield from ((path, root) for root in parts.Composer(sources).objects(path))


def _objects(
    sources: Sources, package: Package, use_case: UseCase, used: Sequence[Part]
) -> tuple[list[SourceObject], list[Idle]]:
    """Return the objects of a use case, and which patches of its parts reach nothing; its package's own have to."""
    items, nothing = begun(sources, used)
    roots = [item.root for item in items if not item.is_local]
    if use_case.storage and pods.find_all(roots) and changes_nothing(sources, used):
        message = f"storage {use_case.storage} changes nothing in {use_case.name}"
        hint = f"have it patch {' or '.join(sorted({root.text('kind') for root in roots}))}, or leave it out"
        raise InputError(Problem(message, file=package.file, line=use_case.line, hint=hint))
    own: list[Idle] = []
    added = Part(package.folder, patches=use_case.patches, pods=use_case.pods)
    objects = accumulate(added, [item.copy() for item in items], own)
    refuse(_idle(use_case, idle_patches.join(own), [item.root for item in objects]))
    refuse(_misnamed(use_case, objects))
    return program.referred([item for item in objects if not item.is_local]), list(nothing)


def _idle(use_case: UseCase, nothing: Idle, roots: Sequence[MappingNode]) -> Iterator[Problem]:
    """Find the patches of a package that reach nothing in a use case: each has to, in each that lists it."""
    missing = f"the patch changes nothing in the use case {use_case.path}"
    for change in use_case.patches:
        if change.target and nothing[change.key]:
            target, hint = change.entry.get("target") or change.entry, selector.near(change.target, roots)[1]
            yield target.problem(f"{missing}: it is for {change.key[2]}", hint)
    for patch in use_case.pods:
        idle_keys = (number for number, key in enumerate(patch.keys) if nothing[key])
        for place, what, hint in dict.fromkeys(patch.misfit(number, roots) for number in idle_keys):
            problem = place.problem("") if place else Problem("", file=patch.file, line=patch.line)
            yield problem._replace(message=f"{missing}: it is for {what}", hint=hint)


def _purpose(use_case: UseCase, used: Sequence[Part]) -> str:
    """Return what a use case is for; where its name has several storages, that of the storage tells them apart."""
    purpose = use_case.description or kustomization.first_sentence(used[0].description)
    storage = kustomization.first_sentence(used[-1].description) if use_case.has_siblings else ""
    return " ".join(filter(None, (purpose, storage)))


def _misnamed(use_case: UseCase, objects: Iterable[SourceObject]) -> Iterator[Problem]:
    """Find containers that a strategic merge of the package added without an image: no other one has the name."""
    merges = [root.source for change in use_case.patches if isinstance(root := change.document.root, MappingNode)]
    for root in (item.root for item in objects if merges):
        for pod in pods.find(root):
            for path, container in pod.container_places:
                is_merged = merge_keys(root.text("apiVersion"), root.text("kind"), path[:-1]) is not None
                if is_merged and container.source in merges and container.entry("image") is None:
                    siblings = [sibling.text("name") for sibling in pod.containers if sibling is not container]
                    yield no_container(root, container, siblings)


def changes_nothing(sources: Sources, used: Sequence[Part]) -> bool:
    """Say whether the last of parts is there to change objects, not for its definitions alone, and changes none."""
    stages = (begun(sources, stage)[0] for stage in (used[:-1], used))
    before, after = ([item.root for item in objects if not item.is_local] for objects in stages)
    return is_same(before, after) and any(part.patches or part.pods or part.replacements for part in used[-1].parts())


def _layers(sources: Sources, package: Package, base: Part, *overlays: Part) -> list[list[KrmfileData]]:
    """Return the Krmfiles of a use case in layers, of which each wins over those before it.

    They are those of the base, those that overlays build on, those of overlays side by side, and the package's.
    """
    below = [krmfile for overlay in overlays for part in overlay.components for krmfile in part.krmfiles()]
    beside = [overlay.krmfile for overlay in overlays if overlay.krmfile]
    krmfile = parts.read_krmfile(sources, package.folder)
    return [*([krmfile] for krmfile in base.krmfiles()), below, beside, *([[krmfile]] if krmfile else [])]


def begun(sources: Sources, used: Sequence[Part]) -> tuple[list[SourceObject], list[Idle]]:
    """Return what the base and the overlays of a use case come to, made once in a run, and what of them is idle."""

    def make() -> tuple[list[SourceObject], list[Idle]]:
        base, *overlays = used
        nothing: list[Idle] = []
        return accumulate(Part(base.folder, resources=(base,), components=tuple(overlays)), idle=nothing), nothing

    return sources.once(("objects", *(part.folder for part in used)), make)


def _check_values(package: Package, use_cases: Sequence[Composed]) -> None:
    """Refuse a value that none of the use cases it is given to can use."""
    uses = [(item, value.line, name) for item in use_cases for name, value in item.use_case.setters.items()]
    used = {(line, name) for item, line, name in uses if item.words.is_used(name)}
    unknown = {(line, name) for _, line, name in uses if line} - used
    known = {name for item in use_cases for name in item.words.defined}
    bound = {name for item in use_cases for name in item.words.known if item.words.is_used(name)}
    refuse(
        Problem(
            f"setters.{name}: no field of its use cases has this setter",
            file=package.file,
            line=line,
            hint=f'write # {{"$openapi":"{name}"}} behind the value in your patch'
            if name in known
            else suggest(name, bound),
        )
        for line, name in sorted(unknown)
    )


def values(files: Mapping[str, bytes], memo: Memo) -> list[dict[str, object]]:
    """Return the objects in files as plain values."""
    texts = (Source(name, data.decode()) for name, data in files.items())
    documents = (to_value(document.root) for source in texts for document in aliases.followed(source, memo))
    return [value for value in documents if isinstance(value, dict)]
