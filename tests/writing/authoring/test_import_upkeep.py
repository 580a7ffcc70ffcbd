"""packyard import of base and overlays below one Krmfile or Kptfile, and what its author does with it afterwards."""

from pathlib import Path

import pytest
import yaml

import reading
import tiny
from real import Kustomize
from writing.authoring.importing import cases, composed, run, write

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2 # {"$openapi":"replicas"}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: hub.example/web:1.25 # {"$openapi":"image"}
        envFrom: [{configMapRef: {name: conf}}, {secretRef: {name: creds, optional: true}}]
"""
KRMFILE = """apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
openAPI:
  definitions:
    io.k8s.cli.setters.replicas: {type: integer, x-k8s-cli: {setter: {name: replicas, value: "2"}}}
    io.k8s.cli.setters.tag: {description: Version., x-k8s-cli: {setter: {name: tag, value: "1.25"}}}
    io.k8s.cli.setters.gone: {x-k8s-cli: {setter: {name: gone, value: x}}}
    io.k8s.cli.substitutions.image:
      x-k8s-cli: {substitution: {name: image, pattern: "hub.example/web:TAG", values: [
        {marker: TAG, ref: '#/definitions/io.k8s.cli.setters.tag'}]}}
"""
PATCH = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 5 # {"$openapi":"replicas"}\n'
TREE = {
    "Krmfile": KRMFILE,
    "base/deployment.yaml": DEPLOYMENT,
    "base/app.toml": "port = 80\nhost = 'a'\n",
    "base/kustomization.yaml": """resources: [deployment.yaml]
configMapGenerator: [{name: conf, files: [app.toml], literals: [LEVEL=info]}]
""",
    "overlays/dev/kustomization.yaml": """resources: [../../base]
namespace: dev
images: [{name: hub.example/web, newTag: "1.26"}]
replicas: [{name: web, count: 1}]
configMapGenerator: [{name: conf, behavior: merge, literals: [LEVEL=debug]}]
""",
    "overlays/prod/kustomization.yaml": """resources: [../../base]
namespace: prod
patches: [{path: patch.yaml}]
secretGenerator: [{name: creds, literals: [password=hunter2hunter2]}]
""",
    "overlays/prod/patch.yaml": PATCH,
}
PREFIXED = {
    f"overlays/{name}/kustomization.yaml": f"resources: [../../base]\nnamePrefix: {name}-\n" for name in ("dev", "prod")
}
pytestmark = pytest.mark.usefixtures("kustomize5_in_path")


def use_cases(here: Path) -> dict[str, dict[str, object]]:
    said: dict[str, dict[str, object]] = yaml.safe_load((here / "packages/web/package.yaml").read_text())["useCases"]
    return said


def built(here: Path, out: Path, kustomize5: Kustomize) -> dict[str, list[object]]:
    """Return what kustomize builds of the package as it is shipped."""
    tiny.done("build", "--version", "1", "--to", out, "--workspace", here)
    folders = (file.parent for file in (out / "web/use-cases").glob("*/kustomization.yaml"))
    return {folder.name: reading.built(kustomize5, folder) for folder in folders if folder.name != "options"}


def test_setters_above_stand_once_and_overlays_give_them_values(
    here: Path, tmp_path: Path, kustomize5: Kustomize
) -> None:
    said = run(here, write(tmp_path / "web", TREE))
    given = {name: use_case.get("setters") for name, use_case in use_cases(here).items()}
    assert given == {"dev": {"replicas": "1", "tag": "1.26"}, "prod": {"replicas": "5"}}
    assert [str(path.relative_to(here)) for path in here.rglob("Krmfile")] == ["packages/web/Krmfile"]
    assert (here / "bases/web-base/deployment.yaml").read_text() == DEPLOYMENT
    assert (here / "bases/web-prod/patch.yaml").read_text() == PATCH
    assert cases(said, "definitions that no field uses") == ["Krmfile: gone"]
    assert cases(said, "names that nothing defines") == cases(said, "files beside the use cases") == []
    for name, objects in built(here, tmp_path / "out", kustomize5).items():
        assert objects == reading.built(kustomize5, tmp_path / "web/overlays" / name)
    assert str(tmp_path) not in (here / "packages/web/import.md").read_text().partition("\n")[2]


def test_what_an_author_changes_in_one_place_reaches_every_use_case(
    here: Path, tmp_path: Path, kustomize5: Kustomize
) -> None:
    run(here, write(tmp_path / "web", TREE))
    package, base = here / "packages/web/package.yaml", here / "bases/web-base"
    tiny.write(base / "deployment.yaml", DEPLOYMENT.replace("hub.example", "hub2.example"))
    krmfile = package.with_name("Krmfile").read_text()
    tiny.write(package.with_name("Krmfile"), krmfile.replace("hub.example", "hub2.example"))
    tiny.write(base / "app.toml", "port = 81\nhost = 'a'\n")
    tiny.write(package, package.read_text() + "  more: {base: web-base, setters: {tag: '2'}}\n")
    images, ports = dict[str, str](), set[str]()
    for name, objects in built(here, tmp_path / "out", kustomize5).items():
        kinds = {each["kind"]: each for each in objects if isinstance(each, dict)}
        images[name] = kinds["Deployment"]["spec"]["template"]["spec"]["containers"][0]["image"]
        ports.add(kinds["ConfigMap"]["data"]["app.toml"].partition("\n")[0])
    assert images == {"dev": "hub2.example/web:1.26", "prod": "hub2.example/web:1.25", "more": "hub2.example/web:2"}
    assert ports == {"port = 81"}


def test_what_generators_made_stays_generated(here: Path, tmp_path: Path) -> None:
    said = run(here, write(tmp_path / "web", TREE))
    assert "{op: replace, path: /data/LEVEL, value: debug}" in (here / "bases/web-dev/kustomization.yaml").read_text()
    patched = cases(said, "fields that no part has")
    assert "overlays/prod/kustomization.yaml:4: secretGenerator (bases/web-prod)" in patched
    assert (here / "bases/web-prod/built.yaml").read_text().count("kind:") == 1
    said = run(here, write(tmp_path / "prefixed", {**TREE, **PREFIXED}), "--name", "prefixed")
    for name, folder in composed(here, "prefixed", tmp_path / "out/use-cases").items():
        text = (here / "bases/prefixed-dev/kustomization.yaml").read_text()
        assert "path: /metadata/name, value: dev-conf}" in text, name
        assert "Generator" not in text, "the base's file stays the one to change"
        assert not [*(here / "bases").glob("prefixed-*/built.yaml")]
        assert (folder / "deployment.yaml").exists()


def test_a_kptfile_above_gives_its_setters_to_base_and_overlays(
    here: Path, tmp_path: Path, kustomize5: Kustomize
) -> None:
    kpt = {path: text.replace('{"$openapi":"replicas"}', "kpt-set: ${replicas}") for path, text in TREE.items()}
    kpt["base/deployment.yaml"] = kpt["base/deployment.yaml"].replace(
        '{"$openapi":"image"}', "kpt-set: hub.example/web:${tag}"
    )
    kpt["Kptfile"] = """apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: web}
pipeline:
  mutators:
  - {image: apply-setters:v0.2, configMap: {tag: "1.25", replicas: "2"}}
"""
    del kpt["Krmfile"]
    run(here, write(tmp_path / "web", kpt))
    given = {name: use_case.get("setters") for name, use_case in use_cases(here).items()}
    assert given == {"dev": {"replicas": "1", "tag": "1.26"}, "prod": {"replicas": "5"}}
    for name, objects in built(here, tmp_path / "out", kustomize5).items():
        assert objects == reading.built(kustomize5, tmp_path / "web/overlays" / name)


def test_a_readme_names_the_namespace_that_the_objects_name(here: Path, tmp_path: Path) -> None:
    tiny.write(here / "packyard.yaml", (here / "packyard.yaml").read_text() + "libraries: [builtin]\n")
    prod = TREE["overlays/prod/kustomization.yaml"].replace("namespace: prod\n", "")
    run(here, write(tmp_path / "web", {**TREE, "overlays/prod/kustomization.yaml": prod}))
    tiny.done("build", "--version", "1", "--to", tmp_path / "out", "--workspace", here)
    text = (tmp_path / "out/web/README.md").read_text()
    assert "`kubectl create namespace dev`, `kubectl create namespace ml`" in text
    assert "kustomize build dev | kubectl apply -n dev -f -\n" in text
    assert "The objects are in `dev`." in text
    assert "Its Pod Security level must be `baseline`.\n" in text


def test_a_use_case_that_kustomize_does_not_build_is_left_out_and_listed(here: Path, tmp_path: Path) -> None:
    said = run(here, write(tmp_path / "web", {**TREE, "overlays/old/kustomization.yaml": "resources: [../gone]\n"}))
    assert said["useCases"] == ["dev", "prod"]
    (case,) = cases(said, "use cases that kustomize does not build")
    assert case.startswith("old: ")


def test_images_that_base_and_overlay_rename_are_values_and_labels_stay(
    here: Path, tmp_path: Path, kustomize5: Kustomize
) -> None:
    own = '    io.k8s.cli.setters.image: {x-k8s-cli: {setter: {name: image, value: "hub.example/web:1.25"}}}\n'
    tree = {"Krmfile": KRMFILE.partition("    io.k8s.cli.substitutions")[0] + own, "base/deployment.yaml": DEPLOYMENT}
    tree["base/kustomization.yaml"] = """resources: [deployment.yaml]
labels: [{pairs: {team: ml}, includeSelectors: false}]
images: [{name: hub.example/web, newName: own.example/web}, {name: gone, newTag: "1"}]
"""
    dev = 'resources: [../../base]\nimages: [{name: own.example/web, newTag: "1.26"}]\n'
    said = run(here, write(tmp_path / "web", tree | {"overlays/dev/kustomization.yaml": dev}))
    assert use_cases(here)["dev"]["setters"] == {"image": "own.example/web:1.26"}
    beyond = [case.rpartition("images: ")[2].partition(" (")[0] for case in cases(said, "fields that no part has")]
    bound = [f"{name}.example/web, which a setter sets" for name in ("hub", "own")]
    assert beyond == [bound[0], "gone, which no container has", bound[1]]
    objects = built(here, tmp_path / "out", kustomize5)["dev"]
    assert objects == reading.built(kustomize5, tmp_path / "web/overlays/dev")
