"""The page of a channel, without a browser: its files, what is written, kept and refused; tests/web/ reads it."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import real
from packyard.core.errors import InputError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.stores.content import cache_control, content_type
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.web import page, prerender
from packyard.sharing.web.page import Page
from packyard.sharing.web.serve import server
from sharing.examples import add_to_index, bundle
from tiny import packyard

BUNDLES = (bundle(), bundle(version="2.0"), bundle("gpt"))
TITLE = 'Our "models" </title><script>alert(1)</script>'


@pytest.fixture
def channel(tmp_path: Path) -> Path:
    store = DirectoryStore(tmp_path)
    for each in BUNDLES:
        store.put(f"{each.version}/{each.name}.tar.gz", each.data)
    add_to_index(store, [IndexEntry.of(each) for each in BUNDLES])
    return tmp_path


def test_a_page_loads_what_is_there_and_nothing_else() -> None:
    site = page.written(Page())
    text = site[page.INDEX].decode()
    for address in re.findall(r'(?:src|href)="(web/[^"]+)"', text):
        assert address in site
    for name, data in site.items():
        for other in re.findall(r'(?:from|import)\s*\(?"\./([^"]+)"', data.decode()):
            assert f"web/{other}" in site, name
    assert not re.search(r"https?://", text)
    assert "unsafe" not in text


def test_a_title_stays_a_text_and_settings_stay_data() -> None:
    text = page.written(Page(title=TITLE, keys=["</script>"]))[page.INDEX].decode()
    assert "<script>alert" not in text
    assert Page.parse(text.encode(), file="index.html") == Page(title=TITLE, keys=("</script>",))


def test_what_was_set_for_a_page_stays(channel: Path) -> None:
    assert packyard("web", channel, "--title", TITLE).returncode == 0
    rows = json.loads(packyard("web", channel, "-o", "json").stdout)
    assert {row["status"] for row in rows} == {"unchanged"}
    assert page.present(DirectoryStore(channel)) == Page(title=TITLE)


def test_a_page_of_somebody_else_is_not_overwritten(channel: Path) -> None:
    (channel / "index.html").write_text("mine")
    refused = packyard("web", channel)
    assert (refused.returncode, (channel / "index.html").read_text()) == (1, "mine")
    assert "is not a page of packyard's" in refused.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["oci://localhost/zoo"], "a registry serves no pages"),
        (["CHANNEL", "bert"], "--single-file FILE"),
        (["CHANNEL", "--single-file", "x.html"], "name the packages"),
        (["CHANNEL", "--to", "x"], "https address"),
        (["CHANNEL", "--single-file", "x.html", "nobody"], "no bundle 'nobody'"),
        (["NOTHING", "--open"], "no such file or directory"),
    ],
)
def test_what_cannot_be_is_refused_with_a_way_on(channel: Path, words: list[str], problem: str) -> None:
    found = packyard("web", *(str(channel) if word == "CHANNEL" else word for word in words), cwd=channel.parent)
    assert found.returncode != 0
    assert problem in found.stderr


def test_fsck_finds_nothing_wrong_with_a_page(channel: Path) -> None:
    before = packyard("fsck", channel).stdout
    packyard("web", channel, "--prerender")
    assert packyard("fsck", channel).stdout == before


def test_pages_without_scripts_run_and_load_nothing(tmp_path: Path) -> None:
    evil = bundle("evil", text="# Evil\n\n<script>x</script> ![p](http://x/y.png) [l](javascript:x)\n")
    store = DirectoryStore(tmp_path)
    store.put("1.0/evil.tar.gz", evil.data)
    add_to_index(store, [IndexEntry.of(evil)])
    packyard("web", tmp_path, "--prerender")
    text = (tmp_path / prerender.key("evil")).read_text()
    assert "<script" not in text
    assert "<img" not in text
    assert 'href="javascript' not in text
    assert f'href="{prerender.key("evil")}"' in (tmp_path / "index.html").read_text()


def test_a_look_serves_channel_and_page_to_this_machine_alone(channel: Path) -> None:
    serving = server(DirectoryStore(channel), page.written(Page()))
    address = f"http://127.0.0.1:{serving.server_port}"
    open_ = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
    with real.answering(serving):
        with open_(address) as answer:
            assert (answer.headers["Cache-Control"], answer.headers["Content-Type"]) == (
                "no-cache",
                "text/html; charset=utf-8",
            )
        with open_(f"{address}/index/head.json") as answer:
            assert answer.read() == (channel / "index/head.json").read_bytes()
        for path, host, status in (
            ("/../secret", "127.0.0.1", 404),
            ("/nothing", "127.0.0.1", 404),
            ("/", "zoo.test", 403),
        ):
            request = urllib.request.Request(address + path, headers={"Host": f"{host}:{serving.server_port}"})
            with pytest.raises(urllib.error.HTTPError) as caught:
                open_(request)
            assert caught.value.code == status
            caught.value.close()


@pytest.mark.parametrize(
    ("key", "kind", "is_immutable"),
    [
        ("index.html", "text/html; charset=utf-8", False),
        ("index/head.json", "application/json", False),
        ("index/heads/12.json", "application/json", True),
        ("index/nodes/12/ab.json", "application/json", True),
        ("index/yanked/bert/1.0.json", "application/json", False),
        ("index/revoked/1.json", "application/json", False),
        ("v1.0/bert.tar.gz", "application/octet-stream", True),
        ("1.0/bert.tar.gz.sha256", "text/plain; charset=utf-8", True),
        ("web/app-3OC3U5Y5.js", "text/javascript; charset=utf-8", True),
        ("web/p/bert.html", "text/html; charset=utf-8", False),
    ],
)
def test_says_of_each_object_what_it_is_and_how_long_it_stays(key: str, kind: str, is_immutable: bool) -> None:
    assert (content_type(key), "immutable" in cache_control(key)) == (kind, is_immutable)


def test_refuses_what_is_no_public_key(channel: Path) -> None:
    (channel / "key.pem").write_text("no key")
    assert "must hold one public key" in packyard("web", channel, "--public-key", channel / "key.pem").stderr
    with pytest.raises(InputError):
        Page.parse(b"<html>", file="index.html")


@pytest.mark.nightly
def test_the_files_of_the_page_are_what_its_sources_build(tmp_path: Path) -> None:
    node = real.find_program("node", pinned=False)
    if node is None or not (real.REPOSITORY / "web/node_modules/.installed").exists():
        real.lacking("Node, or the libraries of the page", remedy="run make web")
    subprocess.run([node, "build.mjs", tmp_path / "site"], cwd=real.REPOSITORY / "web", check=True)
    assert _files(tmp_path / "site") == _files(Path(page.__file__).parent / "site")


def _files(folder: Path) -> dict[str, bytes]:
    return {each.relative_to(folder).as_posix(): each.read_bytes() for each in folder.rglob("*") if each.is_file()}
