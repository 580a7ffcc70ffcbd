"""The same sources give the same tar, to the last byte, whoever builds it wherever and whenever."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

import real
from packyard.writing.source import workspace
from sample import SEED, WHOLE
from tiny import SOURCE_ROOT, write

pytestmark = pytest.mark.nightly

SOURCES = ("packyard.yaml", "Krmfile", "LICENSE", "bases", "docs", "overlays", "packages")
#: Of each package the digest of its tar, and the bytes of its file.
Built = dict[str, tuple[str, bytes]]
#: Puts a clock that is wrong by decades in front of everything that Python reads the time with.
WRONG_CLOCK = "import time\ntime.time = lambda: 4102444800.0\ntime.time_ns = lambda: 4102444800 * 10**9\n"


def copy_checkout(folder: Path, *, backwards: bool = False) -> Path:
    """Copy the catalogue and the code, each file created after the one before it in the alphabet, or backwards."""
    roots = [(real.REPOSITORY / name, folder / name) for name in SOURCES]
    code = SOURCE_ROOT / "packyard"
    roots.append((code, folder / "builder" / "packyard"))
    files = [(file, target / file.relative_to(root)) for root, target in roots for file in (root, *root.rglob("*"))]
    for file, target in sorted(files, reverse=backwards):
        if file.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            # Of code with its time, so that what is compiled of it counts in the copy.
            (shutil.copy2 if file.is_relative_to(code) else shutil.copy)(file, target)
    for fragment in folder.glob("packages/*/docs/00-title.md"):  # something that locales read differently
        fragment.write_bytes(fragment.read_bytes() + "Für Grüße aus Zürich.\n".encode())
    return folder


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_checkout(tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="module")
def unchanged(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """What is built with nothing changed."""
    return build(checkout, tmp_path_factory.mktemp("expected"), [])


@pytest.fixture
def names(request: pytest.FixtureRequest) -> list[str]:
    """The packages that a test builds: one of them, and another in each test."""
    found = list(workspace.read(real.REPOSITORY).package_names())
    return found if WHOLE else [random.Random(f"{SEED} {request.node.name}").choice(found)]


@pytest.fixture
def expected(unchanged: Built, names: list[str]) -> Built:
    return {name: unchanged[name] for name in names}


def build(
    checkout: Path,
    out_dir: Path,
    names: Sequence[str],
    *,
    command: Sequence[str | Path] = (sys.executable,),
    env: Mapping[str, str] | None = None,
) -> Built:
    """Build packages, or all, in a process of their own; return the digest of each tar and the bytes of each file."""
    clean = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    result = subprocess.run(
        [*command, "-m", "packyard", "build", *names, *("--version", "2.7.0", "--to", out_dir, "--output", "json")],
        cwd=checkout,
        env={**clean, "PYTHONPATH": str(checkout / "builder"), **(env or {})},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    found = {item["name"]: item["tar"] for item in json.loads(result.stdout)}
    assert found
    return {name: (tar, (out_dir / f"{name}.tar.gz").read_bytes()) for name, tar in found.items()}


ENVIRONMENTS = [
    {"TZ": "Asia/Kathmandu"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    {"HOME": "/nonexistent", "USER": "nobody", "LOGNAME": "nobody"},
    {"PYTHONHASHSEED": "0"},
    {"PYTHONHASHSEED": "1"},
    {"PYTHONHASHSEED": "4294967295"},
    {"SOURCE_DATE_EPOCH": "1"},
    {"PYTHONOPTIMIZE": "2"},
    {"NO_COLOR": "1", "COLUMNS": "20", "TERM": "dumb"},
]
#: Each of them alone, or as few as hold all of them together.
if not WHOLE:
    ENVIRONMENTS = [{name: text for env in ENVIRONMENTS[start::3] for name, text in env.items()} for start in range(3)]


@pytest.mark.parametrize("env", ENVIRONMENTS, ids=lambda env: ",".join(f"{name}={text}" for name, text in env.items()))
def test_the_same_bytes_in_another_environment(
    env: dict[str, str], checkout: Path, names: list[str], expected: Built, tmp_path: Path
) -> None:
    assert build(checkout, tmp_path / "out", names, env=env) == expected


@pytest.mark.parametrize(
    ("name", "umask", "epoch"), [("a b", "077", 0), ("ünï-code", "000", 4102444800), ("deep/er/than/before", "022", 1)]
)
def test_the_same_bytes_from_another_checkout(
    name: str, umask: str, epoch: int, names: list[str], expected: Built, tmp_path: Path
) -> None:
    """In another folder, with its files created in another order, at another time, with what the umask leaves them."""
    copy = copy_checkout(tmp_path / name, backwards=True)
    for path in [copy, *copy.rglob("*")]:
        path.chmod((0o777 if path.stat().st_mode & 0o100 else 0o666) & ~int(umask, 8))
        os.utime(path, (epoch, epoch))
    command = ("sh", "-c", f'umask {umask} && exec "$0" "$@"', sys.executable)
    assert build(copy, tmp_path / "out", names, command=command) == expected


def test_the_same_bytes_at_another_time(checkout: Path, names: list[str], expected: Built, tmp_path: Path) -> None:
    write(tmp_path / "clock/sitecustomize.py", WRONG_CLOCK)
    python_path = f"{tmp_path / 'clock'}{os.pathsep}{checkout / 'builder'}"
    asked = subprocess.check_output(
        [sys.executable, "-c", "import time; print(time.time())"], env={**os.environ, "PYTHONPATH": python_path}
    )
    assert asked == b"4102444800.0\n"
    assert build(checkout, tmp_path / "out", names, env={"PYTHONPATH": python_path}) == expected


def matcher_for(python: Path, folder: Path) -> Path:
    """Install what matches patterns, schemas and rules for another Python, as there is none in pure Python."""
    version = subprocess.check_output([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], text=True)
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps")
    wheel = ("--only-binary", ":all:", "--python-version", version.strip(), "--target", folder)
    libraries = ("google-re2", "jsonschema-rs", "cel-expr-python")
    if subprocess.run([*pip, *wheel, *libraries], stdout=subprocess.DEVNULL).returncode:
        names = ", ".join(libraries)
        real.lacking(f"{names} for Python {version.strip()}", remedy="let pip reach a package registry")
    return folder


def test_the_same_tar_on_every_python(
    checkout: Path, names: list[str], expected: Built, other_pythons: list[Path], tmp_path: Path
) -> None:
    """On pure Python copies of what this interpreter has installed, so also without the C parser of YAML."""
    for name in ("yaml", "jinja2", "markupsafe", "markdown_it", "mdurl"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        ignore: Callable[..., set[str]] = shutil.ignore_patterns("*.so", "__pycache__")
        shutil.copytree(Path(spec.origin).parent, tmp_path / "site" / name, ignore=ignore)
    tars = {}
    for number, python in enumerate((Path(sys.executable), *other_pythons)):
        sites = (tmp_path / "site", matcher_for(python, tmp_path / f"site-{number}"), checkout / "builder")
        env = {"PYTHONPATH": os.pathsep.join(map(str, sites))}
        built = build(checkout, tmp_path / str(number), names, command=(python, "-S"), env=env)
        tars[str(python)] = {name: tar for name, (tar, _) in built.items()}
    assert set(map(str, tars.values())) == {str({name: tar for name, (tar, _) in expected.items()})}, tars
