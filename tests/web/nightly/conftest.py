"""A real browser, and the catalogue as a channel with its page. `make test-web` brings the browser."""

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import real
from programs import machine_path
from tiny import COMMAND, environment

MNIST, SERVING = "mnist-fp32-training-k8s", "llm-serving"
#: Debian's chromium is a script, which runs programs that tests have to ask for.
ITS_OWN = {**os.environ, "PATH": machine_path()}


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return Debian's Chromium, driven by Playwright."""
    if os.environ.get("PACKYARD_REQUIRE_WEB") != "1":
        pytest.importorskip("playwright.sync_api", reason="playwright is absent: run make test-web")
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        arguments = {"executable_path": real.program("chromium"), "args": ["--no-sandbox"], "env": ITS_OWN}
        opened = playwright.chromium.launch(**arguments)
        yield opened
        opened.close()


@dataclass
class Reader:
    """Somebody with a browser, what it complained of, and what it asked for."""

    tab: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def read(self, address: str) -> str:
        """Go to an address, wait until all is there, and return the text that is shown."""
        self.tab.goto(address)
        self.tab.wait_for_load_state("networkidle")
        return str(self.tab.inner_text("body"))


@pytest.fixture
def open_reader(browser: Any) -> Iterator[Callable[..., Reader]]:
    """Return what opens a new browser window, with nothing remembered."""
    contexts = []

    def opened(**options: Any) -> Reader:
        about = {"viewport": {"width": 1280, "height": 900}, "permissions": ["clipboard-read", "clipboard-write"]}
        context = browser.new_context(**{**about, **options})
        contexts.append(context)
        reader = Reader(context.new_page())
        reader.tab.set_default_timeout(60_000)  # of a busy machine
        reader.tab.on("console", lambda said: reader.complaints.append(said.text) if said.type == "error" else None)
        reader.tab.on("pageerror", lambda error: reader.complaints.append(str(error)))
        reader.tab.on("dialog", lambda dialog: (reader.complaints.append("a dialog"), dialog.dismiss()))
        reader.tab.on("request", lambda request: reader.requests.append(request.url))
        reader.tab.on("response", lambda answer: reader.sizes.append(len(answer.body())))
        return reader

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def reader(open_reader: Callable[..., Reader]) -> Iterator[Reader]:
    """Return a reader; at the end nothing may have been complained of."""
    made = open_reader()
    yield made
    assert made.complaints == []


@dataclass(frozen=True)
class Zoo:
    """A channel with its page in a folder, and the environment of its publisher."""

    folder: Path
    variables: dict[str, str]

    def packyard(self, *words: object) -> str:
        """Run a command as its publisher."""
        done = subprocess.run([*COMMAND, *map(str, words)], cwd=real.REPOSITORY, env=environment(**self.variables),
                              capture_output=True, text=True, timeout=600)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """Publish the catalogue, signed: all as 1.0.0, two packages as 1.1.0; one version is yanked."""
    home = tmp_path_factory.mktemp("publisher")
    made = Zoo(home / "zoo", {"HOME": str(home), "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""})
    made.packyard("keys", "new", "zoo", "--no-passphrase")
    made.packyard("publish", "--version", "1.0.0", "--to", made.folder)
    made.packyard("publish", MNIST, SERVING, "--version", "1.1.0", "--to", made.folder)
    made.packyard("yank", f"{MNIST}@1.0.0", "--reason", "its training diverges on two nodes", "--from", made.folder)
    made.packyard("web", made.folder)
    return made


@pytest.fixture(scope="session")
def address(zoo: Zoo) -> Iterator[str]:
    """Serve the channel with its page as any static host does; return the address, with its last slash."""
    with real.serve(zoo.folder) as served:
        yield f"{served.rstrip('/')}/"
