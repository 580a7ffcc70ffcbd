"""A new source package, written from a few answers: it builds and lints as it is, and its author goes on from there.

packages/NAME/package.yaml           what each use case is made of
packages/NAME/patches/USECASE.yaml   what the program is started with, as the base says it, for the author to change,
                                     where parts leave its ``args`` empty
packages/NAME/docs/                  the beginning of its README
packages/NAME/tests/NAME.yaml        a test that passes
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from packyard.core.errors import InputError, Problem, suggest
from packyard.core.kubernetes import pods
from packyard.core.yaml.content import Text, Tree, in_brackets
from packyard.core.yaml.document import scalars
from packyard.core.yaml.node import SequenceNode
from packyard.core.yaml.sources import LIBRARIES
from packyard.using.kustomize import accumulate
from packyard.using.kustomize.accumulate import SourceObject
from packyard.using.kustomize.part import Part
from packyard.writing.authoring import skeleton
from packyard.writing.source import parts, pod_patch, tests
from packyard.writing.source.library import BUILTIN
from packyard.writing.source.offers import Offered
from packyard.writing.source.package import NAME, slug
from packyard.writing.source.pod_operations import containers_of, is_bound
from packyard.writing.source.workspace import BASE, FOLDERS, PROGRAMS, STORAGE, Workspace, authored

_RUN, _CONTAINERS = ("command", "args"), "containers"
_REPLACED: Sequence[Sequence[str]] = ([], ["python3", "main.py"])  # commands that are there to be replaced
_HEAD = b"# What the program is started with; an empty list leaves it to the image.\n"
_TEST = """\
# What users rely on; packyard test asks it, and nobody gets this file.
tests:
- it: has its {kind}
  useCases: [{name}]
  expect:
  - {{kind: {kind}, exists: true}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the author of a package was asked: the bases of its use cases, and what all of them have."""

    name: str
    bases: Mapping[str, str]
    storage: Sequence[str] = ()
    programs: Sequence[str] = ()
    setters: Mapping[str, str] = field(default_factory=dict)
    description: str = ""


#: The bases that are offered first: programs that end, on one node or several, and servers.
COMMON = ("job", "mpi-job", "indexed-job", "job-set", "deployment", "model-server")


def choices(kind: str, parts: Sequence[Offered]) -> list[Offered]:
    """Return what is asked for: parts of a kind; of bases those that are `COMMON`, and those that packyard lacks."""
    offered = {part.name: part for part in parts if part.kind == kind and not part.internal}
    own = [name for name, part in offered.items() if not part.folder.startswith(f"{LIBRARIES}/{BUILTIN}/")]
    names = dict.fromkeys((*COMMON, *own)) if kind == BASE else offered
    return [offered[name] for name in names if name in offered]


def fault_of_part(kind: str, name: str, parts: Sequence[Offered]) -> str:
    """Say why a part cannot be chosen, or nothing."""
    names = {part.name for part in parts if part.kind == kind}
    hint = suggest(name, (part.name for part in parts if part.kind == kind and not part.internal))
    return "" if name in names else f"no {kind} {name!r} ({hint or 'packyard new --list shows them'})"


def check_name(workspace: Workspace, name: str) -> None:
    """Refuse a name that cannot be, or that a package has."""
    if not NAME.fullmatch(name):
        meant = slug(name)
        hint = f"did you mean {meant!r}?" if NAME.fullmatch(meant) else "for example my-model"
        raise InputError(Problem(f"{name!r} cannot name a package: use lower case words joined by -", hint=hint))
    if name in workspace.package_names():
        hint = "choose another name, or change its package.yaml"
        raise InputError(Problem("exists already", file=str(workspace.root_dir / "packages" / name), hint=hint))


def check(answers: Answers, parts: Sequence[Offered]) -> None:
    """Refuse parts that are not there."""
    for kind, name in _chosen(answers):
        if fault := fault_of_part(kind, name, parts):
            raise InputError(fault)


def cure(answers: Answers, parts: Sequence[Offered], problems: Sequence[Problem]) -> str:
    """Say what to choose where problems name what others need and no chosen part defines."""
    chosen = {*_chosen(answers)}
    used = [part for part in parts if (part.kind, part.name) in chosen]
    defined = {name for part in used for name in part.defines} | answers.setters.keys()
    named = {word for problem in problems for word in re.findall(r"\w+", problem.message)}
    missing = named & {name for part in used for name in part.needs} - defined
    if missing:
        offered = (part for part in parts if part.kind in (STORAGE, PROGRAMS) and not part.internal)
        return " or ".join(f"add --{part.kind} {part.name}" for part in offered if missing & {*part.defines})
    return "name use cases by --base USECASE=BASE" if "RUN_NAME" in named else ""


def _chosen(answers: Answers) -> Iterator[tuple[str, str]]:
    kinds = (BASE, answers.bases.values()), (STORAGE, answers.storage), (PROGRAMS, answers.programs)
    yield from ((kind, name) for kind, names in kinds for name in names)


def manifests(workspace: Workspace, part: Offered) -> bytes:
    """Return the objects of a base as a use case begins with them, or the files of an overlay."""
    sources = workspace.sources
    if part.kind == BASE:
        objects = accumulate.accumulate(parts.of(workspace, f"{FOLDERS[BASE]}/{part.name}"))
        return b"---\n".join(item.write() for item in objects)
    return b"---\n".join(sources.read(path) for path in authored(sources, part.folder) if path.endswith(".yaml"))


def write(workspace: Workspace, answers: Answers) -> dict[str, bytes]:
    """Return the files of the package by their paths in its folder."""
    use_cases: dict[str, Tree] = {}
    files: dict[str, bytes] = {}
    kinds: list[str] = []
    for name, base in answers.bases.items():
        named = ((BASE, base), *((PROGRAMS, program) for program in answers.programs))
        used = tuple(parts.of(workspace, f"{FOLDERS[kind]}/{part}") for kind, part in named)
        objects = accumulate.accumulate(Part(used[0].folder, resources=used[:1], components=used[1:]))
        kinds.append(next((item for item in objects if pods.find(item.root)), objects[0]).identity[1])
        lists = {"storage": answers.storage, "programs": answers.programs}
        if patches := [skeleton.text(patch) for patch in _patches(objects)]:
            lists["patches"] = [f"patches/{name}.yaml"]
            files[f"patches/{name}.yaml"] = _HEAD + b"---\n".join(patches)
        listed = {key: in_brackets([Text(text) for text in texts]) for key, texts in lists.items() if texts}
        use_cases[name] = {"base": Text(base), **listed}
    description = re.sub("{(?=[{%#])", "{{ '{' }}", answers.description)  # which is text, and no template
    begun = skeleton.write(answers.name, use_cases, setters=answers.setters, description=description)
    test = _TEST.format(name=next(iter(answers.bases)), kind=kinds[0])
    return {**begun, f"{tests.DIRECTORY}/{answers.name}.yaml": test.encode(), **files}


def _patches(objects: Iterable[SourceObject]) -> Iterator[Tree]:
    """Yield a patch for each object whose first program has no arguments: parts leave them to the package."""
    for item in objects:
        containers = chain.from_iterable(containers_of(pod, _CONTAINERS) for pod in pods.find(item.root))
        container = next((begun for begun in containers if any(map(begun.node.get, _RUN))), None)
        entry = container and container.node.entry("args")
        if container and entry and isinstance(entry.value, SequenceNode) and not (entry.value.items or is_bound(entry)):
            command = [text.value for text in scalars(container.node.get("command"))]
            run = {"command": in_brackets([Text(word) for word in command])} if command in _REPLACED else {}
            _, kind, _, called = item.identity
            yield {
                "apiVersion": pod_patch.VERSION,
                "kind": pod_patch.KIND,
                "targets": in_brackets([{"kind": Text(kind), "name": Text(called)}]),
                "spec": {_CONTAINERS: [{"name": Text(container.name), **run, "args": "[]"}]},
            }
