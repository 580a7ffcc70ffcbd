"""Who uses the page with a keyboard, a screen reader, a phone or a printer; what it weighs; and the pictures of docs/.

``PACKYARD_SCREENSHOTS=DIR`` writes a PNG of each view in both themes.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import real
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.web import page
from packyard.sharing.web.serve import server
from web.conftest import MNIST, SERVING, Reader, Zoo

pytestmark = pytest.mark.nightly
CASE = "quickstart/mlops/multi-node/user-allocated-pvc"
VIEWS = {
    "find": "#/",
    "look": f"#/{MNIST}",
    "use-case": f"#/{MNIST}/use/{CASE}",
    "set": f"#/{MNIST}/set/{CASE}",
    "files": f"#/{MNIST}/files/{CASE}/job.yaml",
    "compare": f"#/{MNIST}/compare/{MNIST}@1.0.0",
    "versions": f"#/{MNIST}/versions",
    "trust": "#trust",
}
#: What pictures show in the place of this machine.
SHOWN = "https://models.example.com/zoo"
AXE = real.REPOSITORY / "web/node_modules/axe-core/axe.min.js"
FIRST, FORM = 100_000, 100_000  # bytes, compressed


@pytest.fixture(scope="module")
def address(zoo: Zoo) -> Iterator[str]:
    about = page.Page(title="Models", address=SHOWN, keys=[zoo.key.read_text()])
    serving = server(DirectoryStore(zoo.folder), page.written(about))
    with real.answering(serving):
        yield f"http://127.0.0.1:{serving.server_port}/"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_view(open_reader: Callable[..., Reader], address: str, theme: str) -> None:
    reader = open_reader(color_scheme=theme, viewport={"width": 800, "height": 600})
    pictures = os.environ.get("PACKYARD_SCREENSHOTS")
    found = {}
    for name, hash in VIEWS.items():
        reader.read(f"{address}{hash}")
        if pictures:
            Path(pictures).mkdir(exist_ok=True)
            reader.tab.screenshot(path=f"{pictures}/{name}-{theme}.png")
        reader.tab.evaluate(AXE.read_text())
        said = reader.tab.evaluate("() => axe.run().then(said => said.violations)")
        found[name] = [f"{each['id']}: {each['nodes'][0]['html'][:120]}" for each in said]
    assert {name: each for name, each in found.items() if each} == {}


@pytest.mark.parametrize("width", [320, 360, 800, 1440])
def test_no_view_is_wider_than_the_screen(open_reader: Callable[..., Reader], address: str, width: int) -> None:
    reader = open_reader(viewport={"width": width, "height": 800})
    wide = []
    for name, hash in VIEWS.items():
        reader.read(f"{address}{hash}")
        if reader.tab.evaluate("document.documentElement.scrollWidth") > width:
            wide.append(name)
    assert wide == []


def test_a_keyboard_finds_opens_and_sets(reader: Reader, address: str) -> None:
    reader.read(address)
    reader.tab.focus("#q")
    reader.tab.keyboard.type("mnist")
    reader.see("1 package")
    for _ in range(20):
        reader.tab.keyboard.press("Tab")
        if reader.tab.evaluate("document.activeElement.textContent") == MNIST:
            break
    reader.tab.keyboard.press("Enter")
    reader.tab.wait_for_selector("main:focus .tabs")


def test_the_first_tab_skips_to_the_content_and_a_parameter_shows_its_fields_by_keys(
    reader: Reader, address: str
) -> None:
    place = f"{address}#/{MNIST}/use/{CASE}"
    reader.read(place)
    reader.tab.keyboard.press("Tab")
    reader.tab.keyboard.press("Enter")
    reader.tab.wait_for_selector("main:focus")
    assert reader.tab.url == place
    button = reader.tab.get_by_role("button", name="Fields of BATCH_SIZE")
    button.focus()
    reader.tab.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    reader.tab.locator(".code .line.lit").wait_for()
    reader.tab.keyboard.press("Space")
    assert button.get_attribute("aria-expanded") == "false"
    assert reader.tab.locator(".code").count() == 0


def test_prints_dark_pages_on_white_with_the_names_of_parameters(
    open_reader: Callable[..., Reader], address: str
) -> None:
    reader = open_reader(color_scheme="dark")
    reader.read(f"{address}#/{MNIST}/use/{CASE}")
    reader.tab.emulate_media(media="print")
    assert reader.tab.is_visible("button.name:has-text('BATCH_SIZE')")
    assert reader.tab.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"


def test_parts_have_roles_and_names(reader: Reader, address: str) -> None:
    reader.read(address)
    reader.tab.get_by_role("searchbox", name="Search packages").wait_for()
    reader.tab.get_by_role("region", name="Packages").wait_for()
    reader.read(f"{address}#/{MNIST}/set/{CASE}")
    reader.tab.get_by_role("textbox", name="PVC_NAME").wait_for()
    reader.tab.get_by_role("navigation", name="Parts of the package").wait_for()
    reader.tab.get_by_role("button", name="Copy command that runs it").wait_for()
    reader.read(f"{address}#/{MNIST}/use/{CASE}")
    reader.tab.get_by_role("link", name="ConfigMap programs").first.wait_for()


def test_prints_without_what_only_a_screen_needs(reader: Reader, address: str) -> None:
    reader.read(f"{address}#/{MNIST}")
    reader.tab.emulate_media(media="print")
    assert not reader.tab.is_visible(".tabs")
    assert reader.tab.is_visible(".readme")


def _compressed(addresses: list[str], site: dict[str, bytes]) -> int:
    keys = {each.split("#")[0].rstrip("/").partition("//")[2].partition("/")[2] or "index.html" for each in addresses}
    return sum(len(gzip.compress(site[key], 6)) for key in keys if key in site)


def test_the_first_view_is_small_and_the_form_loads_its_engine_only_when_opened(reader: Reader, address: str) -> None:
    site = page.written(page.Page())
    reader.read(address)
    first = _compressed(reader.requests, site)
    assert first < FIRST
    assert not any("/judge-" in each for each in reader.requests)
    reader.read(f"{address}#/{MNIST}/use/{CASE}")
    before = len(reader.requests)
    reader.read(f"{address}#/{MNIST}/set/{CASE}")
    form = _compressed(reader.requests[before:], site)
    assert any("/judge-" in each for each in reader.requests)
    assert form < FORM
    print(json.dumps({"first view": first, "form": form, "requests": before}))


def test_the_first_view_is_there_within_a_second_on_a_slow_line(open_reader: Callable[..., Reader], zoo: Zoo) -> None:
    """Counted, not timed: 1.6 Mbit/s and 150 ms a round are a second for 170 KB in one round, or 100 KB in three."""
    reader = open_reader()
    with real.serve(zoo.folder) as address:
        reader.read(f"{address}/#/")
        assert SERVING in reader.text()
        assert sum(reader.sizes) < 170_000
        assert len(reader.requests) <= 15
