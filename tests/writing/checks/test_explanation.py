"""The table of rules against the checks: every rule has a row, and every row's example has the fault that it shows."""

import re
from pathlib import Path

import pytest

import packyard
import tiny
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import schemas
from packyard.core.kubernetes.kustomization import FILE
from packyard.using.options.switch import find_misfits
from packyard.using.setters.krmfile import EMPTY
from packyard.using.setters.packages import PackageFiles
from packyard.writing.build import package_lint, workspace_lint
from packyard.writing.checks import folder as any_folder
from packyard.writing.checks.explanation import Rule, table
from packyard.writing.checks.finding import Finding, finding
from packyard.writing.source import workspace
from writing.checks.linting import lint

_ROOT = Path(packyard.__file__).parent
#: Where findings are made, and facts that become findings.
_PLACES = (
    "writing/checks/*.py",
    "cli/writing/lint.py",
    "writing/build/silence.py",
    "writing/build/package_lint.py",
    "writing/build/workspace_lint.py",
    "core/kubernetes/schemas.py",
    "using/setters/refusal.py",
    "using/setters/rules/rule.py",
)
_CALL = r'\b(?:breach|finding|Fault|_found)\(\s*"|yield "|\] = "|rule="'
_NAMES = re.compile(rf'(?:{_CALL})([a-z]+(?:-[a-z]+)+|unreadable|rewritten)"')
#: Families that look at what lies beside manifests.
_OF_FOLDERS = ("Documents", "Kustomizations")
_DEFINITIONS = b"apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n"


def test_every_rule_that_a_check_yields_has_a_row_and_every_row_a_check() -> None:
    texts = [file.read_text() for pattern in _PLACES for file in _ROOT.glob(pattern)]
    by_rows = {rule.name for rule in table().values() if rule.rows}
    assert {name for text in texts for name in _NAMES.findall(text)} | by_rows == set(table())


@pytest.mark.parametrize("rule", table().values(), ids=lambda rule: rule.name)
def test_the_example_of_a_rule_has_its_fault_until_it_is_changed(rule: Rule, tmp_path: Path) -> None:
    wrong = {item.severity for item in found(rule, "-", tmp_path / "wrong") if item.rule == rule.name}
    assert wrong == {rule.severity}
    assert [str(item) for item in found(rule, "+", tmp_path / "right") if item.rule == rule.name] == []


def found(rule: Rule, mark: str, folder: Path) -> list[Finding]:
    """Lint an example as what its files are: parts of a workspace, use cases in folders, one package, or any folder."""
    data = {path: text.encode() for path, text in rule.files(mark).items()}
    if "packyard.yaml" in data:
        for path, content in {**data, "LICENSE": b"free\n"}.items():
            if content:
                tiny.write(folder / path, content.decode())
        return workspace_lint.lint(workspace.read(folder), "w")
    if any(path.startswith("packages/") for path in data):
        root = tiny.workspace(folder)
        tiny.write_all(root, rule.files(mark))
        linted = package_lint.lint(workspace.read(root), "p")
        return workspace_lint.judge(workspace.read(root), [linted])
    for path in data:
        if data[path].startswith(b"io.k8s.cli."):
            data[path] = _DEFINITIONS + b"".join(b"    " + line for line in data[path].splitlines(keepends=True))
    krmfile = data.pop("Krmfile", b"") or EMPTY
    tiny.write_all(folder, data)
    if rule.family in _OF_FOLDERS or any(path.endswith("/Krmfile") or path.startswith("crds/") for path in data):
        if krmfile == EMPTY and rule.family == "Documents":  # which are those of packages with setters
            krmfile = _DEFINITIONS + b"    io.k8s.cli.setters.A: {x-k8s-cli: {setter: {name: A, value: a}}}\n"
        if krmfile != EMPTY:
            (folder / "Krmfile").write_bytes(krmfile)
        return any_folder.lint(Tree(folder), judges=()).findings
    tops = {
        path.partition("/")[0] + "/" if "/" in path and b"Component" not in text else "" for path, text in data.items()
    }
    cases = [{path: text for path, text in data.items() if path.startswith(top)} for top in tops]
    packages = [PackageFiles(krmfile, case) for case in cases]
    judges = schemas.choose(("1.31",))
    lints = [each for package in packages for each in lint(package, judges=judges, is_own=len(cases) == 1)]
    misfits = (each for top in tops if (folder / top / FILE).exists() for each in find_misfits(Tree(folder / top)))
    return [*lints, *(finding("option-does-not-apply", misfit) for misfit in misfits)]
