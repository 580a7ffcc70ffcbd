"""Linting packages of a few lines."""

from collections.abc import Callable

import pytest

from packyard.using.setters.packages import PackageFiles
from writing.checks.linting import essential, lint

_EMPTY = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n"


@pytest.fixture
def found() -> Callable[..., list[str]]:
    """Call it with a Krmfile and files (``a_yaml`` is ``a.yaml``): ``file:line:column severity rule`` per finding.

    Those of good practice and of layout are left out, which packages of a few lines cannot follow: `test_practice` and
    `test_layout` have them, and `test_names` names without a limit.
    """

    def find(krmfile: str = _EMPTY, *, shipped: bool = True, **files: str) -> list[str]:
        resources = {name.replace("_", "."): text.encode() for name, text in files.items()}
        findings = essential(lint(PackageFiles(krmfile.encode(), resources), shipped=shipped))
        return [
            f"{finding.file}:{finding.line}:{finding.column} {finding.severity} {finding.rule}"
            for finding in findings
            if finding.rule not in ("name-without-limit", "rewritten")
        ]

    return find
