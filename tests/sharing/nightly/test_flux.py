"""Flux's source-controller itself, on a real API server: it takes what is published, and refuses what was altered.

`make test-trust` builds it; where it is not built these tests are skipped.
"""

import io
import json
import subprocess
import tarfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import requests
import yaml

import real
from controlplane import shared
from controlplane.api import Api, Object, wait
from packyard.core.bundle.archive import decompress
from packyard.sharing.entry import IndexEntry
from packyard.sharing.stores.oci.channel import OCIStore
from sharing.examples import proof
from sharing.nightly.test_cosign import GPT, put, replace_tag
from sharing.registries import anywhere
from sharing.test_provenance import BERT, BUNDLE, KEY, OTHER

NAMESPACE = "flux-system"
PAGE = (real.REPOSITORY / "docs/verifying.md").read_text()

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def flux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The controller on a control plane that has nothing but its definitions."""
    program = real.trust_program("source-controller")
    real.pinned_program("kubernetes")
    folder = tmp_path_factory.mktemp("flux")
    with shared.use(folder, "bare"):
        api = Api(folder)
        for file in sorted((real.TOOLS / "source-controller-definitions").glob("*.yaml")):
            definition = yaml.safe_load(file.read_bytes())
            api.create(definition).expect_done()
            wait(lambda definition=definition: _unmet(api, definition, "", Established="True"))
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}).expect_done()
        yield from _run(program, api)


def _run(program: Path, api: Api) -> Iterator[Api]:
    address = f"127.0.0.1:{real.free_port()}"
    stored = api.folder / "stored"
    stored.mkdir()
    command: list[object] = [
        *(program, "--metrics-addr=0", "--health-addr=0", f"--storage-path={stored}"),
        *(f"--storage-addr={address}", f"--storage-adv-addr={address}"),
    ]
    nowhere = "http://127.0.0.1:1"
    env = {"HOME": str(api.folder), "KUBECONFIG": str(api.folder / "kubeconfig"), "RUNTIME_NAMESPACE": NAMESPACE}
    proxies = {"HTTPS_PROXY": nowhere, "HTTP_PROXY": nowhere, "NO_PROXY": "127.0.0.1"}
    with (api.folder / "source-controller.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=api.folder, env=env | proxies, stdout=log, stderr=log)
        try:
            yield api
        finally:
            process.kill()
            process.wait()


def _unmet(api: Api, item: Object, namespace: str, **wanted: str) -> list[str]:
    """Say what conditions an object has, if not those that are wanted."""
    conditions = api.read(item, namespace).expect_done().get("status", {}).get("conditions") or ()
    status = {condition["type"]: condition["status"] for condition in conditions}
    return [] if wanted.items() <= status.items() else [json.dumps(conditions)]


def settled(api: Api, item: Object, **wanted: str) -> Mapping[str, Object]:
    """Wait until the object has these conditions, and return all that it has."""
    wait(lambda: _unmet(api, item, NAMESPACE, **wanted))
    status = api.read(item, NAMESPACE).expect_done()["status"]
    return {condition["type"]: condition for condition in status["conditions"]}


def verified(api: Api, store: OCIStore, key: bytes = KEY.public.to_pem()) -> Object:
    """Apply the manifests of the page for the package in ``store``, and return the OCIRepository."""
    secret, source = yaml.safe_load_all(PAGE.partition("## Flux")[2].partition("```yaml\n")[2].partition("```")[0])
    name = store.address.split("/")[-2]
    secret["metadata"]["name"] = source["metadata"]["name"] = source["spec"]["verify"]["secretRef"]["name"] = name
    secret["stringData"] = {"publisher.pub": key.decode()}
    source["spec"] |= {"url": f"{store.address}/bert", "ref": {"tag": "1.0"}, "insecure": True}
    for item in (secret, source):
        api.create(item, NAMESPACE).expect_done()
    return source


def unpacked(data: bytes) -> Mapping[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return {each.name: archive.extractfile(each).read() for each in archive if each.isfile()}


@pytest.fixture(params=["registry3", "registry_with_referrers"])
def store(request: pytest.FixtureRequest) -> OCIStore:
    return OCIStore(anywhere(request.getfixturevalue(request.param)))


def test_what_its_key_signed_is_taken_and_stays_when_the_tag_is_replaced(flux: Api, store: OCIStore) -> None:
    put(store, proof(BERT, KEY))
    source = verified(flux, store)
    conditions = settled(flux, source, Ready="True", SourceVerified="True")
    assert conditions["SourceVerified"]["reason"] == "Succeeded"
    artifact = flux.read(source, NAMESPACE).expect_done()["status"]["artifact"]
    served = requests.get(artifact["url"], timeout=10).content
    (folder,) = {name.partition("/")[0] for name in unpacked(BUNDLE.data)}
    assert unpacked(served) == unpacked(decompress(BUNDLE.data)), folder
    replace_tag(store)
    asked = {"annotations": {"reconcile.fluxcd.io/requestedAt": str(time.time())}}
    flux.merge({**source, "metadata": {**source["metadata"], **asked}}, NAMESPACE).expect_done()
    conditions = settled(flux, source, Ready="False", SourceVerified="False")
    assert conditions["Ready"]["reason"] == "VerificationError"
    assert flux.read(source, NAMESPACE).expect_done()["status"]["artifact"] == artifact


@pytest.mark.parametrize("case", ["another key", "unsigned", "signatures of another package", "a replaced tag"])
def test_what_its_key_did_not_sign_is_refused(flux: Api, store: OCIStore, case: str) -> None:
    other = IndexEntry.of(GPT)
    if case == "unsigned":
        put(store, {})
    elif case == "signatures of another package":
        put(store, proof(other, KEY), of=other.key)
    else:
        put(store, proof(BERT, KEY))
    if case == "a replaced tag":
        replace_tag(store)
    key = OTHER if case == "another key" else KEY
    source = verified(flux, store, key.public.to_pem())
    conditions = settled(flux, source, Ready="False", SourceVerified="False")
    assert conditions["Ready"]["reason"] == "VerificationError"
    assert "artifact" not in flux.read(source, NAMESPACE).expect_done()["status"]
