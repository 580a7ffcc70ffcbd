"""package.yaml: one model, what each of its use cases is made of, and the values of its setters.

useCases:
  multi-node:                       a use case for each storage: multi-node/user-allocated-pvc, …
    base: mpi-job                   a folder of bases/
    storage: [user-allocated-pvc]   folders of overlays/storage/
    programs: [model-zoo]           folders of overlays/programs/
    patches: [patches/job.yaml]     as in a kustomization
    after: [claim, staging]         use cases that run before this one, in the order of work
    description: Trains together.   what it is for, where the comment of its base does not say it
    setters: {BATCH_SIZE: "128"}    values for this use case; those of the package are for all
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from posixpath import basename

from packyard.core.bundle.prerequisite import Prerequisite
from packyard.core.errors import suggest
from packyard.core.yaml.document import scalars
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Node
from packyard.using.kustomize.part import KrmfileData, Patch
from packyard.using.options.folder import OPTIONS
from packyard.writing.source import needs, scripts
from packyard.writing.source.parts import read_patches
from packyard.writing.source.pod_operations import PodPatch
from packyard.writing.source.workspace import BASE, FOLDERS, PROGRAMS, STORAGE, Workspace

FILE = "package.yaml"
#: The fragment of its README that says what it does.
DESCRIPTION = "docs/10-description.md"
#: How many directories a package may bring for its users to deploy.
MAX_USE_CASES = 256
#: What packages, use cases and parts are called.
NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
#: What `model` may say of a package, for lists.
MODEL = ("name", "framework", "category", "precision", "mode")
_MODES = ("training", "inference")


def slug(text: str) -> str:
    """Return the name that a text comes nearest to; empty where it comes near none."""
    return "-".join(re.findall("[a-z0-9]+", text.lower()))


@dataclass(frozen=True, slots=True)
class SetterValue:
    """What a setter is given, and where that is written (line 0: nowhere, it is what all packages begin with).

    With ``${OTHER}`` in it, it follows from others. ``named`` is the line of the use case that it is the name of.
    """

    text: str
    file: str
    line: int
    named: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCase:
    """One directory that a user deploys; ``name`` is that in package.yaml, ``storage`` empty where it has none.

    ``after`` are the paths of those that run before it, in the order of work. One ``has_siblings`` where its name has
    several storages. ``description`` is its author's, and may be empty.
    """

    path: str
    name: str
    base: str
    storage: str = ""
    programs: tuple[str, ...] = ()
    patches: tuple[Patch, ...] = ()
    pods: tuple[PodPatch, ...] = ()  # after these
    setters: Mapping[str, SetterValue] = field(default_factory=dict)
    namespace: str = ""
    line: int = 0
    description: str = ""
    after: tuple[str, ...] = ()
    has_siblings: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """Its base and its overlays, in the order of composition: ``bases/job``, ``overlays/storage/claim``."""
        named = ((BASE, self.base), *((PROGRAMS, name) for name in self.programs), (STORAGE, self.storage))
        return tuple(f"{FOLDERS[kind]}/{name}" for kind, name in named if name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """What package.yaml says, checked: every part that it names exists.

    ``use_cases`` are in its order. ``lent`` are Krmfiles that count where the parts of a use case define less: see
    `trials`.
    """

    name: str
    folder: str
    file: str
    model: Mapping[str, str]
    use_cases: tuple[UseCase, ...]
    requires: tuple[Prerequisite, ...] = ()
    moved: Mapping[str, str] = field(default_factory=dict)
    lent: tuple[KrmfileData, ...] = ()


def read(workspace: Workspace, name: str) -> Package:
    """Read and check a package's definition; every fault is named at once."""
    folder = workspace.package_dir(name)
    fields = Fields.of_file(workspace.sources, f"{folder}/{FILE}")
    fields.expect_header("packyard/v1", "Package")
    if not NAME.fullmatch(name):
        fields.fault(fields.node, "", f"the package's folder {name!r} must be lower case words joined by dashes")
    fields.problems += scripts.check(workspace.sources, folder)
    fields.elsewhere("rules", "rules stand in a Krmfile: in that of the package, packages/NAME/Krmfile, or of a part")
    package = Package(
        name=name,
        folder=folder,
        file=fields.file,
        model=_model(fields, name.removesuffix("-k8s")),
        use_cases=tuple(_use_cases(workspace, folder, fields)),
        requires=needs.read(fields),
        moved=fields.sentences("moved"),
    )
    fields.done()
    return package


def title(workspace: Workspace, folder: str) -> str:
    """Return the title of a package: the first heading of its README's fragments."""
    for path in workspace.sources.list(f"{folder}/docs", "*.md"):
        lines = workspace.sources.read(path).decode("utf-8", "replace").splitlines()
        if heading := next((line[2:].strip() for line in lines if line.startswith("# ")), ""):
            return heading
    return ""


def _model(fields: Fields, name: str) -> dict[str, str]:
    model = {"name": name}
    if child := fields.child("model"):
        for key in filter(child.anything, MODEL):
            model[key] = child.one_of(key, _MODES) if key == "mode" else child.text(key)
        child.done()
    return model


def _use_cases(workspace: Workspace, folder: str, fields: Fields) -> list[UseCase]:
    """Read the use cases, in the order of package.yaml."""
    names = fields.children("useCases")
    if not names:
        fields.fault(fields.node, "useCases", "is missing, or names none")
    common = {"MODEL_NAME": SetterValue(basename(folder).removesuffix("-k8s"), fields.file, 0), **_values(fields)}
    shared = fields.text("namespace", "")
    after = {name: child.texts("after") for name, child in names.items()}
    cases = [case for name, child in names.items() for case in _entry(workspace, folder, name, child, common, shared)]
    if len(cases) > MAX_USE_CASES:
        fields.fault(fields.node, "useCases", f"are {len(cases)} in all, where a package may have {MAX_USE_CASES}")
        return []  # what else is wrong takes long to find in so many
    for path in (use_case.path for use_case in cases):
        if any(f"{path}/".startswith(f"{use_case.path}/") for use_case in cases if use_case.path != path):
            fields.fault(fields.node, "useCases", f"{path} lies inside another use case")
    for name, child in names.items() if cases else ():
        siblings = {use_case.name for use_case in cases} - {name}
        for earlier in (earlier for earlier in after[name] if earlier not in siblings):
            message, hint = f"there is no other use case {earlier!r}", suggest(earlier, siblings)
            child.fault(_place(child, "after", earlier), "after", message, hint)
    return [replace(use_case, after=_after(use_case, after[use_case.name], cases)) for use_case in cases]


def _after(use_case: UseCase, names: Sequence[str], cases: Sequence[UseCase]) -> tuple[str, ...]:
    """Return the paths of what runs before a use case: of each name the one with its storage, or without any."""
    storages = ("", use_case.storage)
    return tuple(case.path for name in names for case in cases if case.name == name and case.storage in storages)


def _entry(
    workspace: Workspace, folder: str, name: str, fields: Fields, common: Mapping[str, SetterValue], namespace: str
) -> list[UseCase]:
    """Read one entry of ``useCases``: a use case for each storage, or one that has none; none for one with a fault."""
    before = len(fields.problems)
    if not all(map(NAME.fullmatch, name.split("/"))):
        meant = "/".join(filter(None, map(slug, name.split("/"))))
        hint = f"did you mean {meant!r}?" if meant else ""
        fields.fault(fields.node, "", "must be lower case words, joined by dashes and slashes", hint)
    if name.split("/")[0] == OPTIONS:
        fields.fault(fields.node, "", f"{OPTIONS} is the folder of the options")
    line = fields.node.source.locate(fields.node.start)[0] if fields.node else 0
    base, storages, programs = fields.text("base"), fields.texts("storage"), fields.texts("programs")
    for kind, names in ((BASE, [base] if base else []), (STORAGE, storages), (PROGRAMS, programs)):
        _check(fields, kind, names, workspace)
    run_name = SetterValue(name.rpartition("/")[2], fields.file, 0, line)
    patches, pods = read_patches(workspace.sources, fields, f"{folder}/{FILE}")
    use_case = UseCase(
        path=name,
        name=name,
        base=base,
        programs=tuple(programs),
        patches=tuple(patches),
        pods=tuple(pods),
        setters={"RUN_NAME": run_name, **common, **_values(fields)},
        namespace=fields.text("namespace", namespace),
        line=line,
        description=fields.text("description", ""),
        has_siblings=len(storages) > 1,
    )
    fields.done()
    if len(fields.problems) > before:
        return []
    return [replace(use_case, path=f"{name}/{storage}", storage=storage) for storage in storages] or [use_case]


def _check(fields: Fields, key: str, names: list[str], workspace: Workspace) -> None:
    """Note a part that is not there, or that is named twice."""
    folder = FOLDERS[key]
    for name in dict.fromkeys(names):
        if not NAME.fullmatch(name) or not workspace.sources.is_folder(workspace.part_dir(f"{folder}/{name}")):
            looked_in = " or in ".join([f"{folder}/", *(basename(root.rstrip("/")) for root in workspace.roots[1:])])
            hint = suggest(name, workspace.part_dirs(folder))
            fields.fault(_place(fields, key, name), key, f"no folder {name!r} in {looked_in}", hint)
        elif names.count(name) > 1:
            fields.fault(_place(fields, key, name), key, f"names {name!r} twice", "name it once")


def _place(fields: Fields, key: str, value: str) -> Node | None:
    """Return the scalar below ``key`` that says ``value``, for a message to point at."""
    node = fields.node.get(key) if fields.node else None
    return next((scalar for scalar in scalars(node) if scalar.value == value), node)


def _values(fields: Fields) -> dict[str, SetterValue]:
    """Read the values of setters."""
    return {
        name: SetterValue(node.value, fields.file, node.source.locate(node.start)[0])
        for name, node in fields.mapping("setters").items()
    }
