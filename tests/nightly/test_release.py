"""A release of packyard itself: what `make dist` builds, and how it runs in empty environments outside the checkout.

`make test` tries the interpreter of the tests and the oldest one; the nightly every declared version that is
installed, with each extra, and all that authors do, which `make bare` does with the interpreter of the tests. A version
that is not installed is skipped, as few machines have them all.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from functools import partial
from pathlib import Path

import pytest
import yaml

import real
from packyard import __version__
from sample import WHOLE
from tiny import SOURCE_ROOT, done

pytestmark = pytest.mark.nightly

NAME = "resnet50v1-5-fp32-training-k8s"
USE_CASE = f"{NAME}/quickstart/mlops/single-node/user-allocated-pvc"
EPOCH = 1_700_000_000
PYPROJECT = (real.REPOSITORY / "pyproject.toml").read_text()
DECLARED = [(3, int(minor)) for minor in re.findall(r'"Programming Language :: Python :: 3\.(\d+)"', PYPROJECT)]
TRIED = [each for each in DECLARED if WHOLE or each in (sys.version_info[:2], DECLARED[0])]
#: Extras that are for those who change packyard, so that no message names them.
OF_DEVELOPERS = {"test", "lint", "nightly"}
NAMED = re.compile(r'extras\.install\("(\w+)"(?: if [^)]*\) else "(\w+)")?\)')
HINT = re.compile(r'pip install "(packyard\[\w+\]) @ ')


@dataclass(frozen=True, slots=True)
class Dist:
    """What `make dist` built."""

    sdist_file: Path
    wheel_file: Path

    def metadata(self) -> Message:
        """Return what the wheel says of itself."""
        return message_from_bytes(members(self.wheel_file)[f"packyard-{__version__}.dist-info/METADATA"])


def make_dist(checkout: Path) -> Dist:
    """Run `make dist` in a copy of the checkout, with the tools that are installed here."""
    command = (real.program("make"), "-C", checkout, "dist", "TEST=", f"BIN={Path(sys.executable).parent}")
    env = {**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)}
    result = subprocess.run(command, env=env, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    built = sorted(file.name for file in (checkout / "dist").iterdir())
    assert built == [f"packyard-{__version__}-py3-none-any.whl", f"packyard-{__version__}.tar.gz"]
    return Dist(checkout / "dist" / built[1], checkout / "dist" / built[0])


def copy_checkout(folder: Path) -> Path:
    for name in real.checkout_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(real.REPOSITORY / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Dist:
    return make_dist(copy_checkout(tmp_path_factory.mktemp("checkout")))


def members(wheel_file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel_file) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


# What is built.


def test_make_dist_gives_the_same_bytes_in_another_folder_at_another_time(dist: Dist, tmp_path: Path) -> None:
    copy = copy_checkout(tmp_path / "a b")
    for path in copy.rglob("*"):
        path.chmod(path.stat().st_mode & 0o700)
        os.utime(path, (0, 0))
    other = make_dist(copy)
    assert other.wheel_file.read_bytes() == dist.wheel_file.read_bytes()
    assert other.sdist_file.read_bytes() == dist.sdist_file.read_bytes()
    with tarfile.open(dist.sdist_file) as sdist:
        assert {member.mtime for member in sdist} == {EPOCH}


def test_the_sdist_holds_the_checkout(dist: Dist) -> None:
    expected = {
        name: hashlib.sha256((real.REPOSITORY / name).read_bytes()).hexdigest()
        for name in real.checkout_files()
        if not name.startswith(".ci/")
    }
    found = {}
    with tarfile.open(dist.sdist_file) as sdist:
        for member in sdist:
            file = sdist.extractfile(member)
            assert file is not None
            found[member.name.partition("/")[2]] = hashlib.sha256(file.read()).hexdigest()
    assert found.pop("PKG-INFO")
    assert found == expected


def test_the_wheel_made_from_the_sdist_is_that_of_the_checkout(dist: Dist, tmp_path: Path) -> None:
    command = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, dist.sdist_file)
    run_pip(Path(sys.executable), *command, env={"SOURCE_DATE_EPOCH": str(EPOCH)})
    assert members(tmp_path / dist.wheel_file.name) == members(dist.wheel_file)


def test_the_wheel_says_what_it_is(dist: Dist) -> None:
    metadata = dist.metadata()
    assert metadata["Version"] == __version__
    assert [(3, minor) for minor in range(DECLARED[0][1], DECLARED[-1][1] + 1)] == DECLARED
    assert metadata["Requires-Python"] == ">=" + ".".join(map(str, DECLARED[0]))
    assert DECLARED[0] == real.OLDEST_PYTHON
    assert "Operating System :: POSIX" in metadata.get_all("Classifier", [])


def test_each_extra_is_named_by_a_hint_and_each_hint_names_an_extra(dist: Dist) -> None:
    code = "".join(file.read_text() for file in (SOURCE_ROOT / "packyard").rglob("*.py"))
    hinted = NAMED.findall(code)
    assert len(hinted) == code.count("extras.install(")
    named = {name for names in hinted for name in names if name}
    assert named | OF_DEVELOPERS == set(dist.metadata().get_all("Provides-Extra", []))


def test_the_changelog_has_a_section_for_this_version_on_top() -> None:
    text = (real.REPOSITORY / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    versions = [re.fullmatch(r"\[(\d+)\.(\d+)\.(\d+)\] - 20\d\d-\d\d-\d\d", heading) for heading in headings[1:]]
    assert None not in versions, headings
    numbers = [tuple(map(int, version.groups())) for version in versions if version]
    assert numbers == sorted(set(numbers), reverse=True)
    assert ".".join(map(str, numbers[0])) == __version__


# How it runs.


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment of an interpreter, empty at first, and an empty folder to run in."""

    python: Path
    folder: Path

    def install(self, *words: str | Path) -> None:
        run_pip(self.python, "install", *words)

    def run(self, *words: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run the installed `packyard` with nothing else on PATH, and no variable that could help it."""
        bin_dir = self.python.parent
        env = {"PATH": str(bin_dir), "HOME": str(self.folder)}
        result = subprocess.run(
            (bin_dir / "packyard", *words), cwd=self.folder, env=env, capture_output=True, text=True, timeout=300
        )
        assert result.returncode == code, result.stdout + result.stderr
        return result


def run_pip(python: Path, *words: str | Path, env: Mapping[str, str] | None = None) -> None:
    """Run this interpreter's pip for ``python``."""
    clean = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "PIP_NO_"))}
    command = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", python, *words)
    result = subprocess.run(command, env={**clean, **(env or {})}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def empty_environment(version: tuple[int, int], folder: Path) -> Environment:
    python = Path(sys.executable) if version == sys.version_info[:2] else real.find_python(version)
    if python is None:
        pytest.skip("Python {}.{} is not installed".format(*version))
    subprocess.run((python, "-m", "venv", "--without-pip", folder / "venv"), check=True)
    (folder / "run").mkdir()
    return Environment(folder / "venv" / "bin" / "python", folder / "run")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """Return what `build` says of a package in the checkout, or of all, with all extras."""
    names = [] if WHOLE else [NAME]
    options = ("--workspace", real.REPOSITORY, "--to", tmp_path_factory.mktemp("out"), "--version", __version__)
    rows: list[dict[str, object]] = json.loads(done("build", *names, *options, "--output", "json"))
    return rows


@pytest.fixture(scope="module")
def digest(built: list[dict[str, object]]) -> str:
    """Return the digest of the package's tar as the checkout builds it."""
    (found,) = (row["tar"] for row in built if row["name"] == NAME)
    return str(found)


def follow_the_daily_path(environment: Environment, dist: Dist, digest: str) -> None:
    """Run what users and authors run every day, without any extra."""
    run = environment.run
    assert run("version").stdout == f"packyard {__version__}\n"
    assert f"tar {digest}" in run("get", NAME, "-v").stderr
    (unset,) = json.loads(run("setters", "--unset", USE_CASE, "--output", "json").stdout)
    assert [setter["name"] for setter in unset["setters"]] == ["PVC_NAME"]
    run("render", USE_CASE, code=1)
    run("set", USE_CASE, "PVC_NAME=disk")
    rendered = list(yaml.safe_load_all(run("render", USE_CASE).stdout))
    (job,) = (item for item in rendered if item["kind"] == "Job")
    claims = [volume.get("persistentVolumeClaim") for volume in job["spec"]["template"]["spec"]["volumes"]]
    assert {"claimName": "disk"} in claims
    with tarfile.open(dist.sdist_file) as sdist:
        sdist.extractall(environment.folder, filter="data")
    build_the_sdists_package(environment, digest)


def build_the_sdists_package(environment: Environment, digest: str) -> None:
    options = ("--workspace", f"packyard-{__version__}", "--version", __version__, "--output", "json")
    result = environment.run("build", NAME, *options, "--to", "processes", "--jobs", "2")
    assert json.loads(result.stdout)[0]["tar"] == digest


def build_the_catalogue(environment: Environment, built: list[dict[str, object]]) -> None:
    """Build and lint the packages of the sdist: no bundle and no finding depends on an extra."""
    workspace = ("--workspace", f"packyard-{__version__}")
    words = ("--version", __version__, "--to", "catalogue", "--output", "json")
    assert json.loads(environment.run("build", *workspace, *words).stdout) == built
    assert ", 0 errors, 0 warnings in " in environment.run("lint", *workspace).stderr


def lint_by_schemas(environment: Environment) -> None:
    """Let `lint` accept the package, and refuse a field that only a schema knows to be wrong."""
    assert environment.run("lint", NAME).stdout == ""
    file = environment.folder / USE_CASE / "job.yaml"
    file.write_bytes(file.read_bytes().replace(b"\nspec:\n", b"\nspec:\n  unknownField: 1\n"))
    assert "unknownField" in environment.run("lint", NAME, code=1).stdout


def follow_hint(environment: Environment, result: subprocess.CompletedProcess[str]) -> None:
    """Install what a message says to install; packyard itself is there already."""
    hint = HINT.search(result.stderr)
    assert hint, result.stderr
    environment.install(hint[1])


@pytest.mark.parametrize("version", TRIED, ids=lambda version: ".".join(map(str, version)))
def test_runs_in_an_empty_environment_of(
    version: tuple[int, int], dist: Dist, built: list[dict[str, object]], digest: str, tmp_path: Path
) -> None:
    environment = empty_environment(version, tmp_path)
    environment.install(dist.wheel_file)
    follow_the_daily_path(environment, dist, digest)
    lint_by_schemas(environment)
    if WHOLE:
        build_the_catalogue(environment, built)
        follow_hint(environment, environment.run("get", NAME, "--from", "s3://bucket/path", code=1))


@pytest.mark.skipif(not WHOLE, reason="the nightly tries it")
def test_runs_with_the_oldest_libraries_that_it_declares(dist: Dist, digest: str, tmp_path: Path) -> None:
    environment = empty_environment(DECLARED[0], tmp_path)
    lines = [line.partition(";") for line in dist.metadata().get_all("Requires-Dist", [])]
    bounds = [bound.strip() for bound, _, extra in lines if not extra or "'cloud'" in extra]
    assert all(">=" in bound for bound in bounds)
    (tmp_path / "oldest").write_text("\n".join(bounds).replace(">=", "=="))
    environment.install("--only-binary", ":all:", "--constraint", tmp_path / "oldest", dist.wheel_file)
    follow_the_daily_path(environment, dist, digest)
    environment.install("--constraint", tmp_path / "oldest", f"{dist.wheel_file}[cloud]")
    for address in ("s3://bucket/path", "az://account:a2V5@container", "gs://bucket"):
        open_store = f"from packyard.sharing.stores import open_store; open_store({address!r})"
        subprocess.run((environment.python, "-c", open_store), cwd=environment.folder, check=True)
    lint_by_schemas(environment)


# Where it does not run.

WINDOWS = """
import os, sys
for name in ("fcntl", "pwd", "grp", "resource", "termios", "posix"):
    sys.modules[name] = None
del os.O_NONBLOCK, os.O_CLOEXEC, os.O_NOFOLLOW, os.O_DIRECTORY, os.geteuid
os.name = "nt"
from packyard.cli.main import main
sys.exit(main(["version"]))
"""


def test_refuses_a_system_that_is_not_posix_in_one_sentence() -> None:
    run = partial(subprocess.run, capture_output=True, text=True)
    result = run((sys.executable, "-c", WINDOWS), env={**os.environ, "PYTHONPATH": str(SOURCE_ROOT)})
    refusal = "packyard needs a POSIX system, such as Linux or macOS. On Windows, install and run it in WSL.\n"
    assert (result.returncode, result.stdout, result.stderr) == (1, "", refusal)
