"""Patches: our objects beside those of the real kustomize, and the comments that only ours carry."""

from pathlib import Path

import pytest
import yaml

import tiny
from packyard.core.errors import InputError
from packyard.core.yaml import layout
from packyard.core.yaml.sources import Sources
from packyard.writing.source import parts
from packyard.writing.source.compose import accumulate
from real import Kustomize

BASE = tiny.text("parts/patched.yaml")

DEPLOYMENT = "target: {kind: Deployment}"
OPERATIONS = {
    "add a key": "- op: add\n  path: /metadata/labels/app\n  value: web",
    "add over a key": "- op: add\n  path: /spec/replicas\n  value: 5",
    "add behind the last item": "- op: add\n  path: /spec/template/spec/volumes/-\n  value: {name: x, emptyDir: {}}",
    "add before an item": "- op: add\n  path: /spec/template/spec/containers/0/args/1\n  value: 010",
    "add a list": "- op: add\n  path: /spec/template/spec/tolerations\n  value: []",
    "replace": "- op: replace\n  path: /spec/template/spec/containers/0/image\n  value: nginx:1.8",
    "replace a mapping": "- op: replace\n  path: /spec/template/spec/volumes/0\n  value: {name: z}",
    "remove a key": "- op: remove\n  path: /spec/replicas",
    "remove an item": "- op: remove\n  path: /spec/template/spec/containers/0/args/0",
    "copy": "- op: copy\n  from: /metadata/name\n  path: /metadata/labels/copied",
    "move": "- op: move\n  from: /spec/replicas\n  path: /metadata/moved",
    "test that holds": "- op: test\n  path: /spec/replicas\n  value: 2",
    "a key with a slash and a tilde": "- op: add\n  path: /metadata/labels/a~1b~0c\n  value: x",
    "one after the other": "- op: add\n  path: /spec/selector\n  value: {}\n"
    "- op: add\n  path: /spec/selector/matchLabels\n  value: {a: b}",
    "test of what is not there": "- op: test\n  path: /spec/paused\n  value: null",
}
HEAD = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n"
CUSTOM = "apiVersion: example.com/v1\nkind: Custom\nmetadata:\n  name: custom\n"
MERGES = {
    "a value": HEAD + "spec:\n  replicas: 7\n",
    "a new key": HEAD + "spec:\n  paused: true\n",
    "a null takes away": HEAD + "spec:\n  replicas: null\n",
    "a container by its name": HEAD
    + "spec:\n  template:\n    spec:\n      containers:\n      - name: main\n        image: other:1\n",
    "a container that is new": HEAD
    + "spec:\n  template:\n    spec:\n      containers:\n      - name: side\n        image: side:1\n",
    "environment and mounts": HEAD
    + "spec:\n  template:\n    spec:\n      containers:\n      - name: main\n        env:\n"
    + "        - name: B\n          value: b\n        - name: A\n          value: changed\n"
    + "        volumeMounts:\n        - name: tmp\n          mountPath: /var/tmp\n",
    "volumes": HEAD + "spec:\n  template:\n    spec:\n      volumes:\n      - name: more\n        emptyDir: {}\n",
    "plain lists are replaced": HEAD
    + "spec:\n  template:\n    spec:\n      containers:\n      - name: main\n        args:\n        - only\n",
    "lists of custom resources are replaced": CUSTOM + "spec:\n  items:\n  - name: c\n",
    "labels": HEAD + "  labels:\n    a: b\n",
    "nulls in what is new": CUSTOM + "new: {a: ~, b: {c: ~}, l: [{a: ~}, ~]}\n",
    "nulls in what is new in lists": HEAD
    + "spec:\n  strategy: {type: ~, rollingUpdate: {maxSurge: ~, maxUnavailable: 1}}\n  template:\n    spec:\n"
    + "      initContainers:\n      - {name: side, image: ~, args: [~, a], env: [{name: A, value: ~}]}\n"
    + "      tolerations: [{key: ~, operator: Exists}]\n      volumes:\n      - {name: more, emptyDir: ~}\n",
}
_POD = f"{HEAD}spec:\n  template:\n    spec:\n"
_MAIN = f"{_POD}      containers:\n      - name: main\n"
DIRECTIVES = {
    "an object": HEAD + "$patch: delete\n",
    "a custom object": CUSTOM + "$patch: delete\n",
    "a mapping": HEAD + "  labels:\n    $patch: delete\n",
    "a mapping that is not there": HEAD + "spec:\n  strategy:\n    $patch: delete\n",
    "an element": _MAIN + "        $patch: delete\n      - {name: side, image: 'a:1'}\n",
    "an element that is not there": _POD + "      containers:\n      - {name: gone, $patch: delete}\n",
    "an element of an element": _MAIN
    + "        env:\n        - {name: A, $patch: delete}\n        - {name: B, value: b}\n",
    "an element by another key": _MAIN + "        volumeMounts:\n        - {mountPath: /tmp, $patch: delete}\n",
    "a mapping of a custom resource": CUSTOM + "spec:\n  $patch: delete\n",
}


def objects(text: str) -> list[object]:
    return sorted(yaml.load_all(text, yaml.CSafeLoader), key=str)


def judge(kustomize5: Kustomize, tmp_path: Path, entry: str, *, base: str = BASE) -> str:
    (tmp_path / "base.yaml").write_text(base, "utf-8")
    header = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- base.yaml\n"
    listed = f"patches:\n{entry}".replace("patches:\n[]", "patches: []")
    (tmp_path / "kustomization.yaml").write_text(header + listed, "utf-8")
    done = kustomize5("build", tmp_path)
    assert done.returncode == 0, done.stderr
    part = parts.read(Sources(tmp_path), "", "Kustomization")
    composed = [layout.write(item.root).decode() for item in accumulate(part)]
    built = tmp_path / "built"
    tiny.write_all(built, {f"{number}.yaml": text for number, text in enumerate(composed)})
    names = "".join(f"- {number}.yaml\n" for number in range(len(composed)))
    (built / "kustomization.yaml").write_text(f"resources:\n{names}", "utf-8")
    ours = kustomize5("build", built)
    assert ours.returncode == 0, ours.stderr
    assert objects(ours.stdout) == objects(done.stdout)
    return "".join(composed)


def inline(text: str, target: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return f"- patch: |-\n{lines}" + (f"  {target}\n" if target else "")


@pytest.mark.parametrize("case", OPERATIONS)
def test_operations_give_the_objects_of_kustomize(kustomize5: Kustomize, tmp_path: Path, case: str) -> None:
    judge(kustomize5, tmp_path, inline(OPERATIONS[case], DEPLOYMENT))


@pytest.mark.parametrize("case", MERGES)
def test_strategic_merges_give_the_objects_of_kustomize(kustomize5: Kustomize, tmp_path: Path, case: str) -> None:
    judge(kustomize5, tmp_path, inline(MERGES[case]))


@pytest.mark.parametrize("case", DIRECTIVES)
def test_directives_give_the_objects_of_kustomize(kustomize5: Kustomize, tmp_path: Path, case: str) -> None:
    judge(kustomize5, tmp_path, inline(DIRECTIVES[case]))


def test_a_directive_with_a_target_deletes_every_object_that_it_selects(kustomize5: Kustomize, tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: Any\nmetadata: {name: any}\n$patch: delete\n"
    assert "Deployment" not in judge(kustomize5, tmp_path, inline(text, DEPLOYMENT))


def test_what_a_merge_says_of_a_list_goes_in_front_in_its_own_order(kustomize5: Kustomize, tmp_path: Path) -> None:
    env = "".join(f"        - name: {name}\n          value: x\n" for name in "BCD")
    base = BASE.replace("        volumeMounts:", f"{env}        volumeMounts:", 1)
    container = "spec:\n  template:\n    spec:\n      containers:\n      - name: main\n        env:\n"
    changed = "".join(f"        - name: {name}\n          value: new\n" for name in ("D", "NEW", "B"))
    made = judge(kustomize5, tmp_path, inline(HEAD + container + changed), base=base)
    assert [line.split()[-1] for line in made.splitlines() if "- name: " in line][1:6] == ["D", "NEW", "B", "A", "C"]


def test_comments_travel_and_are_replaced_as_the_design_says(kustomize5: Kustomize, tmp_path: Path) -> None:
    text = """\
# Why this operation: for authors only.
- op: replace
  path: /spec/replicas
  value: 3 # {"$openapi":"COPIES"}
- op: replace
  path: /spec/template/spec/containers/0/image
  value: nginx:1.8
- op: add
  path: /spec/template/spec/volumes/-
  value:
    # For the user.
    name: data # {"$openapi":"VOLUME"}
    emptyDir: {}
- {op: add, path: /spec/template/spec/containers/0/command/-, value: sh}
"""
    base = BASE.replace("        volumeMounts:", "        command: [] # the image's own\n        volumeMounts:", 1)
    composed = judge(kustomize5, tmp_path, inline(text, DEPLOYMENT), base=base)
    assert "command: [sh]\n" in composed
    assert "# What the deployment is for.\napiVersion: apps/v1\n" in composed
    assert '  # Prose of the base.\n  replicas: 3 # {"$openapi":"COPIES"}\n' in composed
    assert "image: nginx:1.8\n" in composed  # a patch without a comment unbinds
    assert '      # For the user.\n      - name: data # {"$openapi":"VOLUME"}\n        emptyDir: {}\n' in composed
    assert "for authors only" not in composed
    assert "value: 08\n" in composed  # lexemes stay
    assert '- "0644"\n' in composed


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (inline("- op: replace\n  path: /spec/nothing\n  value: 1", DEPLOYMENT), "does not exist .op: add makes it"),
        (inline("- op: add\n  path: /spec/a/b\n  value: 1", DEPLOYMENT), "no list or mapping at /spec/a"),
        (inline("- op: add\n  path: /spec/template/spec/volumes/9\n  value: 1", DEPLOYMENT), "the list has 1 items"),
        (inline("- op: remove\n  path: /spec/nothing", DEPLOYMENT), "does not exist"),
        (inline("- op: test\n  path: /spec/replicas\n  value: 3", DEPLOYMENT), "test failed"),
        (inline("- op: put\n  path: /spec/replicas", DEPLOYMENT), "op is 'put'"),
        (inline("- op: add\n  path: /spec/replicas", DEPLOYMENT), "add needs a value"),
        (inline("- op: add\n  path: /spec/x\n  value: [yes]", DEPLOYMENT), "reads yes in an operation as a boolean"),
        (inline("- op: add\n  path: /spec/x\n  value: {n: 1}", DEPLOYMENT), "reads n in an operation as a boolean"),
        (inline("metadata:\n  labels: {a: b}", DEPLOYMENT), "needs kind and metadata.name"),
        (inline("- op: remove\n  path: /spec/replicas"), "needs a target"),
        (inline(HEAD.replace("web", "other")), "no Deployment 'other'"),
        (inline(HEAD + "spec:\n  $patch: remove\n"), r"\$patch is not supported"),
        (inline(HEAD + "spec:\n  $retainKeys: [a]\n"), r"\$retainKeys is not supported"),
        (inline(HEAD + "$patch: replace\n"), r"\$patch is not supported"),
        (inline(_MAIN + "        $patch: replace\n"), r"\$patch is not supported"),
        (inline("- op: remove\n  path: /x", "target: {labelSelector: a==b=c}"), "must be a label selector"),
        (inline("- op: remove\n  path: /x", "target: {labels: a}"), "labels: is not a known key"),
        (
            inline("- op: remove\n  path: /x", DEPLOYMENT) + "namePrefix: a-\n",
            "namePrefix: packyard does not compose it",
        ),
    ],
)
def test_refuses_what_it_cannot_do_by_file_and_line(tmp_path: Path, entry: str, message: str) -> None:
    (tmp_path / "base.yaml").write_text(BASE, "utf-8")
    (tmp_path / "kustomization.yaml").write_text(
        f"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- base.yaml\npatches:\n{entry}",
        "utf-8",
    )
    with pytest.raises(InputError, match=message) as refused:
        accumulate(parts.read(Sources(tmp_path), "", "Kustomization"))
    assert all("kustomization.yaml" in problem.file and problem.line for problem in refused.value.problems)


def test_a_new_key_follows_the_key_before_it_in_the_patch(kustomize5: Kustomize, tmp_path: Path) -> None:
    text = HEAD + "spec:\n  paused: true\n  replicas: 3\n  minReadySeconds: 5\n"
    composed = judge(kustomize5, tmp_path, inline(text))
    assert "  paused: true\n  # Prose of the base.\n  replicas: 3\n  minReadySeconds: 5\n  template:\n" in composed


REPLACED = {
    "an item of a list by a field": ("spec.items.[name=a]", ["spec.template.spec.volumes.[name=tmp]"]),
    "several fields": ("spec.items.0.value", ["metadata.annotations.note", "spec.template.spec.containers.0.image"]),
    "all items": ("spec.items.1.name", ["spec.template.spec.containers.*.image"]),
    "a key with dots": ("metadata.name", [r"metadata.labels.app\.kubernetes\.io/name"]),
    "a key with dots in brackets": ("metadata.name", ["metadata.labels.[app.kubernetes.io/name]"]),
    "an item by a value with dots": ("metadata.name", ["spec.template.spec.containers.[image=nginx:1.7].image"]),
}


@pytest.mark.parametrize("case", REPLACED)
def test_replacements_give_the_objects_of_kustomize(kustomize5: Kustomize, tmp_path: Path, case: str) -> None:
    source, targets = REPLACED[case]
    label = "labels: {role: web, app.kubernetes.io/name: x}"
    listed = "".join(f"    - '{target}'\n" for target in targets)
    entry = f"- source: {{kind: Custom, fieldPath: '{source}'}}\n  targets:\n  - select: {{kind: Deployment}}\n"
    judge(kustomize5, tmp_path, f"[]\nreplacements:\n{entry}    fieldPaths:\n{listed}",
          base=BASE.replace("labels: {role: web}", label).replace("1e3\n", "1e3\n  - {value: x}\n"))  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{source: {kind: Gone}, targets: [{select: {kind: Custom}, fieldPaths: [a]}]}", "0 objects are the source"),
        (
            "{source: {kind: Custom, fieldPath: a.b}, targets: [{select: {kind: Custom}, fieldPaths: [a]}]}",
            "the source has 0 values at a.b",
        ),
        (
            "{source: {kind: Custom}, targets: [{select: {kind: Deployment}, fieldPaths: [spec.gone]}]}",
            "Deployment has nothing at spec.gone",
        ),
        ("{source: {kind: Custom}, targets: [{select: {kind: Job}}]}", "needs select and fieldPaths"),
        (
            "{source: {kind: Custom}, targets: [{select: {kind: Job}, fieldPaths: [a], options: {create: true}}]}",
            "options: is not a known key",
        ),
        ("{path: gone.yaml}", "no file 'gone.yaml'"),
    ],
)
def test_a_replacement_that_leads_nowhere_is_refused_by_its_place(entry: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
        f"resources:\n- base.yaml\nreplacements:\n- {entry}\n"
    )
    with pytest.raises(InputError, match=message) as refused:
        accumulate(parts.read(Sources(tmp_path), "", "Kustomization"))
    assert all("kustomization.yaml" in problem.file and problem.line == 6 for problem in refused.value.problems)
