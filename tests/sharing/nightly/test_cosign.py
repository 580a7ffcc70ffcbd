"""cosign itself, offline and with a public key: it accepts what is published, and refuses what was altered.

`make test-trust` builds it; where it is not built these tests are skipped.
"""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

import real
from packyard.sharing.entry import IndexEntry
from packyard.sharing.stores.oci.channel import OCIStore
from sharing.examples import bundle, proof
from sharing.registries import anywhere, ask
from sharing.test_provenance import BERT, BUNDLE, KEY, OTHER

pytestmark = pytest.mark.nightly

Cosign = Callable[..., "subprocess.CompletedProcess[str]"]
GPT = bundle("gpt")
IMAGE, FILE = "verify-attestation", "verify-blob-attestation"
#: What the keyless world would need; that of a public key is empty.
TRUSTED_ROOT = {"mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1"}


@pytest.fixture
def cosign(tmp_path: Path) -> Cosign:
    """Return what runs a verb with a public key, as a machine without the internet does."""
    program = real.trust_program("cosign-3")
    (tmp_path / "root.json").write_text(json.dumps(TRUSTED_ROOT))
    nowhere = "http://127.0.0.1:1"
    env = {"HOME": str(tmp_path), "HTTPS_PROXY": nowhere, "HTTP_PROXY": nowhere, "NO_PROXY": "127.0.0.1"}

    def run(verb: str, *words: object, key: bytes = KEY.public.to_pem()) -> subprocess.CompletedProcess[str]:
        (tmp_path / "key.pem").write_bytes(key)
        flags = ["--key", "key.pem", "--insecure-ignore-tlog=true", "--type", "slsaprovenance1"]
        if verb == FILE:
            flags += ["--trusted-root", "root.json", "--new-bundle-format=true"]
        command = [program, verb, *flags, *map(str, words)]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)

    return run


@pytest.fixture(params=["registry3", "registry_with_referrers"])
def store(request: pytest.FixtureRequest) -> OCIStore:
    return OCIStore(anywhere(request.getfixturevalue(request.param)))


def put(store: OCIStore, objects: Mapping[str, bytes], *, of: str = BERT.key) -> None:
    """Put a bundle into a registry, with what is said to be about it."""
    store.push(BERT, BUNDLE.data)
    store.tag(BERT.key)
    for key, data in objects.items():
        store.put(key.replace(of, BERT.key), data)


def image(store: OCIStore) -> str:
    return f"{store.address.removeprefix('oci://')}/bert:1.0"


def replace_tag(store: OCIStore) -> None:
    manifest = ask(store, "bert", "manifests/1.0").json()
    manifest["annotations"]["note"] = "mine"
    assert ask(store, "bert", "manifests/1.0", method="PUT", data=json.dumps(manifest)).status_code == 201


def refused(done: subprocess.CompletedProcess[str], words: Sequence[str]) -> bool:
    return done.returncode != 0 and any(word in done.stderr for word in words)


_UNSIGNED = ("no matching", "no signatures", "no valid bundles", "failed to verify", "threshold", "could not verify")


def test_an_image_is_accepted_by_its_key_alone(cosign: Cosign, store: OCIStore) -> None:
    put(store, proof(BERT, KEY))
    done = cosign(IMAGE, image(store))
    assert done.returncode == 0, done.stderr
    assert refused(cosign(IMAGE, image(store), key=OTHER.public.to_pem()), _UNSIGNED)


def test_an_image_without_signatures_or_with_those_of_another_package_is_refused(
    cosign: Cosign, registry3: str
) -> None:
    stripped, swapped = (OCIStore(anywhere(registry3)) for _ in range(2))
    put(stripped, {})
    other = IndexEntry.of(GPT)
    put(swapped, proof(other, KEY), of=other.key)
    for each in (stripped, swapped):
        assert refused(cosign(IMAGE, image(each)), _UNSIGNED)


def test_a_tag_that_was_replaced_is_refused(cosign: Cosign, registry3: str) -> None:
    store = OCIStore(anywhere(registry3))
    put(store, proof(BERT, KEY))
    replace_tag(store)
    assert refused(cosign(IMAGE, image(store)), _UNSIGNED)


def test_a_file_is_accepted_by_the_bundle_beside_it_and_refused_with_other_bytes_or_another_key(
    cosign: Cosign, tmp_path: Path
) -> None:
    file, beside = tmp_path / "bert.tar.gz", tmp_path / "bert.tar.gz.sigstore.json"
    file.write_bytes(BUNDLE.data)
    beside.write_bytes(proof(BERT, KEY)[f"{BERT.key}.sigstore.json"])
    done = cosign(FILE, "--bundle", beside, file)
    assert done.returncode == 0, done.stderr
    assert refused(cosign(FILE, "--bundle", beside, file, key=OTHER.public.to_pem()), _UNSIGNED)
    other = IndexEntry.of(GPT)
    file.write_bytes(GPT.data)
    assert refused(cosign(FILE, "--bundle", beside, file), ("digest", "subject", *_UNSIGNED))
    file.write_bytes(BUNDLE.data)
    beside.write_bytes(proof(other, KEY)[f"{other.key}.sigstore.json"])
    assert refused(cosign(FILE, "--bundle", beside, file), ("digest", "subject", *_UNSIGNED))
