"""Which share of small mistakes in ``builder/`` the tests of ``make test`` find.

    python tests/mutants.py [SEED [COUNT]]        default: seed 1, 200 mutants

1. *Map.* The tests run once under coverage, which notes what lines each of them executes, and how long it takes.
2. *Draw.* A mutant is one change of one place: a comparison, an operator, a constant or a condition is another, a value
   is not returned, a statement or an exception is left out. Each house has a share by its places. What is drawn hangs
   on the place alone: an edit elsewhere does not change it.
3. *Judge.* In a copy each mutant is put to the tests that execute its line, the nearest and cheapest first, up to a
   minute of them. It is found by the first that fails, or that hangs.

The share is written into ``tests/mutants.json``. The map and the verdicts are in ``.cache/mutants/COMMIT``, where a run
that was broken off goes on, or ends with a smaller COUNT. What survives is a test that is missing, or a line that
changes nothing. pytest loads this module as a plugin for the first and the last step.
"""

import ast
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from breaks import REPOSITORY, copy

FOLDER = REPOSITORY / ".cache/mutants"
SHARE = REPOSITORY / "tests/mutants.json"
PACKAGE = "builder/packyard/"
_FIRST, _SECONDS = 40, 60.0  # how many tests are tried before more files of tests are read; how long all may take
_CONFIG = """\
[run]
context = ${MUTANTS_TEST-}
data_file = %s/lines
disable_warnings = no-data-collected, module-not-imported, module-not-measured, already-imported
parallel = true
source_pkgs = packyard
"""
_OTHER: dict[type[ast.AST], type[Any]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A change of a file, at these bytes.

    ``line`` is the first of the statement; what it computes for one test others find, too, if it ``is_shared``.
    """

    file: str
    line: int
    start: int
    end: int
    before: str
    after: str
    is_shared: bool

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before} -> {self.after} (byte {self.start})"

    @property
    def house(self) -> str:
        return self.file.removeprefix(PACKAGE).split("/")[0]


def draw(root: Path, seed: int, count: int) -> list[Mutant]:
    """Return so many mutants, of each house by the number of its places; of fewer they are the first."""
    houses: dict[str, list[tuple[str, Mutant]]] = {}
    for file in sorted((root / PACKAGE).rglob("*.py")):
        times: Counter[str] = Counter()
        for mutant in _mutants(file, root):
            key = f"{seed} {mutant.file} {mutant.before} {mutant.after}"
            times[key] += 1
            rank = hashlib.sha256(f"{key} {times[key]}".encode()).hexdigest()
            houses.setdefault(mutant.house, []).append((rank, mutant))
    order = [
        ((number + 0.5) / len(places), mutant)
        for places in houses.values()
        for number, (_, mutant) in enumerate(sorted(places, key=itemgetter(0)))
    ]
    return [mutant for _, mutant in sorted(order, key=itemgetter(0))[:count]]


def _mutants(file: Path, root: Path) -> Iterator[Mutant]:
    data = file.read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, after, line, is_shared in _places(ast.parse(data), line=1, is_shared=True):
        start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        before = " ".join(data[start:end].decode().split())
        name = str(file.relative_to(root))
        yield Mutant(file=name, line=line, start=start, end=end, before=before, after=after, is_shared=is_shared)


def _places(node: ast.AST, *, line: int, is_shared: bool) -> Iterator[tuple[Any, str, int, bool]]:
    """Yield each place at or below a node, what a mutant has there instead, and what it knows of the place."""
    line = node.lineno if isinstance(node, ast.stmt) else line
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        is_shared = any("cache" in ast.unparse(decorator) for decorator in node.decorator_list)
    for place, after in _changes(node):
        yield place, after, line, is_shared
    if isinstance(node, ast.JoinedStr) or _does_nothing(node):
        return
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "type_params", "pattern", "decorator_list"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _places(child, line=line, is_shared=is_shared)


def _does_nothing(node: ast.AST) -> bool:
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) or (
        isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )


def _changes(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=right) if type(op) in _OTHER:
            yield node, f"({ast.unparse(ast.Compare(left, [_OTHER[type(op)]()], right))})"
        case ast.BoolOp(op=op, values=values):
            yield node, f"({ast.unparse(ast.BoolOp(_OTHER[type(op)](), values))})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OTHER and not (_is_text(left) or _is_text(right)):
            yield node, f"({ast.unparse(ast.BinOp(left, _OTHER[type(op)](), right))})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"({ast.unparse(operand)})"
        case ast.Constant(value=bool(value)):
            yield node, repr(not value)
        case ast.Constant(value=int(value)):
            yield node, repr(value + 1)
        case ast.Constant(value=str(value)) if value and " " not in value:  # a name; sentences may be said otherwise
            yield node, repr(f"{value}X")
        case ast.If(test=test) | ast.IfExp(test=test) if isinstance(test, (ast.Name, ast.Attribute, ast.Call)):
            yield test, f"(not {ast.unparse(test)})"
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield node, "return None"
        case ast.Raise() | ast.AugAssign() | ast.Continue() | ast.Break() | ast.Delete() | ast.Expr(value=ast.Call()):
            yield node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield node, "pass"


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


class Map:
    """The tests that execute a line, by what coverage and the plugin wrote."""

    def __init__(self, folder: Path) -> None:
        from coverage import CoverageData

        self._data = CoverageData(str(folder / "lines"))
        self._data.read()
        self._names = {name.rpartition(PACKAGE)[2]: name for name in self._data.measured_files()}
        self.seconds: dict[str, float] = json.loads((folder / "seconds.json").read_text("utf-8"))

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests for a mutant, those of its own room first."""
        name = mutant.file.removeprefix(PACKAGE)
        by_line = self._data.contexts_by_lineno(self._names[name]) if name in self._names else {}
        lines = by_line if mutant.is_shared else [mutant.line]
        tests = {test for line in lines for test in by_line.get(line, ()) if test in self.seconds}
        room = f"tests/{Path(name).parent}/".split("/")[:3]
        if mutant.is_shared or not tests:  # it is executed before any test, or where coverage does not see it
            tests |= {test for test in self.seconds if test.split("/")[:3] == room}
        return sorted(tests, key=lambda test: (test.split("/")[:3] != room, self.seconds[test], test))


def measure(root: Path, folder: Path) -> None:
    """Run the tests once, and write what lines they execute."""
    config = folder / "coverage.ini"
    config.write_text(_CONFIG % folder, "utf-8")
    flags = {"MUTANTS_MAP": str(folder), "COVERAGE_PROCESS_START": str(config)}
    _python(root, "-m", "coverage", "run", f"--rcfile={config}", "-m", "pytest", "-q", *_PLAIN, **flags)
    _python(
        root, "-m", "coverage", "combine", "-q", f"--rcfile={config}", f"--data-file={folder / 'lines'}", str(folder)
    )


def judge(mutant: Mutant, tests: Sequence[str], seconds: dict[str, float], root: Path) -> str:
    """Return by which of the tests a mutant is found; ``""`` if it survives them."""
    file = root / mutant.file
    data, stat = file.read_bytes(), file.stat()
    file.write_bytes(data[: mutant.start] + mutant.after.encode() + data[mutant.end :])
    try:
        return _failure(tests[:_FIRST], seconds, root) or _failure(_affordable(tests[_FIRST:], seconds), seconds, root)
    finally:
        file.write_bytes(data)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # what is compiled of it stays valid


def _affordable(tests: Sequence[str], seconds: dict[str, float]) -> list[str]:
    sums = accumulate(seconds[test] for test in tests)
    return [test for test, taken in zip(tests, sums, strict=True) if taken <= _SECONDS]


def _failure(tests: Sequence[str], seconds: dict[str, float], root: Path) -> str:
    if not tests:
        return ""
    chosen = root / ".mutants"
    chosen.write_text(json.dumps({test: seconds[test] for test in tests}), "utf-8")
    files = sorted({test.partition("::")[0] for test in tests})
    try:
        done = _python(root, "-m", "pytest", "-x", "-q", *_PLAIN, *files, MUTANTS_RUN=str(chosen))
    except subprocess.TimeoutExpired:
        return "time"
    if done.returncode in (0, 5):  # all passed, or none is there any longer
        return ""
    lines = (line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR ")))
    return next(
        (line.partition(" ")[2].partition(" - ")[0] for line in lines), f"pytest, which ends with {done.returncode}"
    )


_PLAIN = ("-p", "no:cacheprovider", "-p", "mutants")


def _python(root: Path, *words: str, **flags: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(root / "builder"), str(root / "tests")])  # before the package that is installed
    env = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **flags}
    limit = 10 * _SECONDS if "MUTANTS_RUN" in flags else None
    return subprocess.run([sys.executable, *words], cwd=root, env=env, capture_output=True, text=True, timeout=limit)


# The plugin.


class _Hang(BaseException):
    """Not an error that the code under test could take for its own."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if "MUTANTS_MAP" in os.environ:
        from coverage import Coverage

        os.environ["MUTANTS_TEST"] = item.nodeid  # for the processes that it starts
        current = Coverage.current()
        assert current
        current.switch_context(item.nodeid)
    else:
        signal.signal(signal.SIGALRM, _give_up)
        signal.setitimer(signal.ITIMER_REAL, 10 + 10 * _seconds[item.nodeid], 1)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _give_up(*_: object) -> None:
    raise _Hang


_seconds: dict[str, float] = {}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "MUTANTS_RUN" in os.environ:
        _seconds.update(json.loads(Path(os.environ["MUTANTS_RUN"]).read_text("utf-8")))
        order = {test: number for number, test in enumerate(_seconds)}
        items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + (float("inf") if report.failed else report.duration)


def pytest_sessionfinish() -> None:
    if "MUTANTS_MAP" in os.environ:
        passed = {test: taken for test, taken in _seconds.items() if taken < float("inf")}
        Path(os.environ["MUTANTS_MAP"], "seconds.json").write_text(json.dumps(passed), "utf-8")


def main(seed: int = 1, count: int = 200) -> None:
    """Draw mutants, judge each, and write the share that is found."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    commit = head.stdout.strip()
    folder = FOLDER / commit
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "verdicts.json"
    with tempfile.TemporaryDirectory(prefix="packyard-mutants-") as name:
        root = Path(name)
        copy(root)
        if not (folder / "lines").exists():
            measure(root, folder)
        tests = Map(folder)
        verdicts = json.loads(file.read_bytes()) if file.exists() else {}
        drawn = draw(root, seed, count)
        for mutant in drawn:
            if str(mutant) not in verdicts:
                verdicts[str(mutant)] = judge(mutant, tests.tests(mutant), tests.seconds, root)
                file.write_text(json.dumps(verdicts, indent=1), "utf-8")
    survivors = [mutant for mutant in drawn if not verdicts[str(mutant)]]
    share = {"seed": seed, "drawn": len(drawn), "found": len(drawn) - len(survivors), "commit": commit}
    SHARE.write_text(json.dumps(share) + "\n", "utf-8")
    print(*survivors, f"{share['found']} of {share['drawn']} mutants are found", sep="\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
