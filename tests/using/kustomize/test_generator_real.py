"""ConfigMaps from files: the same as kustomize makes, for scripts of every kind of text."""

from __future__ import annotations

from pathlib import Path

import pytest

import reading
from packyard.core.errors import InputError
from packyard.core.yaml import layout
from packyard.core.yaml.sources import Sources
from packyard.using.kustomize.accumulate import accumulate
from packyard.writing.source import parts
from served import Served

TEXTS = [
    *("print(1)\n", "no line end", "two\n\n\n", " indented\n", "\nempty first\n", "tab\there\n", "a\n\n  b # c\n: d\n"),
    *("ü€\n", "trailing \nblanks  \n", "", "\u2028\n", '#!/bin/sh\necho ${A} "$@"\n'),
]
HEADER = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
ENTRY = "configMapGenerator:\n- name: scripts\n  files: [{files}]\n  options: {{disableNameSuffixHash: {flag}}}\n"


def test_a_generated_object_is_the_one_that_kustomize_makes(served5: Served, tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    ours.mkdir()
    for number, text in enumerate(TEXTS):
        (theirs / f"f{number}.sh").write_bytes(text.encode())
    files = ", ".join(f"f{number}.sh" for number in range(len(TEXTS)))
    (theirs / "kustomization.yaml").write_text(HEADER + ENTRY.format(files=files, flag="true"))
    (item,) = accumulate(parts.read(Sources(theirs), "", "Kustomization"))
    (ours / "map.yaml").write_bytes(layout.write(item.root))
    (ours / "kustomization.yaml").write_text(HEADER + "resources:\n- map.yaml\n")
    assert reading.built(served5, ours) == reading.built(served5, theirs)


@pytest.mark.parametrize(
    ("files", "flag", "message"),
    [
        ("run.sh", "false", "options.disableNameSuffixHash: must be true"),
        ("other.sh", "true", "files: no file 'other.sh' here"),
        ("", "true", "files: is missing"),
    ],
)
def test_what_kustomize_would_name_otherwise_or_not_find_is_refused(
    files: str, flag: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "run.sh").write_text("true\n")
    (tmp_path / "kustomization.yaml").write_text(HEADER + ENTRY.format(files=files, flag=flag))
    with pytest.raises(InputError, match=message):
        parts.read(Sources(tmp_path), "", "Kustomization")
