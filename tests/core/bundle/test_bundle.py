"""A bundle is verified when it is built and when it is opened."""

import gzip
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from packyard.core.bundle.archive import Member, compress, decompress, pack
from packyard.core.bundle.bundle import Bundle, build
from packyard.core.bundle.manifest import FILE, Manifest, ShippedUseCase
from packyard.core.errors import InputError, IntegrityError

MEMBERS = [Member(path="README.md", data=b"# bert\n"), Member(path="run.sh", data=b"#!/bin/sh\n", executable=True)]
USE_CASES = {"single-node": ShippedUseCase(setters={})}


def bert(**changes: str) -> Bundle:
    described = Manifest(**{"name": "bert", "version": "1.0", **changes}, use_cases=USE_CASES, model={})
    return build(described, MEMBERS)


def test_opening_what_was_built_gives_the_same_bundle() -> None:
    assert Bundle.open(bert().data) == bert()


def test_is_the_same_bundle_however_it_was_compressed() -> None:
    other = gzip.compress(decompress(bert().data), 1)
    assert other != bert().data
    assert Bundle.open(other).tar == bert().tar


@pytest.mark.parametrize(
    ("top", "members", "match"),
    [
        ("bert", [*bert().members[:2], replace(bert().members[2], data=b"evil")], r"/run\.sh: expected sha256:"),
        ("bert", MEMBERS, r": has no packyard\.json"),
        ("other", bert().members, r": the top directory is 'other', the name in packyard\.json 'bert'"),
    ],
    ids=["changed", "without a manifest", "another directory"],
)
def test_refuses_what_its_manifest_does_not_say_and_names_the_bundle(
    top: str, members: Sequence[Member], match: str
) -> None:
    with pytest.raises(IntegrityError, match=rf"^x\.tar\.gz{match}"):
        Bundle.open(compress(pack(top, members)), what="x.tar.gz")


@pytest.mark.parametrize("changes", [{"name": "Bert"}, {"version": "latest"}])
def test_refuses_to_build_under_a_bad_name_or_version(changes: dict[str, str]) -> None:
    with pytest.raises(InputError, match="is not a"):
        bert(**changes)


def test_refuses_to_build_with_a_manifest_of_somebody_else() -> None:
    with pytest.raises(InputError, match=r"packyard\.json is written by packyard"):
        build(bert().manifest, [Member(path=FILE, data=b"{}")])


def test_a_thousand_changed_bytes_are_found_or_change_nothing_that_is_read() -> None:
    """Few bytes say nothing: of gzip's header, bits that fill a block, and where zeros are copied from."""
    files = [
        Member(path=f"d/{number}.yaml", data=b"a: %d\n" % number * 40, executable=number == 3) for number in range(9)
    ]
    good = build(Manifest(name="bert", version="1.0", model={}, use_cases={}), files)
    chance, unread = random.Random(15), 0
    positions = [*range(min(64, len(good.data))), *(chance.randrange(len(good.data)) for _ in range(936))]
    for number, position in enumerate(positions):
        changed = bytearray(good.data)
        changed[position] ^= chance.randrange(1, 256)
        try:
            opened = Bundle.open(bytes(changed))
        except IntegrityError:
            continue
        assert replace(opened, data=good.data) == good, f"change {number}, of byte {position}"
        unread += 1
    assert 0 < unread < 60
