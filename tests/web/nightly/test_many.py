"""A channel of 100,000 names: what the browser asks for until it shows the first results."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import real
import sample
from packyard.sharing.web import page
from packyard.sharing.web.serve import server
from sharing.many_names import DatabaseStore, make, name_of
from web.conftest import Reader

pytestmark = pytest.mark.nightly
COUNT = 1_000_000 if sample.WHOLE else 100_000
#: Of a million, all nodes above the lowest are read first.
REQUESTS, BYTES = (16, 800_000) if sample.WHOLE else (12, 200_000)
FIRST = REQUESTS if sample.WHOLE else 3


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file = tmp_path_factory.mktemp("many") / "channel"
    make(file, COUNT)
    serving = server(DatabaseStore(file), page.written(page.Page()))
    with real.answering(serving):
        yield f"http://127.0.0.1:{serving.server_port}/"


def _of_channel(reader: Reader) -> list[str]:
    return [each for each in reader.requests if "/index/" in each]


def test_shows_the_first_packages_after_few_requests(reader: Reader, address: str) -> None:
    reader.read(address)
    reader.see(name_of(0))
    assert len(_of_channel(reader)) <= REQUESTS
    size = "address => performance.getEntriesByName(address)[0].encodedBodySize"
    read = sum(int(reader.tab.evaluate(size, each)) for each in _of_channel(reader))
    print({"names": COUNT, "requests": len(_of_channel(reader)), "bytes": read})
    assert read <= BYTES


def test_a_name_is_found_after_few_requests_wherever_it_is(reader: Reader, address: str) -> None:
    reader.tab.goto(f"{address}#/?q={name_of(COUNT - 2)[:7]}")
    reader.see(name_of(COUNT - 2))
    first = [reader.tab.request.get(each).text() for each in _of_channel(reader)[:FIRST]]
    assert any(name_of(COUNT - 2) in each for each in first)  # the rest is searched after it is shown


def test_a_package_of_many_is_found_by_its_address(reader: Reader, address: str) -> None:
    text = reader.read(f"{address}#/nobody")
    assert "has no package nobody" in text
    assert len(_of_channel(reader)) <= REQUESTS
