"""Folders that no packyard made: what lint looks at there, what it leaves alone, and what it refuses."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import tiny
from packyard.core.bundle.manifest import Manifest
from packyard.core.digest import Digest
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import schemas
from packyard.writing.checks import folder

SOUND = Path(__file__).with_name("sound")
#: What trees that nobody wrote for users of setters lack, and what each finding truly says of them.
LACKING = {
    *("no-labels", "no-resources", "runs-as-root", "above-restricted", "token-mounted"),
    *("no-readiness-probe", "args-without-command"),
}
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, labels: {app.kubernetes.io/name: a}}\n"

KRMFILE = tiny.krmfile("""\
    io.k8s.cli.setters.EPOCHS:
      description: It.
      x-k8s-cli: {setter: {name: EPOCHS, value: "1"}}
""")


def rules(root: Path) -> list[str]:
    found = folder.lint(Tree(root), judges=()).findings
    return [f"{each.file.removeprefix(f'{root}/')}:{each.line} {each.rule}" for each in found]


@pytest.mark.parametrize("tree", sorted(each.name for each in SOUND.iterdir()))
def test_a_sound_tree_of_another_project_has_no_error_and_lacks_what_is_said(tree: str) -> None:
    found = folder.lint(Tree(SOUND / tree), judges=schemas.choose(("1.31",))).findings
    assert [str(each) for each in found if each.severity == "error" or each.rule not in LACKING] == []


def test_what_is_required_may_be_set_in_a_copy_and_is_doubtful_elsewhere(tmp_path: Path) -> None:
    tiny.write(tmp_path / "Krmfile", KRMFILE.replace("EPOCHS", "A").replace("}}", ", required: true, isSet: true}}"))
    tiny.write(tmp_path / "a.yaml", CONFIG_MAP + 'data:\n  A: "1" # {"$openapi":"A"}\n')
    assert rules(tmp_path) == ["Krmfile:7 required-but-set"]
    tiny.write(tmp_path / "packyard.json", "{}\n")
    assert rules(tmp_path) == []


def test_an_exception_that_a_package_was_shipped_with_counts_in_a_copy_for_its_file_and_rule(tmp_path: Path) -> None:
    unlabelled = CONFIG_MAP.replace(", labels: {app.kubernetes.io/name: a}", "")
    for name in ("a", "b"):
        tiny.write(tmp_path / f"run/{name}.yaml", unlabelled.replace("settings", name))
    described = Manifest(name="p", version="1", model={}, use_cases={}, exceptions={"run/a.yaml": {"no-labels": "why"}})
    described = replace(described, files={"run/a.yaml": Digest.of(b"")})
    (tmp_path / "packyard.json").write_bytes(described.to_bytes())
    assert rules(tmp_path) == ["run/b.yaml:3 no-labels"]
    assert rules(tmp_path / "run") == ["b.yaml:3 no-labels"]


def test_of_a_chart_its_templates_alone_are_left_out(tmp_path: Path) -> None:
    unlabelled = CONFIG_MAP.replace(", labels: {app.kubernetes.io/name: a}", "")
    chart = {"Chart.yaml": "name: a\n", "templates/a.yaml": unlabelled, "crds/a.yaml": unlabelled}
    tiny.write_all(tmp_path / "chart", chart)
    assert rules(tmp_path) == ["chart/crds/a.yaml:3 no-labels"]


def test_an_overlay_beside_a_package_is_judged_as_it_builds_and_the_package_once(tmp_path: Path) -> None:
    shutil.copytree(SOUND / "web", tmp_path, dirs_exist_ok=True)
    assert rules(tmp_path) == rules(SOUND / "web")
    tiny.replace(tmp_path / "overlay/kustomization.yaml", "name: web", "name: webs")
    tiny.replace(tmp_path / "overlay/resources.yaml", "- name: web", "- name: webs")
    assert {"overlay/kustomization.yaml:7 entry-without-target", "overlay/resources.yaml:9 no-image"} <= set(
        rules(tmp_path)
    )


def test_programs_of_one_package_are_not_those_of_another(tmp_path: Path) -> None:
    generator = "kind: Component\nconfigMapGenerator:\n- {name: NAME, files: [run.py]}\n"
    for name, other in (("a", "b"), ("b", "a")):
        tiny.write(tmp_path / name / "packyard.json", "{}\n")
        tiny.write(tmp_path / name / "uses/programs/tune/kustomization.yaml", generator.replace("NAME", f"of-{name}"))
        tiny.write(tmp_path / name / "uses/run/Krmfile", "kind: Krmfile\n")
        listed = "resources: [pod.yaml]\ncomponents: [../programs/tune]\n"
        tiny.write(tmp_path / name / "uses/run/kustomization.yaml", listed)
        pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: a, image: 'a:1'}]\n"
        volume = f"  volumes: [{{name: v, configMap: {{name: of-{other}}}}}]\n"
        tiny.write(tmp_path / name / "uses/run/pod.yaml", pod + volume)
    assert [rule for rule in rules(tmp_path) if rule.endswith("dangling-reference")] == [
        f"{name}/uses/run/pod.yaml:6 dangling-reference" for name in "ab"
    ]


def test_custom_resources_are_judged_by_the_definitions_of_their_own_folder(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    names = {"kind": "TrainJob", "plural": "trainjobs"}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "trainer.kubeflow.org", "scope": "Namespaced", "names": names, "versions": [version]}
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
    definition["metadata"] = {"name": "trainjobs.trainer.kubeflow.org"}
    job = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: a}\nspec: {size: 1}\n"
    tiny.write(tmp_path / "config/crd/bases/all.yaml", yaml.safe_dump(definition))
    tiny.write(tmp_path / "examples/job.yaml", job)

    def unknown() -> list[str]:
        found = folder.lint(Tree(tmp_path), judges=schemas.choose(("1.31",))).findings
        return [each.message for each in found if each.rule == "unknown-field"]

    assert unknown() == []
    tiny.write(tmp_path / "examples/job.yaml", job.replace("size", "sizes"))
    assert unknown() == [f"spec has no field 'sizes' in {tmp_path}/config/crd/bases/all.yaml"]
    (tmp_path / "config/crd/bases/all.yaml").unlink()
    assert "trainer 2.0" in unknown()[0]
