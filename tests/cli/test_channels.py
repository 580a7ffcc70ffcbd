"""`list`, `get`, `publish` and `build`: the digests that they print, and addresses that are not channels."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from packyard.core.digest import Digest
from tiny import done, packyard

FILES = {
    "packyard.yaml": "apiVersion: packyard/v1\nkind: Workspace\nname: w\nprefix: uses\nlicense: LICENSE\n",
    "LICENSE": "free\n",
    "bases/one/kustomization.yaml": (
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [cm.yaml]\n"
    ),
    "bases/one/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\ndata:\n  a: '1'\n",
    "packages/p/package.yaml": (
        "apiVersion: packyard/v1\nkind: Package\nuseCases:\n  one: {base: one}\n"
        "model: {name: p, framework: f, category: c, precision: fp32, mode: training}\n"
    ),
    "packages/p/docs/00-title.md": "# p {{ version }}\n",
    "packages/p/files/run.txt": "run\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def channel(workspace: Path, tmp_path: Path) -> Path:
    """A channel in which another user published the package."""
    words = ("publish", "p", "--version", "1.2.0", "--workspace", workspace, "--to", tmp_path / "ch")
    done(*words, XDG_STATE_HOME=str(tmp_path / "other"))
    return tmp_path / "ch"


def digests(bundle_file: Path) -> tuple[str, str]:
    data = bundle_file.read_bytes()
    return Digest.of(data), Digest.of(gzip.decompress(data))


def test_a_digest_beside_a_file_is_that_of_the_file_and_that_of_the_tar_is_called_so(
    workspace: Path, tmp_path: Path
) -> None:
    sources = ("p", "--version", "1.2.0", "--workspace", workspace)
    printed = done("build", *sources, "--to", tmp_path / "out")
    file, tar = digests(tmp_path / "out" / "p.tar.gz")
    assert printed == f"{tmp_path}/out/p.tar.gz  {file}  {(tmp_path / 'out/p.tar.gz').stat().st_size} bytes\n"
    (built,) = json.loads(done("build", *sources, "--to", tmp_path / "out", "--output", "json"))
    assert (built["digest"], built["tar"]) == (file, tar)
    channel = tmp_path / "ch"
    for status in ("published", "unchanged"):
        (heads, row) = done("publish", *sources, "--to", channel).splitlines()
        assert heads.split() == ["BUNDLE", "STATUS"]
        assert row.split() == ["1.2.0/p.tar.gz", status]
    table = done("list", "--from", channel).splitlines()
    assert table[1].split()[:2] == ["p", "1.2.0"]
    for number, reference in enumerate(("p", "p@1.2.0", "p@v1.2")):
        process = packyard("get", reference, "--from", channel, "--to", tmp_path / str(number))
        said, proved, *_ = process.stderr.splitlines()
        why = "the latest version" if reference == "p" else "the version that was asked for"
        assert re.fullmatch(rf"p@1\.2\.0 from {channel} \(--from\), {why}.*", said)
        assert proved.startswith("p 1.2.0: files are intact and listed by the channel. ")


def refused(*words: object, says: str, code: int = 1, **env: str) -> None:
    process = packyard(*words, **env)
    assert (process.returncode, process.stdout) == (code, "")
    assert re.search(says, process.stderr)
    assert len(process.stderr.splitlines()) == 1


def test_a_choice_that_nothing_fits_is_refused_with_what_there_is(channel: Path, tmp_path: Path) -> None:
    for choice in ("~1.3", "^2"):
        refused(
            "get",
            f"p@{choice}",
            "--from",
            channel,
            "--to",
            tmp_path,
            says=r"^error: no version of p .* \(it has 1\.2\.0\)",
        )
    for choice in ("^77", "7.7.7"):
        says = r"this packyard carries version .*, not .* \(name a channel that has it: --from CHANNEL\)"
        refused("get", f"p@{choice}", "--to", tmp_path, says=says)
    refused("get", "p@>1", "--from", channel, says=r"does not understand the choice '>1' \(ask for 1\.2\.0, \^1\.2")
