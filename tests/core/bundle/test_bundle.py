"""A bundle is verified when it is built and when it is opened."""

from __future__ import annotations

import gzip
import random
from dataclasses import replace

import pytest

from core.bundle.unpacking import read
from packyard.core.bundle import Bundle, Manifest, build
from packyard.core.bundle.archive import Member, compress, decompress, pack
from packyard.core.bundle.manifest import FILE, ShippedUseCase
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


def test_refuses_a_file_that_was_changed_and_says_in_which_bundle() -> None:
    members = [
        Member(path=m.path, data=b"evil", executable=m.executable) if m.path == "run.sh" else m for m in bert().members
    ]
    with pytest.raises(IntegrityError, match=r"^x\.tar\.gz/run\.sh: expected sha256:"):
        Bundle.open(compress(pack("bert", members)), what="x.tar.gz")


def test_refuses_an_archive_without_a_manifest() -> None:
    with pytest.raises(IntegrityError, match=r"has no packyard\.json"):
        Bundle.open(compress(pack("bert", MEMBERS)))


def test_refuses_a_directory_that_is_not_named_like_the_bundle() -> None:
    with pytest.raises(IntegrityError, match=r"the top directory is 'other', the name in packyard\.json 'bert'"):
        Bundle.open(compress(pack("other", read(bert().data))))


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
