"""Options: Components that go once into each package that they fit, as they are, for users to add.

    options/Krmfile                     the definitions that their fields need
    options/debug/kustomization.yaml    a Component; what the comment that begins it says describes it
    options/debug/job.json6902          RFC 6902; a YAML file whose root is a list makes `cfg set` of 3.8.7 fail

Each folder of ``overlays/options`` is tried on each use case. It fits where one of its patches has a target, all paths
of its operations are there, all of its ``test`` operations hold, and something is another then. One without patches
adds objects, and fits all. Patches for kinds that no use case of the package has are left out of the package's copy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import basename

from packyard.core.bundle.prerequisite import Prerequisite
from packyard.core.errors import Problem, refuse
from packyard.core.kubernetes import kustomization, pods
from packyard.core.yaml import span
from packyard.core.yaml.node import SequenceNode
from packyard.core.yaml.sources import Sources
from packyard.core.yaml.values import to_value
from packyard.using.kustomize.accumulate import SourceObject, accumulate, is_same
from packyard.using.kustomize.idle_patches import Idle, join
from packyard.using.kustomize.part import Part, Patch
from packyard.using.kustomize.patch import MisfitError
from packyard.using.setters.definition import Setter
from packyard.using.setters.krmfile import KRMFILE
from packyard.using.setters.plan import set_fields
from packyard.using.setters.rules.rule import Rule
from packyard.writing.source import closure, needs, parts, pod_components, use_case_rules
from packyard.writing.source.words import Words
from packyard.writing.source.workspace import FOLDERS, OPTIONS, Workspace, authored

_HEAD = "# the parameters of the options: packyard set ../options NAME=VALUE"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a package: the part, its files by their name, and the use cases that it fits, by their paths.

    ``setters`` are those of its fields, ``texts`` their definitions and what these need, as ``words`` has them;
    ``values`` are what its patches and its objects say; ``requires`` what a cluster must have for it, as its Krmfile
    says.
    """

    name: str
    part: Part
    files: Mapping[str, bytes]
    use_cases: tuple[str, ...]
    setters: Mapping[str, Setter]
    texts: Mapping[str, str]
    words: Words
    values: tuple[object, ...]
    requires: tuple[Prerequisite, ...]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a package; ``files`` are theirs and their Krmfile, by their path below ``options``.

    ``misfits`` says by the names of options and the paths of use cases why they do not fit.
    """

    all: tuple[Option, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    misfits: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def setters(self) -> dict[str, Setter]:
        """The setters of their Krmfile."""
        return {name: setter for option in self.all for name, setter in option.setters.items()}


def gather(workspace: Workspace, use_cases: Mapping[str, Sequence[SourceObject]], idle: list[Idle]) -> Options:
    """Find the options that fit use cases, by their objects; which of their patches reach nothing joins ``idle``."""
    options: list[Option] = []
    sections: dict[str, Mapping[str, str]] = {}
    defined: dict[str, str] = {}
    rules: list[Rule] = []
    misfits: dict[str, Mapping[str, str]] = {}
    for name in workspace.part_dirs(FOLDERS[OPTIONS]):
        part = parts.of(workspace, f"{FOLDERS[OPTIONS]}/{name}")
        tried = {path: _try(part, objects) for path, objects in use_cases.items()}
        misfits[name] = {path: outcome for path, outcome in tried.items() if isinstance(outcome, str)}
        fitting = {path: outcome for path, outcome in tried.items() if not isinstance(outcome, str)}
        idle += [*fitting.values(), dict.fromkeys(_keys(part), True)]
        if fitting:
            option = _option(workspace, name, part, use_cases, fitting)
            options.append(option)
            refuse(
                setter.problem(f"{word} has another definition in another option")
                for word, setter in option.setters.items()
                if defined.get(word, option.texts[word]) != option.texts[word]
            )
            sections[f"# {name}"] = {word: text for word, text in option.texts.items() if word not in defined}
            defined |= sections[f"# {name}"]
            rules += use_case_rules.gather(part.krmfiles(), workspace.sources.memo)
    files = {f"{option.name}/{path}": data for option in options for path, data in option.files.items()}
    gathered = Options(tuple(options), files, misfits)
    if defined:
        here = [rule for rule in rules if use_case_rules.is_here(rule, gathered.setters)]
        files[KRMFILE] = closure.write(_HEAD, sections, here)
    return gathered


def _option(
    workspace: Workspace,
    name: str,
    part: Part,
    use_cases: Mapping[str, Sequence[SourceObject]],
    fitting: Mapping[str, Idle],
) -> Option:
    """Return what a package with use cases that an option fits has of it."""
    sources = workspace.sources
    nowhere = join(fitting.values())
    lacking = [patch for patch in part.patches if nowhere.get(patch.key)]
    written = pod_components.write(part, use_cases, fitting)
    files = _files(sources, part, lacking, written)
    krmfile = [part.krmfile] if part.krmfile else []
    roots = [patch.document.root for patch in part.patches if patch not in lacking]
    roots += [root for _, root in part.objects]
    words = Words(parts.read_shared(workspace), [krmfile], {}, sources.memo)
    shown = {sources.shown(f"{part.folder}/{path}"): data for path, data in files.items()}
    needed = closure.reach(words, {path: data for path, data in shown.items() if path.endswith(".yaml")})
    setters = needed.definitions.setters
    refuse(
        Problem("has fields with other values than their setters", file=file)
        for file in set_fields(shown, needed.definitions, setters, sources.memo).files
    )
    texts = {word: text for section in needed.sections.values() for word, text in section.items()}
    values = tuple(to_value(root) for root in (*roots, *written.values))
    requires = tuple(needs.gather(krmfile, sources.memo))
    return Option(name, part, files, tuple(fitting), setters, texts, words, values, requires)


def _keys(part: Part) -> list[tuple[str, int, str]]:
    return [*(patch.key for patch in part.patches), *(key for patch in part.pods for key in patch.keys)]


def _try(part: Part, objects: Sequence[SourceObject]) -> Idle | str:
    """Return which patches of an option reach nothing in a use case, or why it does not fit.

    One that patches pods does not fit where it changes no object that has any.
    """
    tried: list[Idle] = []
    copies = [item.copy() for item in objects]
    changed = list(copies)
    try:
        accumulate(part, changed, tried)
    except MisfitError as error:
        return error.problems[0].message
    nothing, pairs = join(tried), zip(objects, copies, strict=True)
    is_idle = part.pods and not any(old.root is not new.root and pods.find(old.root) for old, new in pairs)
    words = dict.fromkeys(word for _, _, word in _keys(part) if word)
    if words and (is_idle or (part.patches and all(nothing.values()))):
        return f"it is for {' or '.join(words)}, and there is none"
    is_unchanged = is_same([item.root for item in objects], [item.root for item in changed])
    return "it changes nothing" if is_idle or is_unchanged else nothing


def _files(sources: Sources, part: Part, lacking: Sequence[Patch], written: pod_components.Written) -> dict[str, bytes]:
    """Return the files of an option without the patches that a package lacks the objects for."""
    applied = {patch.file for patch in part.patches if patch not in lacking}
    left_out = ({patch.file for patch in lacking} - applied) | {pod.path for pod in part.pods}
    listed, named = authored(sources, part.folder), part.own_files()
    refuse(
        Problem("is not named by the kustomization beside it", file=sources.shown(file))
        for file in listed
        if file not in named
    )
    by_name = {basename(file): file for file in listed if file not in left_out}
    files = {name: sources.read(file) for name, file in by_name.items() if name != KRMFILE}
    files[kustomization.FILE] = _kustomization(sources, part, lacking, written.lines)
    return {**files, **written.files}


def _kustomization(sources: Sources, part: Part, lacking: Sequence[Patch], lines: Sequence[str]) -> bytes:
    """Return a kustomization without some patches, each with the comments above it, and with lines for those of pods.

    A part that is nothing but patches of pods gets one, which begins with what the first of them begins with.
    """
    if not parts.has_kustomization(sources, part.folder):
        head = [*(comment.text for comment in part.head), *kustomization.header("Component"), "patches:"]
        return "".join(f"{line}\n" for line in (*head, *lines)).encode()
    file = parts.file_of(sources, part.folder)
    text, root = sources.text(file).text, sources.documents(file)[0].root
    listed = root.get("patches") if root else None
    items = listed.items if isinstance(listed, SequenceNode) else []
    added = [*([] if items or not lines else ["patches:"]), *lines]
    end = span.lines(items[-1])[1] + 1 if items else len(text)
    text = text[:end] + "".join(f"{line}\n" for line in added) + text[end:]
    for item, patch in reversed(list(zip(items, part.patches, strict=True))):
        if patch in lacking:
            start, end = span.lines(item)
            text = text[:start] + text[end + 1 :]
    return text.encode()
