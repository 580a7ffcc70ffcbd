"""Presets: values files that a package ships, for example for a machine type or a size of cluster.

    packages/NAME/files/presets/p3dn.yaml    shipped byte for byte as presets/p3dn.yaml, for `packyard set -f`

Their values are checked against the definitions of the package's use cases.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from packyard.core.bundle.delivery import PRESETS
from packyard.core.errors import InputError, Problem, every, refuse, suggest
from packyard.core.yaml.sources import Sources
from packyard.using.setters.definition import Definitions
from packyard.using.setters.refusal import refusal
from packyard.using.setters.rules.rule import Rule
from packyard.using.setters.valuesfile import ValuesFile, parse
from packyard.writing.source import scripts
from packyard.writing.source.package import Package


@dataclass(frozen=True, slots=True)
class Preset:
    """One values file of a package: its name without ``.yaml``, and what it says."""

    name: str
    values: ValuesFile


def read_all(sources: Sources, package: Package) -> list[Preset]:
    """Read the presets of a package, sorted by name; every fault of every file is named at once."""
    paths = sources.list(f"{package.folder}/{scripts.DIRECTORY}/{PRESETS}", "*.yaml")
    return every(partial(_read, sources), paths)


def _read(sources: Sources, path: str) -> Preset:
    file = sources.shown(path)
    values = parse(sources.read(path), file)
    if not values.description:
        raise InputError(Problem("begins with no comment that says what it is for", file=file, line=1))
    return Preset(PurePosixPath(path).stem, values)


def check(presets: Sequence[Preset], use_cases: Mapping[str, tuple[Definitions, Sequence[Rule]]]) -> None:
    """Refuse a preset that names what no use case has, or gives one of them what its definitions or rules refuse."""
    problems = [problem for preset in presets for problem in _check(preset, use_cases)]
    refuse({str(problem): problem for problem in problems}.values())


def _check(preset: Preset, use_cases: Mapping[str, tuple[Definitions, Sequence[Rule]]]) -> Iterator[Problem]:
    names = {name for definitions, _ in use_cases.values() for name in definitions.setters}
    for name, value in preset.values.by_name.items():
        if name not in names:
            yield value.problem(f"no use case has a setter {name}", suggest(name, names))
    for path, (definitions, rules) in use_cases.items():
        setters = definitions.setters
        here = {name: value for name, value in preset.values.by_name.items() if name in setters}
        wrong = [value.problem(fault) for name, value in here.items() if (fault := refusal(setters[name], value))]
        changed = {name: setters[name].with_value(value)._replace(is_set=True) for name, value in here.items()}
        yield from wrong
        for rule in rules if not wrong else ():
            values = [here[name] for name in rule.names if name in here]
            if values and (problem := rule.broken({**setters, **changed})):
                yield values[0].problem(f"breaks a rule of {path}: {problem.message}", problem.hint)
