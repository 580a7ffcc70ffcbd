"""`packyard upgrade`: what stays, what arrives, what conflicts, and how it is taken back."""

import shutil
from pathlib import Path

import pytest

import reading
import tiny
from packyard.core.bundle import bundle
from packyard.core.bundle.archive import Member
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.manifest import Manifest, ShippedUseCase
from packyard.sharing.stores.directory import DirectoryStore
from sharing.examples import publish
from tiny import done, packyard, refused

SETTER = """\
    io.k8s.cli.setters.{name}:
      x-k8s-cli:
        setter:
          name: {name}
          value: "{value}"
"""
HEAD = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- cm.yaml\n"
COMPONENT = (
    "# Waits in a queue.\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nlabels:\n- pairs: {q: a}\n"
)
CM = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: run
data:
  workers: "2" # {"$openapi":"WORKERS"}
  one: "1"
  two: "2"
  three: "3"
  four: "4"
  old: "" # {"$openapi":"OLD"}
"""
FILES = {
    "README.md": "# p\n",
    "run/nfs/Krmfile": HEAD + SETTER.format(name="WORKERS", value="2") + SETTER.format(name="OLD", value=""),
    "run/nfs/cm.yaml": CM,
    "run/nfs/kustomization.yaml": KUSTOMIZATION,
    "run/options/queue/kustomization.yaml": COMPONENT,
    "run/pvc/kustomization.yaml": KUSTOMIZATION,
    "run/pvc/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: run}\n",
}
#: OLD is NEW now, WORKERS and a plain line have other values, and a resource came with a script.
NEXT = {
    **FILES,
    "run/nfs/Krmfile": HEAD + SETTER.format(name="WORKERS", value="4") + SETTER.format(name="NEW", value=""),
    "run/nfs/cm.yaml": CM.replace('"2" #', '"4" #')
    .replace("OLD", "NEW")
    .replace("old:", "new:")
    .replace('"1"', '"11"'),
    "run/nfs/kustomization.yaml": KUSTOMIZATION + "- job/job.yaml\n",
    "run/nfs/job/job.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: job}\n",
    "bin/start.sh": "#!/bin/sh\n",
}
USE_CASE = "p/run/nfs"


def pack(folder: Path, version: str, files: dict[str, str], name: str = "p") -> Path:
    """Write a bundle, in which scripts are executable."""
    paths = {
        path.rpartition("/")[0] for path in files if path.endswith("/kustomization.yaml") and "options" not in path
    }
    use_cases = {path: ShippedUseCase(setters={}) for path in paths}
    moved = {"OLD": "NEW", "pvc": "volume", "gone": "a line of cm.yaml"}
    described = Manifest(name=name, version=version, model={}, use_cases=use_cases, moved=moved)
    members = [Member(path=path, data=text.encode(), executable=path.endswith(".sh")) for path, text in files.items()]
    file = folder / f"{version}.tar.gz"
    file.write_bytes(bundle.build(described, members).data)
    return file


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the package p of version 1.0, and both bundles."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    old = pack(folder, "1.0", FILES)
    pack(folder, "1.1", NEXT)
    tiny.untar(old, folder)
    return folder


def edit_one() -> None:
    """Edit a line that the new version changes, below one of which the default changes, too."""
    done("set", USE_CASE, "WORKERS=4")
    tiny.replace(Path("p/run/nfs/cm.yaml"), 'one: "1"', 'one: "mine"')


def upgrade(*words: object) -> str:
    return done("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz", *words)


@pytest.mark.usefixtures("here")
def test_keeps_what_was_set_enabled_and_edited_and_takes_what_is_new() -> None:
    done("set", USE_CASE, "OLD=mine", "WORKERS=2")  # which is the default of 1.0, but not of 1.1
    done("enable", USE_CASE, "queue")
    tiny.replace(Path("p/run/nfs/cm.yaml"), 'three: "3"', 'three: "33"')
    Path("p/notes.txt").write_text("mine\n")
    found = packyard("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz")
    assert "added    p/run/nfs/job/job.yaml\n" in found.stdout
    assert found.stderr == (
        "not signed: nobody can tell who published it\n"
        "p upgraded from 1.0 to 1.1\n"
        "  kept: 2 values of yours (OLD, WORKERS)\n"
        "  kept: 1 enabled option of yours (queue)\n"
        "  kept: 1 edited file of yours (run/nfs/cm.yaml)\n"
        "p/run/nfs: OLD is NEW now, with your value\n"
    )
    text = Path("p/run/nfs/cm.yaml").read_text()
    as_set = NEXT["run/nfs/cm.yaml"].replace('new: ""', 'new: "mine"').replace('"4" #', '"2" #')
    assert text == as_set.replace('three: "3"', 'three: "33"')
    assert Path("p/run/nfs/kustomization.yaml").read_text() == (
        KUSTOMIZATION + "- job/job.yaml\ncomponents:\n- ../options/queue\n"
    )
    assert done("setters", USE_CASE, "--set", "--output", "yaml") == 'NEW: mine\nWORKERS: "2"\n'
    assert Path("p/notes.txt").read_text() == "mine\n"
    assert Path("p/bin/start.sh").stat().st_mode & 0o777 == 0o755


def test_an_option_that_was_switched_off_stays_off_where_the_new_version_has_another_one(here: Path) -> None:
    file, enabled = "run/nfs/kustomization.yaml", KUSTOMIZATION + "components:\n- ../options/queue\n"
    shutil.rmtree("p")
    tiny.untar(pack(here, "1.0", {**FILES, file: enabled}), here)
    more = {file: enabled + "- ../options/spread\n", "run/options/spread/kustomization.yaml": COMPONENT}
    pack(here, "1.1", {**FILES, **more})
    done("enable", USE_CASE, "queue", "--off")
    upgrade()
    assert Path("p", file).read_text() == KUSTOMIZATION + "components:\n- ../options/spread\n"


def test_twice_is_once_and_undo_takes_it_back(here: Path) -> None:
    done("set", USE_CASE, "WORKERS=8")
    before = reading.files(here / "p")
    upgrade()
    after = reading.files(here / "p")
    found = packyard("upgrade", "p", "1.1.tar.gz", "--base", "1.1.tar.gz")
    assert (found.returncode, found.stdout) == (0, "")
    assert found.stderr == "not signed: nobody can tell who published it\np: is p 1.1 already; nothing changes\n"
    assert reading.files(here / "p") == after != before
    done("undo", "p")
    assert reading.files(here / "p") == before
    assert not Path("p/bin").exists()
    assert not Path("p/run/nfs/job").exists()


def test_a_dry_run_is_a_diff_and_changes_nothing(here: Path) -> None:
    done("set", USE_CASE, "WORKERS=8")
    before = reading.files(here / "p")
    diff = upgrade("--dry-run")
    assert reading.files(here / "p") == before
    assert '-  one: "1"\n+  one: "11"\n' in diff
    assert "--- /dev/null\n+++ b/p/bin/start.sh\n" in diff
    assert "+  workers" not in diff
    assert "packyard.json" not in diff


def test_lists_every_conflict_and_leaves_the_tree_as_it_was(here: Path) -> None:
    edit_one()
    Path("p/README.md").unlink()
    pack(here, "1.1", {**NEXT, "README.md": "# new\n"})
    before = reading.files(here / "p")
    assert refused("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz") == (
        "not signed: nobody can tell who published it\n"
        "error: p/README.md: is removed here, and changed by 1.1\n"
        "error: p/run/nfs/cm.yaml:7: this line is changed here and by 1.1\n"
        '  yours |   one: "mine"\n'
        '    1.1 |   one: "11"\n'
        "error: 2 conflicts; nothing was changed (--conflicts ours keeps yours, theirs takes the new version's, "
        "markers writes both into the files)\n"
    )
    assert reading.files(here / "p") == before


@pytest.mark.parametrize(
    ("decision", "line", "has_readme"),
    [
        ("--conflicts=ours", '  one: "mine"\n', False),
        ("--conflicts=theirs", '  one: "11"\n', True),
        ("--conflicts=markers", '<<<<<<< yours\n  one: "mine"\n=======\n  one: "11"\n>>>>>>> 1.1\n', True),
    ],
)
def test_conflicts_are_decided_by_a_flag(here: Path, decision: str, line: str, has_readme: bool) -> None:
    edit_one()
    Path("p/README.md").unlink()
    pack(here, "1.1", {**NEXT, "README.md": "# new\n"})
    found = packyard("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz", decision)
    line_7 = "p/run/nfs/cm.yaml:7: this line is changed here and by 1.1"
    assert f"  conflict, decided by {decision}: {line_7}\n" in found.stderr
    assert found.returncode == (decision == "--conflicts=markers")
    assert NEXT["run/nfs/cm.yaml"].replace('  one: "11"\n', line) == Path("p/run/nfs/cm.yaml").read_text()
    assert Path("p/README.md").exists() == has_readme


@pytest.mark.usefixtures("here")
def test_what_markers_leave_undecided_is_named_by_all_that_read_it() -> None:
    edit_one()
    found = packyard("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz", "--conflicts=markers")
    says = "p/run/nfs/cm.yaml:7: an undecided conflict begins here: <<<<<<< (keep one of the two sides, "
    assert (found.returncode, f"error: {says}" in found.stderr) == (1, True)
    for words in (["set", USE_CASE, "WORKERS=3"], ["render", USE_CASE], ["render", USE_CASE, "--built-in"]):
        assert says in refused(*words)
    Path("p/run/nfs/start.sh").write_text("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n")
    assert "p/run/nfs/start.sh:1: an undecided conflict" in refused("render", USE_CASE)


def test_a_value_that_the_new_version_does_not_take_is_a_conflict(here: Path) -> None:
    done("set", USE_CASE, "WORKERS=8")
    krmfile = NEXT["run/nfs/Krmfile"].replace("WORKERS:\n", "WORKERS:\n      type: integer\n      maximum: 4\n")
    pack(here, "1.1", {**NEXT, "run/nfs/Krmfile": krmfile})
    told = refused("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz")
    assert "p/nfs: WORKERS is set to 8, and 1.1 does not admit that: " in told
    flags = ("--base", "1.0.tar.gz", "--conflicts=ours")
    assert "(its definition stays yours too, without what 1.1" in packyard("upgrade", "p", "1.1.tar.gz", *flags).stderr
    done("undo", "p")
    upgrade("--conflicts=theirs")
    assert done("setters", USE_CASE, "--set", "--output", "yaml") == "{}\n"
    assert 'workers: "4"' in Path("p/run/nfs/cm.yaml").read_text()


def test_a_setter_or_an_option_that_is_gone_is_a_conflict(here: Path) -> None:
    done("set", USE_CASE, "WORKERS=8")
    done("enable", USE_CASE, "queue")
    files = {path: text for path, text in FILES.items() if "options" not in path}
    files["run/nfs/Krmfile"] = HEAD + SETTER.format(name="OLD", value="")
    files["run/nfs/cm.yaml"] = CM.replace(' # {"$openapi":"WORKERS"}', "")
    pack(here, "1.1", files)
    told = refused("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz")
    assert "p/nfs: WORKERS is set to 8, and 1.1 has no such parameter\n" in told
    assert "p/run/nfs/kustomization.yaml:6:3: option 'queue' is enabled, and 1.1 does not have it here\n" in told
    upgrade("--conflicts=theirs")
    assert reading.files(here / "p" / "run") == {
        path[4:]: text.encode() for path, text in files.items() if path.startswith("run/")
    }


RENAMED = {
    **FILES,
    "run/nfs/Krmfile": FILES["run/nfs/Krmfile"].replace("WORKERS", "NODES") + SETTER.format(name="FRESH", value="x"),
    "run/nfs/cm.yaml": CM.replace("workers", "nodes").replace("WORKERS", "NODES").replace('"4"', "$nodes")
    + '  fresh: x # {"$openapi":"FRESH"}\n',
}


def test_what_sets_a_renamed_setter_stays_whole(here: Path) -> None:
    done("set", USE_CASE, "WORKERS=8")
    pack(here, "1.1", RENAMED)
    before = reading.files(here / "p")
    assert "WORKERS is set to 8, and 1.1 has no such parameter" in refused(
        "upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz"
    )
    found = packyard("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz", "--conflicts=ours")
    assert "p/run/nfs/cm.yaml:1: the whole file stays yours: it names WORKERS, which 1.1 does not have" in found.stderr
    kept = SETTER.format(name="WORKERS", value="8") + "          isSet: true\n"
    assert Path("p/run/nfs/Krmfile").read_text() == RENAMED["run/nfs/Krmfile"].replace(HEAD, HEAD + kept)
    assert Path("p/run/nfs/cm.yaml").read_bytes() == before["run/nfs/cm.yaml"]
    done("set", USE_CASE, "WORKERS=9")
    assert 'workers: "9"' in done("render", USE_CASE)
    done("undo", "p")
    done("undo", "p")
    assert reading.files(here / "p") == before
    upgrade("--conflicts=theirs")
    assert 'nodes: "2"' in done("render", USE_CASE)


def test_what_an_upgrade_would_leave_without_a_definition_is_a_conflict(here: Path) -> None:
    tiny.replace(Path("p/run/nfs/cm.yaml"), 'two: "2"', 'two: "2" # {"$openapi":"WORKERS"}')
    pack(here, "1.1", RENAMED)
    before = reading.files(here / "p")
    says = "p/run/nfs/cm.yaml:8:8: a comment names WORKERS, which nothing defines"
    words = ("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz")
    for flags in ([], ["--conflicts=ours"], ["--conflicts=theirs"]):
        assert says in refused(*words, *flags)
    assert reading.files(here / "p") == before
    assert says in refused(*words, "--conflicts=markers")
    assert reading.files(here / "p") != before


@pytest.mark.usefixtures("here")
def test_a_definition_with_two_names_is_not_rendered() -> None:
    tiny.replace(Path("p/run/nfs/Krmfile"), "name: WORKERS", "name: OTHER")
    assert "the definition of WORKERS is named 'OTHER' inside" in refused("render", USE_CASE)


def test_a_use_case_that_is_gone_goes_unless_something_was_changed_in_it(here: Path) -> None:
    files = {path: text for path, text in NEXT.items() if "pvc" not in path}
    pack(here, "1.1", files)
    upgrade()
    assert not Path("p/run/pvc").exists()
    done("undo", "p")
    tiny.replace(Path("p/run/pvc/cm.yaml"), "run", "mine")
    told = refused("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz")
    assert "p/run/pvc: is removed by 1.1, and changed here: cm.yaml (volume replaces it)\n" in told
    assert "BREAKING: use case removed: volume replaces it" in done("diff", "1.0.tar.gz", "1.1.tar.gz")
    upgrade("--conflicts=ours")
    assert Path("p/run/pvc/kustomization.yaml").exists()


def test_of_a_use_case_that_is_gone_each_value_and_option_is_named(here: Path) -> None:
    done("set", USE_CASE, "WORKERS=8")
    done("enable", USE_CASE, "queue")
    pack(here, "1.1", {path.replace("/nfs/", "/volume/"): text for path, text in FILES.items()})
    told = packyard("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz", "--conflicts=theirs").stderr
    assert "WORKERS is set to 8, and 1.1 does not admit that: its use case is gone" in told
    assert "option 'queue' is enabled, and 1.1 does not have it here" in told
    assert not Path("p/run/nfs").exists()


def test_says_which_setters_have_to_be_set_now(here: Path) -> None:
    required = SETTER.format(name="CLAIM", value="") + "          required: true\n"
    pack(here, "1.1", {**NEXT, "run/nfs/Krmfile": NEXT["run/nfs/Krmfile"] + required})
    told = packyard("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz").stderr
    assert "p/run/nfs: CLAIM has to be set: packyard set p/nfs CLAIM=…\n" in told


def test_what_does_not_fit_together_as_yaml_is_a_conflict(here: Path) -> None:
    tiny.replace(Path("p/run/nfs/cm.yaml"), "kind: ConfigMap\n", "kind: ConfigMap\nimmutable: true\n")
    pack(here, "1.1", {**NEXT, "run/nfs/cm.yaml": NEXT["run/nfs/cm.yaml"] + "immutable: false\n"})
    told = refused("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz")
    assert "p/run/nfs/cm.yaml:1: the changes here and those of the new version do not fit together: " in told


def test_says_where_the_bundle_that_it_came_from_may_be(here: Path) -> None:
    publish(DirectoryStore(here / "channel"), [Bundle.open(Path("1.0.tar.gz").read_bytes())])
    tiny.replace(Path("p/packyard.json"), '"model": {}', '"model": {"x": "y"}')
    told = refused("upgrade", "p", "--from", "channel")
    assert told == (
        "error: p/packyard.json: is not that of p@1.0 in channel (--from)\n"
        "error: p: the bundle of p@1.0 that this folder came from is needed, and was not found "
        "(where did you get it? --from CHANNEL; or name the file: packyard diff p.tar.gz p, "
        "packyard upgrade p --base p.tar.gz)\n"
    )


def test_a_base_of_another_version_is_refused(here: Path) -> None:
    pack(here, "0.9", FILES)
    words = ("upgrade", "p", "1.1.tar.gz", "--base", "0.9.tar.gz")
    told = refused(*words)
    assert told == "error: p: is 1.0, and 0.9.tar.gz is 0.9 (name the bundle of p 1.0: --base FILE)\n"
    Path("p/packyard.json").write_text("{")
    assert "p: is 1.0" not in packyard(*words).stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["p/run/nfs"], "p/run/nfs: is inside a package (name its top directory, p)"),
        (["."], "is not a package: it has no packyard.json, which packyard get writes"),
        (["nowhere@2.0"], "nowhere: is not a directory"),
        (["p@9.9", "--base", "1.0.tar.gz"], "p: has no .packyard.json, which says where the package is from"),
        (["p", "2.0.tar.gz", "--base", "1.0.tar.gz"], "p: these are different packages: p, q"),
        (["p", "nowhere.tar.gz", "--base", "1.0.tar.gz"], "nowhere.tar.gz: "),
    ],
)
def test_refuses_what_is_no_package_or_another_one(here: Path, words: list[str], says: str) -> None:
    pack(here, "2.0", FILES, name="q")
    assert says in refused("upgrade", *words)


def test_a_directory_or_a_link_out_of_the_package_is_not_written(here: Path) -> None:
    Path("p/bin").mkdir()
    Path("p/bin/start.sh").mkdir()
    says = "p/bin/start.sh: must be a file: the package has one of this name (move it away, then upgrade again)"
    assert says in refused("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz")
    shutil.rmtree("p/bin")
    Path("p/bin").write_text("mine\n")
    says = "p/bin: must be a folder: the package has files in it (move it away, then upgrade again)"
    assert says in refused("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz")
    Path("p/bin").unlink()
    Path("elsewhere").mkdir()
    Path("p/bin").symlink_to(here / "elsewhere")
    before = reading.files(here / "p")
    refused("upgrade", "p", "1.1.tar.gz", "--base", "1.0.tar.gz")
    assert reading.files(here / "p") == before
    assert not list(Path("elsewhere").iterdir())
