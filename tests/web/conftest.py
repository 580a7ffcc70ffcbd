"""A real browser, and real channels that it reads. `make test-web` brings the browser; without it tests are skipped."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import real
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.web.page import Page
from packyard.sharing.web.page import write as write_page
from programs import machine_path
from tiny import COMMAND, environment

MNIST, SERVING = "mnist-fp32-training-k8s", "llm-serving"
#: Debian's chromium is a script, which runs programs that tests have to ask for.
ITS_OWN = {**os.environ, "PATH": machine_path()}
#: Names that are no host's, and lead here: browsers do not trust them as they do localhost.
ELSEWHERE = "zoo.test"


@pytest.fixture(scope="session")
def playwright() -> Iterator[Any]:
    """Return what drives browsers."""
    if os.environ.get("PACKYARD_REQUIRE_WEB") != "1":
        pytest.importorskip("playwright.sync_api", reason="playwright is absent: run make test-web")
    from playwright import sync_api

    with sync_api.sync_playwright() as found:
        yield found


def program(name: str) -> Path:
    """Return a browser of Debian's."""
    found = real.find_program(name, pinned=False)
    if found is None and os.environ.get("PACKYARD_REQUIRE_WEB") == "1":
        pytest.fail(f"{name} is absent: make test-web installs it")
    return found or real.lacking(name, remedy="run make test-web")


@pytest.fixture(scope="session")
def browser(playwright: Any) -> Iterator[Any]:
    """Return Debian's Chromium."""
    arguments = ["--no-sandbox", f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1"]
    opened = playwright.chromium.launch(executable_path=program("chromium"), args=arguments, env=ITS_OWN)
    yield opened
    opened.close()


@dataclass
class Reader:
    """Somebody with a browser, and what the browser complained of."""

    tab: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def read(self, address: str) -> str:
        """Go to an address, wait until all is there, and return the text that is shown."""
        if address.split("#")[0] == self.tab.url.split("#")[0]:
            self.tab.evaluate("hash => { location.hash = hash }", address.partition("#")[2])
        else:
            self.tab.goto(address)
        shown = f"#{address.partition('#')[2]}" if "#" in address else ""
        self.tab.wait_for_selector(f"main[aria-busy=false][data-shown={json.dumps(shown)}]")
        self.tab.wait_for_load_state("networkidle")
        return self.text()

    def text(self) -> str:
        """Return the text that is shown."""
        return str(self.tab.inner_text("body"))

    def see(self, text: str) -> None:
        """Wait until a text is shown."""
        self.tab.locator("body", has_text=text).wait_for()


@pytest.fixture
def open_reader(browser: Any) -> Iterator[Callable[..., Reader]]:
    """Return what opens a new browser window, with nothing remembered."""
    contexts = []

    def opened(**options: Any) -> Reader:
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        contexts.append(context)
        reader = Reader(context.new_page())
        reader.tab.set_default_timeout(60_000)  # of a busy machine
        reader.tab.on("console", lambda said: reader.complaints.append(said.text) if said.type == "error" else None)
        reader.tab.on("pageerror", lambda error: reader.complaints.append(str(error)))
        reader.tab.on("dialog", lambda dialog: (reader.complaints.append("a dialog"), dialog.dismiss()))
        reader.tab.on("request", lambda request: reader.requests.append(request.url))
        reader.tab.on("response", lambda answer: reader.sizes.append(int(answer.headers.get("content-length", 0))))
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
    """A channel in a folder, the public key that it is signed with, and the environment of its publisher."""

    folder: Path
    key: Path
    variables: dict[str, str]

    def packyard(self, *words: object) -> str:
        """Run a command as its publisher."""
        done = subprocess.run([*COMMAND, *map(str, words)], cwd=real.REPOSITORY, env=environment(**self.variables),
                              capture_output=True, text=True, timeout=600)  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def copy(self, folder: Path) -> Zoo:
        """Return a copy that may be damaged."""
        shutil.copytree(self.folder, folder)
        return Zoo(folder, self.key, self.variables)


@pytest.fixture(scope="session")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    """Publish the catalogue, signed: all as 1.0.0, two packages as 1.1.0; one version is yanked."""
    home = tmp_path_factory.mktemp("publisher")
    variables = {"HOME": str(home), "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""}
    made = Zoo(home / "zoo", home / ".config/packyard/keys/zoo.pub.pem", variables)
    made.packyard("keys", "new", "zoo", "--no-passphrase")
    made.packyard("publish", "--version", "1.0.0", "--to", made.folder)
    made.packyard("publish", MNIST, SERVING, "--version", "1.1.0", "--to", made.folder, "--web")
    made.packyard("yank", f"{MNIST}@1.0.0", "--reason", "its training diverges on two nodes", "--in", made.folder)
    return made


@pytest.fixture(scope="session")
def address(zoo: Zoo) -> Iterator[str]:
    """Serve the channel with its page as `packyard web --open` does; return the address."""
    port = real.free_port()
    words = [*COMMAND, "web", str(zoo.folder), "--open", "--port", str(port)]
    variables = environment(**zoo.variables)
    with subprocess.Popen(
        words, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as serving:
        assert serving.stdout is not None
        line = serving.stdout.readline()
        yield line.split()[-1]
        serving.terminate()


def with_page(folder: Path, page: Page | None = None) -> None:
    """Write the page into a channel."""
    write_page(DirectoryStore(folder), page or Page(), {})
