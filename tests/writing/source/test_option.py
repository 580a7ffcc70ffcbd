"""Options: tried on each use case, copied as they are where they fit, with one Krmfile for all."""

from pathlib import Path

import pytest

import tiny
from packyard.core.errors import InputError
from writing.source import libraries
from writing.source.libraries import composed, define

COMPONENT = f"# Says what it does. Says more.\n{libraries.COMPONENT}"
JOB = """\
- {op: test, path: /spec/template/spec/containers/0/name, value: main}
- {op: add, path: /spec/suspend, value: true}
"""
LABEL = """\
# Which objects it is for says the kustomization.
apiVersion: any/v1
kind: Any
metadata:
  name: any
  labels:
    queue: default # {"$openapi":"QUEUE"}
"""
KRMFILE = libraries.KRMFILE + define("QUEUE", "default", "description: The queue.")
PATCHES = tiny.text("parts/option-patches.yaml")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tiny.workspace(tmp_path / "ws")
    tiny.write(root / "bases/job/kustomization.yaml", tiny.FILES["bases/one/kustomization.yaml"])
    tiny.write(root / "bases/job/cm.yaml", tiny.POD)
    tiny.replace(root / "packages/p/package.yaml", "  one: {base: one}", "  one: {base: one}\n  job: {base: job}")
    option(root, "queue", {"kustomization.yaml": COMPONENT + PATCHES, "job.json6902": JOB, "label.yaml": LABEL,
                           "Krmfile": KRMFILE})  # fmt: skip
    return root


def option(root: Path, name: str, files: dict[str, str]) -> None:
    tiny.write_all(root / "overlays/options" / name, files)


def only(root: Path, use_case: str) -> None:
    other = {"one": "  job: {base: job}\n", "job": "  one: {base: one}\n"}[use_case]
    tiny.replace(root / "packages/p/package.yaml", other, "")


def test_an_option_is_copied_as_it_is(root: Path) -> None:
    option(root, "queue", {"kustomization.yaml": COMPONENT + PATCHES.partition("# For what nobody")[0]})
    files = composed(root).options.files
    assert sorted(files) == ["Krmfile", "queue/job.json6902", "queue/kustomization.yaml", "queue/label.yaml"]
    for path in ("kustomization.yaml", "label.yaml", "job.json6902"):
        assert files[f"queue/{path}"] == (root / "overlays/options/queue" / path).read_bytes()


def test_entries_for_kinds_that_the_package_lacks_are_left_out_with_their_files(root: Path) -> None:
    only(root, "one")
    files = composed(root).options.files
    assert sorted(files) == ["Krmfile", "queue/kustomization.yaml", "queue/label.yaml"]
    kept = "patches:\n# For maps.\n- {path: label.yaml, target: {kind: ConfigMap}}\n"
    assert files["queue/kustomization.yaml"].decode() == COMPONENT + kept


def test_it_fits_where_a_target_is_there_and_its_tests_hold(root: Path) -> None:
    (found,) = composed(root).options.all
    assert (found.name, found.use_cases) == ("queue", ("job", "one"))
    assert found.part.description == "Says what it does. Says more."
    tiny.replace(root / "bases/job/cm.yaml", "name: main", "name: other")
    (found,) = composed(root).options.all
    assert found.use_cases == ("one",)
    only(root, "job")
    assert composed(root).options.all == ()
    assert [*composed(root).options.misfits["queue"]] == ["job"]


def test_the_krmfiles_of_options_are_joined_a_name_stands_once(root: Path) -> None:
    also = {"kustomization.yaml": COMPONENT + PATCHES.partition("# For jobs")[0], "label.yaml": LABEL}
    option(root, "another", {**also, "Krmfile": KRMFILE})
    text = composed(root).options.files["Krmfile"].decode()
    about = "# the parameters of the options: packyard set ../options NAME=VALUE"
    expected = KRMFILE.replace("Krmfile\n", f"Krmfile {about}\n")
    assert text == expected.replace("definitions:\n", "definitions:\n    # another\n")
    option(root, "another", {"Krmfile": KRMFILE.replace("The queue", "A queue")})
    with pytest.raises(InputError, match="QUEUE has another definition in another option"):
        composed(root)


FAULTS = {
    "a field with another value than its setter": (
        {"label.yaml": LABEL.replace("default", "other")},
        "options/queue/label.yaml: has fields with other values than their setters",
    ),
    "a comment with an unknown name": (
        {"label.yaml": LABEL.replace('"QUEUE"', '"QUEU"')},
        "options/queue/label.yaml:7:12: QUEU: no Krmfile defines it (did you mean 'QUEUE'?)",
    ),
    "a file that nothing names": ({"more.yaml": LABEL}, "options/queue/more.yaml: is not named by the kustomization"),
    "no component": (
        {"kustomization.yaml": COMPONENT.replace("Component", "Kustomization") + PATCHES},
        "options/queue/kustomization.yaml:3:7: kind: must be Component",
    ),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_wrong_option_is_refused_by_its_file(what: str, root: Path) -> None:
    files, expected = FAULTS[what]
    option(root, "queue", files)
    with pytest.raises(InputError) as raised:
        composed(root)
    assert any(expected in str(problem) for problem in raised.value.problems), str(raised.value)
