"""Objects by what a tree builds: kustomizations followed to their files, patches left out, each build on its own."""

from collections.abc import Callable

import pytest

from writing.checks.linting import essential, lint, package

Lint = Callable[[dict[str, str]], list[str]]

KUSTOMIZATION = "kustomization.yaml"
CM = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: '1'}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: 'a:1', env: [ENV]}]}\n"
FROM = POD.replace("ENV", "{name: A, valueFrom: {configMapKeyRef: {name: x, key: a}}}")
COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"


@pytest.fixture
def found() -> Lint:
    """Lint files; of what practice asks for nothing is said."""

    def find(files: dict[str, str]) -> list[str]:
        each = essential(lint(package(files), shipped=False))
        return [f"{finding.file} {finding.severity} {finding.rule}" for finding in each]

    return find


@pytest.mark.parametrize(
    "prod",
    [
        "resources: [../base]\npatches: [{path: patch.yaml}]\n",
        "resources: [./../base/]\npatchesStrategicMerge: [patch.yaml]\n",
        "bases: [../base]\npatches:\n- path: patch.yaml\n  target: {kind: ConfigMap}\n",
        "resources:\n- ../prod/../base\ncomponents: [../component]\n",
        "resources: [../base]\n",
    ],
)
def test_a_patch_and_an_overlay_beside_its_base_are_nothing_twice(found: Lint, prod: str) -> None:
    files = {
        "base/cm.yaml": CM,
        f"base/{KUSTOMIZATION}": "resources: [cm.yaml]\n",
        "prod/patch.yaml": CM,
        f"prod/{KUSTOMIZATION}": prod,
        f"component/{KUSTOMIZATION}": COMPONENT + "patches: [{path: patch.yaml}]\n",
        "component/patch.yaml": CM,
    }
    assert found(files) == []


def test_two_overlays_are_two_builds(found: Lint) -> None:
    files = {f"base/{KUSTOMIZATION}": "resources: [pod.yaml]\n", "base/pod.yaml": FROM}
    for name in ("test", "prod"):
        files |= {f"{name}/{KUSTOMIZATION}": "resources: [../base, cm.yaml]\n", f"{name}/cm.yaml": CM}
    assert found(files) == []
    twice = files | {f"prod/{KUSTOMIZATION}": "resources: [../base, cm.yaml, ../test/cm.yaml]\n"}
    assert found(twice) == ["test/cm.yaml error duplicate-name"]


def test_what_is_renamed_is_not_there_twice(found: Lint) -> None:
    files = {KUSTOMIZATION: "resources: [a, b, c]\n"}
    for name, extra in (("a", "namePrefix: a-\n"), ("b", "namespace: b\n"), ("c", "nameSuffix: -c\n")):
        files |= {f"{name}/{KUSTOMIZATION}": f"resources: [cm.yaml]\n{extra}", f"{name}/cm.yaml": CM}
    assert found(files) == []


def test_files_beside_no_kustomization_are_objects_as_they_are(found: Lint) -> None:
    assert found({"a.yaml": CM, "sub/b.yaml": CM}) == ["sub/b.yaml warning duplicate-name"]
    files = {
        f"k/{KUSTOMIZATION}": "resources: [cm.yaml]\n",
        "k/cm.yaml": CM,
        "k/sub/unused.yaml": CM,
        "plain/cm.yaml": CM,
    }
    assert found(files) == []
    assert found(files | {"plain/zz.yaml": CM}) == ["plain/zz.yaml warning duplicate-name"]


@pytest.mark.parametrize(
    "text",
    [
        "resources: [a]\n",
        "resources: a\n",
        "- a\n",
        "",
        "resources: [../k]\n",
        "resources: [[a], {b: c}, ~]\n",
        "a: [\n",
    ],
)
def test_a_kustomization_may_be_odd_or_lead_in_circles(found: Lint, text: str) -> None:
    files = {
        f"k/{KUSTOMIZATION}": text,
        f"a/{KUSTOMIZATION}": "resources: [../k, ../b]\n",
        f"b/{KUSTOMIZATION}": "resources: [../a]\n",
    }
    assert {finding.rpartition(" ")[2] for finding in found(files)} <= {"unreadable"}


def test_chains_and_diamonds_of_kustomizations_are_followed_once_each(found: Lint) -> None:
    files = {f"{number}/{KUSTOMIZATION}": f"resources: [../{number + 1}, ../{number + 1}x]\n" for number in range(600)}
    files |= {f"{number}x/{KUSTOMIZATION}": f"resources: [../{number + 1}]\nnamePrefix: a\n" for number in range(600)}
    assert found(files | {f"600/{KUSTOMIZATION}": "resources: [cm.yaml]\n", "600/cm.yaml": CM}) == []
