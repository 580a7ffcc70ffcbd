"""Two packages compared: what is said of each kind of difference, and nothing else."""

import pytest

import tiny
from packyard.using.upgrade.change import Change
from packyard.using.upgrade.difference import compare

KRMFILE = tiny.krmfile("""\
    io.k8s.cli.setters.WORKERS:
      type: integer
      minimum: 1
      x-k8s-cli: {setter: {name: WORKERS, value: "2"}}
    io.k8s.cli.setters.TAG:
      x-k8s-cli: {setter: {name: TAG, value: "1.0"}}
    io.k8s.cli.substitutions.IMAGE:
      x-k8s-cli:
        substitution:
          name: IMAGE
          pattern: bert:${TAG}
          values: [{marker: "${TAG}", ref: "#/definitions/io.k8s.cli.setters.TAG"}]
rules:
- rule: WORKERS < 9
  message: the queue takes eight
""")
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: run
spec:
  completions: 2 # {"$openapi":"WORKERS"}
  template:
    spec:
      volumes:
      - {name: tmp, emptyDir: {}}
      containers:
      - name: train
        image: bert:1.0 # {"$openapi":"IMAGE"}
        command: [sh, -c, train]
        env:
        - {name: EPOCHS, value: "3"}
        volumeMounts:
        - {name: tmp, mountPath: /tmp}
        - {name: tmp, mountPath: /scratch}
"""
KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [job.yaml]\n"
COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
PACKAGE = {
    "README.md": b"# bert\n",
    "run/nfs/Krmfile": KRMFILE.encode(),
    "run/nfs/job.yaml": JOB.encode(),
    "run/nfs/kustomization.yaml": KUSTOMIZATION.encode(),
    "options/queue/kustomization.yaml": COMPONENT.encode(),
}


def with_edit(file: str, *edits: tuple[str, str], of: dict[str, bytes] = PACKAGE) -> dict[str, bytes]:
    """Return a package with texts of a file replaced, each of which is there once."""
    text = of[file].decode()
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return {**of, file: text.encode()}


def shown(changes: tuple[Change, ...]) -> list[tuple[object, ...]]:
    return [(change.what, change.change, change.name, change.path, change.before, change.after) for change in changes]


def job_edited(*edits: tuple[str, str]) -> list[tuple[object, ...]]:
    """Return what differs in the fields of the job: path, change, before, after."""
    found = compare(PACKAGE, with_edit("run/nfs/job.yaml", *edits))
    assert all((each.where, each.what, each.name) == ("run/nfs", "field", "Job run") for each in found)
    return [(each.path, each.change, each.before, each.after) for each in found]


_SETTERS = [
    ((('value: "2"', 'value: "4"'),), ("WORKERS", "changed", "default", "2", "4", False)),
    ((('value: "2"', 'value: "4", isSet: true'),), ("WORKERS", "changed", "value", "2", "4", False)),
    ((("type: integer", "type: number"),), ("WORKERS", "changed", "type", "integer", "number", True)),
    ((("type: integer", "type: int"),), None),
    ((("minimum: 1", "minimum: 2"),), ("WORKERS", "changed", "minimum", 1, 2, True)),
    ((("      minimum: 1\n", ""),), ("WORKERS", "changed", "minimum", 1, None, False)),
    ((("minimum: 1", "minimum: 0"),), ("WORKERS", "changed", "minimum", 1, 0, False)),
    ((("minimum: 1", "minimum: 1\n      enum: [1, 2]"),), ("WORKERS", "changed", "enum", None, [1, 2], True)),
    ((('value: "2"', 'value: "2", required: true'),), ("WORKERS", "changed", "required", False, True, True)),
]


@pytest.mark.parametrize(("edits", "expected"), _SETTERS)
def test_names_what_differs_in_a_setter(
    edits: tuple[tuple[str, str], ...], expected: tuple[object, ...] | None
) -> None:
    found = compare(PACKAGE, with_edit("run/nfs/Krmfile", *edits))
    said = [(each.name, each.change, each.path, each.before, each.after, each.is_breaking) for each in found]
    assert said == ([expected] if expected else [])
    assert all((each.where, each.what) == ("run/nfs", "setter") for each in found)


def test_a_removed_setter_breaks_and_says_what_sets_its_fields_now() -> None:
    after = with_edit(
        "run/nfs/Krmfile", ("setters.WORKERS", "setters.PODS"), ("WORKERS, ", "PODS, "), ("WORKERS <", "PODS <")
    )
    after = with_edit("run/nfs/job.yaml", ("WORKERS", "PODS"), of=after)
    found = {(each.what, each.name, each.change): each for each in compare(PACKAGE, after)}
    assert {key for key, each in found.items() if each.is_breaking} == {("setter", "WORKERS", "removed")}
    assert found["setter", "WORKERS", "removed"].note == "PODS sets its fields now"
    assert found["setter", "PODS", "added"].after == "2"
    assert found["field", "Job run", "bound"].before == "WORKERS"
    assert {key[:1] + key[2:] for key in found} >= {("rule", "removed"), ("rule", "added")}


def test_names_what_a_package_says_of_a_former_setter() -> None:
    manifest = (
        b'{"apiVersion": "packyard/v1", "kind": "Bundle", "name": "bert", "version": "%s", "model": {}, "images": [],'
        b' "moved": {"TAG": "kustomize edit set image"}, "files": {},'
        b' "useCases": {"run/nfs": {"setters": {}, "requires": [%s]}}}'
    )
    before = {**PACKAGE, "packyard.json": manifest % (b"1.0", b'"MPIJob"')}
    start, end = (KRMFILE.index(f"    io.k8s.cli.{word}") for word in ("setters.TAG", "substitutions"))
    after = {
        **with_edit("run/nfs/Krmfile", (KRMFILE[start:end], "")),
        "packyard.json": manifest % (b"1.1", b'"JobSet"'),
    }
    found = compare(before, after)
    assert [(each.what, each.change, each.name, each.note) for each in found] == [
        ("requirement", "added", "JobSet", ""),
        ("requirement", "removed", "MPIJob", ""),
        ("setter", "removed", "TAG", "kustomize edit set image"),
    ]


_POD = "spec.template.spec"
_TRAIN = f"{_POD}.containers[train]"
_FIELDS = [
    ((('EPOCHS, value: "3"', 'EPOCHS, value: "4"'),), (f"{_TRAIN}.env[EPOCHS].value", "changed", "3", "4")),
    ((('EPOCHS, value: "3"', "EPOCHS, value: 3"),), (f"{_TRAIN}.env[EPOCHS].value", "changed", "3", 3)),
    ((("  name: run\n", "  name: run\n  labels: {a.b/c: d}\n"),), ("metadata.labels", "added", None, {"a.b/c": "d"})),
    (
        (("        - {name: EPOCHS", "        - {name: DEBUG}\n        - {name: EPOCHS"),),
        (f"{_TRAIN}.env[DEBUG]", "added", None, {"name": "DEBUG"}),
    ),
    (
        (("      - name: train", "      - {name: log}\n      - name: train"),),
        (f"{_POD}.containers[log]", "added", None, {"name": "log"}),
    ),
    ((("[sh, -c, train]", "[sh, -e, -c, train]"),), (f"{_TRAIN}.command[1]", "added", None, "-e")),
    ((("[sh, -c, train]", "[sh, train]"),), (f"{_TRAIN}.command[1]", "removed", "-c", None)),
    ((("[sh, -c, train]", "[bash, -c, train]"),), (f"{_TRAIN}.command[0]", "changed", "sh", "bash")),
    (
        (("        - {name: tmp, mountPath: /tmp}\n", ""),),
        (f"{_TRAIN}.volumeMounts[/tmp]", "removed", {"name": "tmp", "mountPath": "/tmp"}, None),
    ),
    (
        (("mountPath: /tmp}", "mountPath: /x}"), ("mountPath: /scratch}", "mountPath: /tmp}"), ("/x}", "/scratch}")),
        (f"{_TRAIN}.volumeMounts", "reordered", ["/tmp", "/scratch"], ["/scratch", "/tmp"]),
    ),
    ((('# {"$openapi":"WORKERS"}', "# fixed"),), ("spec.completions", "bound", "WORKERS", None)),
    ((("completions: 2", "completions: null"),), ("spec.completions", "changed", 2, None)),
]


@pytest.mark.parametrize(("edits", "expected"), _FIELDS)
def test_names_a_field_by_its_path(edits: tuple[tuple[str, str], ...], expected: tuple[object, ...]) -> None:
    assert job_edited(*edits) == [expected]


def test_follows_an_object_to_another_file_and_to_another_name() -> None:
    moved = {path: data for path, data in PACKAGE.items() if path != "run/nfs/job.yaml"}
    moved["run/nfs/train.yaml"] = JOB.replace("completions: 2", "completions: 3").encode()
    assert shown(compare(PACKAGE, moved)) == [("field", "changed", "Job run", "spec.completions", 2, 3)]
    assert job_edited() == []
    renamed = compare(PACKAGE, with_edit("run/nfs/job.yaml", ("name: run", "name: walk")))
    assert shown(renamed) == [("field", "changed", "Job walk", "metadata.name", "run", "walk")]


def test_an_object_that_comes_or_goes_is_one_difference() -> None:
    service = b"apiVersion: v1\nkind: Service\nmetadata: {name: run}\n"
    both = with_edit(
        "run/nfs/job.yaml",
        ("apiVersion: batch", "apiVersion: v1\nkind: Service\nmetadata: {name: run}\n---\napiVersion: batch"),
    )
    for after in ({**PACKAGE, "run/nfs/service.yaml": service}, both):
        assert shown(compare(PACKAGE, after)) == [("object", "added", "Service run", "", None, None)]
        assert shown(compare(after, PACKAGE)) == [("object", "removed", "Service run", "", None, None)]


@pytest.mark.parametrize(("folder", "word"), [("run/nfs", "use case"), ("options/queue", "option")])
def test_a_directory_that_comes_or_goes_is_one_difference(folder: str, word: str) -> None:
    without = {path: data for path, data in PACKAGE.items() if not path.startswith(folder)}
    (gone,), (came,) = compare(PACKAGE, without), compare(without, PACKAGE)
    assert (gone.where, gone.what, gone.change, gone.is_breaking) == (folder, word, "removed", True)
    assert (came.where, came.what, came.change, came.is_breaking) == (folder, word, "added", False)


def test_compares_as_files_what_has_no_fields() -> None:
    after = {**PACKAGE, "README.md": b"# BERT\n", "run.sh": b"\xff"}
    assert shown(compare(PACKAGE, after)) == [
        ("file", "changed", "README.md", "", None, None),
        ("file", "added", "run.sh", "", None, None),
    ]


@pytest.mark.parametrize("file", ["job.yaml", "Krmfile", "kustomization.yaml"])
@pytest.mark.parametrize("data", [b"a: [", b"\xff", b"a: 1\na: 2\n", b"a: *b\n", b"", b"[" * 300])
def test_says_why_a_broken_file_is_not_compared_by_fields(file: str, data: bytes) -> None:
    found = compare(PACKAGE, {**PACKAGE, f"run/nfs/{file}": data})
    if data or file == "Krmfile":
        assert [(each.where, each.what, each.name) for each in found] == [("run/nfs", "file", file)]
        assert found[0].note.startswith(f"run/nfs/{file}")
    else:
        assert [(each.what, each.change) for each in found] == [("object", "removed")]
