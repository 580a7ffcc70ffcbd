"""The tests that a package's author writes: what use cases are once values are set and options enabled.

# packages/NAME/tests/*.yaml, which are not shipped
tests:
- it: hands the size of a batch to the program
  useCases: [multi-node]                    or with their storage; without, all
  set: {BATCH_SIZE: "64"}                   as `packyard set`, `set -f` and `enable` take them
  preset: p3dn
  enable: [queue]
  expect:
  - {kind: ConfigMap, name: run, path: data.BATCH_SIZE, equal: "64"}
- it: takes no empty batch
  set: {BATCH_SIZE: "0"}
  refused: BATCH_SIZE
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from packyard.core.errors import InputError, Problem, every, suggest
from packyard.core.yaml import strict
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import MappingNode, Node
from packyard.core.yaml.strict import Value
from packyard.using.setters import regexp, valuesfile
from packyard.using.setters.plan import Given
from packyard.writing.source import fieldpath
from packyard.writing.source.package import Package
from packyard.writing.source.workspace import Workspace, authored

DIRECTORY = "tests"
Check = Literal["equal", "contains", "matches", "exists"]
_CHECKS: tuple[Check, ...] = ("equal", "contains", "matches", "exists")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What has to be true of the objects of a kind, all of them or those whose name matches.

    Without a path it is about the object itself.
    """

    kind: str
    name: str
    path: str
    check: Check
    wanted: Value
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageTest:
    """What is given to some use cases, by their paths, and what comes of it: ``expected``, or a refusal."""

    it: str
    file: str
    line: int
    use_cases: Sequence[str]
    values: Mapping[str, Sequence[str]]
    preset: str
    options: Sequence[str]
    expected: Sequence[Expectation]
    refused: str

    def problem(self, message: str, line: int = 0) -> Problem:
        """Describe what came of it instead, by its place, or by the line of what was expected."""
        return Problem(f"{self.it}: {message}", file=self.file, line=line or self.line)


def read_all(workspace: Workspace, package: Package) -> list[PackageTest]:
    """Read the tests of a package, in the order of their files; every fault of every file is named at once."""
    paths = authored(workspace.sources, f"{package.folder}/{DIRECTORY}")
    files = (path for path in paths if path.endswith((".yaml", ".yml")))
    by_file = every(lambda path: read(Fields.of_file(workspace.sources, path), package), files)
    return [test for tests in by_file for test in tests]


def read(fields: Fields, package: Package) -> list[PackageTest]:
    """Read the tests of a file."""
    nodes = fields.items("tests")
    if not nodes:
        fields.fault(fields.node, "tests", "is missing, or has none")
    tests = [_test(Fields(node, fields.file, "tests", fields.problems), node, package) for node in nodes]
    fields.done()
    return tests


def _test(fields: Fields, node: Node, package: Package) -> PackageTest:
    values_node = fields.anything("set")
    test = PackageTest(
        it=fields.text("it"),
        file=fields.file,
        line=node.source.locate(node.start)[0],
        use_cases=_use_cases(fields, package),
        values=_values(fields, values_node) if values_node else {},
        preset=fields.text("preset", ""),
        options=fields.texts("enable"),
        expected=[_expectation(Fields(item, fields.file, "tests.expect", fields.problems), item)
                  for item in fields.items("expect")],
        refused=fields.text("refused", ""),
    )  # fmt: skip
    if bool(test.expected) == bool(test.refused):
        fields.fault(node, "", "needs either expect or refused", "refused: a part of the message")
    fields.done()
    return test


def _use_cases(fields: Fields, package: Package) -> list[str]:
    """Return the paths that are named, by themselves or by what they begin with, or all."""
    paths = [use_case.path for use_case in package.use_cases]
    named = fields.texts("useCases")
    for name in named:
        if not any(f"{path}/".startswith(f"{name}/") for path in paths):
            hint = suggest(name, {*paths, *(use_case.name for use_case in package.use_cases)})
            fields.fault(fields.anything("useCases"), "useCases", f"{package.name} has no use case {name!r}", hint)
    return [path for path in paths if not named or any(f"{path}/".startswith(f"{name}/") for name in named)]


def _values(fields: Fields, node: Node) -> Mapping[str, Given]:
    if not isinstance(node, MappingNode):
        fields.fault(node, "set", "must be a mapping of names to values")
        return {}
    try:
        return valuesfile.read(node, fields.file)
    except InputError as error:
        fields.problems += error.problems
        return {}


def _expectation(fields: Fields, node: Node) -> Expectation:
    kind, name, path = fields.text("kind"), fields.text("name", ""), fields.text("path", "")
    nodes: dict[Check, Node] = {check: value for check in _CHECKS if (value := fields.anything(check))}
    check: Check = next(iter(nodes), "exists")
    value_node = nodes.get(check)
    if len(nodes) != 1:
        fields.fault(node, "", f"needs one of {', '.join(_CHECKS)}, and has {len(nodes) or 'none'}")
    if fieldpath.parse(path) is None:
        hint = "write a.b[0].c, a.b[name=x].c, a.b[*].c or a['b.c']"
        fields.fault(fields.anything("path"), "path", f"{path!r} is not a path of fields", hint)
    expected = strict.to_value(value_node) if value_node else None
    if value_node and (fault := _fault(check, expected)):
        fields.fault(value_node, check, fault)
    fields.done()
    return Expectation(
        kind=kind,
        name=name,
        path=path,
        check=check,
        wanted=expected,
        line=node.source.locate(node.start)[0],
    )


def _fault(check: Check, value: Value) -> str:
    """Say why a check cannot be made with a value."""
    if check == "exists" and not isinstance(value, bool):
        return "must be true or false"
    if check == "matches":
        return regexp.fault(value) if isinstance(value, str) else "must be a regular expression, in quotes"
    return ""
