"""A publisher who is an identity: what it signs is trusted as its issuer names it, and nothing else is."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from packyard.core.errors import IntegrityError, UnavailableError
from packyard.sharing.index import access
from packyard.sharing.index.access import Publisher
from packyard.sharing.index.index import KEY
from packyard.sharing.publishing import fsck
from packyard.sharing.publishing.withdrawal import yank
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.trust.keyless import TOKEN, JobIdentity
from packyard.sharing.trust.keys import Identity, SigningKey, Trust
from sharing import own_sigstore
from sharing.examples import bundle, fetch, proof, publish
from sharing.own_sigstore import ISSUER, WORKFLOW, Sigstore, token
from tiny import done, packyard


@pytest.fixture(scope="module")
def sigstore() -> Iterator[Sigstore]:
    with own_sigstore.running() as service:
        yield service


@pytest.fixture
def job(sigstore: Sigstore, monkeypatch: pytest.MonkeyPatch) -> JobIdentity:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv(TOKEN, token())
    return JobIdentity(sigstore.config())


def filled(store: DirectoryStore, job: JobIdentity) -> DirectoryStore:
    publish(store, [bundle("bert"), bundle("gpt")], Publisher(key=job), attest=partial(proof, key=job))
    yank(store, "gpt@1.0", "diverges", Publisher(key=job))
    return store


def test_a_channel_signed_by_an_identity_is_read_by_who_trusts_it_and_by_nobody_else(
    job: JobIdentity, sigstore: Sigstore, tmp_path: Path
) -> None:
    store, own = filled(DirectoryStore(tmp_path), job), Identity(WORKFLOW, ISSUER, sigstore.root())
    assert job.public == own
    listed = access.read(store, Trust.of(own))
    assert (listed.signers, listed.named("gpt").get("1.0").yanked) == ((own.id,), "diverges")
    assert fetch(store, "bert", trusted=Trust.of(own)) == bundle("bert")
    assert list(fsck.check(store, Trust.of(own))) == []
    with own_sigstore.running() as other:
        for stranger in (
            Identity(f"{WORKFLOW}-other", ISSUER, sigstore.root()),
            Identity(WORKFLOW, "https://accounts.google.com", sigstore.root()),
            Identity(WORKFLOW, ISSUER, other.root()),
            SigningKey.new().public,
        ):
            with pytest.raises(IntegrityError, match="names a Sigstore identity as its signer, and you trust"):
                access.read(store, Trust.of(stranger))
    assert access.read(store).claimants == ("a Sigstore identity",)


def test_who_has_no_token_of_the_issuer_signs_nothing(
    job: JobIdentity, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(TOKEN, token(secret="a secret that somebody guessed, and that is long"))
    with pytest.raises(UnavailableError, match=r"Sigstore gives no certificate: .*sign by a key"):
        filled(DirectoryStore(tmp_path), JobIdentity(job.config))
    assert DirectoryStore(tmp_path).list("") == []


@pytest.mark.usefixtures("job")
def test_the_verbs_trust_an_identity_for_a_channel_and_let_go_of_it(
    sigstore: Sigstore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    (tmp_path / "config.json").write_text(sigstore.config())
    (tmp_path / "root.json").write_text(sigstore.root())
    zoo, public = DirectoryStore(tmp_path / "zoo"), tmp_path / "public"
    publish(zoo, [bundle("bert")])
    done("copy", zoo.root_dir, public, "--key", f"sigstore:{tmp_path}/config.json")
    words = ("keys", "trust", WORKFLOW, public, "--issuer", ISSUER, "--trusted-root", tmp_path / "root.json")
    refused = packyard(*words[:4])
    assert (refused.returncode, "CHANNEL --issuer URL" in refused.stderr) == (2, True)
    done(*words)
    assert f"{WORKFLOW} ({ISSUER})" in done("keys", "list")
    assert f"signed by {WORKFLOW}" in packyard("list", "--from", public).stderr
    (public / KEY).write_bytes(access.read(DirectoryStore(public)).payload())
    refused = packyard("list", "--from", public)
    assert (refused.returncode, "packyard keys untrust" in refused.stderr) == (1, True)
    refused = packyard(*words)
    assert (refused.returncode, "is not signed" in refused.stderr) == (1, True), refused.stderr
    done("keys", "untrust", public)
    done("list", "--from", public)
