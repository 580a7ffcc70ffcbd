"""ConfigMaps from files: the same as kustomize makes, for scripts of every kind of text."""

import re
from pathlib import Path

import pytest

import reading
from packyard.core.files.tree import Tree
from packyard.core.yaml import layout
from packyard.core.yaml.sources import Sources
from packyard.using.kustomize import builtin
from packyard.using.kustomize.accumulate import accumulate
from packyard.writing.source import parts
from real import Kustomize
from tiny import write, write_all
from using.kustomize import both

TEXTS = [
    *("print(1)\n", "no line end", "two\n\n\n", " indented\n", "\nempty first\n", "tab\there\n", "a\n\n  b # c\n: d\n"),
    *("ü€\n", "trailing \nblanks  \n", "", "\u2028\n", '#!/bin/sh\necho ${A} "$@"\n'),
]
HEADER = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
ENTRY = "configMapGenerator:\n- name: scripts\n  files: [{files}]\n  options: {{disableNameSuffixHash: {flag}}}\n"


def test_a_generated_object_is_the_one_that_kustomize_makes(kustomize5: Kustomize, tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    write_all(theirs, {f"f{number}.sh": text for number, text in enumerate(TEXTS)})
    files = ", ".join(f"f{number}.sh" for number in range(len(TEXTS)))
    (theirs / "kustomization.yaml").write_text(HEADER + ENTRY.format(files=files, flag="true"))
    (item,) = accumulate(parts.read(Sources(theirs), "", "Kustomization"))
    write(ours / "map.yaml", layout.write(item.root))
    write(ours / "kustomization.yaml", HEADER + "resources:\n- map.yaml\n")
    assert reading.built(kustomize5, ours) == reading.built(kustomize5, theirs)


def test_files_of_variables_are_read_as_kustomize_reads_them(kustomize5: Kustomize, tmp_path: Path) -> None:
    (tmp_path / "a.env").write_bytes(b'\xef\xbb\xbfA=1\r\n# no\n\n  B= two # three \nC="x"\nD=\nE=f=g\n')
    (tmp_path / "kustomization.yaml").write_text(HEADER + "configMapGenerator: [{name: scripts, envs: [a.env]}]\n")
    assert reading.sorted_objects(builtin.build(Tree(tmp_path)).decode()) == reading.built(kustomize5, tmp_path)


REFERENCES = """nameReference:
- kind: ConfigMap
  fieldSpecs:
  - {kind: JobSet, path: spec/replicatedJobs/template/spec/template/spec/volumes/configMap/name}
"""
POD = "{volumes: [{name: a, configMap: {name: scripts}}, {name: b, configMap: {name: others}}]}"
JOB = f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: a}}\nspec: {{template: {{spec: {POD}}}}}\n"
SET = (
    "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\n"
    f"spec: {{replicatedJobs: [{{template: {{spec: {{template: {{spec: {POD}}}}}}}}}]}}\n"
)
USE_CASE = HEADER + "resources: [job.yaml, set.yaml]\ncomponents: [../programs/shell]\npatches:\n- path: scripts.yaml\n"
ADDED = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: scripts}\ndata: {instance: a, b: 'x <&> \u2028 \u00e9'}\n"


RENAMED = "- {target: {kind: ConfigMap}, patch: '- {op: replace, path: /metadata/name, value: scripts-b}'}\n"


@pytest.mark.parametrize("more", ["", RENAMED], ids=["a", "renamed"])
def test_the_hash_is_that_of_every_kustomize_and_reaches_every_reference(
    kustomize3: Kustomize, kustomize4: Kustomize, kustomize5: Kustomize, more: str, tmp_path: Path
) -> None:
    shell, use_case = tmp_path / "programs/shell", tmp_path / "use-case"
    header = HEADER.replace("v1beta1", "v1alpha1").replace("Kustomization", "Component")
    generator = "configMapGenerator: [{name: scripts, files: [run.sh]}]\nconfigurations: [references.yaml]\n"
    write(shell / "kustomization.yaml", header + generator)
    write(shell / "references.yaml", REFERENCES)
    write(shell / "run.sh", "test 1 -lt 2 && echo '<&>'\n")
    files = {"job.yaml": JOB, "set.yaml": SET, "scripts.yaml": ADDED, "kustomization.yaml": USE_CASE + more}
    write_all(use_case, files)
    names = [
        re.findall(r"'scripts-(?:b-)?\w{10}'", str(both.built(each, use_case)))
        for each in (kustomize3, kustomize4, kustomize5)
    ]
    assert (len(names[0]), len(set(names[0]))) == (3, 1)
