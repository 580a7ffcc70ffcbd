"""packyard.json: the same bytes for the same content, nothing lost when it is read, and every differing file named."""

import json
from typing import Any

import pytest

from packyard.core.bundle.archive import Member
from packyard.core.bundle.manifest import Manifest, ShippedUseCase, file_digests
from packyard.core.errors import IntegrityError

MEMBERS = [Member(path="README.md", data=b"# bert\n"), Member(path="a/é.yaml", data=b"kind: Job\n")]
MANIFEST = Manifest(
    name="bert",
    version="v1.2.0",
    model={"name": "bert", "precision": "fp32"},
    images=("model-zoo:2.7.0",),
    moved={"MEMORY_LIMIT": "the line `memory` of job.yaml"},
    files=file_digests(MEMBERS),
    use_cases={
        "quickstart/multi-node/user-mounted-nfs": ShippedUseCase(
            setters={"BATCH_SIZE": "64", "NFS_SERVER": None, "NAMES": ("a", "é")},
            requires=("NFS NFS_SERVER:NFS_PATH", "PodSecurity baseline"),
        ),
        "quickstart/options": ShippedUseCase(setters={}),
    },
)


def changed(**fields: Any) -> bytes:
    return json.dumps({**json.loads(MANIFEST.to_bytes()), **fields}).encode()


def test_parsing_what_was_written_gives_the_same_manifest_and_bytes() -> None:
    assert Manifest.parse(MANIFEST.to_bytes()) == MANIFEST
    assert Manifest.parse(MANIFEST.to_bytes()).to_bytes() == MANIFEST.to_bytes()


def test_keeps_unknown_fields_at_every_level() -> None:
    document = json.loads(MANIFEST.to_bytes())
    (use_case, _) = document["useCases"].values()
    for level in (document, use_case):
        level["fromTheFuture"] = {"deep": [1, None, "é"]}
    data = Manifest.parse(json.dumps(document).encode()).to_bytes()
    assert json.loads(data) == document
    assert Manifest.parse(data).to_bytes() == data


def test_comparing_names_every_file_that_differs_is_missing_or_is_extra() -> None:
    with pytest.raises(IntegrityError) as caught:
        MANIFEST.compare(file_digests([Member(path="README.md", data=b"# other\n"), Member(path="z.sh", data=b"")]))
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("README.md: expected sha256:")
    assert ", found sha256:" in lines[0]
    assert lines[1:] == ["a/é.yaml: is missing", "z.sh: is extra: packyard.json does not name it"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "cannot be read as JSON"),
        (b"[]", "the document: expected an object, found"),
        (b"{}", "apiVersion: is missing"),
        (changed(apiVersion="packyard/v2"), r"found packyard/v2 Bundle \(a newer packyard may have written it:"),
        (changed(kind="Index"), "expected packyard/v1 Bundle or Library, found packyard/v1 Index"),
        (changed(name=1), "name: expected a text, found 1"),
        (changed(name="../x"), r"name: '\.\./x' is not a name for a package"),
        (changed(version="9" * 5000), "version: '9+' is not a version"),
        (changed(files={"a": "md5:0"}), r"files\.a: 'md5:0' is not a digest"),
        (changed(model={"a": []}), r"model\.a: expected a text"),
        (changed(useCases={"x": {}}), r"useCases\.x\.setters: is missing"),
        (changed(useCases={"x": {"setters": {"A": 1}}}), r"useCases\.x\.setters\.A: expected a text, a list"),
        (changed(useCases={"x": {"setters": {"A": [1]}}}), r"useCases\.x\.setters\.A: expected a text, a list"),
        (changed(useCases={"x": {"setters": {}, "requires": [1]}}), r"useCases\.x\.requires\[0\]: expected a text"),
        (changed(images=[1]), r"images\[0\]: expected a text"),
        (changed(moved={"A": 1}), r"moved\.A: expected a text"),
    ],
)
def test_says_where_a_damaged_manifest_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(IntegrityError, match=rf"^packyard\.json: .*{message}"):
        Manifest.parse(data)


def test_use_cases_are_in_the_order_of_work() -> None:
    after = {"claim": [], "one-node": ["claim", "staging"], "options": [], "staging": ["claim"], "stray": ["missing"]}
    use_cases = {path: {"setters": {}, "requires": [], "after": names} for path, names in after.items()}
    found = Manifest.parse(changed(useCases=use_cases)).deployed()
    assert found == ("claim", "staging", "one-node", "stray")
    free: dict[str, object] = {path: {"setters": {}, "requires": []} for path in ("run", "benchmark", "claim")}
    free["zoo"] = {"setters": {}, "requires": [], "after": ["claim"]}
    assert Manifest.parse(changed(useCases=free)).deployed() == ("run", "benchmark", "claim", "zoo")
