"""The page of a channel in Chromium: searched, filled in, copied, applied, printed, and attacked."""

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import real
from controlplane.api import Api
from tiny import environment, programs_dir
from web.nightly.conftest import MNIST, SERVING, Reader, Zoo
from web.pages import CASE, channel, package, written

pytestmark = pytest.mark.nightly
MULTI_NODE = "quickstart/mlops/multi-node/user-allocated-pvc"
PAGES = ("index.html", f"web/p/{MNIST}.html", f"web/p/{SERVING}.html", "404.html")
OPEN_ALL = "document.querySelectorAll('details').forEach((each) => (each.open = true))"
#: A script as one that was injected would insert another.
INSERTED = """() => {
  const made = document.createElement("script");
  made.textContent = "document.title = 'owned'";
  document.body.append(made);
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(open_reader: Callable[..., Reader], address: str, theme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    reader = open_reader(color_scheme=theme, viewport={"width": 800, "height": 600})
    faults = {}
    for path in PAGES:
        reader.read(address + path)
        reader.tab.evaluate(OPEN_ALL)
        faults[path] = [
            f"{each['id']}: {each['nodes'][0]['html'][:120]}" for each in Axe().run(reader.tab).response["violations"]
        ]
    assert {path: each for path, each in faults.items() if each} == {}


@pytest.mark.parametrize("width", [320, 360, 800, 1440])
def test_no_page_is_wider_than_the_screen(open_reader: Callable[..., Reader], address: str, width: int) -> None:
    reader = open_reader(viewport={"width": width, "height": 800})
    wide = []
    for path in PAGES:
        reader.read(address + path)
        reader.tab.evaluate(OPEN_ALL)
        if reader.tab.evaluate("document.documentElement.scrollWidth") > width:
            wide.append(path)
    assert wide == []


def test_the_list_takes_three_requests_and_less_than_100_kilobytes(reader: Reader, address: str) -> None:
    reader.read(address)
    print({"requests": len(reader.requests), "bytes": sum(reader.sizes)})
    assert len(reader.requests) == 3
    assert sum(reader.sizes) < 100_000


def test_a_keyboard_searches_opens_and_copies(reader: Reader, address: str) -> None:
    reader.read(address)
    reader.tab.keyboard.press("Tab")
    assert reader.tab.evaluate("document.activeElement.textContent") == "Skip to the content"
    reader.tab.focus("#search")
    reader.tab.keyboard.type("multi mnist")
    reader.tab.get_by_text("1 package", exact=True).wait_for()
    assert reader.tab.url == f"{address}?q=multi%20mnist"
    reader.tab.keyboard.press("Tab")
    reader.tab.keyboard.press("Enter")
    reader.tab.wait_for_url(f"{address}web/p/{MNIST}.html")
    button = reader.tab.get_by_role("button", name="Copy").first
    button.focus()
    reader.tab.keyboard.press("Enter")
    reader.tab.get_by_role("button", name="Copied").wait_for()
    assert (
        reader.tab.evaluate("navigator.clipboard.readText()")
        == f"packyard get {MNIST}@1.1.0 --from {address.rstrip('/')}"
    )


def test_a_new_user_finds_a_package_sets_it_and_pastes_what_deploys_it(
    reader: Reader, zoo: Zoo, address: str, tmp_path: Path, api_server: Api
) -> None:
    """From the page's address to a Job in a cluster, by a shell."""
    reader.read(address)
    reader.tab.get_by_role("searchbox", name="Search packages").type("mnist")
    reader.tab.get_by_role("link", name=MNIST).click()
    reader.tab.get_by_role("heading", name="multi-node/user-allocated-pvc", exact=True).click()
    here = reader.tab.locator(f'.form[id="{MULTI_NODE}"]')
    here.get_by_text("Still to be set: PVC_NAME").wait_for()
    assert here.get_by_role("button", name="Copy").first.is_disabled()
    here.get_by_label("CPUS").fill("x1")
    here.get_by_text("Takes a whole number of at least 1").wait_for()
    here.get_by_label("CPUS").fill("3")
    here.get_by_label("PVC_NAME").fill("my-disk")
    reader.tab.wait_for_function(
        "form => [...form.querySelectorAll('.copy')].every((each) => !each.disabled)", arg=here.element_handle()
    )
    pasted = []
    for button in (reader.tab.get_by_role("button", name="Copy").first, *here.locator(".copy").all()):
        button.click()
        pasted.append(reader.tab.evaluate("navigator.clipboard.readText()"))
    get, run, set_, render = pasted
    assert run == f"packyard run {MNIST}@1.1.0/{MULTI_NODE} PVC_NAME=my-disk CPUS=3 --from={address.rstrip('/')}"
    folder = programs_dir(tmp_path / "programs", {"kubectl": real.pinned_program("kubectl")})
    variables = {**zoo.variables, "KUBECONFIG": str(api_server.folder / "kubeconfig"), "no_proxy": "127.0.0.1"}
    variables["PATH"] = f"{folder}:{os.environ['PATH']}"
    shell = f"cd {tmp_path} && set -e\n{get}\n{set_}\n{render}\nkubectl delete --wait=false -k {MNIST}/{MULTI_NODE}"
    told = subprocess.run(["sh", "-c", shell], env=environment(**variables), capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert re.search(r"^job.batch/mnist-fp32-training-multi-node-pvc-worker created$", told.stdout, re.M)
    assert 'claimName: "my-disk"' in (tmp_path / MNIST / MULTI_NODE / "job.yaml").read_text()


@pytest.mark.parametrize(
    "text", ["it's", "a b", "$(reboot)", "`x`", 'a"b', "!!", "*", "\\", "ö", "a\u00a0b", "--x", "#", "~"]
)
def test_a_shell_reads_what_was_typed(reader: Reader, tmp_path: Path, text: str) -> None:
    setters = {"A": {"type": "string"}, "ITEMS": {"type": "array", "items": {"type": "string"}}}
    written(channel(tmp_path / "zoo", package(setters=setters)))
    with real.serve(tmp_path / "zoo") as address:
        reader.read(f"{address}/web/p/bert.html")
        reader.tab.get_by_label("A", exact=True).fill(text)
        reader.tab.get_by_label("ITEMS").fill(f"x, {text}")
        command = reader.tab.locator("code[data-start^='packyard set']")
        reader.tab.wait_for_function("code => code.textContent.includes('ITEMS')", arg=command.element_handle())
        said = command.text_content()
    assert shlex.split(said) == ["packyard", "set", f"bert/{CASE}", f"A={text}", "ITEMS=x", f"ITEMS={text}"]
    done = subprocess.run(
        ["sh", "-c", f"packyard() {{ printf '%s\\n' \"$@\"; }}; {said}"], capture_output=True, text=True
    )
    assert done.stdout.splitlines() == ["set", f"bert/{CASE}", f"A={text}", "ITEMS=x", f"ITEMS={text}"]


@pytest.mark.parametrize(
    "pattern",
    ["^(a+)+$", "^((a{0,99}){0,99}){0,99}$", "(?i)^x$", "[[:alpha:]", "^" + "(" * 400 + "a" + ")*" * 400 + "$"],
)
def test_a_pattern_that_never_ends_hangs_no_tab(reader: Reader, tmp_path: Path, pattern: str) -> None:
    """What a browser cannot judge is left to `packyard set`."""
    written(channel(tmp_path / "zoo", package(setters={"A": {"type": "string", "pattern": pattern}})))
    with real.serve(tmp_path / "zoo") as address:
        reader.read(f"{address}/web/p/bert.html")
        reader.tab.get_by_label("A", exact=True).fill("a" * 40 + "!")
        reader.tab.locator("code:has-text('!')").first.wait_for()
        assert reader.tab.locator(".wrong:not(:empty)").count() == 0
    reader.complaints[:] = [each for each in reader.complaints if "Invalid regular expression" not in each]


def test_the_policy_of_the_page_lets_no_script_of_others_run(
    open_reader: Callable[..., Reader], tmp_path: Path
) -> None:
    evil = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    said = {"description": evil, "framework": evil}
    written(
        channel(
            tmp_path / "zoo", package("evil", readme=f"# E\n\n{evil} [go](javascript:document.title='owned')\n", **said)
        )
    )
    reader = open_reader()
    with real.serve(tmp_path / "zoo") as address:
        for path in ("index.html", "web/p/evil.html"):
            assert evil in reader.read(f"{address}/{path}")
            reader.tab.evaluate(INSERTED)
            assert reader.tab.title() != "owned"
            assert (
                reader.tab.evaluate("() => fetch('http://evil.test/').then(() => 'sent', () => 'stopped')") == "stopped"
            )
        assert [request for request in reader.requests if not request.startswith((address, "http://evil.test/"))] == []
    assert reader.complaints
    assert all("Content Security Policy" in each or "Content-Security-Policy" in each for each in reader.complaints)


def test_prints_dark_pages_on_white_with_what_is_folded(open_reader: Callable[..., Reader], address: str) -> None:
    reader = open_reader(color_scheme="dark", java_script_enabled=False)
    reader.read(f"{address}web/p/{MNIST}.html")
    reader.tab.emulate_media(media="print")
    assert reader.tab.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert not reader.tab.is_visible("nav")
    assert reader.tab.locator(f'.form[id="{MULTI_NODE}"]').get_by_text("BATCH_SIZE").first.is_visible()
