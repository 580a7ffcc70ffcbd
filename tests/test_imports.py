"""Holds the order of the rooms: imports go one way, from a room to those before it, and never in a circle.

An import counts wherever it stands: inside a function, under ``TYPE_CHECKING``, or as the literal name
that ``import_module`` is given.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from pathlib import Path

import pytest

import real

PACKAGE = "packyard"
#: Each house, and the houses or rooms of others that it knows.
HOUSES = {
    "core": (),
    "using": ("core",),
    "writing": ("core", "using"),
    "sharing": ("core",),
    "running": ("core", "using"),
    "cli": ("core", "using", "writing", "sharing", "running"),
}
ROOMS = (
    "core.errors",
    "core.digest",
    "core.extras",
    "core.ending",
    "core.files",
    "core.work",
    "core.yaml",
    "core.bundle",
    "core.kubernetes",
    "using.setters",
    "using.options",
    "using.functions",
    "using.kustomize",
    "using.setting",
    "using.render",
    "using.upgrade",
    "writing.source",
    "writing.checks",
    "writing.authoring",
    "writing.build",
    "writing.judging",
    "sharing.entry",
    "sharing.stores",
    "sharing.configuration",
    "sharing.trust",
    "sharing.index",
    "sharing.fetching",
    "sharing.publishing",
    "sharing.web",
    "sharing",
    "running.runs",
    "running.doctor",
    "running.probe",
    "running",
    "cli",
    "__main__",
)

Graph = dict[str, set[str]]


def draw(package_dir: Path) -> Graph:
    """Return each module of the package with the modules of the package that it imports."""
    files = {_module_name(file, package_dir): file for file in sorted(package_dir.rglob("*.py"))}
    graph: Graph = {}
    for module, file in files.items():
        parent = module if file.name == "__init__.py" else module.rpartition(".")[0]
        tree = ast.parse(file.read_bytes(), filename=str(file))
        graph[module] = {_nearest(name, set(files)) for name in _imported_names(tree, parent)}
    return graph


def find_faults(graph: Graph) -> list[str]:
    """Return what breaks the order, a line each, and the first circle."""
    faults = [
        f"{module}: the room '{_room(module)}' has no place in the order" for module in graph if _rank(module) < 0
    ]
    for module, imports in graph.items():
        faults += [
            f"{module} imports {imported}: '{_room(imported)}' comes after '{_room(module)}'"
            for imported in sorted(imports)
            if _rank(imported) > _rank(module) >= 0
        ]
    faults += [
        f"{module} imports {imported}: '{_house(module)}' does not know '{_room(imported)}'"
        for module, imports in graph.items()
        for imported in sorted(imports)
        if not _is_known(_house(module), imported)
    ]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        faults.append("circle: " + " <- ".join(error.args[1]))
    return faults


def _module_name(file: Path, package_dir: Path) -> str:
    parts = [PACKAGE, *file.relative_to(package_dir).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported_names(tree: ast.AST, parent: str) -> Iterator[str]:
    """Yield the absolute dotted names that are imported from our own package."""
    for node in ast.walk(tree):
        names: list[str] = []
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom():
                origin = node.module or ""
                if node.level:
                    above = parent.split(".")[: len(parent.split(".")) - node.level + 1]
                    origin = ".".join([*above, origin] if origin else above)
                names = [f"{origin}.{alias.name}" for alias in node.names]
            case ast.Call(
                func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                names = [name]
        yield from (name for name in names if name.partition(".")[0] == PACKAGE)


def _nearest(name: str, modules: set[str]) -> str:
    """Return the module that ``name`` is, or that it is a name in."""
    while name not in modules and "." in name:
        name = name.rpartition(".")[0]
    return name


def _room(module: str) -> str:
    """Return the room of a module; one with rooms of its own is the last of them."""
    parts = module.split(".")[1:]
    inner = ".".join(parts[:2])
    return inner if inner in ROOMS else parts[0] if parts else PACKAGE


def _house(module: str) -> str:
    """Return the house of a module; what is in none of them has an empty name."""
    house = module.partition(".")[2].partition(".")[0]
    return house if house in HOUSES else ""


def _is_known(house: str, module: str) -> bool:
    other = _house(module)
    known = HOUSES.get(house, ())
    return not house or not other or other in (house, *known) or _room(module) in known


def _rank(module: str) -> int:
    """Return the place of a module's room; 0 for the package itself and its houses, -1 where the room is not known."""
    room = _room(module)
    if room in ROOMS:
        return 1 + ROOMS.index(room)
    return 0 if room in (PACKAGE, *HOUSES) and module.count(".") < 2 else -1


@pytest.fixture(scope="module")
def graph() -> Graph:
    return draw(real.REPOSITORY / "builder" / PACKAGE)


def test_imports_of_packyard_go_one_way(graph: Graph) -> None:
    faults = find_faults(graph)
    assert not faults, "\n" + "\n".join(faults)


def test_checks_know_nothing_of_sources(graph: Graph) -> None:
    assert not {
        (module, imported)
        for module, imports in graph.items()
        for imported in imports
        if (_room(module), _room(imported)) == ("writing.checks", "writing.source")
    }


def _are_alike(one: str, other: str) -> bool:
    """Say whether two names are the same, or differ by an ending or by one letter."""
    stems = {re.sub(r"(?<=...)(ed|er|ing|ion|e?s|e|y)+$", "", name) for name in (one, other)}
    return len(stems) == 1 or (len(one) == len(other) and sum(map(str.__ne__, one, other)) <= 1)


@pytest.mark.parametrize("house", [house for house in HOUSES if house != "cli"])  # a verb's file is named for its verb
def test_no_two_files_of_a_house_have_names_that_are_alike(house: str) -> None:
    folder = real.REPOSITORY / "builder" / PACKAGE / house
    files = [file for file in sorted(folder.rglob("*.py")) if file.name != "__init__.py"]
    assert not [
        f"{one.relative_to(folder)} and {other.relative_to(folder)}"
        for one, other in combinations(files, 2)
        if _are_alike(one.stem, other.stem)
    ]


def _folders(name: str) -> list[str]:
    """Return the folders above a file that is named with ``__`` for ``/``, the outermost first."""
    parts = name.split("__")[:-1]
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]


def _faults_of(package_dir: Path, **sources: str) -> list[str]:
    """Write each source, its file named with ``__`` for ``/``, and return the faults of that package."""
    for name in ("", *(folder for module in sources for folder in _folders(module))):
        (package_dir / name).mkdir(exist_ok=True, parents=True)
        (package_dir / name / "__init__.py").touch()
    for name, source in sources.items():
        (package_dir / f"{name.replace('__', '/')}.py").write_text(source)
    return find_faults(draw(package_dir))


@pytest.mark.parametrize(
    "source",
    [
        "from packyard.cli.output import show",
        "from ...cli.output import show",
        "def later():\n    from packyard.cli.output import show",
        "import importlib\nimportlib.import_module('packyard.cli.output')",
    ],
)
def test_refuses_an_import_of_a_later_room(tmp_path: Path, source: str) -> None:
    faults = _faults_of(tmp_path, core__yaml__edit=source, cli__output="")
    assert faults == [
        "packyard.core.yaml.edit imports packyard.cli.output: 'cli' comes after 'core.yaml'",
        "packyard.core.yaml.edit imports packyard.cli.output: 'core' does not know 'cli'",
    ]


def test_refuses_an_import_of_a_house_that_is_not_known(tmp_path: Path) -> None:
    source = "import packyard.sharing.index.access\n"
    assert _faults_of(tmp_path, running__runs__deploy=source, sharing__index__access="") == [
        "packyard.running.runs.deploy imports packyard.sharing.index.access: 'running' does not know 'sharing.index'"
    ]


def test_refuses_a_circle_within_a_room(tmp_path: Path) -> None:
    sources = {
        "core__yaml__edit": "from . import scalar",
        "core__yaml__scalar": "from packyard.core.yaml.edit import E",
    }
    (fault,) = _faults_of(tmp_path, **sources)
    assert fault.startswith("circle: packyard.core.yaml.")


def test_refuses_a_room_that_has_no_place(tmp_path: Path) -> None:
    assert _faults_of(tmp_path, core__utils="") == ["packyard.core.utils: the room 'core' has no place in the order"]
