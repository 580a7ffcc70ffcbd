"""Many packages at once: the same bytes from wherever they come, and nothing half-made, whatever happens."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sample
import tiny
from catalogue import workspaces
from packyard.core.bundle.bundle import Bundle
from packyard.core.digest import Digest
from packyard.core.errors import PackyardError
from packyard.writing.build import catalogue
from packyard.writing.build.packing import Packing, Settings
from tiny import COMMAND, done, environment, packyard

pytestmark = pytest.mark.nightly

NAME = "resnet50v1-5-fp32-training-k8s"
VERSION = "1.0"
UNREAD = "new bases/claim/zz.yaml"
#: Changes that are tried in each run; of the others a sample.
NAMED = {
    f"changed packages/{NAME}/package.yaml",
    f"mode of packages/{NAME}/files/run.sh",
    f"new packages/{NAME}/files/zz.yaml",
    "changed LICENSE",
    "deleted LICENSE",
    "changed overlays/storage/user-mounted-nfs/Krmfile",
    "led overlays/storage/user-mounted-nfs/Krmfile elsewhere",
    UNREAD,
}
Mutation = tuple[str, Callable[[], object], Callable[[], object]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The sources of one package, with files shipped as they are and with links."""
    root = workspaces.copy(tmp_path / "sources", [NAME])
    files = root / "packages" / NAME / "files"
    files.mkdir(exist_ok=True)
    (files / "run.sh").write_text("#!/bin/sh\n")
    (files / "run.sh").chmod(0o755)
    (root / "bases" / "real").mkdir()
    krmfile = root / "overlays" / "storage" / "user-mounted-nfs" / "Krmfile"
    krmfile.rename(root / "bases" / "real" / "Krmfile")
    krmfile.symlink_to("../../../bases/real/Krmfile")
    return root


def made_anew(root: Path, cache_dir: Path | None = None) -> object:
    """What a build of the package comes to: its bytes, or what is wrong."""
    try:
        draft = Packing(Settings(root_dir=root, version=VERSION, cache_dir=cache_dir))(NAME)
    except PackyardError as error:
        return str(error)
    assert not draft.fault
    return draft.bundle()


def found(root: Path, cache_dir: Path) -> Bundle | None:
    """What is kept for this version."""
    draft = Packing(Settings(root_dir=root, version=VERSION, cache_dir=cache_dir)).find(NAME)
    return draft and draft.bundle()


def mutations(root: Path) -> list[Mutation]:
    """Return what may happen to sources, one at a time: its name, how it is done, how it is undone."""
    return sample.some(all_mutations(root), lambda mutation: parts_of(mutation[0]))


def parts_of(mutation: str) -> tuple[str, ...]:
    kind, _, file = mutation.partition(" ")
    folder, _, name = file.rpartition("/")
    place = "/".join(folder.split("/")[:2])
    return (f"{kind} {place}", f"{kind} {name.partition('.')[2] or name}", mutation if mutation in NAMED else kind)


def all_mutations(root: Path) -> Iterator[Mutation]:
    for file in workspaces.files(root):
        yield from of_file(file, str(file.relative_to(root)))
    for folder in [root, *(path for path in root.rglob("*") if path.is_dir())]:
        for name in {"Krmfile", "zz.yaml"} - {file.name for file in folder.iterdir()}:
            new = folder / name
            yield f"new {new.relative_to(root)}", lambda new=new: new.write_bytes(b"a: b\n"), new.unlink


def of_file(file: Path, name: str) -> Iterator[Mutation]:
    data, mode, aside = file.read_bytes(), file.stat().st_mode, file.with_name(f"{file.name}.aside")
    yield f"changed {name}", lambda: file.write_bytes(data + b"# more\n"), lambda: file.write_bytes(data)
    yield f"deleted {name}", lambda: file.rename(aside), lambda: aside.rename(file)
    yield f"mode of {name}", lambda: file.chmod(mode ^ 0o111), lambda: file.chmod(mode)
    if file.is_symlink():
        yield (
            f"led {name} elsewhere",
            lambda: relink(file, "../user-allocated-pvc/Krmfile"),
            lambda: relink(file, "../../../bases/real/Krmfile"),
        )


def relink(file: Path, target: str) -> None:
    file.unlink()
    file.symlink_to(target)


def test_what_is_found_is_what_would_be_made_anew_after_any_change_of_a_source(root: Path, tmp_path: Path) -> None:
    """What is not found is made anew, and is right by that; so what is found is what has to be compared."""
    cache_dir = tmp_path / "cache"
    assert found(root, cache_dir) is None
    before = made_anew(root, cache_dir)
    assert made_anew(root) == before == found(root, cache_dir)
    lost: list[str] = []
    kept: dict[str, list[Mutation]] = {}
    for what, do, undo in mutations(root):
        do()
        if found(root, cache_dir) is None:
            lost.append(what)
        else:
            kept.setdefault(what.partition(" ")[0], []).append((what, do, undo))
        undo()
    assert found(root, cache_dir) == before
    assert set(kept) == {"changed", "deleted", "mode", "new"}
    for several in kept.values():  # all of a kind at once: one that has a say would show
        for _, do, _ in several:
            do()
        assert made_anew(root) == before, [what for what, _, _ in several]
        for _, _, undo in reversed(several):
            undo()
    assert set(lost) >= NAMED - {UNREAD}
    assert UNREAD not in lost


def test_an_error_is_not_kept(root: Path, tmp_path: Path) -> None:
    file = root / "LICENSE"
    file.rename(root / "gone")
    assert "license: no file" in str(made_anew(root, tmp_path / "cache"))
    (root / "gone").rename(file)
    assert isinstance(made_anew(root, tmp_path / "cache"), Bundle)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workspaces.multiply(tmp_path_factory.mktemp("many") / "sources", 3, [NAME])


@pytest.fixture(scope="module")
def expected(many: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The tars of all packages, made one after another."""
    out_dir = tmp_path_factory.mktemp("expected")
    return tars(done(*build(many, out_dir), "--jobs", 1, "--no-cache"))


def build(root: Path, out_dir: Path) -> tuple[object, ...]:
    return ("build", "--workspace", root, "--version", VERSION, "--out", out_dir, "--output", "json")


def tars(output: str) -> dict[str, str]:
    return {item["name"]: item["tar"] for item in json.loads(output)}


@pytest.mark.parametrize("flags", ["--jobs 3 --no-cache", "--jobs 3"])
def test_the_same_bytes_from_several_processes(
    flags: str, many: Path, expected: dict[str, str], tmp_path: Path
) -> None:
    assert tars(done(*build(many, tmp_path / "out"), *flags.split())) == expected
    assert len(list((tmp_path / "out").iterdir())) == 2 * len(expected)


def test_a_build_that_is_there_is_left_alone(many: Path, expected: dict[str, str], tmp_path: Path) -> None:
    assert tars(done(*build(many, tmp_path))) == expected
    states = {path: path.stat() for path in tmp_path.rglob("*")}
    assert tars(done(*build(many, tmp_path))) == expected
    assert {path: path.stat().st_ino for path in tmp_path.rglob("*")} == {
        path: state.st_ino for path, state in states.items()
    }
    name = next(iter(expected))
    (tmp_path / f"{name}.tar.gz").write_bytes(b"")
    shutil.rmtree(tmp_path / list(expected)[1])
    assert tars(done(*build(many, tmp_path))) == expected
    assert set(tmp_path.rglob("*")) == set(states)
    assert (tmp_path / f"{name}.tar.gz").stat().st_size == states[tmp_path / f"{name}.tar.gz"].st_size


def test_what_is_wrong_with_several_packages_is_said_at_once_and_nothing_is_written(many: Path, tmp_path: Path) -> None:
    root = shutil.copytree(many, tmp_path / "sources")
    for number in (0, 2):
        file = root / "packages" / f"{NAME}-00{number}" / "package.yaml"
        file.write_text(file.read_text().replace("kind: Package", "kind: Parcel"))
    process = packyard(*build(root, tmp_path / "new" / "out"), "--jobs", 2)
    assert process.returncode == 1
    assert [f"{NAME}-00{number}/package.yaml:2" in process.stderr for number in (0, 2)] == [True, True]
    assert not (tmp_path / "new").exists()


def test_an_interrupt_leaves_nothing(many: Path, tmp_path: Path) -> None:
    with started(many, tmp_path / "new" / "out") as process:
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=300)  # when no worker holds them any more
    assert (process.returncode, stdout, stderr) == (130, "", "interrupted\n")
    assert not (tmp_path / "new").exists()


def test_a_worker_that_is_killed_loses_nothing(many: Path, expected: dict[str, str], tmp_path: Path) -> None:
    with started(many, tmp_path / "out") as process:
        workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert workers
        os.kill(int(workers[0]), signal.SIGKILL)
        stdout, stderr = process.communicate(timeout=300)
    assert (process.returncode, stderr) == (0, "")
    assert tars(stdout) == expected
    assert {path.name.removesuffix(".tar.gz") for path in (tmp_path / "out").iterdir()} == set(expected)


def started(root: Path, out_dir: Path) -> subprocess.Popen[str]:
    """Start a build, in a group of its own, and return when its workers are at work."""
    command = [*COMMAND, *map(str, build(root, out_dir)), "--no-cache", "--jobs", "2"]
    process = subprocess.Popen(
        command,
        env=environment(),
        start_new_session=True,
        # A shell's job in the background, as these tests may be, ignores interrupts, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not any(out_dir.glob(".packyard-*/*")):
        assert process.poll() is None, process.stderr
        time.sleep(0.005)
    return process


def test_a_bundle_has_the_same_inputs_from_the_cache_as_when_it_is_built(tmp_path: Path) -> None:
    root_dir = tiny.workspace(tmp_path / "here")
    found = []
    for version, number in (("1", 1), ("1", 2), ("2", 3)):  # built, found, and built
        settings = Settings(root_dir=root_dir, version=version, cache_dir=tmp_path / "cache")
        folder = tmp_path / str(number)
        folder.mkdir()
        catalogue.pack_into(settings, ["p"], folder, jobs=0)
        found.append(catalogue.read_inputs(folder, "p"))
    assert found[0] == found[1] == found[2]
    for path, digest in found[0].items():
        assert digest == Digest.of((root_dir / path).read_bytes())
    assert {"packyard.yaml", "LICENSE", "packages/p/package.yaml"} <= set(found[0])
