"""policy-controller's own evaluation of a ClusterImagePolicy, which its webhook does too, without a cluster.

`make test-trust` builds its tester; where it is not built these tests are skipped.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

import real
from packyard.sharing.entry import IndexEntry
from packyard.sharing.stores.oci.channel import OCIStore
from sharing.nightly.test_cosign import GPT, image, put
from sharing.registries import anywhere
from sharing.test_sigstore import ENTRY, KEY, OTHER, attest

PAGE = (real.REPOSITORY / "docs/verifying.md").read_text()


@pytest.fixture(params=["registry3", "registry_with_referrers"])
def store(request: pytest.FixtureRequest) -> OCIStore:
    return OCIStore(anywhere(request.getfixturevalue(request.param)))


def judged(store: OCIStore, folder: Path, key: bytes) -> subprocess.CompletedProcess[str]:
    """Judge the package in the store by the policy of the page."""
    policy = yaml.safe_load(PAGE.partition("kind: ClusterImagePolicy")[2].partition("```")[0])
    policy |= {"apiVersion": "policy.sigstore.dev/v1beta1", "kind": "ClusterImagePolicy"}
    policy["spec"]["images"][0]["glob"] = f"{store.address.removeprefix('oci://')}/**"
    policy["spec"]["authorities"][0]["key"]["data"] = key.decode()
    (folder / "policy.yaml").write_text(yaml.safe_dump(policy))
    nowhere = "http://127.0.0.1:1"
    env = {"HOME": str(folder), "HTTPS_PROXY": nowhere, "HTTP_PROXY": nowhere, "NO_PROXY": "127.0.0.1"}
    command = [real.trust_program("policy-tester"), "--policy", folder / "policy.yaml", "--image", image(store)]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)


@pytest.mark.nightly
def test_a_policy_of_the_page_admits_what_its_key_signed(store: OCIStore, tmp_path: Path) -> None:
    put(store, attest(ENTRY))
    done = judged(store, tmp_path, KEY.public.to_pem())
    assert done.returncode == 0, done.stderr
    refused = judged(store, tmp_path, OTHER.public.to_pem())
    assert refused.returncode == 1
    assert "no matching signatures: failed to verify signature" in refused.stdout


@pytest.mark.nightly
def test_it_refuses_what_has_no_signature_or_that_of_another_package(store: OCIStore, tmp_path: Path) -> None:
    other = IndexEntry.of(GPT)
    for signatures, why in (({}, "no signatures found"), (attest(other), "invalid or missing digest in claim")):
        put(store, signatures, of=other.key)
        done = judged(store, tmp_path, KEY.public.to_pem())
        assert done.returncode == 1
        assert why in done.stdout
