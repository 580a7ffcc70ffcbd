"""What authors say that a cluster must have: packyard.json, README, `show` and `doctor` say it."""

import json
from pathlib import Path

import pytest

import tiny
from packyard.core.files.tree import Tree
from packyard.running import doctor
from packyard.running.doctor.facts import Facts
from packyard.running.runs.rendering import Rendered
from running.patients import deployed, pod
from tiny import done

RAY_JOB = """\
apiVersion: ray.io/v1
kind: RayJob
metadata:
  name: ray
  labels: {app.kubernetes.io/name: x}
spec: {entrypoint: python job.py}
"""
KUSTOMIZATION = """\
# Runs Ray.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [job.yaml]
"""
OF_PART = """\
apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
requires:
- operator: KubeRay
  definitions: [rayjobs.ray.io]
  image: operator
  oldest: "1.2"
  link: https://ray.example/kubernetes
  install: [helm install kuberay]
"""
OF_PACKAGE = """
requires:
- {secret: hf-token, keys: [token], description: A token of Hugging Face.}
- {kubernetes: "1.31"}
"""


@pytest.fixture
def use_case(tmp_path: Path) -> Path:
    """A package of a RayJob, whose base says what all packages need that are made of it."""
    root = tiny.workspace(tmp_path / "workspace")
    tiny.write(root / "bases/ray/kustomization.yaml", KUSTOMIZATION)
    tiny.write(root / "bases/ray/job.yaml", RAY_JOB)
    tiny.write(root / "bases/ray/Krmfile", OF_PART)
    tiny.replace(root / "packages/p/package.yaml", "  one: {base: one}\n", "  one: {base: one}\n  ray: {base: ray}\n")
    package = root / "packages/p/package.yaml"
    package.write_text(package.read_text() + OF_PACKAGE)
    cluster = Path(tiny.__file__).parents[1] / "docs/readme/50-cluster.md"
    tiny.write(root / "packages/p/docs/50-cluster.md", cluster.read_text())
    done("build", "p", "--version", "1", "--to", tmp_path / "out", cwd=root)
    return tmp_path / "out/p/uses/ray"


def test_packyard_json_and_the_readme_say_it(use_case: Path) -> None:
    said = json.loads((use_case.parents[1] / "packyard.json").read_bytes())
    assert [next(iter(require.keys() & {"operator", "secret", "kubernetes"})) for require in said["requires"]] == [
        "secret",
        "kubernetes",
        "operator",
    ]
    assert said["useCases"]["uses/one"]["requires"] == ["Kubernetes 1.31", "Secret hf-token"]
    assert "CustomResourceDefinition rayjobs.ray.io" in said["useCases"]["uses/ray"]["requires"]
    assert [each.operator for each in Rendered.of(Tree(use_case), {}, path="").required] == ["", "", "KubeRay"]
    assert [each.operator for each in Rendered.of(Tree(use_case.with_name("one")), {}, path="").required] == ["", ""]
    readme = (use_case.parents[1] / "README.md").read_text()
    assert "- Kubernetes 1.31 or later.\n" in readme
    assert "- [KubeRay](https://ray.example/kubernetes) 1.2 or later:\n  `helm install kuberay`\n" in readme
    assert "- A Secret `hf-token` with `token`: A token of Hugging Face.\n" in readme
    assert "--from-literal=token=VALUE`" in readme


@pytest.mark.parametrize(("image", "wrong"), [("v1.2.2", {}), ("v1.1.0", {"KubeRay v1.1.0": "is too old"})])
def test_the_doctor_judges_what_authors_require(image: str, wrong: dict[str, str], use_case: Path) -> None:
    job = {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": {"name": "a"}}
    operator = deployed("kuberay", pod(main_image=f"quay.example/kuberay/operator:{image}"))
    known = Facts(
        namespace="ml",
        objects={
            "Deployment": [operator | {"status": {"availableReplicas": 1}}],
            "Secret": [{"metadata": {"name": "hf-token"}, "data": {"token": "…"}}],
        },
        groups={"ray.io": ["v1"]},
    )
    found = doctor.judge([job], known, Rendered.of(Tree(use_case), {}, path="").required)
    about = ("Kube", "Secret", "RayJob")
    judged = {each.about: each.message for each in found if each.about.startswith(about)}
    assert {name: said for name, said in judged.items() if said} == wrong
    assert len(judged) == 3


def test_an_option_that_is_enabled_requires_what_its_krmfile_says(use_case: Path, tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    option = "# Traces requests.\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n"
    option += "- target: {kind: RayJob}\n  patch: |-\n    - {op: add, path: /spec/suspend, value: true}\n"
    tiny.write(root / "overlays/options/tracing/kustomization.yaml", option)
    krmfile = "requires:\n- operator: Tracer\n  definitions: [traces.example.com]\n  oldest: '3.1'\n"
    tiny.write(root / "overlays/options/tracing/Krmfile", OF_PART.partition("requires:")[0] + krmfile)
    options = Path(tiny.__file__).parents[1] / "docs/readme/70-options.md"
    tiny.write(root / "packages/p/docs/70-options.md", options.read_text())
    done("build", "p", "--version", "2", "--to", tmp_path / "out", cwd=root)
    package = use_case.parents[1]
    assert "| Traces requests. Needs Tracer 3.1 or later |" in (package / "README.md").read_text()
    done("enable", use_case, "tracing")
    assert [each.operator for each in Rendered.of(Tree(use_case), {}, path="").required if each.operator] == [
        "KubeRay",
        "Tracer",
    ]
