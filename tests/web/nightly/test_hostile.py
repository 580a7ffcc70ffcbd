"""Channels that lie, are damaged, or are served badly: nothing runs, hangs, or is shown as verified that is not."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import real
from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import Bundle, build
from packyard.core.digest import Digest
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index import access
from packyard.sharing.index import head as heads
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.web.page import Page
from sharing import servers
from sharing.examples import bundle
from web.conftest import ELSEWHERE, MNIST, SERVING, Reader, Zoo, with_page

pytestmark = pytest.mark.nightly
#: A script as one that was injected would insert another.
INSERTED = """() => {
  const made = document.createElement("script");
  try { made.textContent = "document.title = 1"; } catch {}
  document.body.append(made);
}"""
EVIL = """# Evil

<script>document.title = "owned"</script>
<img src=x onerror="document.title = 'owned'">
<a href="javascript:document.title='owned'">click me</a>
[and me](javascript:document.title='owned') ![picture](http://evil.test/x.png)
<iframe src="http://evil.test"></iframe><form action="http://evil.test"><button>go</button></form>
<svg><style>*{display:none}</style><script>document.title="owned"</script></svg>
<div style="position:fixed" id="top" class="badge good">Signature verified</div>
"""


def published(folder: Path, *bundles: Bundle, **changes: str) -> None:
    """Write bundles and an index that lists them, whatever they are."""
    store = DirectoryStore(folder)
    for each in bundles:
        store.put(f"{each.version}/{each.name}.tar.gz", each.data)
    entries = [replace(IndexEntry.of(each), **changes) for each in bundles]
    with access.writer(store) as writer:
        writer.commit(lambda index: index.add(*entries))
    with_page(folder)


def test_a_readme_runs_nothing_and_asks_no_other_host(open_reader: Callable[..., Reader], tmp_path: Path) -> None:
    published(tmp_path, bundle("evil", text=EVIL))
    reader = open_reader()
    with real.serve(tmp_path) as address:
        text = reader.read(f"{address}/#/evil")
        assert "click me" in text
        for link in reader.tab.locator(".readme a").all():
            assert not (link.get_attribute("href") or "").startswith("javascript")
        tags = ", ".join(f".readme {each}" for each in ("script", "img", "iframe", "form", "svg", "[style]", "[id]"))
        assert reader.tab.locator(tags).count() == 0
    assert "owned" not in reader.tab.title()
    assert [url for url in reader.requests if not url.startswith(address)] == []
    assert all("has been blocked" in each or "404" in each for each in reader.complaints)


@pytest.mark.parametrize(
    "text", ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "\u202eevil", "a" * 9000]
)
def test_texts_of_an_index_stay_texts(open_reader: Callable[..., Reader], tmp_path: Path, text: str) -> None:
    reader = open_reader()
    published(tmp_path, bundle("evil"), description=f"{text}: more", model={"framework": text, "constructor": "x"})
    with real.serve(tmp_path) as address:
        assert text[:50].strip() in reader.read(f"{address}/")
        reader.read(f"{address}/#/evil")
        assert reader.tab.locator("main img, main script").count() == 0


def test_the_policy_of_the_page_lets_no_script_of_others_run(open_reader: Callable[..., Reader], address: str) -> None:
    reader = open_reader()
    reader.read(address)
    reader.tab.evaluate(INSERTED)
    with pytest.raises(Exception, match="TrustedHTML"):
        reader.tab.evaluate("() => { document.body.innerHTML = '<b>x</b>' }")
    assert reader.tab.title() != "1"
    assert reader.tab.evaluate("() => fetch('http://evil.test/').then(() => 'sent', () => 'stopped')") == "stopped"


def _stripped(document: dict[str, Any]) -> None:
    document["signatures"] = []


def _altered(document: dict[str, Any]) -> None:
    payload = b64decode(document["payload"]).replace(b'"revoked": []', b'"revoked": ["sha256:' + b"0" * 64 + b'"]')
    document["payload"] = b64encode(payload).decode()


def _renamed(document: dict[str, Any]) -> None:
    document["signatures"][0]["keyid"] = f"sha256:{'0' * 64}"


@pytest.mark.parametrize(
    ("change", "says"),
    [(_stripped, "is not signed"), (_altered, "is wrong: it was altered"), (_renamed, "is not the key that you gave")],
)
def test_a_head_that_is_forged_is_not_shown(
    reader: Reader, zoo: Zoo, tmp_path: Path, change: Callable[[dict[str, Any]], None], says: str
) -> None:
    copy = zoo.copy(tmp_path / "zoo")
    with_page(copy.folder, Page(keys=[zoo.key.read_text()]))
    document = json.loads((copy.folder / "index/head.json").read_bytes())
    change(document)
    (copy.folder / "index/head.json").write_text(json.dumps(document))
    with real.serve(copy.folder) as address:
        text = reader.read(f"{address}/")
    assert says in text
    assert MNIST not in text


def test_provenance_without_its_signatures_is_not_called_signed(reader: Reader, zoo: Zoo, tmp_path: Path) -> None:
    copy = zoo.copy(tmp_path / "zoo")
    with_page(copy.folder, Page(keys=[zoo.key.read_text()]))
    file = copy.folder / f"1.1.0/{MNIST}.tar.gz.intoto.json"
    document = json.loads(file.read_bytes())
    _stripped(document)
    file.write_text(json.dumps(document))
    with real.serve(copy.folder) as address:
        assert "Its provenance is not signed." in reader.read(f"{address}/#/{MNIST}")


def test_a_channel_that_revokes_less_than_before_is_refused(open_reader: Callable[..., Reader], tmp_path: Path) -> None:
    reader = open_reader()
    published(tmp_path, bundle("evil"))
    store = DirectoryStore(tmp_path)

    def change(*revoked: str) -> None:
        before = access.read(store).head
        made = replace(before, number=before.number + 1, history=before.next_history(), revoked=revoked)
        heads.create(store, made, [])

    with real.serve(tmp_path) as address:
        change(f"sha256:{'1' * 64}")
        assert "1 package" in reader.read(f"{address}/")
        change()
        reader.tab.reload()
        reader.see("revokes no longer what it revoked before")


def test_an_altered_bundle_is_not_shown(reader: Reader, zoo: Zoo, tmp_path: Path) -> None:
    copy = zoo.copy(tmp_path / "zoo")
    file = copy.folder / f"1.1.0/{MNIST}.tar.gz"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with real.serve(copy.folder) as address:
        text = reader.read(f"{address}/#/{MNIST}")
    assert "was altered or damaged: expected sha256:" in text
    assert "MultiWorkerMirroredStrategy" not in text


def test_an_altered_node_of_the_index_is_not_shown(reader: Reader, zoo: Zoo, tmp_path: Path) -> None:
    copy = zoo.copy(tmp_path / "zoo")
    for file in (copy.folder / "index/nodes").rglob("*.json"):
        file.write_bytes(file.read_bytes().replace(b"TensorFlow", b"TensorFl0w"))
    with real.serve(copy.folder) as address:
        text = reader.read(f"{address}/")
    assert "was altered or damaged" in text
    assert "TensorFl0w" not in text


def test_a_package_under_anothers_name_is_not_shown(reader: Reader, tmp_path: Path) -> None:
    """The index gives the record of one package the name of another."""
    published(tmp_path, bundle("evil"))
    store = DirectoryStore(tmp_path)
    found = access.read(store)
    node = replace(found.head.packages, keys=("good",))
    head = replace(found.head, number=2, packages=node, history=found.head.next_history())
    heads.create(store, head, [])
    with real.serve(tmp_path) as address:
        assert "another package's record under good" in reader.read(f"{address}/#/good")


def test_a_bundle_that_says_another_name_is_not_shown(open_reader: Callable[..., Reader], tmp_path: Path) -> None:
    reader = open_reader()
    evil = bundle("evil")
    store = DirectoryStore(tmp_path)
    store.put("1.0/good.tar.gz", evil.data)
    entry = replace(IndexEntry.of(evil), name="good", version="1.0")
    with access.writer(store) as writer:
        writer.commit(lambda index: index.add(entry))
    with_page(tmp_path)
    with real.serve(tmp_path) as address:
        assert "The bundle says that it is evil" in reader.read(f"{address}/#/good")


def test_an_older_channel_than_before_is_refused_until_it_is_forgotten(
    reader: Reader, zoo: Zoo, tmp_path: Path
) -> None:
    copy = zoo.copy(tmp_path / "zoo")
    with real.serve(copy.folder) as address:
        assert "12 packages" in reader.read(f"{address}/")
        before = len([*(copy.folder / "index/heads").iterdir()]) - 1
        (copy.folder / "index/head.json").write_bytes((copy.folder / f"index/heads/{before}.json").read_bytes())
        reader.tab.reload()
        reader.see("This channel is older than before")
        assert MNIST not in reader.text()
        reader.tab.click("text=Keys, and what is remembered")
        reader.tab.click("button:has-text('Forget what this')")
        reader.see("12 packages")


def test_another_channel_at_the_same_address_is_refused(reader: Reader, zoo: Zoo, tmp_path: Path) -> None:
    copy = zoo.copy(tmp_path / "zoo")
    published(tmp_path / "other", bundle("evil"))
    with real.serve(copy.folder) as address:
        reader.read(f"{address}/")
        (copy.folder / "index/head.json").write_bytes((tmp_path / "other/index/head.json").read_bytes())
        reader.tab.reload()
        reader.see("This is another channel than this browser has seen")


def test_a_bomb_hangs_no_tab(open_reader: Callable[..., Reader], tmp_path: Path) -> None:
    reader = open_reader()
    bomb = gzip.compress(bytes(300 << 20))
    evil = bundle("evil")
    store = DirectoryStore(tmp_path)
    store.put(f"{evil.version}/evil.tar.gz", bomb)
    entry = replace(IndexEntry.of(evil), digest=Digest.of(bomb), size=len(bomb))
    with access.writer(store) as writer:
        writer.commit(lambda index: index.add(entry))
    with_page(tmp_path)
    with real.serve(tmp_path) as address:
        reader.read(f"{address}/#/evil")
        assert reader.tab.locator(".problem").count() == 1


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "^((a{0,99}){0,99}){0,99}$", "(x{900}){900}", "^" + "(" * 400 + "a" + ")*" * 400 + "$"]
)
def test_a_pattern_that_never_ends_hangs_no_tab(
    open_reader: Callable[..., Reader], tmp_path: Path, pattern: str
) -> None:
    reader = open_reader()
    setter = {"type": "string", "pattern": pattern, "x-k8s-cli": {"setter": {"name": "A", "value": "a"}}}
    krmfile = {
        "apiVersion": "config.k8s.io/v1alpha1",
        "kind": "Krmfile",
        "openAPI": {"definitions": {"io.k8s.cli.setters.A": setter}},
    }
    published(tmp_path, _with_files(bundle("evil"), {"single-node/Krmfile": json.dumps(krmfile)}))
    with real.serve(tmp_path) as address:
        reader.read(f"{address}/#/evil/set")
        reader.tab.fill("#set-A", "a" * 40 + "!")
        reader.tab.locator("#set-A-wrong:not(:empty)").wait_for()
        assert reader.tab.evaluate("1 + 1") == 2


def _with_files(package: Bundle, files: dict[str, str]) -> Bundle:
    members = [each for each in package.members if each.path not in ("packyard.json", *files)]
    members += [Member(path=path, data=text.encode()) for path, text in files.items()]
    return build(package.manifest, members)


def test_a_look_answers_to_no_other_name(open_reader: Callable[..., Reader], address: str) -> None:
    """Else a page of another host, whose name leads here, would read a channel that only its owner may."""
    reader = open_reader()
    reader.tab.goto(f"http://{ELSEWHERE}:{address.rstrip('/').rpartition(':')[2]}/")
    assert reader.text().startswith("open the address that packyard printed")


def test_plain_http_is_read_and_nothing_is_called_verified(reader: Reader, zoo: Zoo) -> None:
    with real.serve(zoo.folder) as address:
        place = address.replace("127.0.0.1", ELSEWHERE)
        assert "Nothing verified" in reader.read(f"{place}/")
        assert "Nothing was compared" in reader.read(f"{place}/#/{SERVING}")
        assert "came over plain http" in reader.read(f"{place}/#trust")
        assert reader.tab.is_disabled("text=Verify with this key")


def test_a_host_that_unpacks_bundles_on_the_way_changes_nothing(reader: Reader, zoo: Zoo) -> None:
    with served(zoo, (b"Content-Encoding", b"gzip")) as address:
        assert "MultiWorkerMirroredStrategy" in reader.read(f"{address}/#/{MNIST}")
        assert "has the digest that the index gives" in reader.text()


def test_a_host_that_calls_the_index_html_changes_nothing(reader: Reader, zoo: Zoo) -> None:
    with served(zoo, (b"Content-Type", b"text/html"), below="index/") as address:
        assert "12 packages" in reader.read(f"{address}/")


def test_a_host_that_fails_is_told_in_words(open_reader: Callable[..., Reader], zoo: Zoo) -> None:
    reader = open_reader()
    with served(zoo, (b"X-Served", b"badly"), broken="index/nodes") as address:
        assert "The host answered 503" in reader.read(f"{address}/")


@contextmanager
def served(zoo: Zoo, header: tuple[bytes, bytes], broken: str = "-", below: str = "") -> Iterator[str]:
    """Serve a channel with one more header for bundles, or for what lies below a folder; another folder fails."""
    types = {".html": b"text/html", ".js": b"text/javascript", ".css": b"text/css", ".gz": b"application/gzip"}

    def script(request: bytes) -> Iterable[bytes]:
        path = request.split(b" ", 2)[1].decode().split("?")[0].lstrip("/") or "index.html"
        file = zoo.folder / path
        if path.startswith(broken):
            return [servers.answer(b"", status=b"503 Service Unavailable")]
        if not file.is_file():
            return [servers.answer(b"", status=b"404 Not Found")]
        is_meant = path.startswith(below) if below else path.endswith(".tar.gz")
        headers = {b"Content-Type": types.get(file.suffix, b"text/plain"), **(dict([header]) if is_meant else {})}
        return [servers.answer(file.read_bytes(), *(b"%s: %s" % each for each in headers.items()))]

    with servers.answering(script) as server:
        yield server.address


def test_a_folder_without_an_index_is_told_in_words(open_reader: Callable[..., Reader], tmp_path: Path) -> None:
    with_page(tmp_path)
    with real.serve(tmp_path) as address:
        text = open_reader().read(f"{address}/")
    assert "has no index: is it a channel?" in text


def test_what_vanished_while_it_is_read_is_told_in_words(
    open_reader: Callable[..., Reader], zoo: Zoo, tmp_path: Path
) -> None:
    copy = zoo.copy(tmp_path / "zoo")
    reader = open_reader()
    with real.serve(copy.folder) as address:
        reader.read(f"{address}/")
        (copy.folder / f"1.1.0/{MNIST}.tar.gz").unlink()
        assert f"{MNIST}.tar.gz is not there" in reader.read(f"{address}/#/{MNIST}")
        assert "no version 9.9" in reader.read(f"{address}/#/{MNIST}@9.9")
        assert "has no package nobody" in reader.read(f"{address}/#/nobody")


def test_offline_says_so_and_goes_on_once_it_is_over(open_reader: Callable[..., Reader], address: str) -> None:
    reader = open_reader()
    reader.read(address)
    reader.read(f"{address}#/{MNIST}")
    reader.tab.context.set_offline(True)
    assert "MultiWorkerMirroredStrategy" in reader.read(f"{address}#/{MNIST}")
    reader.tab.evaluate("location.hash = '#/release-job'")
    reader.see("You are offline")
    reader.tab.context.set_offline(False)
    reader.see("Publishing a catalogue")


def test_a_bundle_beside_provenance_of_another_is_not_shown(reader: Reader, zoo: Zoo, tmp_path: Path) -> None:
    copy = zoo.copy(tmp_path / "zoo")
    other = copy.folder / f"1.1.0/{SERVING}.tar.gz.intoto.json"
    (copy.folder / f"1.1.0/{MNIST}.tar.gz.intoto.json").write_bytes(other.read_bytes())
    with real.serve(copy.folder) as address:
        text = reader.read(f"{address}/#/{MNIST}")
    assert f"The provenance of {MNIST}@1.1.0 is about another file" in text
    assert "MultiWorkerMirroredStrategy" not in text


@pytest.mark.parametrize("name", ["constructor", "10", "__proto__"])
def test_names_that_javascript_has_itself_are_names(
    open_reader: Callable[..., Reader], tmp_path: Path, name: str
) -> None:
    reader = open_reader()
    names = [name] if name != "__proto__" else ["valueof"]
    published(tmp_path, *(bundle(each) for each in (*names, "2", "bert")))
    with real.serve(tmp_path) as address:
        assert "3 packages" in reader.read(f"{address}/")
        assert names[0] in reader.read(f"{address}/#/{names[0]}")


@pytest.mark.parametrize("text", ["_a*" * 20_000, "> " * 20_000, "a" * 600_000])
def test_a_readme_that_takes_too_long_is_shown_as_text(
    open_reader: Callable[..., Reader], tmp_path: Path, text: str
) -> None:
    """Emphasis that never ends takes Markdown minutes, and quotes in quotes its stack."""
    reader = open_reader()
    published(tmp_path, _with_files(bundle("evil"), {"README.md": text}))
    with real.serve(tmp_path) as address:
        assert "too intricate to be shown as Markdown" in reader.read(f"{address}/#/evil")


def test_a_program_that_takes_too_long_to_color_is_shown(open_reader: Callable[..., Reader], tmp_path: Path) -> None:
    reader = open_reader()
    published(tmp_path, _with_files(bundle("evil"), {"run.sh": "a" * 190_000}))
    with real.serve(tmp_path) as address:
        reader.read(f"{address}/#/evil/files/run.sh")
        assert reader.tab.text_content(".code code") == "a" * 190_000 + "\n"
        assert reader.tab.evaluate("1 + 1") == 2
