"""`packyard diff`: folders, files, versions and releases of a channel, as text and JSON."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tiny
from packyard.using.upgrade.change import Change, summary_of
from tiny import done, packyard

KRMFILE = tiny.krmfile("""\
    io.k8s.cli.setters.A:
      description: What is counted.
      x-k8s-cli: {setter: {name: A, value: "1"}}
""")
LIBRARY = "apiVersion: packyard/v1\nkind: Library\nname: parts\nlicense: LICENSE\n"


def with_setter(folder: Path) -> Path:
    """Write a workspace with one setter."""
    root = tiny.workspace(folder)
    tiny.replace(root / "bases/one/cm.yaml", 'a: "1"', 'a: "1" # {"$openapi":"A"}')
    (root / "Krmfile").write_text(KRMFILE)
    return root


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A channel with versions 1.0 and 1.1 of the package, of which the second has another default, and its sources."""
    folder = tmp_path_factory.mktemp("published")
    sources, channel = with_setter(folder / "sources"), folder / "channel"
    done("publish", "--workspace", sources, "--version", "1.0", "--to", channel)
    tiny.replace(sources / "Krmfile", 'value: "1"', 'value: "2"')
    done("publish", "--workspace", sources, "--version", "1.1", "--to", channel)
    return channel, sources


@pytest.fixture
def channel(published: tuple[Path, Path]) -> Path:
    return published[0]


def rows(*words: object) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(done("diff", *words, "--output", "json"))
    return found


def test_compares_two_versions_of_a_channel(channel: Path) -> None:
    assert done("diff", "p@1.0", "p@1.1", "--from", channel) == (
        "p\n  file README.md changed\np/uses/one\n  parameter A: default 1 → 2\n  1 field changed: ConfigMap\n"
    )
    of_one = 'p/uses/one\n  parameter A: default 1 → 2\n  ConfigMap x: data.a "1" → "2" (by A)\n'
    assert done("diff", "p@1.0", "p@1.1", "--from", channel, "-v").endswith(of_one)
    assert done("diff", "p@1.0/one", "p@1.1/one", "--from", channel, "-v") == of_one


def test_the_same_packages_are_the_same_wherever_they_come_from(published: tuple[Path, Path], tmp_path: Path) -> None:
    channel, sources = published
    done("get", "p@1.0", "--from", channel, "--to", tmp_path)
    file = channel / "1.1/p.tar.gz"
    assert rows("p@1.0", tmp_path / "p", "--from", channel) == []
    assert rows(tmp_path / "p", "--from", channel) == []
    assert rows("p@1.1", file, "--from", channel) == rows(file, "p@1.1", "--from", channel) == []
    of_versions = rows("p@1.0", "1.1", "--from", channel)
    assert of_versions == rows(tmp_path / "p", "1.1") == rows(tmp_path / "p", "p@1.1")  # of the channel that it is from
    assert of_versions == rows("p@1.0", "p@^1.0", "--from", channel) == rows(tmp_path / "p", file)
    done("build", "--workspace", sources, "--version", "1.1", "--to", tmp_path / "built")
    assert rows(tmp_path / "p", tmp_path / "built") == rows(tmp_path / "p", tmp_path / "built/p") == of_versions
    for unbuilt in (sources, sources / "packages/p"):
        assert "packyard build --version 0 --to OUT" in packyard("diff", unbuilt, file).stderr


def test_an_edited_package_is_compared_with_its_bundle(channel: Path, tmp_path: Path) -> None:
    done("get", "p@1.0", "--from", channel, "--to", tmp_path)
    done("set", tmp_path / "p/uses/one", "A=7")
    assert done("diff", tmp_path / "p", "--from", channel) == (
        f"{tmp_path}/p/uses/one\n  parameter A: value 1 → 7\n  1 field changed with that (-v lists them)\n"
    )
    (tmp_path / "p/.git").mkdir()
    (tmp_path / "p/.git/HEAD").touch()
    verified = packyard("verify", tmp_path / "p")
    assert (verified.returncode, verified.stdout) == (0, ""), verified.stderr
    assert "2 as you set them (A)" in verified.stderr
    tiny.replace(tmp_path / "p/uses/one/config-map.yaml", '"7"', '"8"')
    assert packyard("verify", tmp_path / "p").stdout == "changed  uses/one/config-map.yaml\n"
    for words in (("setters", "p/one", "--set"), ("diff", "p/one")):
        says = "edited by hand, not by set: p/uses/one/config-map.yaml:7 data.a; packyard diff p -v shows what differs"
        assert says in packyard(*words, cwd=tmp_path).stderr
    (tmp_path / "p/uses/one/Krmfile").write_text("a: [\n")
    both = "changed  uses/one/Krmfile\nchanged  uses/one/config-map.yaml\n"
    assert packyard("verify", tmp_path / "p").stdout == both


def test_an_option_that_was_enabled_was_not_edited_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    package = Path(done("get", "llm-serving").strip())
    use_case = package / "quickstart/mlops/one-node/user-allocated-pvc"
    done("enable", use_case, "queue")
    enabled = f"{use_case}\n  kustomization.yaml: components[1] added: ../../options/queue\n"
    file = use_case / "kustomization.yaml"
    file.write_text(f"{file.read_text()}# a note\n")
    assert done("diff", package) == enabled
    assert packyard("verify", package).stdout == f"changed  {file.relative_to(package)}\n"
    done("set", package / "quickstart/mlops/claim", "PVC_NAME=a")
    tiny.replace(use_case / "config-map.yaml", '"8192"', '"999"')
    assert "packyard diff llm-serving/one-node -v shows" in packyard("diff", package).stderr


def test_a_patch_of_any_kind_is_counted_without_one() -> None:
    changes = [Change(where="queue", what="field", name="Any any", path=path, change="added") for path in ("a", "b")]
    assert summary_of(changes) == ["2 fields changed"]
    of_one = [replace(change, what="setter", name="A", change="changed") for change in changes]
    assert summary_of(of_one) == ["1 parameter changed: A"]
    assert summary_of([*changes, replace(changes[0], name="Job any")]) == ["3 fields changed: Job"]


def test_names_what_breaks_in_a_library(tmp_path: Path) -> None:
    sources = with_setter(tmp_path / "sources")
    (sources / "packyard.yaml").write_text(f"{LIBRARY}moved: {{A: set B}}\n")
    other, channel = tmp_path / "other", tmp_path / "channel"
    shutil.copytree(sources, other)
    (other / "Krmfile").write_text(KRMFILE.partition("openAPI")[0])
    tiny.replace(other / "bases/one/cm.yaml", ' # {"$openapi":"A"}', "")
    for version, root in (("1.0", sources), ("2.0", other)):
        done("publish", "parts", "--workspace", root, "--version", version, "--to", channel)
    breaks = "parts\n  BREAKING: parameter A removed: set B\nparts/bases/one\n  "
    assert done("diff", "parts@1.0", "parts@2.0", "--from", channel) == f"{breaks}1 field changed: ConfigMap\n"
    detail = f"{breaks}ConfigMap x: data.a is no longer set by A\n"
    assert done("diff", "parts@1.0", "parts@2.0", "--from", channel, "-v") == detail


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["p", "no/such"], "no/such: is not a directory (packyard list shows packages to get)"),
        (["p@1.0", "p@9"], "no version '9' of p (it has 1.1, 1.0)"),
        (["p@1.0", "1.2"], "no version '1.2' of p (it has 1.1, 1.0)"),
        (["p@1.0"], "B is missing, what to compare it with; type packyard diff p@1.0 B, or packyard diff . p@1.0"),
        (["."], "which packyard get writes (name what to compare it with: packyard diff A B)"),
        (["p@1.0", "broken.tar.gz"], "broken.tar.gz: the gzip data is truncated"),
        (["p@1.0", "."], "is a link to /etc/passwd, outside of ."),
    ],
)
def test_says_what_cannot_be_compared(channel: Path, tmp_path: Path, words: list[str], says: str) -> None:
    here = tmp_path / "here"
    tiny.write(here / "broken.tar.gz", b"x")
    (here / "passwd").symlink_to("/etc/passwd")
    found = packyard("diff", *words, "--from", channel, cwd=here)
    assert (found.returncode in (1, 2), found.stdout) == (True, "")
    assert says in found.stderr, found.stderr


def test_a_word_that_names_nothing_of_an_untarred_package_is_refused(channel: Path, tmp_path: Path) -> None:
    done("get", "p@1.0", "--from", channel, "--to", tmp_path)
    assert "error: nonsense: is not a directory (" in tiny.refused("diff", "nonsense", cwd=tmp_path / "p")
    assert "packyard diff . p@1.1" in tiny.refused("diff", "p@1.1", code=2, cwd=tmp_path / "p")
    assert "parameter" in done("diff", "p@1.0/one", "p@1.1/one", "--from", channel, cwd=tmp_path / "p")
    assert packyard("diff", "p/one", "p/uses/one", cwd=tmp_path).stderr.endswith("no difference\n")
    assert "\np/uses/one\n" in done("diff", "p@1.0", "p@1.1", "--from", channel, cwd=tmp_path)
    says = f"carries no package 'p' (p/.packyard.json names another channel: --from {channel})"
    assert says in tiny.refused("diff", "p@1.0", "p@1.1", cwd=tmp_path)
