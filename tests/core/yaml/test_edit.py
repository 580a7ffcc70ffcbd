"""Block scalars keep their style, header and indentation, and the real program reads from them what it would write."""

import shutil
from pathlib import Path

import pytest
import yaml

from core.files.krmfiles import one_setter
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Assignment, plan
from packyard.using.setting import set_values
from real import Kustomize

KRMFILE = one_setter()
COMMENT = '# {"$openapi":"V"}'
FORMS = {
    "literal": ("|-\n    old\n", "new", "|-\n    new\n"),
    "literal of several lines": ("|-\n  old\n   er\n\n", "new\n\n  er", "|-\n  new\n\n    er\n\n"),
    "clipped": ("|\n  old\n", "new\n", "|\n  new\n"),
    "clipped, without the last break": ("|\n  old\n", "new", "|-\n  new\n"),
    "kept": ("|+\n  old\n\n", "new\n\n", "|+\n  new\n\n"),
    "with a declared indentation": ("|2-\n    old\n", "    new", "|2-\n      new\n"),
    "folded": (">-\n  old\n  older\n", "new newer", ">-\n  new newer\n"),
    "folded, of two lines": (">-\n  old\n", "new\nnewer\n\nnewest", ">-\n  new\n\n  newer\n\n\n  newest\n"),
    "with an anchor and a tag": ("&a !!str |-\n  old\n", "new", "&a !!str |-\n  new\n"),
    "a text that looks like a number": ("|-\n  old\n", "0644", "|-\n  0644\n"),
    "nothing": ("|-\n  old\n", "", '""\n'),
    "a blank first": ("|-\n  old\n", " new", '" new"\n'),
    "a control character": ("|-\n  old\n", "new\a", '"new\\a"\n'),
}


def set_value(text: str, value: str) -> str:
    package = PackageFiles(KRMFILE.encode(), {"r.yaml": text.encode()})
    return plan(package, Assignment({"V": [value]})).files.get("r.yaml", text.encode()).decode()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_block_keeps_its_form_where_the_text_fits(form: str, newline: str) -> None:
    old, value, new = (part.replace("\n", newline) if index != 1 else part for index, part in enumerate(FORMS[form]))
    before, after = f"{COMMENT}{newline}x: ", f"y: 1 # z{newline}"
    assert set_value(before + old + after, value) == before + new + after


def test_setting_the_old_text_back_restores_the_block() -> None:
    for header in ("|-", "|", ">-", ">"):
        text = f"a:\n  {COMMENT}\n  - {header}\n    old\nb: 1\n"
        old = yaml.safe_load(text)["a"][0]
        for value in ("new", "1.10", "a: b", "# c", "a\nb", "a\nb\n", "yes"):
            assert set_value(set_value(text, value), old) == text


@pytest.mark.parametrize("value", ["new", "5", "0644", "a: b", "# c", "*x"])
def test_the_real_program_sets_the_same_text(kustomize4: Kustomize, tmp_path: Path, value: str) -> None:
    text = f"{COMMENT}\na: |-\n  old\n{COMMENT}\nb: >-\n  old\nl:\n{COMMENT}\n- |-\n  3\n"
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    (theirs / "Krmfile").write_text(KRMFILE.replace("      x-k8s", "      type: string\n      x-k8s"), "utf-8")
    (theirs / "r.yaml").write_text(text, "utf-8")
    shutil.copytree(theirs, ours)
    kustomize4.done("cfg", "set", ".", "V", value, cwd=theirs)
    set_values(ours, {"V": [value]})
    found = [yaml.safe_load((side / "r.yaml").read_text("utf-8")) for side in (ours, theirs)]
    assert found[0] == found[1] == {"a": value, "b": value, "l": [value]}
