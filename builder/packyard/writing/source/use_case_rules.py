"""The rules of a use case: those of its parts of which it has every setter, each as its part wrote it."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from packyard.core.errors import Problem, every, suggest
from packyard.core.work.memo import Memo
from packyard.core.yaml.document import source_of
from packyard.using.kustomize.part import KrmfileData
from packyard.using.setters.comment import SETTER_PREFIX
from packyard.using.setters.definition import Setter
from packyard.using.setters.krmfile import KRMFILE, parse_krmfile
from packyard.using.setters.rules.rule import Rule, read
from packyard.writing.source.package import SetterValue
from packyard.writing.source.workspace import Workspace

_DEFINED = re.compile(rf"^ *{re.escape(SETTER_PREFIX)}([^:\s]+):", re.MULTILINE)


def gather(krmfiles: Iterable[KrmfileData], memo: Memo) -> list[Rule]:
    """Return the rules of Krmfiles, one that several have once; raises `InputError` with every fault of form."""
    by_text: dict[tuple[str, str], Rule] = {}
    for rules in every(partial(_read, memo), dict.fromkeys(krmfiles)):
        for rule in rules:
            by_text.setdefault((rule.text, rule.message), rule)
    return list(by_text.values())


def _read(memo: Memo, krmfile: KrmfileData) -> list[Rule]:
    name, data = krmfile
    if b"rules:" not in data:
        return []
    return memo.once(("rules", name, data), lambda: read(parse_krmfile(source_of(data, name), memo).root))


def is_here(rule: Rule, names: Collection[str]) -> bool:
    """Say whether every setter that a rule names is among those of the use case."""
    return all(name in names for name in rule.names)


def check(
    rules: Sequence[Rule], setters: Mapping[str, Setter], workspace: Workspace, changes: Mapping[str, SetterValue]
) -> Iterator[Problem]:
    """Yield what is wrong with rules for a use case with these setters and values, by their places in the parts.

    A rule that values of package.yaml break is told there: ``changes`` are these. One about a setter that the use case
    does not have is left out; about one that no Krmfile defines it is a mistake.
    """
    for rule in rules:
        if is_here(rule, setters):
            values = [changes[name] for name in rule.names if name in changes and changes[name].line]
            for kind, problem in rule.review(setters):
                last = max(values, key=lambda value: value.line) if values and kind == "broken-rule" else None
                hint = problem.hint or f"the rule is in {problem.file}:{problem.line}"
                yield problem._replace(file=last.file, line=last.line, column=0, hint=hint) if last else problem
            continue
        names = defined(workspace) | set(setters)
        for name in rule.names:
            if name not in names:
                yield rule.node.problem(
                    f"the rule {rule.text} names {name}, which no Krmfile defines", suggest(name, names)
                )


def defined(workspace: Workspace) -> set[str]:
    """Return the name of every setter that a Krmfile of the workspace or of its libraries defines."""
    return workspace.sources.once("defined setters", lambda: _find_defined(workspace))


def _find_defined(workspace: Workspace) -> set[str]:
    return {name for _, data in krmfiles(workspace) for name in _DEFINED.findall(data.decode("utf-8", "replace"))}


def krmfiles(workspace: Workspace) -> list[KrmfileData]:
    """Return all Krmfiles of the workspace and of its libraries."""
    sources = workspace.sources
    roots = ("", *(f"{place}/" for place in workspace.libraries))
    folders = (f"{root}{folder}" for root in roots for folder in ("bases", "overlays", *([] if root else ["packages"])))
    below = (file for folder in folders for file in sources.list(folder, f"**/{KRMFILE}"))
    files = [file for file in (*(f"{root}{KRMFILE}" for root in roots), *below) if sources.is_file(file)]
    return [(sources.shown(file), sources.read(file)) for file in files]
