"""What definitions admit: every keyword beside the real program's answer, and formats."""

from pathlib import Path

import pytest

from core.files.krmfiles import one_setter
from packyard.core.errors import InputError
from packyard.using.setters.check import is_refused
from packyard.using.setters.definition import Setter
from packyard.using.setting import set_values
from real import Kustomize
from tiny import done, packyard, write
from using.setters import judged

KEYWORDS = judged.cases("keywords")


def make(root: Path, keywords: str) -> Path:
    write(root / "Krmfile", one_setter("V", '"0"', *keywords.splitlines()))
    (root / "r.yaml").write_text('x: 0 # {"$openapi":"V"}\n', "utf-8")
    return root


@pytest.mark.parametrize(("keywords", "good", "bad"), KEYWORDS)
def test_a_keyword_admits_and_refuses_what_the_real_program_does(
    kustomize3: Kustomize, tmp_path: Path, keywords: str, good: str, bad: str
) -> None:
    theirs, ours = make(tmp_path / "theirs", keywords), make(tmp_path / "ours", keywords)

    assert kustomize3("cfg", "set", ".", "V", bad, cwd=theirs).returncode == 1
    with pytest.raises(InputError, match="V takes "):
        set_values(ours, {"V": [bad]})
    before = (ours / "Krmfile").read_bytes()
    refused = packyard("cfg", "set", ours, "V", bad)
    assert (refused.returncode, (ours / "Krmfile").read_bytes()) == (1, before)
    assert "V takes " in refused.stderr
    assert kustomize3("cfg", "set", ".", "V", good, cwd=theirs).returncode == 0
    done("cfg", "set", ours, "V", good)


FORMATS = judged.cases("formats")


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_admits_what_is_one(name: str) -> None:
    good, bad = FORMATS[name]
    assert [text for text in good if is_refused(Setter("V", schema={"format": name}), [text])] == []
    assert [text for text in bad if not is_refused(Setter("V", schema={"format": name}), [text])] == []
