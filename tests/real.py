"""The real programs, servers and data that judge packyard: found here, or said to be absent.

What is absent skips the test that asked for it. A program that can be installed or built fails it instead where
``PACKYARD_REQUIRE_ALL=1`` is set; what a machine may well be without (kpt, another Python, a corpus) never does.
A program whose version matters is looked for in ``.tools/`` alone, where ``make tools`` builds it; any
other there first, then on PATH. The fixtures of the same names are in ``conftest``.

While tests run, PATH is the folder of ``programs``.
"""

import atexit
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest

from programs import MACHINE, PLACE, machine_path, make_folder

REPOSITORY = Path(__file__).resolve().parents[1]
TOOLS = REPOSITORY / ".tools"

_NO_CORPUS = "the corpus of real cases is absent: PACKYARD_CORPUS=DIR names it"
OLDEST_PYTHON = (3, 11)
Server = TypeVar("Server", bound=HTTPServer)
_ASK_VERSION = "import sys; print(sys.executable, sys.implementation.name, *sys.version_info[:2], sep='\\n')"


def absent(what: str, *, remedy: str) -> NoReturn:
    """Skip the test, or the file, that needs ``what``, or fail it where everything is required."""
    message = f"{what} is absent: {remedy}"
    if os.environ.get("PACKYARD_REQUIRE_ALL") == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message, allow_module_level=True)


def lacking(what: str, *, remedy: str) -> NoReturn:
    """Skip the test, or the file, that needs ``what``, which many machines are without."""
    pytest.skip(f"{what} is absent: {remedy}", allow_module_level=True)


def find_program(name: str, *, pinned: bool, tools_dir: Path = TOOLS) -> Path | None:
    """Return the program ``name``: from ``tools_dir``, or, unless its version is pinned, from PATH."""
    # Beside PATH: this environment's own programs, and the system's that are not for every user.
    others = os.pathsep.join([machine_path(), str(Path(sys.executable).parent), "/usr/sbin"])
    found = shutil.which(name, path=str(tools_dir)) or (None if pinned else shutil.which(name, path=others))
    return _behind_shim(Path(found)) if found else None


def _behind_shim(program: Path) -> Path:
    """Return the program behind a shim of pyenv, which is a script that needs others on PATH; others as they are."""
    return next(iter(sorted(program.parents[1].glob(f"versions/*/bin/{program.name}"))), program)


def own_program(name: str) -> Path:
    """Return a program that came with a package of this Python's environment."""
    folder = Path(sys.executable).parent
    return find_program(name, pinned=True, tools_dir=folder) or absent(name, remedy="run make venv")


def pinned_program(name: str) -> Path:
    """Return a program that ``make tools`` builds."""
    return find_program(name, pinned=True) or absent(name, remedy="run make tools")


def trust_program(name: str) -> Path:
    """Return a program that `make test-trust` builds, and that alone requires it."""
    missing = absent if os.environ.get("PACKYARD_REQUIRE_TRUST") == "1" else lacking
    return find_program(name, pinned=True) or missing(name, remedy="run make test-trust")


def pinned_manifests() -> Path:
    """Return the folder of definitions and the like that ``make tools`` takes from pinned modules."""
    folder = TOOLS / "manifests"
    return folder if folder.is_dir() else absent("manifests", remedy="run make tools")


def open_mpi_5() -> Path:
    """Return mpirun of Open MPI 5, as PyPI has it."""
    file = TOOLS.resolve() / "open-mpi-5/bin/mpirun"
    return file if file.exists() else absent("Open MPI 5", remedy="run make .tools/open-mpi-5")


def program(name: str) -> Path:
    """Return a program of any version."""
    remedy = "run make tools, or install it" if (REPOSITORY / "tests/tools" / name).is_dir() else "install it"
    return find_program(name, pinned=False) or absent(name, remedy=remedy)


def path_with(*names: str) -> str:
    """Return a PATH for a script that types these programs, beside those that need no asking."""
    return _path_with({name: program(name) for name in names})


def kpt() -> Path:
    """Return kpt, which no registry has."""
    found = os.environ.get("PACKYARD_KPT") or find_program("kpt", pinned=False)
    return Path(found) if found else lacking("kpt", remedy="put it on PATH, or name it: PACKYARD_KPT=FILE")


def gnu_tar() -> Path:
    """Return GNU tar, by whichever of its names it is installed."""
    for name in ("tar", "gtar"):
        found = find_program(name, pinned=False)
        if found and "GNU tar" in subprocess.run([found, "--version"], capture_output=True, text=True).stdout:
            return found
    absent("GNU tar", remedy="install it")


def corpus() -> Path:
    """Return the folder of real cases that ``PACKYARD_CORPUS`` names: ``cfg/``, ``kpt/`` and ``zoo/``."""
    return Path(os.environ.get("PACKYARD_CORPUS") or pytest.skip(_NO_CORPUS, allow_module_level=True))


def corpus_files(folder: str) -> list[Path]:
    """Return the files of a folder of the corpus, none where there is no corpus."""
    named = os.environ.get("PACKYARD_CORPUS")
    return sorted(Path(named, folder).glob("*.json")) if named else []


def of_corpus(cases: Iterable[Any]) -> list[Any]:
    """Return a test's parameters, one for each case; where there is no corpus, one that is skipped."""
    skipped = pytest.mark.skip(reason=_NO_CORPUS)
    return [*cases] or [pytest.param(None, marks=skipped, id="none")]


def find_other_pythons() -> list[Path]:
    """Return one CPython of each minor version from 3.11 that is installed here and is not the one running."""
    found: dict[tuple[int, int], Path] = {}
    for candidate in _python_candidates():
        answer = _ask(candidate)
        if answer is None:
            continue
        executable, version = answer
        if version >= OLDEST_PYTHON and version != sys.version_info[:2]:
            found.setdefault(version, executable)
    return [found[version] for version in sorted(found)]


def find_python(version: tuple[int, int]) -> Path | None:
    """Return an installed CPython of a version, or None."""
    answers = (_ask(candidate) for candidate in _python_candidates())
    return next((answer[0] for answer in answers if answer is not None and answer[1] == version), None)


def checkout_files() -> list[str]:
    """Return the files of the checkout that git tracks, or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=REPOSITORY, capture_output=True)
    if listing.returncode:
        lacking("the repository's history", remedy="run the tests in a git checkout")
    return [name for name in listing.stdout.decode().split("\0") if (REPOSITORY / name).is_file()]


def _python_candidates() -> Iterator[Path]:
    folders = [Path(folder) for folder in machine_path().split(os.pathsep) if folder]
    # A shim of pyenv runs only the versions that are switched on; the others are installed all the same.
    shims = [folder for folder in folders if folder.name == "shims"]
    installed = [bin_dir for shim in shims for bin_dir in sorted(shim.parent.glob("versions/*/bin"))]
    for folder in dict.fromkeys([*folders, Path("/usr/bin"), *installed]):
        if folder not in shims:
            yield from sorted([*folder.glob("python3.[0-9]"), *folder.glob("python3.[0-9][0-9]")])
            yield from folder.glob("python3")


def _ask(python: Path) -> tuple[Path, tuple[int, int]] | None:
    """Return what ``python`` says it is, or None where it does not run or is not CPython."""
    command = [python, "-I", "-c", _ASK_VERSION]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if answer.returncode:
        return None
    executable, implementation, major, minor = answer.stdout.splitlines()
    return (Path(executable), (int(major), int(minor))) if implementation == "cpython" else None


def other_pythons() -> list[Path]:
    """Return the interpreters of `find_other_pythons`, at least one."""
    return find_other_pythons() or lacking("a second CPython", remedy="install another minor version, 3.11 or newer")


#: What keeps the ports of `free_port`, as long as this process lives.
_kept = ExitStack()
atexit.register(_kept.close)


def free_port() -> int:
    """Return a port of 127.0.0.1 that is free, and that nobody else is given, here and in other processes.

    It is none of those that connections get, of which other tests open many at any moment. A program can listen there,
    and do so again when it has ended, beside what keeps it: all set SO_REUSEADDR.
    """
    for port in random.SystemRandom().sample(range(10_000, 30_000), 100):
        with suppress(OSError), ExitStack() as stack:
            keeper = stack.enter_context(socket.socket())
            keeper.bind(("127.0.0.1", port))  # which fails beside any other, as long as it does not say as much
            keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            _kept.push(stack.pop_all())
            return port
    raise AssertionError("no port is free")


@contextmanager
def serve(directory: Path) -> Iterator[str]:
    """Serve ``directory`` over HTTP on a free port of 127.0.0.1, and yield its URL without a slash at the end."""
    server = _QuietServer(("127.0.0.1", 0), partial(_QuietHandler, directory=str(directory)))
    with answering(server):
        yield f"http://127.0.0.1:{server.server_port}"


@contextmanager
def answering(server: Server) -> Iterator[Server]:
    """Let a server answer as long as the block runs, and close it."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Keep silent about a client that went away; it may be what the test is about."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing of requests."""


def confine(config: pytest.Config) -> None:
    """Make PATH the folder of `programs` for a run of tests, and for its workers."""
    if MACHINE not in os.environ:
        folder = tempfile.mkdtemp(prefix="packyard-programs-")
        config.add_cleanup(lambda: shutil.rmtree(folder))
        os.environ[MACHINE], os.environ[PLACE] = machine_path(), folder
        os.environ["PATH"] = str(make_folder(Path(folder, "plain")))


def _path_with(programs: Mapping[str, Path]) -> str:
    """Return a PATH that has these programs by these names, beside those that need no asking."""
    folders = [Path(os.environ[PLACE], name) for name in programs]
    for folder, program in zip(folders, programs.values(), strict=True):
        folder.mkdir(exist_ok=True)
        with suppress(FileExistsError):
            (folder / folder.name).symlink_to(program)
    return os.pathsep.join(map(str, [*folders, Path(os.environ[PLACE], "plain")]))


class Kustomize:
    """A program that each call starts: ``kustomize5("build", directory)``."""

    def __init__(self, program: Path) -> None:
        self.program = program

    def __call__(self, *arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        words = [str(argument) for argument in arguments]
        return subprocess.run([self.program, *words], cwd=cwd, capture_output=True, text=True, errors="replace")

    def done(self, *arguments: object, cwd: Path | None = None) -> str:
        """Run a command that has to succeed, and return what it printed."""
        process = self(*arguments, cwd=cwd)
        assert process.returncode == 0, f"{process.args}: {process.stdout}{process.stderr}"
        return process.stdout
