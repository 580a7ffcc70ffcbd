"""Every option of the catalogue, alone and in pairs, added by real kustomize: what its overlay does, it does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import reading
import real
from packyard.errors import InputError
from packyard.source import kustomization, option, parts, ranks, workspace
from packyard.source import package as packages
from packyard.source.accumulate import accumulate
from packyard.source.compose import compose
from packyard.source.package import Package, UseCase
from packyard.text import layout
from usecases import CASES, option_names, pairs_together

CATALOGUE = workspace.read(real.REPOSITORY)
USE_CASES = [
    pytest.param(package, use_case, id=f"{name}/{use_case.path}")
    for name in CATALOGUE.package_names()
    for package in [packages.read(CATALOGUE, name)]
    for use_case in package.use_cases
    if option_names(CASES / name / use_case.path)
]


@pytest.mark.parametrize(("package", "use_case"), USE_CASES)
def test_an_option_does_what_its_overlay_does(
    package: Package, use_case: UseCase, kustomize5: Path, tmp_path: Path
) -> None:
    """All in two runs of kustomize: each combination is built in a namespace of its own, which keeps them apart."""
    folder = CASES / package.name / use_case.path
    composed = compose(CATALOGUE, package, use_case, values=False)
    shipped = composed.shipped
    chosen = [(each.name,) for each in composed.options] + pairs_together(folder)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for number, names in enumerate(chosen):
        in_namespace = f"namespace: n{number}\n".encode()
        write(ours / f"n{number}", with_overlays(package, use_case, names), in_namespace)
        components = "".join(f"- options/{name}\n" for name in names).encode()
        write(theirs / f"n{number}", shipped, in_namespace + b"components:\n" + components)
    for side in (ours, theirs):
        lines = ["resources:", *(f"- n{number}" for number in range(len(chosen)))]
        (side / "kustomization.yaml").write_text("\n".join(lines) + "\n")
    assert reading.built(kustomize5, theirs) == reading.built(kustomize5, ours)


def write(directory: Path, files: dict[str, bytes], more: bytes) -> None:
    """Write a use case, with ``more`` behind its kustomization."""
    for path, data in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(data + more if path == "kustomization.yaml" else data)


def with_overlays(package: Package, use_case: UseCase, names: Sequence[str]) -> dict[str, bytes]:
    objects = accumulate(kustomization.read(CATALOGUE, package, use_case))
    ranks.add(objects)
    for name in names:
        accumulate(parts.read(CATALOGUE.root_dir / "overlays" / name, "Component"), objects)
        ranks.add(objects)
    files = {f"{number}.yaml": layout.write(item.root) for number, item in enumerate(objects)}
    lines = ["resources:", *(f"- {path}" for path in files)]
    return {**files, "kustomization.yaml": ("\n".join(lines) + "\n").encode()}


def test_options_of_the_workspace_are_offered_where_they_fit_and_nowhere_else() -> None:
    package = packages.read(CATALOGUE, "mask-rcnn-fp32-training-k8s")
    offered = {
        use_case.path: {item.name for item in compose(CATALOGUE, package, use_case).options} & {*CATALOGUE.options}
        for use_case in package.use_cases
    }
    assert offered["claim/efs"] == set()
    assert offered["tensorboard/cloud-file-system"] == {"node-pool", "pull-secret"}
    assert offered["multi-node-optimized/efs"] == {*CATALOGUE.options}


JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: NAME, labels: {app.kubernetes.io/component: COMPONENT}}
spec: {template: {spec: {containers: [{name: main}]}}}
"""


def test_objects_of_one_kind_are_told_apart_by_their_component(tmp_path: Path) -> None:
    objects = objects_of(tmp_path, ("chief", "chief"), ("worker", "worker"))
    files = option.write(overlay(tmp_path, "podPatches:\n- path: patch.yaml\n"), objects)
    assert sorted(files) == ["job-chief.json6902", "job-worker.json6902", "kustomization.yaml"]
    assert b'labelSelector: "app.kubernetes.io/component=chief"' in files["kustomization.yaml"]


@pytest.mark.parametrize(
    ("kustomization_text", "components", "message"),
    [
        ("podPatches:\n- path: patch.yaml\n", ["a", "a"], "several objects of kind Job have the label app.kubernetes"),
        ("patches:\n- patch: '{apiVersion: batch/v1, kind: Job, metadata: {name: n0}, spec: {suspend: true}}'\n", ["a"],
         "an option cannot merge"),
    ],
)  # fmt: skip
def test_what_cannot_be_an_option_is_refused(
    kustomization_text: str, components: list[str], message: str, tmp_path: Path
) -> None:
    objects = objects_of(tmp_path, *((f"n{number}", name) for number, name in enumerate(components)))
    with pytest.raises(InputError, match=message):
        option.write(overlay(tmp_path, kustomization_text), objects)


def test_nothing_comes_of_an_overlay_that_fits_no_object(tmp_path: Path) -> None:
    part = overlay(tmp_path, "podPatches:\n- path: patch.yaml\n  target: {kind: Pod}\n")
    assert option.write(part, objects_of(tmp_path, ("job", "a"))) == {}


def objects_of(folder: Path, *names: tuple[str, str]) -> list[option.Object]:
    base = folder / "base"
    base.mkdir()
    for name, component in names:
        (base / f"{name}.yaml").write_text(JOB.replace("NAME", name).replace("COMPONENT", component))
    lines = ["apiVersion: kustomize.config.k8s.io/v1beta1", "kind: Kustomization", "resources:"]
    (base / "kustomization.yaml").write_text("\n".join([*lines, *(f"- {name}.yaml" for name, _ in names)]))
    return accumulate(parts.read(base, "Kustomization"))


def overlay(folder: Path, text: str) -> parts.Part:
    (folder / "overlay").mkdir()
    (folder / "overlay/patch.yaml").write_text("- {op: add, path: /spec/hostNetwork, value: false}\n")
    header = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    (folder / "overlay/kustomization.yaml").write_text(header + text)
    return parts.read(folder / "overlay", "Component")
