"""The Containerfile without a container engine: its commands run as processes, in a folder that stands for the root.

Its absolute paths are made to lie in that folder, the base image is the interpreter of the tests and the programs that
are here, and what runs in an image runs as the user that the stage names.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

import real
import tiny
from resourcelists import resource_list
from using.functions.test_defined import KRMFILE, OBJECTS, config

pytestmark = pytest.mark.slow

TEXT = (real.REPOSITORY / "Containerfile").read_text("utf-8")
_PATHS = re.compile(r"(?<![\w./])/(build|opt/packyard|package|workspace|tmp)\b")
_SYSTEM = "/usr/local/bin:/usr/bin:/bin"
FUNCTIONS = ("apply-setters", "create-setters", "list-setters")


@dataclass
class Stage:
    """A stage with the instructions that it inherits."""

    base: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def last(self, name: str) -> str:
        return [words for step, words in self.steps if step == name][-1]


def read() -> tuple[dict[str, str], dict[str, Stage]]:
    """Return the arguments with their defaults, and the stages by their names."""
    arguments: dict[str, str] = {}
    stages: dict[str, Stage] = {}
    current = ""
    for line in TEXT.splitlines():
        name, _, words = line.partition(" ")
        if name == "ARG":
            arguments.update([words.split("=", 1)])
        elif name == "FROM":
            base, _, current = words.partition(" AS ")
            inherited = stages[base].steps if base in stages else []
            stages[current] = Stage(base, [*inherited])
        elif name and name != "#":
            stages[current].steps.append((name, words))
    return arguments, stages


ARGUMENTS, STAGES = read()


class Root:
    """A folder that stands for the root of the images."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tmp").mkdir()
        (folder / "tmp").chmod(0o1777)
        tiny.write(folder / "bin/python", f'#!{real.program("sh")}\nexec "{sys.executable}" "$@"\n')
        (folder / "bin/python").chmod(0o755)
        programs = real.path_with("git", "ls", "sed")
        self.system = f"{folder / 'bin'}:{programs}"

    def mapped(self, text: str) -> str:
        return _PATHS.sub(lambda path: f"{self.folder}{path[0]}", text).replace(_SYSTEM, self.system)

    def environment(self, stage: Stage) -> dict[str, str]:
        found = {"PATH": self.system}
        for step, words in stage.steps:
            found |= dict(pair.split("=", 1) for pair in self.mapped(words).split()) if step == "ENV" else {}
        return found

    def run(self, stage: Stage, words: list[str], data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a command in the image of a stage: as its user, who may read what root alone may here, and no more."""
        user = stage.last("USER").split(":")[0]
        switch = (real.program("setpriv"), f"--reuid={user}", f"--regid={user}", "--clear-groups")
        switch += ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")  # the interpreter may be root's
        command = [*map(str, switch), *words]
        cwd, env = self.mapped(stage.last("WORKDIR")), self.environment(stage)
        return subprocess.run(command, cwd=cwd, env=env, input=data, capture_output=True, timeout=300)

    def files(self) -> set[Path]:
        return set(self.folder.rglob("*"))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    """Do what the build stage says, and lay out the folders of the others."""
    if os.geteuid() != 0:
        pytest.skip("only root can become the users of the images")
    root = Root(tmp_path_factory.mktemp("root"))
    work = root.folder
    for step, words in STAGES["build"].steps:
        words = root.mapped(words)
        if step == "WORKDIR":
            work = Path(words)
            work.mkdir()
        elif step == "COPY":
            assert words == ". ."
            copy_context(work)
        else:
            assert step == "RUN"
            pip = {name: text for name, text in os.environ.items() if name.startswith("PIP_") or name == "HOME"}
            env = {**pip, **root.environment(STAGES["build"])}
            done = subprocess.run([real.program("sh"), "-c", words], cwd=work, env=env, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
    (root.folder / "package").mkdir()
    copy_context(root.folder / "workspace")
    shutil.rmtree(root.folder / "build")  # no other stage has it
    yield root
    shutil.rmtree(root.folder)


def copy_context(folder: Path) -> None:
    for name in real.checkout_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(real.REPOSITORY / name, folder / name)


def test_the_bases_can_be_pinned_and_are_python() -> None:
    assert all(re.fullmatch(r"docker\.io/library/python:[\w.-]+", image) for image in ARGUMENTS.values())
    outside = {stage.base for stage in STAGES.values() if stage.base not in STAGES}
    assert outside == {f"${{{name}}}" for name in ARGUMENTS}


def test_every_image_runs_as_a_number_that_is_not_root() -> None:
    for name in (*FUNCTIONS, "release"):
        users = STAGES[name].last("USER").split(":")
        assert all(user.isdecimal() and int(user) > 0 for user in users)
        assert [step for step, _ in STAGES[name].steps if step == "COPY"]


def test_what_must_not_be_in_the_context_is_ignored() -> None:
    ignored = (real.REPOSITORY / ".dockerignore").read_text().split()
    unversioned = [line.strip("/") for line in (real.REPOSITORY / ".gitignore").read_text().split()]
    assert {*unversioned, "**/__pycache__"} - {*ignored, "__pycache__", "*.egg-info", ".coverage"} == set()


def test_the_commands_of_the_stages_succeed_as_their_users(root: Root) -> None:
    for name in ("function", "release"):
        commands = [words for step, words in STAGES[name].steps if step == "RUN"]
        assert commands
        for words in commands:
            done = root.run(STAGES[name], [str(real.program("sh")), "-c", root.mapped(words)])
            assert done.returncode == 0, done.stderr


def test_a_function_sets_a_package_that_is_mounted_and_writes_nothing(root: Root) -> None:
    package = root.folder / "package"
    for path, text in {"Krmfile": KRMFILE, "sub/r.yaml": OBJECTS}.items():
        tiny.write(package / path, text)
    before = root.files()
    for name in FUNCTIONS:
        words = json.loads(STAGES[name].last("ENTRYPOINT"))
        assert words == ["packyard", "fn", name]
        values = {"create-setters": {"other": "kept"}, "apply-setters": {"WORKERS": "4"}}.get(name, {})
        data = resource_list({"sub/r.yaml": OBJECTS}, config(**values) if values else None)
        done = root.run(STAGES[name], words, data)
        assert done.returncode == 0, done.stderr
        answered = yaml.safe_load(done.stdout)
        assert answered["results"]
        if name == "apply-setters":
            assert [item["kind"] for item in answered["items"]] == ["Krmfile", "Thing", "ConfigMap"]
            assert answered["items"][1]["spec"]["replicas"] == 4
    assert root.files() == before


def test_a_function_without_a_mount_says_what_is_missing(root: Root) -> None:
    shutil.rmtree(root.folder / "package")
    (root.folder / "package").mkdir()
    words = json.loads(STAGES["apply-setters"].last("ENTRYPOINT"))
    done = root.run(STAGES["apply-setters"], words, resource_list({"sub/r.yaml": OBJECTS}, config(WORKERS="4")))
    assert done.returncode == 1
    assert b"refer to a Krmfile" in done.stderr


def test_the_release_image_has_the_sources_that_its_user_builds(root: Root) -> None:
    release = STAGES["release"]
    assert json.loads(release.last("CMD"))[:2] == ["packyard", "publish"]
    out = root.mapped("/tmp/out")
    done = root.run(release, ["packyard", "build", "release-job", "--version", "1.0.0", "--out", out])
    assert done.returncode == 0, done.stderr
    assert (Path(out) / "release-job.tar.gz").stat().st_uid == int(release.last("USER").split(":")[0])
