"""A new source package, written from a few answers: it builds and lints as it is, and its author goes on from there.

packages/NAME/package.yaml           what each use case is made of
packages/NAME/patches/USECASE.yaml   what the program is started with, for the author to change, where parts leave
                                     its ``args`` empty; what a command names and no part has, such as MODEL_SCRIPT,
                                     is in one for variables
packages/NAME/docs/                  the beginning of its README
packages/NAME/tests/NAME.yaml        a test that passes
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from packyard.core.errors import InputError, Problem, suggest
from packyard.core.kubernetes import pods
from packyard.core.yaml.content import Text, Tree, Written, block, in_brackets, lexeme, literal
from packyard.core.yaml.document import entries, items, mappings, scalars
from packyard.core.yaml.node import Node, SequenceNode
from packyard.using.kustomize import accumulate
from packyard.using.kustomize.accumulate import SourceObject
from packyard.using.kustomize.part import Part
from packyard.using.setters import comment
from packyard.using.setters.definition import Setter
from packyard.using.setters.refusal import refusal
from packyard.writing.source import parts, pod_operations, pod_patch, tests
from packyard.writing.source.offered import BASE, Offered
from packyard.writing.source.package import FILE, NAME
from packyard.writing.source.words import Words
from packyard.writing.source.workspace import PROGRAMS, STORAGE, Workspace

_RUN, _CONTAINERS = ("command", "args"), "containers"
_WIDTH = 100
_PLACEHOLDER = ["python3", "main.py"]  # the command of bases whose program is that of the image
_HEAD = "# What the program is started with; without a command, it is the image's own."
_TEST = """\
# What users rely on; packyard test asks it, and nobody gets this file.
tests:
- it: has its {kind}
  useCases: [{name}]
  expect:
  - {{kind: {kind}, exists: true}}
"""
_VARIABLE = re.compile(r"\$[({]?([A-Z][A-Z0-9_]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the author of a package was asked: the bases of its use cases, and what all of them have."""

    name: str
    bases: Mapping[str, str]
    storage: Sequence[str] = ()
    programs: Sequence[str] = ()
    setters: Mapping[str, str] = field(default_factory=dict)
    description: str = ""


@dataclass(frozen=True, slots=True)
class _Patch:
    """A patch: its file, and what is written there.

    ``texts`` are the words that it starts a program with; ``is_open`` says that parts leave arguments to the package.
    """

    file: str
    tree: Tree
    texts: Sequence[str] = ()
    is_open: bool = False


#: What a package can do, each by the bases that do it.
WORK: Mapping[str, Sequence[str]] = {
    "a Job: a program that runs to its end in one pod": ("job",),
    "an MPIJob: mpirun starts a program on several nodes": ("mpi-job",),
    "an Indexed Job, or a JobSet: pods on several nodes that find each other": ("indexed-job", "job-set"),
    "a Deployment with a Service: a program that serves": ("deployment",),
    "a server of language models, by vLLM": ("model-server",),
    "your own: a base of yours, or another one of packyard new --list": (),
}
#: Those of them whose model is not trained.
_SERVING = ("deployment", "model-server")


def fault_of_part(kind: str, name: str, parts: Sequence[Offered]) -> str:
    """Say why a part cannot be chosen, or nothing."""
    names = {part.name for part in parts if part.kind == kind}
    hint = suggest(name, (part.name for part in parts if part.kind == kind and not part.internal))
    return "" if name in names else f"no {kind} {name!r} ({hint or 'packyard new --list shows them'})"


def fault_of_value(setter: Setter | None, text: str) -> str:
    """Say why a setter takes no such value, or nothing."""
    return refusal(setter, [text]) if setter else ""


def check_name(workspace: Workspace, name: str) -> None:
    """Refuse a name that cannot be, or that a package has."""
    if not NAME.fullmatch(name):
        meant = "-".join(re.findall("[a-z0-9]+", name.lower()))
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


def cure(answers: Answers, parts: Sequence[Offered]) -> str:
    """Say what to choose or to define where no chosen part defines what others need."""
    chosen = {*_chosen(answers)}
    here = [part for part in parts if (part.kind, part.name) in chosen]
    missing = {name for part in here for name in part.needs} - {name for part in here for name in part.defines}
    missing -= answers.setters.keys()
    if not missing:
        return "leave the storage out, name use cases by --base USECASE=BASE, give values by --set"
    kinds = (STORAGE, PROGRAMS)
    defining = (part for part in parts if part.kind in kinds and missing & {*part.defines} and not part.internal)
    flags = [f"--{offered.kind} {offered.name}" for offered in defining]
    if flags:
        return f"add {' or '.join(flags)}"
    needing = next(part.folder for part in here if missing & {*part.needs})
    return f"define {', '.join(sorted(missing))} in {needing}/Krmfile"


def _chosen(answers: Answers) -> Iterator[tuple[str, str]]:
    kinds = (BASE, answers.bases.values()), (STORAGE, answers.storage), (PROGRAMS, answers.programs)
    yield from ((kind, name) for kind, names in kinds for name in names)


def setters(workspace: Workspace, answers: Answers) -> Mapping[str, Setter]:
    """Return what users of the first use case can set."""
    return _Started.of(workspace, next(iter(answers.bases.values())), answers).setters


def write(workspace: Workspace, answers: Answers) -> dict[str, bytes]:
    """Return the files of the package by their paths in its folder."""
    started = {name: _Started.of(workspace, base, answers) for name, base in answers.bases.items()}
    patches = {name: list(_patches(name, start)) for name, start in started.items()}
    values = {name: value for start in started.values() for name, value in start.missing.items()}
    answers = replace(answers, setters={**values, **answers.setters})
    description = _escaped(answers.description or "What it does, in a sentence.")
    texts = {
        FILE: _text(_package(answers, patches)),
        "docs/00-title.md": f"# {answers.name}\n",
        "docs/10-description.md": f"{description}\n",
    }
    name, first = next(iter(started.items()))
    texts[f"{tests.DIRECTORY}/{answers.name}.yaml"] = _TEST.format(name=name, kind=first.kind)
    for of_use_case in patches.values():
        texts |= {patch.file: f"{_HEAD}\n{_text(patch.tree)}" for patch in of_use_case}
    return {path: text.encode() for path, text in texts.items()}


def _text(tree: Tree) -> str:
    return "".join(f"{line}\n" for line in block(tree))


def _escaped(text: str) -> str:
    """Return what Jinja2 writes as the text."""
    return text.replace("{", "{{ '{' }}") if re.search("{[{%#]", text) else text


def _package(answers: Answers, patches: Mapping[str, Sequence[_Patch]]) -> Tree:
    tree: dict[str, Tree] = {"apiVersion": "packyard/v1", "kind": "Package"}
    mode = "inference" if all(base in _SERVING for base in answers.bases.values()) else "training"
    model = {"name": answers.name, **dict.fromkeys(("framework", "category", "precision"), "none"), "mode": mode}
    tree["model"] = in_brackets({key: Text(text) for key, text in model.items()})
    if answers.setters:
        tree["setters"] = {name: Text(value) for name, value in answers.setters.items()}
    tree["useCases"] = {name: _use_case(base, answers, patches[name]) for name, base in answers.bases.items()}
    return tree


def _use_case(base: str, answers: Answers, patches: Sequence[_Patch]) -> Tree:
    lists = {"storage": answers.storage, "programs": answers.programs, "patches": [patch.file for patch in patches]}
    listed = {key: in_brackets([Text(name) for name in names]) for key, names in lists.items() if names}
    return {"base": Text(base), **listed}


@dataclass(frozen=True, slots=True)
class _Started:
    """How the programs of a use case are started: a patch of each workload, by the name of its file.

    ``missing`` are the setters that the programs read as variables, and no part gives them, with their values.
    ``kind`` is that of an object with pods, if it has one, ``setters`` are what users can set.
    """

    runs: Mapping[str, _Patch]
    missing: Mapping[str, str]
    kind: str
    setters: Mapping[str, Setter]

    @classmethod
    def of(cls, workspace: Workspace, base: str, answers: Answers) -> _Started:
        part = parts.read(workspace.sources, workspace.base_dir(base), "Kustomization")
        dirs = [workspace.overlay_dir(PROGRAMS, name) for name in answers.programs]
        programs = tuple(parts.read(workspace.sources, folder, "Component") for folder in dirs)
        objects = accumulate.accumulate(Part(part.folder, resources=(part,), components=programs))
        named = zip(accumulate.file_names(objects), objects, strict=True)
        started = {file: patch for file, item in named if (patch := _patch(item))}
        variables = {name for patch in started.values() for text in patch.texts for name in _VARIABLE.findall(text)}
        runs = {file: patch for file, patch in started.items() if patch.is_open}
        defined = _defined(workspace, (part, *programs))
        values = {**{name: setter.value for name, setter in defined.items()}, **answers.setters}
        free = {name: setter for name, setter in defined.items() if "${" not in answers.setters.get(name, "")}
        missing = (variables & values.keys()) - {name for item in objects for name in _variables(item)}
        is_read = any(item.identity[1:] == ("ConfigMap", "", accumulate.RUN) for item in objects)
        kind = next((item for item in objects if pods.find(item.root)), objects[0]).identity[1]
        return cls(runs, {name: values[name] for name in sorted(missing)} if is_read else {}, kind, free)


def _defined(workspace: Workspace, used: Sequence[Part]) -> dict[str, Setter]:
    """Return the setters that parts share, or have for themselves."""
    shared = parts.read_shared(workspace.sources, workspace.libraries)
    own = [krmfile for part in used for krmfile in part.krmfiles()]
    defined = Words(shared, [[krmfile] for krmfile in own], {}, workspace.sources.memo).defined
    return {name: word.definition for name, word in defined.items() if isinstance(word.definition, Setter)}


def _variables(item: SourceObject) -> Iterator[str]:
    """Yield the variables that an object gives to programs: those of ``env``, and the keys of a ConfigMap."""
    yield from (entry.name for entry in (entries(item.root.get("data")) if item.identity[1] == "ConfigMap" else ()))
    for container in (container for pod in pods.find(item.root) for container in pod.containers):
        yield from (variable.text("name") for variable in mappings(container.get("env")))


def _patches(name: str, started: _Started) -> Iterator[_Patch]:
    """Yield the patches of a use case, with their files."""
    for file, patch in started.runs.items():
        called = f"{name}-{file}" if len(started.runs) > 1 else f"{name}.yaml"
        yield replace(patch, file=f"patches/{called.replace('/', '-')}")
    if started.missing:
        data = {key: _bound(key, value) for key, value in started.missing.items()}
        tree: Tree = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": accumulate.RUN}, "data": data}
        yield _Patch(f"patches/{name}-variables.yaml", tree)


def _bound(name: str, value: str) -> Written:
    return Written(lexeme(value, flow=True), value, (f"{lexeme(value)} {comment.write(name)}",))


def _patch(item: SourceObject) -> _Patch | None:
    """Return a patch of the first container that runs a program, or None for an object without one."""
    for container in (part for pod in pods.find(item.root) for part in pod_operations.containers_of(pod, _CONTAINERS)):
        lists = {key: container.node.get(key) for key in _RUN}
        run = {key: _list(value) for key, value in lists.items() if value and not _is_bound(value)}
        run = dict.fromkeys(run, "null") if run.get("command") == "null" else run
        if run:
            _, kind, _, name = item.identity
            patch: Tree = {
                "apiVersion": pod_patch.VERSION,
                "kind": pod_patch.KIND,
                "targets": in_brackets([{"kind": Text(kind), "name": Text(name)}]),
                "spec": {_CONTAINERS: [{"name": Text(container.name), **run}]},
            }
            is_open = isinstance(lists["args"], SequenceNode) and not lists["args"].items
            return _Patch("", patch, tuple(_texts_of(lists.values())), is_open)
    return None


def _texts_of(lists: Iterable[Node | None]) -> Iterator[str]:
    return (text.value for value in lists for text in scalars(value))


def _is_bound(value: Node) -> bool:
    """Say whether a setter changes an item, which a patch would unbind."""
    return any(comment.parse(item.comment.text) for item in items(value) if item.comment)


def _list(value: Node) -> Tree:
    """Return a list in brackets if these fit on a line, and no text has several; null in place of a placeholder."""
    texts = list(_texts_of([value]))
    if texts == _PLACEHOLDER:
        return "null"
    listed: list[Tree] = [literal(text) or Text(text) for text in texts]
    written = in_brackets(listed)
    return written if len(written.flow) <= _WIDTH and "\\n" not in written.flow else listed
