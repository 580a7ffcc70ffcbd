"""Facts about programs of today, read from their unpacked wheels without running them: what they take and answer.

Of a server these are its arguments, its variables, the paths of its routes and the names of its metrics; of libraries,
the fields of the classes that configure a run. ``facts/`` keeps them, with the versions and dates that they are from.
"""

import ast
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Facts = dict[str, Any]

#: The classes that configure a training, by their packages.
CLASSES = {"SFTConfig": "trl", "DPOConfig": "trl", "SFTTrainer": "trl", "DPOTrainer": "trl", "ModelConfig": "trl"}
_ROUTE_METHODS = ("get", "post", "put", "delete", "api_route", "add_api_route", "mount")
_FLAG = re.compile(r"--[a-z][a-z0-9-]+")
_METRIC = re.compile(r"vllm:[a-z0-9_]+")
_PATH = re.compile(r"/[\w./{}:-]*")


class UnreadableError(Exception):
    """The sources are not as they were: the readers below have to be changed with them."""


def of_server(folder: Path) -> Facts:
    """Return what the sources of vLLM say, below an unpacked wheel or site-packages."""
    sources = folder / "vllm"
    facts = {
        "arguments": set(_arguments(sources)),
        "variables": set(_variables(_parsed(sources / "envs.py"))),
        "routes": set(_routes(_trees(sources / "entrypoints"))),
        "metrics": set(_metrics(_trees(sources / "v1"))),
    }
    for name, found in facts.items():
        if len(found) < 20:
            raise UnreadableError(f"{sources} has {len(found)} {name}: read them where they are now")
    return {name: sorted(found) for name, found in facts.items()}


def of_libraries(folder: Path, classes: dict[str, str]) -> Facts:
    """Return the names that the constructors of ``classes`` take; of each its package, by its name."""
    return {name: sorted(_fields(folder, package, name)) for name, package in classes.items()}


def version(folder: Path, name: str) -> str:
    (metadata,) = folder.glob(f"{name}-*.dist-info/METADATA")
    return next(line.split()[1] for line in metadata.read_text().splitlines() if line.startswith("Version: "))


def date(wheel: Path) -> str:
    """Return the day on which a wheel was made, as its files say."""
    with zipfile.ZipFile(wheel) as archive:
        year, month, day, *_ = max(each.date_time for each in archive.infolist())
    return f"{year}-{month:02}-{day:02}"


def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_bytes(), str(file))


def _trees(folder: Path) -> Iterator[ast.Module]:
    return (_parsed(file) for file in sorted(folder.rglob("*.py")))


def _calls(trees: Iterable[ast.AST], *names: str) -> Iterator[ast.Call]:
    """Yield the calls of methods and functions of these names."""
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Call) and _name(node.func) in names:
            yield node


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _arguments(sources: Path) -> Iterator[str]:
    """Yield the options of `vllm serve`: those that are added by name, and the fields of what the front end takes."""
    files = [sources / "engine/arg_utils.py", sources / "entrypoints/cli/serve.py"]
    trees = [*map(_parsed, [*files, *sorted((sources / "entrypoints").rglob("cli_args.py"))])]
    for call in _calls(trees, "add_argument"):
        yield from filter(_FLAG.fullmatch, _texts(call.args))
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.ClassDef) and node.name.endswith("FrontendArgs"):
            yield from (f"--{name.replace('_', '-')}" for name in _annotated(node))


def _annotated(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id


def _variables(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and _name(node.target) == "environment_variables":
            assert isinstance(node.value, ast.Dict)
            yield from _texts(key for key in node.value.keys if key)


def _routes(trees: Iterable[ast.Module]) -> Iterator[str]:
    for call in _calls(trees, *_ROUTE_METHODS, "Mount"):
        yield from filter(_PATH.fullmatch, _texts(call.args[:1]))


def _metrics(trees: Iterable[ast.Module]) -> Iterator[str]:
    """Yield names as /metrics has them: those of counters end in _total."""
    for call in (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)):
        named = [word.value for word in call.keywords if word.arg == "name"]
        for name in filter(_METRIC.fullmatch, _texts([*call.args[:1], *named])):
            yield f"{name.removesuffix('_total')}_total" if "counter" in _name(call.func).lower() else name


def _fields(folder: Path, package: str, name: str) -> set[str]:
    """Return what the constructor of a class takes, and those of its bases: of any module, also of other packages."""
    tree, found = _class(folder / package, name)
    packages = _imported(tree, package)
    bases = {base: packages.get(base, package) for base in map(_name, found.bases)}
    theirs = (_fields(folder, of, base) for base, of in bases.items() if (folder / of).is_dir())
    return {*_annotated(found), *_parameters(found)}.union(*theirs)


def _class(package: Path, name: str) -> tuple[ast.Module, ast.ClassDef]:
    pattern = re.compile(rf"^class {name}\b".encode(), re.M)
    """Return the class that is nearest to the root of a package."""
    for file in sorted(package.rglob("*.py"), key=lambda file: (len(file.parts), file)):
        if pattern.search(file.read_bytes()):
            tree = _parsed(file)
            return tree, next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    raise UnreadableError(f"{package} has no class {name}")


def _parameters(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            yield from (argument.arg for argument in [*each.args.args[1:], *each.args.kwonlyargs])


def _imported(tree: ast.Module, package: str) -> dict[str, str]:
    """Return the packages that the names of a module of ``package`` are from."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            source = package if node.level else (node.module or "").split(".")[0]
            found |= {name.asname or name.name: source for name in node.names}
    return found
