"""Registries that harm: each is refused with a reason, soon, and nothing wrong is returned."""

import itertools
import json
from collections.abc import Callable, Iterable

import pytest

from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, IntegrityError, PackyardError, UnavailableError
from packyard.sharing.entry import IndexEntry
from packyard.sharing.stores.oci.channel import OCIStore
from packyard.sharing.stores.store import MissingStoreError, NotFoundError, TooLongError
from sharing.examples import bundle
from sharing.servers import Script, Server, answer, answering

KEY = "1.0/bert.tar.gz"
BODY = b"bundle"
LAYER = {"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": str(Digest.of(BODY)), "size": len(BODY)}
MANIFEST = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": [LAYER]}
NOT_FOUND = answer(b"", status=b"404 Not Found")


pytestmark = pytest.mark.usefixtures("clean_environment")


def oci(server: Server) -> OCIStore:
    return OCIStore(f"oci://{server.address.partition('//')[2]}/m")


def serving(manifest: object = MANIFEST, blob: Iterable[bytes] = (answer(BODY),)) -> Script:
    data = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()

    def script(request: bytes) -> Iterable[bytes]:
        return blob if b"/blobs/" in request else [answer(data)] if b"/manifests/" in request else [answer(b"{}")]

    return script


def with_layer(**changes: object) -> dict[str, object]:
    return {**MANIFEST, "layers": [{**LAYER, **changes}]}


INDEX = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [LAYER]}
MANIFESTS: dict[str, object] = {
    "no JSON": b"<html>",
    "another version": {**MANIFEST, "schemaVersion": 1},
    "no list of layers": {**MANIFEST, "layers": LAYER},
    "two layers": {**MANIFEST, "layers": [LAYER, LAYER]},
    "an index": INDEX,
    "a path for a digest": with_layer(digest="../../../etc/passwd"),
    "a digest with a line": with_layer(digest=f"{Digest.of(BODY)}\n"),
    "a negative size": with_layer(size=-1),
    "a size that is true": with_layer(size=True),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_that_is_no_artifact_of_one_layer_is_refused(name: str) -> None:
    with answering(serving(MANIFESTS[name])) as server:
        for verb in (oci(server).get, lambda key: oci(server).put(key, b"1")):
            with pytest.raises(IntegrityError, match=r"^oci://127\.0\.0\.1:[0-9]+/m/bert:1\.0: .*is this a channel"):
                verb(KEY)
    assert {request.split(b" ")[0] for request in server.requests} == {b"GET"}


BLOBS: dict[str, tuple[bytes, type[PackyardError], str]] = {
    "other bytes": (answer(b"BUNDLE"), IntegrityError, "expected sha256:.*, found sha256:"),
    "more": (answer(bytes(5_000_000)), TooLongError, "is larger than 6 bytes"),
    "a part": (answer(b"bundle", status=b"206 Partial"), UnavailableError, "answers HTTP 206"),
    "no blob": (NOT_FOUND, NotFoundError, "not found"),
}


@pytest.mark.parametrize("name", BLOBS)
def test_a_blob_is_what_its_manifest_says_or_refused(name: str) -> None:
    blob, error, says = BLOBS[name]
    with answering(serving(blob=[blob])) as server, pytest.raises(error, match=says):
        oci(server).get(KEY)


# Lists.


def listing(page: Callable[[bytes], bytes]) -> Script:
    return lambda request: [page(request)] if b"/tags/list" in request else [NOT_FOUND]


def tags(*names: object, link: str = "") -> bytes:
    headers = [b"Link: " + link.encode()] if link else []
    return answer(json.dumps({"name": "m/index", "tags": names}).encode(), *headers)


@pytest.mark.parametrize("link", ["http://127.0.0.1:1/x", "//evil.invalid/x"])
def test_a_page_on_another_server_is_not_asked_for(link: str) -> None:
    with (
        answering(listing(lambda _: tags("a", link=f'<{link}>; rel="next"'))) as server,
        pytest.raises(UnavailableError, match="next page of tags on another server"),
    ):
        _ = oci(server).names
    assert len(server.requests) == 1


def test_pages_without_end_end() -> None:
    number = itertools.count()
    same = 'rel="next"'
    with answering(listing(lambda _: tags("a", "b", link=f"</v2/m/index/tags/list?x>; {same}"))) as server:
        assert oci(server).names == ["a", "b"]
    assert len(server.requests) == 2

    def ever(_: bytes) -> bytes:
        return tags(f"t{next(number)}", link=f"</v2/m/index/tags/list?x={next(number)}>; {same}")

    for page, most, count in ((ever, 20_000, 21), (lambda _: tags(*map(str, range(21))), 20, 1)):
        with pytest.MonkeyPatch.context() as patch, answering(listing(page)) as server:
            patch.setattr("packyard.sharing.stores.store.MOST_KEYS", most)
            with pytest.raises(UnavailableError, match=f"lists more than {most} objects"):
                _ = oci(server).names
        assert len(server.requests) == count


def test_tags_that_are_no_tags_name_nothing_and_lead_nowhere() -> None:
    odd = ["../../x", "a/b", "", "..", "A", "a b", "x" * 5000, "a\nb", "_.-.._"]
    with answering(listing(lambda request: tags(*odd) if b"/m/index/" in request else tags("1.0"))) as server:
        assert oci(server).list("") == []
    assert len(server.requests) == 1


REFERRERS: dict[str, object] = {
    "no JSON": b"x",
    "no list": {"schemaVersion": 2, "manifests": {}},
    "a path": {"schemaVersion": 2, "manifests": [{**LAYER, "digest": "../../x"}]},
    "many that are not there": {"schemaVersion": 2, "manifests": [LAYER] * 10_000},
    "itself": {"schemaVersion": 2, "manifests": [{**LAYER, "digest": "ITSELF"}] * 100},
}


@pytest.mark.parametrize("name", REFERRERS)
def test_a_list_of_referrers_leads_to_few_requests_and_to_nothing_wrong(name: str) -> None:
    bundle = json.dumps(MANIFEST).encode()
    document = REFERRERS[name]
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    data = data.replace(b"ITSELF", Digest.of(bundle).encode())

    def script(request: bytes) -> Iterable[bytes]:
        if b"/referrers/" in request:
            return [answer(data)]
        is_bundle = b"/manifests/1.0 " in request or Digest.of(bundle).encode() in request
        return [answer(bundle) if is_bundle else NOT_FOUND]

    with answering(script) as server, pytest.raises((IntegrityError, NotFoundError, MissingStoreError)):
        oci(server).get(f"{KEY}.spdx.json")
    assert len(server.requests) < 60


# Writing.


def publish_bert(store: OCIStore) -> None:
    bert = bundle()
    store.push(IndexEntry.of(bert), bert.data)
    store.tag(KEY)


@pytest.mark.parametrize("status", [b"200 OK", b"400 Bad", b"403 No", b"413 Too Large"])
def test_an_upload_that_is_not_taken_says_so(status: bytes) -> None:
    said = json.dumps({"errors": [{"code": "DENIED", "message": "quota\x1b[31m is\nused up"}]}).encode()
    answers = {b"POST": answer(b"", b"Location: /up", status=b"202 Accepted"), b"PUT": answer(said, status=status)}
    with (
        answering(lambda request: [answers.get(request.split(b" ")[0], NOT_FOUND)]) as server,
        pytest.raises(UnavailableError) as caught,
    ):
        publish_bert(oci(server))
    assert f"HTTP {status[:3].decode()}" in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert "\n" not in str(caught.value)
    if status[:3] in (b"400", b"403", b"413"):
        assert "quota" in str(caught.value)


def test_a_registry_that_keeps_something_else_is_found() -> None:
    puts: list[bytes] = []
    begin = answer(b"", b"Location: /up", status=b"202 Accepted")

    def script(request: bytes) -> Iterable[bytes]:
        method = request.split(b" ")[0]
        if method == b"PUT":
            puts.append(request)
            return [answer(b"", status=b"201 Created")]
        if method == b"GET" and any(b"/m/bert/manifests/1.0 " in put for put in puts):
            return [answer(json.dumps(MANIFEST).encode())]
        return [begin if method == b"POST" else NOT_FOUND]

    with answering(script) as server, pytest.raises(ConflictError, match=f"it has {Digest.of(BODY)}, the new one"):
        publish_bert(oci(server))
