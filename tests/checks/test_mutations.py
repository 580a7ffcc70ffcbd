"""Single mutations of the catalogue's use cases: lint finds each, or there is a reason why nobody could.

`make fuzz` tries 1,000 or more (PACKYARD_FUZZ), `make test` a sample; PACKYARD_SEED chooses others.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Sequence
from functools import cache

import pytest

import real
from checks import mutations
from checks.mutations import Mutation
from packyard.checks import catalogue
from packyard.checks.lint import find
from packyard.checks.parsed import Parsed, parse
from packyard.kubernetes import schemas
from packyard.setters.packages import PackageFiles
from packyard.work.memo import Memo
from sample import SEED
from usecases import PACKAGES, composed_package

FUZZ = int(os.environ.get("PACKYARD_FUZZ", "0"))
COUNT = min(max(FUZZ // 100, 520), 5000) if FUZZ else 39
EACH = 13  # in one use case
#: At least this part of all is found, of a small sample a little less; the reasons below are for the others.
LEAST = 0.75 if FUZZ else 0.5

#: What only the program knows that a container runs.
_PROGRAM = "args command HOME value env envFrom from workingDir mountPath source"
#: Kinds of mutations that may survive: the keys where they do (``*`` for each), and the reason.
SURVIVORS = {
    "alias broken": [
        (
            "app.kubernetes.io/instance app.kubernetes.io/name podSelector labels",
            "a label that no selector names is free",
        ),
        ("image imagePullPolicy name value *", "the other text has the right form"),
    ],
    "comment dropped": [("*", "a field may be fixed: another one has the setter's value, so no definition is unused")],
    "field dropped": [
        (
            "maximum maxLength minLength minimum nullable pattern required description",
            "what a setter admits is a decision",
        ),
        ("*", "Kubernetes, kustomize or the operator has a default for the field, or needs none"),
    ],
    "field misspelled": [("*", "a key of data, labels or a selector of nodes, which anybody may name")],
    "item dropped": [(_PROGRAM, "what a program is told only the program knows"), ("*", "the list may be shorter")],
    "name changed": [("name subPath", "a container, a port or a key that nothing refers to")],
    "number raised": [("*", "the amount is as good as the one before")],
    "number to text": [("*", "the field takes a number and a text: a port, an amount, a limit")],
    "switch turned": [
        ("required nullable", "what a setter admits is a decision"),
        ("*", "Kubernetes takes both, and the level restricted too"),
    ],
    "text changed": [
        (_PROGRAM, "what a program is told only the program knows"),
        ("description example pattern", "a text for people, or a decision"),
        ("*", "a name of something outside of the package: a server, a class, a path, a label"),
    ],
    "text to number": [("*", "the field takes a number and a text: an amount")],
}


@cache
def use_cases() -> list[PackageFiles]:
    return [
        item.package_files(f"{package.name}/{item.use_case.path}/")
        for package in PACKAGES
        for item in composed_package(package).use_cases
    ]


@cache
def siblings(where: str) -> list[Parsed]:
    """Return the other use cases of a package."""
    name = where.partition("/")[0]
    others = (each for each in use_cases() if each.where.partition("/")[0] == name and each.where != where)
    return [parse(each, Memo()) for each in others]


def found(package: PackageFiles, others: Sequence[Parsed]) -> Counter[tuple[str, str]]:
    """Return what lint finds, exceptions included, wherever it stands."""
    names = {package.where + path for path in package.files}
    parsed = parse(package, Memo())
    each = find(package, parsed, judges=schemas.choose(("1.31",)), exists=lambda path: path in names)
    each += catalogue.definitions([*others, parsed])
    return Counter((finding.rule, finding.message) for finding in each)


def survivors(package: PackageFiles, chance: random.Random, count: int) -> list[Mutation]:
    """Mutate a package at so many places, and return the mutations of which lint finds nothing more than before."""
    others = siblings(package.where)
    before = found(package, others)
    mutated = mutations.find({package.name: package.krmfile, **package.resources}, chance, count)
    return [each for each in mutated if found(package.with_files({each.path: each.text.encode()}), others) <= before]


def reason(mutation: Mutation) -> str:
    known = SURVIVORS.get(mutation.kind, [])
    return next((why for keys, why in known if mutation.key in keys.split() or "*" in keys.split()), "")


@pytest.mark.slow
def test_a_single_mutation_is_found_or_has_a_reason() -> None:
    if schemas.missing():
        real.absent(" and ".join(schemas.missing()), remedy=schemas.EXTRA)
    chance = random.Random(SEED)
    alive = []
    for index in range(0, COUNT, EACH):
        alive += survivors(chance.choice(use_cases()), chance, min(EACH, COUNT - index))
    print(f"{COUNT - len(alive)} of {COUNT} mutations found")
    assert [each.place for each in alive if not reason(each)] == []
    assert len(alive) <= COUNT * (1 - LEAST)
