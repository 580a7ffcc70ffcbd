"""Fixtures that more than one room needs: the real programs, servers and data of ``real``."""

import fcntl
import gc
import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

import real
import sample
from controlplane import shared
from real import Kustomize
from tiny import RELEASE, done

if TYPE_CHECKING:
    from controlplane.api import Api

settings.register_profile("tests", deadline=None)  # how long an example takes depends on the machine
settings.load_profile("tests")

# Most programs in Go that run here are over at once; with less care for memory each takes a fifth less time.
os.environ.setdefault("GOGC", "400")
# What is started here can be interrupted, also where a shell has these tests in its background, and ^C ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)


#: The parts of `make nightly`, and the fixtures that put a test into each: real programs that are not Python's. A test
#: is in the first that has one of its fixtures; one that is marked `nightly` in the part that is named, or ``whole``.
PARTS = {
    "workload": {"namespaces", "new_machine", "open_mpi"},
    "clusters": {"api_server", "cluster", "job_cluster", "kubectl", "plane"},
    "stores": {
        "azurite", "fake_gcs", "on_azurite", "on_gcs", "on_rclone", "on_versitygw", "rclone", "registry2", "registry3",
        "registry_with_referrers", "registry_without_deletes", "versitygw",
    },
    "kustomize": {
        "apply_setters", "kpt", "kustomize", "kustomize3", "kustomize4", "kustomize5", "list_setters",
    },
    "whole": {"bin_dir", "busybox", "curl", "fish", "other_pythons", "tar", "web_dir", "wget", "zsh"},
}  # fmt: skip
#: What `make mutants` found last: how many mistakes of how many that were drawn, at which commit.
MUTANTS = Path(__file__).with_name("mutants.json")
#: What is no part, but can be asked for: what `make test` runs, some with a wheel; what `make oracle` does; everything.
_SELECTIONS = ("test", "bare", "oracle", "all")


def pytest_addoption(parser: pytest.Parser) -> None:
    choices = [*_SELECTIONS, *PARTS]
    parser.addoption("--part", choices=choices, default="test", help="run these tests (default: those of `make test`)")


def pytest_configure(config: pytest.Config) -> None:
    real.confine(config)
    named = os.environ.get("PACKYARD_CORPUS")
    if named and not Path(named).is_dir():
        raise pytest.UsageError(f"PACKYARD_CORPUS={named}: there is no such folder")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the folders unread whose tests are all of the nightly: some import what only that installs."""
    return True if collection_path.name == "nightly" and config.getoption("--part") in ("test", "bare") else None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> list[pytest.Item] | None:
    """Make no tests of a function that is of the nightly, which `make test` would leave out again by the thousand."""
    if not name.startswith("test_") or collector.config.getoption("--part") != "test":
        return None
    marks = getattr(obj, "pytestmark", ())
    code = getattr(obj, "__code__", None)
    asks = set(code.co_varnames[: code.co_argcount]) if code else set()
    is_nightly = any(mark.name == "nightly" for mark in marks) or any(map(asks.intersection, PARTS.values()))
    return [] if is_nightly else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without looking for garbage: there is none among thousands of tests, and the look at them takes long."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the part, and have those run in one process that share what takes seconds.

    That is a cluster, what their module makes, a package. A test's own group goes first.
    """
    part, parts = config.getoption("--part"), {item: part_of(item) for item in items}
    if part == "oracle":
        items[:] = [item for item in items if item.get_closest_marker("oracle")]
    elif part != "all":
        items[:] = [item for item in items if parts[item] == part]
    for item in items:
        if item.get_closest_marker("xdist_group"):
            continue
        if parts[item] == "clusters":
            item.add_marker(pytest.mark.xdist_group("clusters"))
        elif _shares_what_a_module_makes(item):
            item.add_marker(pytest.mark.xdist_group(str(item.path)))
        elif package := getattr(_params(item).get("package"), "name", ""):
            item.add_marker(pytest.mark.xdist_group(f"package {package}"))


def part_of(item: pytest.Item) -> str:
    """Return the part of `make nightly` that a test belongs to, or ``test``."""
    # Parameters are names of fixtures where a test asks for each in turn.
    named = {each for each in _params(item).values() if isinstance(each, str)}.union(getattr(item, "fixturenames", ()))
    if part := next((part for part, fixtures in PARTS.items() if not fixtures.isdisjoint(named)), None):
        return part
    if mark := item.get_closest_marker("nightly"):
        return str(*mark.args) or "whole"
    return "bare" if item.get_closest_marker("bare") else "test"


def _shares_what_a_module_makes(item: pytest.Item) -> bool:
    """Whether a fixture of the test is made once for its module, as what takes seconds is."""
    info = getattr(item, "_fixtureinfo", None)
    return info is not None and any(found[-1].scope == "module" for found in info.name2fixturedefs.values())


def _params(item: pytest.Item) -> Mapping[str, object]:
    callspec = getattr(item, "callspec", None)
    return callspec.params if callspec else {}


def pytest_report_header() -> str:
    return f"sample: {'all' if sample.WHOLE else 'PACKYARD_SEED=' + sample.SEED}"


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what a run of all tests cost and what it finds, so that nobody makes it faster by making it blind."""
    config = terminalreporter.config
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS or config.option.collectonly:
        return
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    skipped = len(terminalreporter.stats.get("skipped", ()))
    said = [
        f"processor time {seconds:.0f} s",
        f"{_bytes_of(sys.prefix) >> 20} MB installed",
        f"{skipped} tests skipped",
    ]
    if MUTANTS.exists():
        last = json.loads(MUTANTS.read_bytes())
        said.append(f"{last['found']} of {last['drawn']} mutants found at {last['commit'][:8]}")
    terminalreporter.write_line("; ".join(said))


def _bytes_of(folder: str) -> int:
    """Return the sizes of all files below a folder; compiled ones and links do not count."""
    size = 0
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            size += _bytes_of(entry.path)
        elif entry.is_file(follow_symlinks=False) and not entry.name.endswith(".pyc"):
            size += entry.stat().st_size
    return size


def _found(find: Callable[[], object]) -> Any:
    """Return the fixture of what is found on this machine."""
    return pytest.fixture(scope="session")(lambda: find())


#: kustomize 3.8.7, the last line that users set values with: the judge of setters.
kustomize3 = _found(lambda: Kustomize(real.pinned_program("kustomize-3")))
#: kustomize 4.5.4, of the last line that has setters.
kustomize4 = _found(lambda: Kustomize(real.pinned_program("kustomize-4")))
#: kustomize 5.7.1: the judge of composing and rendering.
kustomize5 = _found(lambda: Kustomize(real.pinned_program("kustomize-5")))
#: kpt's own functions apply-setters v0.2.0 and list-setters v0.1.0, and kpt.
apply_setters = _found(lambda: real.pinned_program("apply-setters"))
list_setters = _found(lambda: real.pinned_program("list-setters"))
kpt = _found(real.kpt)
kubectl, wget, curl = (_found(partial(real.program, name)) for name in ("kubectl", "wget", "curl"))
#: GNU tar.
tar = _found(real.gnu_tar)
#: The folder of real cases that ``PACKYARD_CORPUS`` names.
corpus = _found(real.corpus)
#: One interpreter of each other minor version of CPython that is installed, oldest first, at least one.
other_pythons = _found(real.other_pythons)


@pytest.fixture(scope="session")
def shared_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for all processes of one test run."""
    own_dir = tmp_path_factory.getbasetemp()
    return own_dir.parent if "PYTEST_XDIST_WORKER" in os.environ else own_dir


@pytest.fixture(scope="session")
def web_dir(shared_dir: Path) -> Path:
    """A folder for a web server, with a channel at ``models/`` that holds the catalogue; made once for a run."""
    folder = shared_dir / "web"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "models" / RELEASE).exists():
            done("publish", "--workspace", real.REPOSITORY, "--version", RELEASE, "--to", folder / "models")
    return folder


@pytest.fixture(scope="session")
def api_server(shared_dir: Path) -> "Iterator[Api]":
    """kube-apiserver 1.34.4 on etcd with the definitions of custom resources; nothing there acts."""
    from controlplane.api import Api  # no other test needs its client

    real.pinned_program("kubernetes")
    real.pinned_manifests()
    folder = shared_dir / "control-plane"
    with shared.use(folder, "api"):
        yield Api(folder)


@pytest.fixture(scope="session")
def job_cluster(api_server: "Api") -> "Iterator[Api]":
    """The same server with Kubernetes' own controllers and kwok."""
    real.pinned_program("kwok")
    with shared.use(api_server.folder / "jobs", "jobs"):
        yield api_server


@pytest.fixture(scope="session")
def cluster(job_cluster: "Api") -> "Iterator[Api]":
    """The same with the operators and Kueue."""
    for name in ("mpi-operator", "jobset", "lws", "trainer", "kueue"):
        real.pinned_program(name)
    with shared.use(job_cluster.folder / "operators", "operators"):
        yield job_cluster


@pytest.fixture
def http_server() -> Iterator[Callable[[Path], str]]:
    """Call it with a folder, once or more: each is served until the test ends, at the URL returned."""
    with ExitStack() as servers:
        yield lambda directory: servers.enter_context(real.serve(directory))


@pytest.fixture(autouse=True)
def _state(tmp_path_factory: pytest.TempPathFactory, shared_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what packyard remembers between commands out of the home of whoever runs the tests.

    Each test has its own: the folder of one that passed may be that of the next, with another channel. What packyard
    built before is kept for all processes: it may find there what another has built. kubectl remembers what a server
    knows by its port, which one of an earlier run may have had.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_dir / "cache"))
    monkeypatch.setenv("KUBECACHEDIR", str(shared_dir / "kube"))
