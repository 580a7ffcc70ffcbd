"""Files that kustomize's writers would change, or that stop them."""

from __future__ import annotations

from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.finding import Finding
from packyard.writing.checks.lint import lint
from writing.checks import practicerules

KRMFILE = """\
openAPI:
  definitions:
    io.k8s.cli.setters.A:
      x-k8s-cli: {setter: {name: A, value: "1"}}
"""
BOUND = 'a: "1" # {"$openapi":"A"}\n'


def judged(text: str, krmfile: str = KRMFILE, *, shipped: bool = True) -> list[Finding]:
    found = lint(PackageFiles(krmfile.encode(), {"a.yaml": text.encode()}), shipped=shipped)
    return practicerules.without(found)


def test_finds_each_line_that_would_change_with_a_set() -> None:
    found = judged(f"{BOUND}b:   1\n\nc: [1,2]\n")
    assert [(each.line, each.rule, each.severity) for each in found] == [
        (2, "rewritten", "warning"),
        (3, "rewritten", "warning"),
        (4, "rewritten", "warning"),
    ]


def test_of_a_users_file_the_first_line_is_named_alone() -> None:
    (found,) = judged(f"{BOUND}b:   1\n\nc: [1,2]\n", shipped=False)
    assert (found.line, found.message) == (2, "kustomize writes this in another way; likewise 2 more in this file")


def test_the_krmfile_is_written_at_each_set() -> None:
    (found,) = judged(BOUND, KRMFILE.replace('{name: A, value: "1"}', '{name: A,  value: "1"}'))
    assert (found.file, found.line, found.rule) == ("Krmfile", 4, "rewritten")
    rule = f"rules:\n- rule: size(A) <= 24\n  message: {'word ' * 16}end\n"
    (found,) = judged(BOUND, KRMFILE + rule)
    assert (found.file, found.line) == ("Krmfile", 7)
    assert found.message.startswith("kustomize 3.8.7 breaks this line behind column 80")
