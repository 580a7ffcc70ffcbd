"""A use case from its parts: the same objects that kustomize builds from them, with the setter comments that it drops.

resources: [bases/mpi-job]  +  components: [overlays/user-mounted-nfs]  +  patches: […]
    ->  config-map.yaml  mpi-job.yaml  service-account.yaml  kustomization.yaml  Krmfile
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packyard.errors import Problem, refuse, suggest
from packyard.setters.definition import Definitions, Setter
from packyard.setters.listing import Row, list_setters
from packyard.setters.packagefiles import PackageFiles
from packyard.setters.plan import Plan, plan_fields
from packyard.setters.refusal import refusal
from packyard.setters.rules.rule import Rule
from packyard.source import idle, kustomization, option, parts, preset, ranks, rules, security
from packyard.source.accumulate import Object, accumulate, file_names
from packyard.source.definitions import Reached, reach
from packyard.source.idle import Idle
from packyard.source.option import Option
from packyard.source.package import Package, UseCase
from packyard.source.parts import Part
from packyard.source.security import Excuse
from packyard.source.workspace import Workspace
from packyard.text.document import parse_shared, parse_text
from packyard.text.edit import Edit
from packyard.text.node import Source
from packyard.text.plain import to_value
from packyard.text.sharing import once
from packyard.work import reads


@dataclass(frozen=True, slots=True)
class Composed:
    """The files of one use case by their name, the objects in them as (kind, file), and what may be enabled.

    ``unset`` are the files of the objects before they had the package's values, and what gave them these, if anything.
    """

    use_case: UseCase
    files: Mapping[str, bytes]
    unset: Mapping[str, tuple[bytes, Sequence[Edit]]]
    objects: tuple[tuple[str, str], ...] = ()
    unused: tuple[str, ...] = ()  # values given for setters that this use case does not have
    options: tuple[Option, ...] = ()
    definitions: Definitions = field(default_factory=Definitions)  # those of its Krmfile
    rules: tuple[Rule, ...] = ()
    excuses: tuple[Excuse, ...] = ()  # why its pods need a lower Pod Security level
    idle: Idle = field(default_factory=dict)  # patches of its parts that reach nothing here
    own_idle: Idle = field(default_factory=dict)  # operations of its package's own patches that do

    @property
    def shipped(self) -> dict[str, bytes]:
        """All files of the use case's directory by their path, those of its options included."""
        below = {
            f"{option.DIRECTORY}/{item.name}/{path}": data for item in self.options for path, data in item.files.items()
        }
        return {**self.files, **below}

    def package_files(self, where: str = "") -> PackageFiles:
        """Return the use case as the setters' room knows it."""
        return PackageFiles(self.files["Krmfile"], _resources(self.files), where)

    def rows(self) -> list[Row]:
        """Return a row per setter."""
        unset = {name: data for name, (data, _) in self.unset.items()}  # with a value or without, a field counts
        return list_setters(PackageFiles(self.files["Krmfile"], unset), self.definitions)

    def values(self) -> list[dict[str, object]]:
        """Return the objects as plain values."""
        found = (value for _, name in self.objects for value in _values(name, *self.unset[name], self.files[name]))
        return [value for value in found if isinstance(value, dict)]


def compose_all(workspace: Workspace, package: Package) -> list[Composed]:
    """Compose every use case of a package; values and presets that its use cases cannot use are refused."""
    composed = [compose(workspace, package, use_case) for use_case in package.use_cases]
    own = idle.join(item.own_idle for item in composed)
    refuse(idle.problems(own, "any use case that lists it"))
    _check_values(composed)
    presets = preset.read_all(workspace, package)
    if presets:
        preset.check(presets, {item.use_case.path: (item.definitions, item.rules) for item in composed})
    return composed


def _check_values(composed: Sequence[Composed]) -> None:
    """Refuse a value that none of the use cases it is given to can use."""
    given = {
        (value.file, value.line, name): value for item in composed for name, value in item.use_case.setters.items()
    }
    used = {
        (value.file, value.line, name)
        for item in composed
        for name, value in item.use_case.setters.items()
        if name not in item.unused
    }
    unknown = [key for key in sorted(given) if key not in used]
    if not unknown:
        return
    known = {name for item in composed for name in item.definitions.setters}
    known |= {name for item in composed for offered in item.options for name in offered.setters}
    refuse(
        Problem(f"setters.{name}: no part defines it", file=file, line=line, hint=suggest(name, known))
        for file, line, name in unknown
    )


def compose(workspace: Workspace, package: Package, use_case: UseCase, *, values: bool = True) -> Composed:
    """Compose a use case, and give it the package's values; ``values=False`` leaves those of its parts."""
    part = kustomization.read(workspace, package, use_case)
    begun, inherited = _begun(part)
    own: list[Idle] = []
    objects = accumulate(Part(part.folder, patches=part.patches), [item.copy() for item in begun], idle=own)
    refuse(idle.problems(idle.wholly(own), f"the use case {use_case.path}"))
    ranks.add(objects)
    nothing = [*inherited]
    named = sorted(zip(file_names(objects), objects, strict=True), key=_by_name)
    documents = {name: item.write() for name, item in named}
    given = {name: value.text for name, value in use_case.setters.items()} if values else {}
    reached = reach(part, documents, given)
    known = reached.definitions.setters
    applying = rules.gather(part)
    here = [rule for rule in applying if rules.is_here(rule, known)]
    options = _options(workspace, use_case, part, objects, reached, given, nothing)
    offered = {name: setter for item in options for name, setter in item.setters.items()}
    _check_given(use_case, {**offered, **known} if values else {})
    if values:
        refuse(rules.check(applying, known, workspace))
        for item in options:
            refuse(rules.check(item.rules, {**item.setters, **known}, workspace) if item.rules else ())
    plan = _plan(documents, reached, given)
    unset = {name: (data, plan.edits.get(name, ())) for name, data in documents.items()}
    files = {
        **documents,
        **plan.files,
        "Krmfile": reached.krmfile(here),
        "kustomization.yaml": _kustomization(list(documents)),
    }
    kinds = tuple((item.identity[1], name) for name, item in named)
    unused = tuple(name for name in given if name not in known and name not in offered)
    excuses = tuple(security.gather(part))
    return Composed(
        use_case,
        files,
        unset,
        kinds,
        unused,
        options,
        reached.definitions,
        tuple(here),
        excuses,
        idle.join(nothing),
        idle.join(own),
    )


def _begun(part: Part) -> tuple[list[Object], list[Idle]]:
    """Return what the base and the overlays of a use case come to, made once in a run, and what of them is idle."""
    shared = Part(part.folder, resources=part.resources, components=part.components)
    folders = tuple(str(item.folder) for item in (*part.resources, *part.components))
    return reads.once(("objects", *folders), lambda: _begin(shared))


def _begin(part: Part) -> tuple[list[Object], list[Idle]]:
    nothing: list[Idle] = []
    return accumulate(part, idle=nothing), nothing


def _by_name(pair: tuple[str, Object]) -> str:
    return pair[0]


def _options(
    workspace: Workspace,
    use_case: UseCase,
    part: Part,
    objects: list[Object],
    reached: Reached,
    values: Mapping[str, str],
    nothing: list[Idle],
) -> tuple[Option, ...]:
    """Write the options of a use case, each with the definitions that it needs beside those of the use case.

    Those that its package names have to fit it, those of the workspace need not.
    """
    found: list[Option] = []
    for name in dict.fromkeys((*use_case.options, *workspace.options)):
        component = parts.read(workspace.root_dir / "overlays" / name, "Component")
        files = option.write(component, objects, nothing)
        if not files and name not in use_case.options:
            continue
        refuse([option.misfit(component)] if not files else [])
        both = reach(Part(part.folder, resources=(part,), components=(component,)), files, values)
        known = {**both.definitions.setters, **reached.definitions.setters}
        own = tuple(rules.gather(component))
        definitions = both.beside(reached, [rule for rule in own if rules.is_here(rule, known)])
        files.update(_plan(files, both, values).files)
        if definitions:
            files[option.DEFINITIONS] = definitions
        added = {key: item for key, item in known.items() if key not in reached.definitions.setters}
        excuses = tuple(security.gather(component))
        found.append(Option(name, option.describe(component), files, own, added, excuses))
    return tuple(found)


def _resources(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if name.endswith(".yaml")}


def _kustomization(names: list[str]) -> bytes:
    lines = ["apiVersion: kustomize.config.k8s.io/v1beta1", "kind: Kustomization", "resources:"]
    return "\n".join([*lines, *(f"- {name}" for name in sorted(names)), ""]).encode()


def _plan(files: Mapping[str, bytes], reached: Reached, values: Mapping[str, str]) -> Plan:
    """Plan to give the fields of files the package's values, by the engine of `set`."""
    setters = reached.definitions.setters
    return plan_fields(files, reached.definitions, {name: setters[name] for name in values if name in setters})


def _values(name: str, unset: bytes, edits: Sequence[Edit], data: bytes) -> Iterator[object]:
    """Yield the documents of a file as plain values.

    The file as it was before its edits is parsed already. What an edit put in the place of a value says what it means,
    unless it depends on how it is indented.
    """
    if any(
        item.reads is None or "\n" in item.replacement or item.replacement.lstrip()[:1] in ("|", ">") for item in edits
    ):
        unset, edits = data, ()
    instead = {(item.start, item.end): _value(item.replacement) for item in edits}
    for document in parse_shared(Source(name, unset.decode())):
        yield to_value(document.root, instead)


def _value(text: str) -> object:
    return once(("value", text), lambda: to_value(parse_text(Source("", text))[0].root) if text.strip() else None)


def _check_given(use_case: UseCase, known: Mapping[str, Setter]) -> None:
    refuse(
        Problem(f"setters.{name}: {fault}", file=given.file, line=given.line)
        for name, given in use_case.setters.items()
        if name in known and (fault := refusal(known[name], [given.text]))
    )
