"""Names and versions of bundles, and the order of versions."""

import random

import pytest

from packyard.core.bundle import address, reference
from packyard.core.bundle.reference import Reference, canonical, check_version, identity, newest, order
from packyard.core.errors import InputError

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


SPELLINGS = [
    ["1.2.0", "v1.2.0", "1.2", "v1_2", "01.2", "1.2.0.0", "1.2.0+build.5"],
    ["1.0-rc1", "1.0rc1", "1.0.0-rc.1", "v1.0-RC1", "1.0_rc01"],
    ["1.0.post1", "1.0-POST.1"],
    ["2024.01.31", "2024.1.31"],
]


@pytest.mark.parametrize("spellings", SPELLINGS)
def test_one_version_has_many_spellings(spellings: list[str]) -> None:
    assert len({identity(version) for version in spellings}) == 1
    assert len({order(version) for version in spellings}) == len(spellings)
    assert len({canonical(version) for version in spellings}) == 1
    assert identity(canonical(spellings[0])) == identity(spellings[0])


def test_numbers_in_a_version_are_bounded_by_its_length() -> None:
    longest = "9" * 127
    assert order(longest) > order("1")
    for version in ("9" * 5000, "1." * 3000 + "1", "1-" + "a" * 200):
        for use in (order, identity, check_version, newest):
            with pytest.raises(InputError, match="is not a version") as caught:
                use(version)
            assert len(str(caught.value)) < 300


VERSIONS = [
    *("0.1", "0.2", "0.2.5", "0.3", "1.0-rc1", "v1.0", "1.1", "1.2.0", "1.2.9", "1.3-rc1", "1.3-rc2", "1.10"),
    *("2.0-rc1", "2.0"),
]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("latest", VERSIONS),
        ("^1", ["v1.0", "1.1", "1.2.0", "1.2.9", "1.10"]),
        ("^v1.2", ["1.2.0", "1.2.9", "1.10"]),
        ("^1.2.1", ["1.2.9", "1.10"]),
        ("^1.3-rc2", ["1.3-rc2", "1.10"]),
        ("^0.2", ["0.2", "0.2.5"]),
        ("^0.0", []),
        ("^0", ["0.1", "0.2", "0.2.5", "0.3"]),
        ("~1.2.0", ["1.2.0", "1.2.9"]),
        ("~1.2", ["1.2.0", "1.2.9"]),
        ("~1", ["v1.0", "1.1", "1.2.0", "1.2.9", "1.10"]),
        ("~3", []),
        ("1.2", ["1.2.0"]),
        ("1.0", ["v1.0"]),
    ],
)
def test_admits_the_versions_of_a_range(choice: str, expected: list[str]) -> None:
    asked = Reference.parse(f"bert@{choice}")
    assert [version for version in VERSIONS if asked.admits(version)] == expected
    assert str(asked) == f"bert@{choice}"


def test_each_name_of_a_use_case_that_is_suggested_means_that_one_alone() -> None:
    for seed in range(1000):
        pick = random.Random(seed)
        known = sorted({"/".join(pick.choices("abc", k=pick.randint(1, 4))) for _ in range(pick.randint(1, 5))})
        assert [address.fits(known, name) for name in address.shortened(known).values()] == [[path] for path in known]
    known = ["use-cases/serve/nfs", "use-cases/serve/pvc"]  # where the next version may have use-cases/train/pvc
    assert [*address.shortened(known).values()] == ["serve/nfs", "serve/pvc"]
    assert [*address.shortened(known[:1]).values()] == ["serve"]


def test_says_how_a_bundle_is_named_whose_address_was_typed() -> None:
    for text, typed in (
        ("oci://me:secret@host:5000/a/b/bert:1.0", "name it and its channel: NAME@VERSION --from CHANNEL"),
        ("ghcr.io/b/bert:1.0", "name it and its channel: bert@1.0 --from oci://ghcr.io/b"),
        ("https://host/b/bert", "name it and its channel: bert --from https://host/b"),
        ("./bert.tar.gz", "tar xzf bert.tar.gz unpacks the file, packyard verify bert.tar.gz checks it"),
    ):
        with pytest.raises(InputError) as told:
            reference.split(text)
        assert str(told.value) == f"a package is not named by an address or a file ({typed})"


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        "./",
        "@1.0",
        "bert@",
        "Bert",
        "bert@newish",
        "a@1@2",
        "../bert",
        "bert@1/2",
        "b@^1/2",
        "b@^\n",
        "b@>=" + "9" * 500,
        *("-a", "a-", "a_b", "A", "a.b", "a/b", "a" * 64, "a\n", "é"),  # no DNS labels
    ],
)
def test_refuses_what_is_no_reference(text: str) -> None:
    with pytest.raises(
        InputError, match=r"is not (a|named) .*(use up to|did you mean|name it|ask for 1\.2\.0, \^1\.2)"
    ):
        Reference.parse(text)


@pytest.mark.parametrize("version", [".1", "v.1", "1/2", "1 2", "index", "1\n", "1..%2f", "1" * 200, "\u0661"])
def test_refuses_a_version_that_is_no_directory_of_a_channel(version: str) -> None:
    with pytest.raises(InputError, match="is not a version"):
        check_version(version)
