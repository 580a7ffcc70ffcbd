"""A use case with the values of a preset: what is wrong with its objects then, and was not before, at its line.

    presets/large.yaml      MEMORY: 700GB       -> '700GB' is not an amount of memory
    job.yaml                memory: 16Gi # {"$openapi":"MEMORY"}

What a definition or a rule refuses is an error of composing already: see `writing.source.preset`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from packyard.core.errors import InputError
from packyard.core.kubernetes.schemas import Judge
from packyard.core.work.memo import Memo
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Assignment, plan
from packyard.using.setters.valuesfile import Given
from packyard.writing.checks.finding import Finding
from packyard.writing.checks.lint import find_built
from packyard.writing.checks.parsed import Parsed, parse


def check(
    package: PackageFiles,
    parsed: Parsed,
    baseline: Iterable[Finding],
    preset: Mapping[str, Given],
    tried: set[object],
    *,
    judges: Sequence[Judge],
    memo: Memo,
) -> Iterator[Finding]:
    """Find what is wrong with a use case once a preset is set; ``baseline`` is what is wrong without it.

    Of use cases in which it changes files of the same names, and ``tried`` has them, nothing is looked at.
    """
    here = {name: value for name, value in preset.items() if name in parsed.definitions.setters}
    if not here:
        return
    try:
        files = plan(package, Assignment({name: value.texts for name, value in here.items()}), memo=memo).files
    except InputError:  # which composing refuses, at the line of the preset
        return
    key = (*preset, *files)
    if key in tried:
        return
    tried.add(key)
    keys = {(each.file, each.line, each.rule) for each in baseline}
    after = parse(package.with_files(files), memo)
    for each in find_built(after, judges=judges):
        if (each.file, each.line, each.rule) not in keys:
            place = _of(after, each, here)
            yield replace(each, file=place.file, line=place.line, column=1, composed=f"{each.file}:{each.line}", fix="")


def _of(parsed: Parsed, finding: Finding, here: Mapping[str, Given]) -> Given:
    """Return the value that a finding is about: that of its field, otherwise the first."""
    for bound in parsed.bound:
        source = bound.node.source
        if (source.name, source.locate(bound.node.start)[0]) == (finding.file, finding.line):
            names = parsed.changed_by(bound.node) & here.keys()
            if names:
                return here[min(names)]
    return next(iter(here.values()))
