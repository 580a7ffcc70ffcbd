"""Options are switched on and off by a line, and refused with their name, file and path where they do not apply."""

import itertools
from pathlib import Path

import pytest
import yaml

import reading
import tiny
from packyard.core.errors import ConflictError, InputError
from packyard.core.files.tree import Tree
from packyard.using.kustomize.builtin import build
from packyard.using.options import switch
from packyard.using.options.switch import Switched
from real import Kustomize
from using.kustomize import both
from using.options import optioned

KUSTOMIZATION = "kustomization.yaml"
OWN = """\
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- target: {kind: ConfigMap}
  patch: |-
    - {op: add, path: /data/MINE, value: yes indeed}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return optioned.package(tmp_path)


def enable(directory: Path, *names: str) -> Switched:
    return switch.switch(Tree(directory), names)


def disable(directory: Path, names: list[str]) -> Switched:
    return switch.switch(Tree(directory), names, off=True)


def states(directory: Path) -> dict[str, switch.OptionState]:
    return {item.name: item for item in switch.states(Tree(directory))}


LISTED = "resources: [config-map.yaml, job.yaml]\n"
BODIES = {
    "no components": "resources:\n- config-map.yaml\n- job.yaml\n",
    "no line break at the end": "resources:\n- config-map.yaml\n- job.yaml",
    "carriage returns": "resources: [config-map.yaml, job.yaml]\r\nnamespace: ml\r\n",
    "brackets": "{resources: [config-map.yaml, job.yaml]}\n",
    "an empty list": "resources: [config-map.yaml, job.yaml]\ncomponents: []\nnamespace: ml\n",
    "no value": "resources: [config-map.yaml, job.yaml]\ncomponents:\nnamespace: ml\n",
    "a component of the user's": f"{LISTED}components:\n# mine\n- own # keep\nnamespace: ml\n",
    "a component in brackets": "components: [own]\nresources:\n- config-map.yaml\n- job.yaml # the run\n# end\n",
    "a document's end": "---\nresources:\n- config-map.yaml\n- job.yaml\n# end\n...\n",
    "an indented root": "  resources:\n  - config-map.yaml\n  - job.yaml\n",
    "images, which are beyond us": LISTED + "images:\n- {name: example.com/train, newTag: '2'}\n",
}  # fmt: skip


@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_adds_a_line_that_kustomize_reads_and_changes_no_other_byte(
    root: Path, body: str, kustomize5: Kustomize
) -> None:
    directory = root / optioned.SINGLE
    tiny.write(directory / "own" / KUSTOMIZATION, OWN)
    (directory / KUSTOMIZATION).write_bytes(body.encode())
    before = yaml.safe_load(body)
    outcome = enable(directory, "queue", "debug")
    after = (directory / KUSTOMIZATION).read_bytes()
    lines = ["../../options/queue", "../../options/debug"]
    assert outcome.after == after
    assert yaml.safe_load(after) == {**before, "components": [*(before.get("components") or []), *lines]}
    built = kustomize5("build", directory)
    assert built.returncode == 0, built.stderr
    assert "kueue.x-k8s.io/queue-name: default" in built.stdout
    disable(directory, ["debug", "queue"])
    left = (directory / KUSTOMIZATION).read_bytes().decode()
    is_empty = "components: []" in body or "components:\nn" in body
    gone = body.replace("components: []\n", "").replace("components:\nn", "n") if is_empty else body
    assert left.rstrip("\n") == gone.rstrip("\n")


@pytest.mark.parametrize("name", ["../options/queue", "..", ".", "", "a\0b", "/etc", "queue/.", ".git", "\u202e"])
def test_refuses_what_is_no_name(root: Path, name: str) -> None:
    before = reading.files(root)
    with pytest.raises(InputError):
        enable(root / optioned.SINGLE, name)
    assert reading.files(root) == before


CLAIM = '      - name: storage\n        persistentVolumeClaim:\n          claimName: "" # {"$openapi":"PVC_NAME"}\n'
VOLUMES = f"      volumes:\n      - {{name: tmp, emptyDir: {{}}}}\n{CLAIM}"
SIDECAR = "      containers:\n      - {name: log, image: x}\n"
EDITS = {
    "a container renamed": ("- name: training", "- name: mine", "test failed: /spec/template/spec/containers/0/name"),
    "a sidecar in front": ("      containers:\n", SIDECAR, "containers/0/name"),
    "no volumes": (VOLUMES, "", "path /spec/template/spec/volumes/- does not exist"),
}


@pytest.mark.parametrize("what", EDITS)
def test_files_edited_by_hand_make_an_option_refuse_before_it_hits_the_wrong_place(root: Path, what: str) -> None:
    old, new, message = EDITS[what]
    directory = root / optioned.SINGLE
    tiny.replace(directory / "job.yaml", old, new)
    before = reading.files(root)
    place = r"dataset-claim/kustomization\.yaml:\d+:\d+"
    with pytest.raises(InputError, match=rf"{place}: option 'dataset-claim' does not fit .*{message}"):
        enable(directory, "dataset-claim")
    assert reading.files(root) == before


def test_a_link_is_no_option_and_no_folder_of_options(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    tiny.write(outside / "evil" / KUSTOMIZATION, "kind: Component\nresources: [/etc/passwd]\n")
    (root / optioned.OPTIONS / "evil").symlink_to(outside / "evil")
    with pytest.raises(InputError, match="must be a folder, not a link"):
        enable(root / optioned.SINGLE, "evil")
    assert "evil" not in states(root / optioned.SINGLE)
    (root / optioned.OPTIONS).rename(outside / "options")
    (root / optioned.OPTIONS).symlink_to(outside / "options")
    with pytest.raises(InputError, match=r"is a link to .*; a package must not contain links"):
        enable(root / optioned.SINGLE, "queue")


def test_an_option_that_is_listed_twice_is_refused_by_both_lines(root: Path) -> None:
    directory = root / optioned.SINGLE
    with (directory / KUSTOMIZATION).open("a") as stream:
        stream.write("components:\n- ../../options/queue\n- ../../options/./queue\n")
    with pytest.raises(InputError, match=r"kustomization\.yaml:6:3: .* is listed twice, first in line 5"):
        build(Tree(directory))
    assert disable(directory, ["queue"]).changed == ["queue"]
    assert (directory / KUSTOMIZATION).read_text() == optioned.FILES[f"{optioned.SINGLE}/{KUSTOMIZATION}"]


def test_an_option_that_another_one_needs_is_not_disabled_alone(root: Path) -> None:
    directory = root / optioned.SINGLE
    tiny.write(root / optioned.OPTIONS / "first" / KUSTOMIZATION, OWN)
    tiny.write(root / optioned.OPTIONS / "second" / KUSTOMIZATION, OWN.replace("op: add", "op: replace"))
    enable(directory, "first", "second")
    with pytest.raises(ConflictError, match=r"second/kustomization\.yaml:6:27: without first this option does not"):
        disable(directory, ["first"])
    assert disable(directory, ["first", "second"]).changed == ["first", "second"]


@pytest.mark.parametrize("use_case", [optioned.SINGLE, optioned.MULTI])
def test_every_option_and_pair_builds_as_kustomize_builds_it_or_both_refuse(
    root: Path, use_case: str, kustomize5: Kustomize
) -> None:
    directory = root / use_case
    text = (directory / KUSTOMIZATION).read_text()
    refused = 0
    for chosen in (*itertools.combinations(optioned.NAMES, 1), *itertools.permutations(optioned.NAMES, 2)):
        lines = "".join(f"- ../../options/{name}\n" for name in chosen)
        (directory / KUSTOMIZATION).write_text(f"{text}components:\n{lines}")
        refused += both.built(kustomize5, directory) is None
    assert refused == 2


def test_a_file_that_two_options_need_stays_for_the_one_that_stays(root: Path) -> None:
    directory = root / optioned.MULTI
    tiny.write(directory / "template.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: template}\ndata: {}\n")
    for name in ("first", "second"):
        tiny.write(
            root / optioned.OPTIONS / name / KUSTOMIZATION,
            f"# packyard: with template.yaml\n{OWN.replace('MINE', name)}",
        )
    enable(directory, "first", "second")
    disable(directory, ["first"])
    assert b"template.yaml" in (directory / KUSTOMIZATION).read_bytes()
    disable(directory, ["second"])
    assert b"template.yaml" not in (directory / KUSTOMIZATION).read_bytes()
