"""What users of the model zoo's packages could set: `docs/parameters` says where it is, and there it acts.

A row that says "parameter" names a setter, which changes what is applied in every use case that has it; any other row
is a name that `packyard set` answers with where it went.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import real
from catalogue.usecases import CATALOGUE, PACKAGES, Directory, shipped
from packyard.core.errors import InputError
from packyard.writing.source.package import Package

pytestmark = pytest.mark.nightly

#: Packages of the zoo, and how many parameters of theirs the use cases have together.
ZOO = {
    "bert-large-fp32-training-k8s": 4 * 18,
    "resnet50v1-5-fp32-inference-k8s": 2 * 13,
    "resnet50v1-5-fp32-training-k8s": 4 * 15,
    "rfcn-fp32-inference-k8s": 2 * 17 + 2 * 19,
    "wide-deep-large-ds-fp32-training-k8s": 2 * 16 + 2 * 20,
}
_USE_CASES = ("benchmark", "multi-node", "pipeline", "serving", "single-node")
_ROW = re.compile(r"^\| ([A-Z_]+) \| (.+) \|$", re.M)
#: Values that are nowhere shipped, by what a pattern admits.
_OTHERS = ("5", "9001", "0.5", "COLA", "other", "/other")

each_package = pytest.mark.parametrize(
    "package", [pytest.param(item, id=item.name) for item in PACKAGES if item.name in ZOO]
)


def rows(package: Package) -> dict[str, str]:
    text = Path(real.REPOSITORY, "docs/parameters", f"{package.name}.md").read_text()
    return dict(_ROW.findall(text))


def directories(package: Package) -> Iterator[tuple[str, Directory]]:
    for use_case in package.use_cases:
        directory = shipped(package, use_case)
        yield use_case.path, directory.set(directory.examples)


@each_package
def test_every_parameter_of_the_reference_acts_where_there_is_one(package: Package) -> None:
    wanted = {name for name, where in rows(package).items() if where.startswith("parameter")}
    acting = []
    for path, directory in directories(package):
        for name in sorted(directory.setters.keys() & wanted) if path.startswith(_USE_CASES) else ():
            changed = directory.set({name: other(directory, name)})
            assert changed.parse() != directory.parse(), f"{path}: {name} changes nothing that is applied"
            acting.append(name)
    assert {*acting} == wanted
    assert len(acting) == ZOO[package.name]


def other(directory: Directory, name: str) -> str:
    """Return a value that the setter admits, and does not have."""
    for value in _OTHERS:
        try:
            planned = directory.plan({name: value})
        except InputError as error:
            refusal = error
        else:
            if planned.changes:
                return value
    raise AssertionError(f"{name} admits no other value: {refusal}")


@each_package
def test_every_other_name_is_told_where_it_went(package: Package) -> None:
    told = {**CATALOGUE.moved, **package.moved}
    assert [
        name for name, where in rows(package).items() if not where.startswith("parameter") and name not in told
    ] == []
