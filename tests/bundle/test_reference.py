"""What bundles are called, and which version is later."""

from __future__ import annotations

import random

import pytest

from packyard.bundle.reference import Reference, check_name, check_version, is_prerelease, order
from packyard.errors import InputError

ORDERED = [
    "0.9",
    "1.0.0.dev1",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0rc2",
    "1.0.0",
    "1.0.0.post1",
    "v1.0.1",
    "1.9",
    "1.10",
    "v2_7_0",
    "v2.7.1",
    "2.7.10",
    "10",
    "2024.01.31",
]


def test_orders_versions_as_people_expect() -> None:
    shuffled = random.Random(7).sample(ORDERED, len(ORDERED))
    assert sorted(shuffled, key=order) == ORDERED


def test_zeros_prefix_and_build_metadata_only_tell_apart_what_is_otherwise_equal() -> None:
    same = ["1.0", "1.0.0", "1.0.0+build.5", "v1.0"]
    assert len({order(version)[:-1] for version in same}) == 1
    assert len({order(version) for version in same}) == len(same)


@pytest.mark.parametrize(("version", "expected"), [("1.0-rc1", True), ("1.0", False), ("1.0.post1", False)])
def test_knows_pre_releases(version: str, expected: bool) -> None:
    assert is_prerelease(version) is expected


def test_reads_a_reference_and_writes_it_back() -> None:
    assert Reference.parse("bert") == Reference(name="bert")
    assert Reference.parse("bert@v2.7.0") == Reference(name="bert", version="v2.7.0")
    assert str(Reference.parse("bert@v2.7.0")) == "bert@v2.7.0"


@pytest.mark.parametrize("text", ["", "@1.0", "bert@", "Bert", "bert@latest", "a@1@2", "../bert", "bert@1/2"])
def test_refuses_what_is_no_reference(text: str) -> None:
    with pytest.raises(InputError, match="is not a"):
        Reference.parse(text)


@pytest.mark.parametrize("name", ["-a", "a-", "a_b", "A", "a.b", "a/b", "a" * 64, "a\n", "é"])
def test_refuses_a_name_that_is_no_dns_label(name: str) -> None:
    with pytest.raises(InputError, match="is not a name for a bundle"):
        check_name(name)


@pytest.mark.parametrize("version", [".1", "v.1", "1/2", "1 2", "index", "1\n", "1..%2f", "1" * 200, "\u0661"])
def test_refuses_a_version_that_is_no_directory_of_a_channel(version: str) -> None:
    with pytest.raises(InputError, match="is not a version"):
        check_version(version)


@pytest.mark.parametrize("version", ORDERED)
def test_takes_the_spellings_that_people_use(version: str) -> None:
    check_version(version)
