"""Rules of lint that a workspace has of its own, in the files that packyard.yaml names."""

from pathlib import Path

import pytest

import tiny
from packyard.core.errors import InputError
from packyard.writing.build import workspace_lint
from packyard.writing.build.own_rules import judges_of
from packyard.writing.source import workspace

RULES = """\
rules:
  acme/owned:
    severity: error
    summary: An object has no owner.
    why: Somebody has to be asked.
    hint: Add the label.
    rows:
    - on: ConfigMap metadata
      rule: "'owner' in self.?labels.orValue({})"
      message: "nobody owns {self.name}"
"""
EXAMPLE = """\
    example: |
      --- settings.yaml
       apiVersion: v1
       kind: ConfigMap
       metadata:
         name: settings
      +  labels: {owner: us}
"""


def ruled(folder: Path, rules: str) -> workspace.Workspace:
    """Return a workspace with these rules."""
    root = tiny.workspace(folder)
    tiny.write(root / "lint/ours.yaml", rules)
    file = root / "packyard.yaml"
    tiny.write(file, file.read_text() + "lint:\n  rules: [lint/ours.yaml]\n")
    return workspace.read(root)


def test_a_rule_of_the_workspace_judges_what_is_composed_at_its_authors_line_but_for_an_exception(
    tmp_path: Path,
) -> None:
    here = ruled(tmp_path, RULES + EXAMPLE)
    (each,) = (each for each in workspace_lint.lint(here, "p") if "acme/" in each.rule)
    assert each.file.startswith(f"{tmp_path}/bases/one/")
    assert "error: nobody owns " in str(each)
    assert each.rule == "acme/owned"
    lines = Path(each.file).read_text().splitlines()
    lines.insert(each.line - 1, "  # packyard: allow acme/owned: it is everybody's")
    tiny.write(Path(each.file), "\n".join(lines) + "\n")
    assert not [each for each in workspace_lint.lint(workspace.read(tmp_path), "p") if "acme" in each.rule]


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        (RULES.replace("acme/owned", "owned"), "'owned' is no name of a rule of your own"),
        (RULES.replace("error", "fatal"), "must be error or warning, not 'fatal'"),
        (RULES.replace("on:", "onn:"), "onn: is not a known key"),
        (RULES.partition("      message")[0], "message: is missing"),
        (RULES.replace("      message", "      massage"), "massage: is not a known key (did you mean 'message'?)"),
        (RULES + EXAMPLE.replace("+ ", "- "), "example: does not have the fault"),
        (RULES + EXAMPLE.replace("+ ", "  "), "example: does not have the fault"),
    ],
)
def test_a_rule_that_cannot_be_read_is_named(tmp_path: Path, rules: str, says: str) -> None:
    with pytest.raises(InputError, match=r"lint/ours\.yaml:\d+:\d+: rules\.") as refused:
        judges_of(ruled(tmp_path, rules))
    assert says in str(refused.value)
