"""One patch for the pods of every kind: composed, shipped as an option, and refused by file and line."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml

import tiny
from packyard.core.errors import InputError
from packyard.writing.source.compose import ComposedPackage
from real import Kustomize
from writing.source import libraries
from writing.source.libraries import composed, define

HEAD = "apiVersion: packyard/v1\nkind: PodPatch\n"
#: A kind that packyard does not know, with two groups of pods.
FLEET = """\
apiVersion: example.com/v1
kind: Fleet
metadata: {name: f}
spec:
  crews:
  - name: driver
    template:
      spec:
        containers:
        - {name: drive, image: "drive:1", args: [a], env: [{name: A, value: "1"}]}
  - name: worker
    template:
      metadata: {labels: {a: b}}
      spec:
        tolerations: []
        containers:
        - {name: helper, image: "helper:1"}
        - {name: work, image: "work:1", resources: {limits: {gpu: 1, cpu: 2}}, volumeMounts: [{name: d, mountPath: /d}]}
        volumes:
        - {name: d, emptyDir: {}}
"""
WORKFLOW = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: f}
spec:
  podMetadata: {annotations: {a: b}}
  templates:
  - {name: steps, steps: [[{name: s, template: work}]]}
  - {name: work, container: {image: "work:1"}}
"""
JOB = tiny.POD.replace("name: x", "name: f").replace("name: main", "name: work")
STORAGE = """\
# Data is on a claim.
apiVersion: packyard/v1
kind: PodPatch
append: [tolerations]
metadata: {labels: {l: m}}
spec:
  priorityClassName: high
  volumes:
  - name: d
    emptyDir: null
    persistentVolumeClaim:
      claimName: data # {"$openapi":"CLAIM"}
  tolerations: [{key: t, operator: Exists}]
  containers:
  - name: (drive|work)
    env: [{name: A, value: "2"}, {name: B, value: b}]
    resources: {limits: {gpu: null}}
    volumeMounts: [{name: d, mountPath: /d, readOnly: true}]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a use case of each kind, and another Job that a label tells from the first."""
    root = tiny.workspace(tmp_path / "ws")
    labels = "  name: f\n  labels: {app.kubernetes.io/component: other}\n"
    other = JOB.replace("name: work", "name: other").replace("  name: f\n", labels)
    for name, text in {"fleet": FLEET, "job": JOB, "workflow": WORKFLOW, "other": other}.items():
        tiny.write(root / f"bases/{name}/kustomization.yaml", tiny.FILES["bases/one/kustomization.yaml"])
        tiny.write(root / f"bases/{name}/cm.yaml", text)
    tiny.write(root / "Krmfile", libraries.KRMFILE + define("CLAIM", "data"))
    tiny.write(root / "overlays/storage/claim/pods.yaml", STORAGE)
    uses = "".join(f"\n  {name}: {{base: {name}, storage: [claim]}}" for name in ("fleet", "job", "workflow"))
    tiny.replace(root / "packages/p/package.yaml", "  one: {base: one}", f"  one: {{base: one}}{uses}")
    return root


def option(root: Path, text: str) -> ComposedPackage:
    tiny.write(root / "overlays/options/o/pods.yaml", text)
    return composed(root)


def pods(root: Path, use_case: str) -> list[dict[str, Any]]:
    """Return the pods of a use case, of the Fleet both crews', with their metadata."""
    (file,) = (data for path, data in composed(root).files.items()
               if path.startswith(f"{use_case}/") and b"\nspec:" in data)  # fmt: skip
    spec = yaml.safe_load(file)["spec"]
    return [crew["template"] for crew in spec["crews"]] if "crews" in spec else [spec.get("template", spec)]


def built(made: ComposedPackage, folder: Path, kind: str, kustomize: Kustomize) -> str:
    """Return what kustomize builds of a use case of a kind with the option ``o``, as a user adds it."""
    tiny.write_all(folder, made.files)
    tiny.write(folder / "user/kustomization.yaml", f"resources: [../{kind}/claim]\ncomponents: [../options/o]\n")
    return kustomize.done("build", folder / "user")


def test_a_storage_is_merged_by_name_and_mount_path_into_the_pods_of_a_kind_that_nobody_knows(root: Path) -> None:
    driver, worker = pods(root, "fleet/claim")
    volume = {"name": "d", "persistentVolumeClaim": {"claimName": "data"}}
    assert driver["metadata"] == {"labels": {"l": "m"}}
    assert worker["metadata"] == {"labels": {"a": "b", "l": "m"}}
    assert driver["spec"]["volumes"] == worker["spec"]["volumes"] == [volume]
    assert driver["spec"]["containers"][0]["env"] == [{"name": "A", "value": "2"}, {"name": "B", "value": "b"}]
    helper, work = worker["spec"]["containers"]
    assert helper == {"name": "helper", "image": "helper:1"}
    assert work["resources"] == {"limits": {"cpu": 2}}
    assert work["volumeMounts"] == [{"name": "d", "mountPath": "/d", "readOnly": True}]
    assert worker["spec"]["tolerations"] == [{"key": "t", "operator": "Exists"}]


def test_a_workflow_has_fields_of_its_pods_itself_and_containers_by_the_names_of_templates(root: Path) -> None:
    (spec,) = pods(root, "workflow/claim")
    assert spec["podPriorityClassName"] == "high"
    assert spec["podMetadata"] == {"annotations": {"a": "b"}, "labels": {"l": "m"}}
    assert [volume["name"] for volume in spec["volumes"]] == ["d"]
    assert spec["templates"][1]["container"]["volumeMounts"] == [{"name": "d", "mountPath": "/d", "readOnly": True}]


def test_a_pattern_with_an_image_changes_that_of_containers_and_adds_none(root: Path) -> None:
    containers = "\n  containers:\n  - {name: (work|wrok), image: own}\n"
    tiny.write(root / "overlays/storage/claim/pods.yaml", f"{HEAD}spec:{containers}")
    driver, worker = pods(root, "fleet/claim")
    assert [each["image"] for each in driver["spec"]["containers"]] == ["drive:1"]
    assert [each["image"] for each in worker["spec"]["containers"]] == ["helper:1", "own"]


def test_patches_of_a_part_change_what_parts_that_it_is_made_of_brought(root: Path) -> None:
    rename = '[{"op": "replace", "path": "/spec/template/spec/volumes/0/name", "value": "e"}]'
    above = f"components: [../claim]\npatches:\n- {{target: {{kind: Job}}, patch: '{rename}'}}\n"
    tiny.write(root / "overlays/storage/above/kustomization.yaml", libraries.COMPONENT + above)
    tiny.replace(root / "packages/p/package.yaml", "job: {base: job, storage: [claim]}",
                 "job: {base: job, storage: [above]}")  # fmt: skip
    assert pods(root, "job/above")[0]["spec"]["volumes"][0]["name"] == "e"


def test_roles_choose_among_the_pods_of_an_object(root: Path) -> None:
    tiny.replace(root / "overlays/storage/claim/pods.yaml", "append:", "roles: [worker]\nappend:")
    tiny.replace(root / "packages/p/package.yaml", "  job: {base: job, storage: [claim]}\n", "")
    tiny.replace(root / "packages/p/package.yaml", "  workflow: {base: workflow, storage: [claim]}", "")
    driver, worker = pods(root, "fleet/claim")
    assert "volumes" not in driver["spec"]
    assert worker["spec"]["volumes"][0]["persistentVolumeClaim"] == {"claimName": "data"}


OPTION = f"""\
# Pods wait. Nothing else.
{HEAD}absent: [affinity]
append: [tolerations]
metadata:
  annotations: {{o: "true"}}
spec:
  affinity:
    nodeAffinity: {{}}
  tolerations:
  - key: own # {{"$openapi":"CLAIM"}}
  containers:
  - name: (drive|work)
    command: [sleep, "1"]
"""


@pytest.mark.parametrize("kind", ["fleet", "job", "workflow"])
def test_an_option_is_shipped_as_a_component_that_does_what_it_says(
    root: Path, kind: str, kustomize5: Kustomize, tmp_path: Path
) -> None:
    made = option(root, OPTION.replace("key: own", "key: data"))
    assert [each.name for each in made.options.all] == ["o"]
    assert made.options.all[0].part.description == "Pods wait. Nothing else."
    (item,) = (each for each in yaml.safe_load_all(built(made, tmp_path, kind, kustomize5)) if "spec" in each)
    spec = item["spec"]
    found = [crew["template"] for crew in spec["crews"]] if "crews" in spec else [spec.get("template", spec)]
    for each in found:
        pod = each.get("spec", each)
        assert pod["affinity"] == {"nodeAffinity": {}}
        assert [toleration["key"] for toleration in pod["tolerations"]] == ["t", "data"]
    assert str(item).count("'command': ['sleep', '1']") == len(found)
    assert "option" not in item
    twice = tmp_path / "twice/kustomization.yaml"
    tiny.write(twice, "resources: [../user]\ncomponents: [../options/o]\n")
    assert "affinity" in kustomize5("build", twice.parent).stderr  # has to be absent


def test_what_several_patches_bring_stands_once_in_one_file_without_what_no_setter_changes(
    root: Path, kustomize5: Kustomize, tmp_path: Path
) -> None:
    toleration = f"{HEAD}targets: [{{kind: KIND}}]\nappend: [tolerations]\nspec:\n  hostname: h\n  tolerations:\n"
    toleration += '  - {key: k, operator: Exists}\n  - key: data # {"$openapi":"CLAIM"}\n'
    made = option(root, "---\n".join(toleration.replace("KIND", kind) for kind in ("Fleet", "Job")))
    assert [path for path in made.files if path.startswith("options/o/")] == [
        "options/o/kustomization.yaml",
        "options/o/pods.yaml",
    ]
    brought = yaml.safe_load(made.files["options/o/pods.yaml"])
    assert brought["option"] == {"tolerations": [{"key": "data"}]}
    for kind, count in {"fleet": 2, "job": 1, "workflow": 0}.items():
        text = built(made, tmp_path, kind, kustomize5)
        assert text.count("key: data") == count
        assert "option:" not in text


def test_a_field_of_what_another_operation_brings_is_copied_from_there(root: Path) -> None:
    affinity = f'{HEAD}spec:\n  affinity:\n    nodeAffinity:\n      a: data # {{"$openapi":"CLAIM"}}\n'
    had = "      affinity: {podAffinity: {}}\n      containers:"
    tiny.replace(root / "bases/job/cm.yaml", "      containers:", had)
    listed = "patches:\n- {patch: '- {op: test, path: /kind, value: Job}', target: {kind: Job}}\nreplacements: []\n"
    tiny.write(root / "overlays/options/o/kustomization.yaml", f"# Affinity.\n{libraries.COMPONENT}{listed}")
    files = option(root, affinity).files
    assert yaml.safe_load(files["options/o/pods.yaml"])["option"] == {"affinity": {"nodeAffinity": {"a": "data"}}}
    patches = files["options/o/kustomization.yaml"].decode()
    assert "from: /option/affinity/nodeAffinity, path: /spec/template/spec/affinity/nodeAffinity}" in patches
    assert "from: /option/affinity, path: /spec/affinity}" in patches
    assert "\nreplacements: []\n" in patches


def test_ports_of_one_number_are_told_apart_by_their_protocol_which_is_tcp_where_none_is_named(
    root: Path, kustomize5: Kustomize, tmp_path: Path
) -> None:
    ports = "[{containerPort: 53, protocol: UDP}, {containerPort: 53}, {containerPort: 54}]"
    tiny.replace(root / "bases/job/cm.yaml", "- name: work", f"- ports: {ports}\n        name: work")
    patch = "[{containerPort: 53, protocol: TCP, name: tcp}, {containerPort: 53, protocol: UDP, name: udp}]"
    made = option(root, f"# Ports.\n{HEAD}spec: {{containers: [{{name: work, ports: {patch}}}]}}\n")
    (job,) = (each for each in yaml.safe_load_all(built(made, tmp_path, "job", kustomize5)) if "spec" in each)
    named = job["spec"]["template"]["spec"]["containers"][0]["ports"]
    assert [each.get("name") for each in named] == ["udp", "tcp", None]


def test_objects_that_nothing_tells_apart_are_named(root: Path) -> None:
    tiny.replace(root / "packages/p/package.yaml", "  one: {base: one}", "  one: {base: one}\n  other: {base: other}")
    tiny.replace(root / "bases/other/cm.yaml", "  labels: {app.kubernetes.io/component: other}\n", "")
    with pytest.raises(InputError) as raised:
        option(root, f"{HEAD}spec: {{containers: [{{name: (work|other), tty: true}}]}}\n")
    assert "o/pods.yaml:1: needs other operations in some Jobs than in others" in str(raised.value)
    assert "app.kubernetes.io/component" in str(raised.value)


FAULTS = {
    "kind: PodPatch": ("kind: PodPatches", "pods.yaml:3:7: kind: must be PodPatch, not 'PodPatches'"),
    "append:": ("apend:", "pods.yaml:4:1: apend: is not a known key (did you mean 'append'?)"),
    "append: [tolerations]": (
        "append: [toleration]",
        "pods.yaml:4:10: append: 'toleration' is not a field of this patch",
    ),
    "  - name: (drive|work)": ("  - tty: true", "pods.yaml:15:5: spec.containers: a container needs a name"),
    "limits: {gpu: null}": (
        "limits: {$patch: replace}",
        "(null takes a field out; to take an item out, list a strategic merge with $patch",
    ),
    "(drive|work)": ("(drive|work", "must be a regular expression"),
    "metadata: {labels: {l: m}}": ("metadata: {label: {l: m}}", "pods.yaml:5:12: metadata.label: is not a known key"),
    "    emptyDir: null\n": ("    emptyDir: a\n", "pods.yaml:10:15: emptyDir is a text here and a mapping or list in"),
    "kind: PodPatch\n": ("kind: PodPatch\nwhere: {}\n", "where: does not stand here (give the objects a label"),
    "append: [tolerations]\n": (
        "append: [tolerations]\nabsent: [gpu, env]\n",
        "pods.yaml:17:5: a pod has env already, at ",
    ),
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_wrong_patch_is_refused_by_file_and_line(text: str, root: Path) -> None:
    instead, expected = FAULTS[text]
    tiny.replace(root / "overlays/storage/claim/pods.yaml", text, instead)
    with pytest.raises(InputError) as raised:
        composed(root)
    assert expected in str(raised.value)


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        ("name: wrok, tty: true", "job.yaml:4:46: no container 'wrok' in Job f (did you mean 'work'?)"),
        ("name: a, ports: [{containerPort: 1, $patch: delete}]", "job.yaml:4:46: no container 'a' in Job f (there are"),
        ("name: b, image: x, ports: [{containerPort: 1, $patch: delete}]", "$patch is not supported"),
        ("name: b, image: x", ""),
        ("name: work, tty: true", ""),
    ],
)
def test_a_container_that_a_strategic_merge_changes_has_to_be_there(root: Path, container: str, expected: str) -> None:
    head = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: f}\n"
    patch = f"{head}spec: {{template: {{spec: {{containers: [{{{container}}}]}}}}}}\n"
    tiny.write(root / "packages/p/patches/job.yaml", patch)
    tiny.replace(root / "packages/p/package.yaml", "{base: job,", "{base: job, patches: [patches/job.yaml],")
    with pytest.raises(InputError) if expected else nullcontext() as raised:
        composed(root)
    assert expected in str(raised and raised.value)


def test_a_patch_of_a_package_with_a_wrong_kind_is_told_what_the_kind_is(root: Path) -> None:
    tiny.write(root / "packages/p/patches/job.yaml", f"{HEAD.replace('Patch', 'Path')}spec: {{priorityClassName: a}}\n")
    tiny.replace(root / "packages/p/package.yaml", "{base: job,", "{base: job, patches: [patches/job.yaml],")
    with pytest.raises(InputError, match="kind: must be PodPatch, not 'PodPath'"):
        composed(root)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("roles: [worker, lancher]\n", "pods.yaml:4: the patch changes nothing…: it is for role 'lancher'"),
        ("targets: [{kind: Jobs}]\n", "storage claim changes nothing in fleet"),
        ("targets: [{kind: .*}, {kind: Jobs}]\n", "pods.yaml:4: the patch changes nothing…: it is for kind 'Jobs'"),
    ],
)
def test_what_reaches_nothing_is_refused(text: str, expected: str, root: Path, tmp_path: Path) -> None:
    if "roles" in text:
        tiny.replace(root / "packages/p/package.yaml", "  job: {base: job, storage: [claim]}\n", "")
        tiny.replace(root / "packages/p/package.yaml", "  workflow: {base: workflow, storage: [claim]}", "")
    tiny.replace(root / "overlays/storage/claim/pods.yaml", "append:", f"{text}append:")
    said = tiny.refused("build", "--workspace", root, "--version", "1", "--to", tmp_path / "out")
    assert expected in said.replace(" in any use case of the workspace", "…")


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("spec: {containers: [{name: wrok, tty: true}]}", "it is for container 'wrok'", "did you mean 'work'?"),
        ("targets: [{kind: Jbo}]\nspec: {hostIPC: false}", "it is for kind 'Jbo'", "did you mean 'Job'?"),
        ("targets: [{kind: Job}]\nroles: [wroker]\nspec: {hostIPC: false}", "it is for role 'wroker'", "correct it"),
        ("spec: {containers: [{name: work, imag: null}]}", "it is for the field 'imag'", "did you mean 'image'?"),
    ],
)
def test_what_no_pod_has_is_told_where_a_patch_names_it(text: str, place: str, hint: str, root: Path) -> None:
    tiny.write(root / "packages/p/own.yaml", f"{HEAD}{text}\n")
    tiny.replace(root / "packages/p/package.yaml", "job: {base: job,", "job: {base: job, patches: [own.yaml],")
    with pytest.raises(InputError) as raised:
        composed(root)
    (problem,) = raised.value.problems
    assert problem.message == f"the patch changes nothing in the use case job/claim: {place}"
    line = HEAD.count("\n") + text[: text.index(place.split("'")[1])].count("\n") + 1
    assert (problem.line, problem.hint[: len(hint)]) == (line, hint)


def test_a_kustomization_that_lists_one_is_told_what_to_do(root: Path) -> None:
    folder = root / "overlays/storage/claim"
    (folder / "pods.yaml").rename(folder / "mine.yaml")
    tiny.write(folder / "kustomization.yaml", f"{libraries.COMPONENT}patches: [{{path: mine.yaml}}]\n")
    with pytest.raises(InputError, match=r"'mine.yaml' patches pods.*name the file pods.yaml"):
        composed(root)


def test_a_container_that_is_added_to_a_custom_resource_is_added_behind_a_test_of_its_pod(root: Path) -> None:
    text = HEAD + "spec:\n  initContainers:\n  - {name: wait, image: 'busybox:1.36', command: [sh]}\n"
    files = option(root, text).files
    operations = next(data.decode() for path, data in files.items() if path.endswith("o/kustomization.yaml"))
    before, _, _ = operations.partition("op: add, path: /spec/crews/0")
    assert "{op: test, path: /spec/crews/0/name, value: driver}" in before
