"""packyard import of packages of kpt, of kustomizations and of renderings, and what it refuses."""

from pathlib import Path

import pytest

import reading
import tiny
from real import Kustomize
from writing.authoring import importing
from writing.authoring.importing import cases, composed, manifests, objects, run, set_values, write

POD = """apiVersion: v1
kind: Pod
metadata:
  name: web # {"$openapi":"RUN"}
spec:
  containers:
  - name: web
    image: nginx:1.25 # {"$openapi":"IMAGE"}
"""
KRMFILE = tiny.krmfile("""\
    io.k8s.cli.setters.RUN: {description: Name., x-k8s-cli: {setter: {name: RUN, value: web}}}
    io.k8s.cli.setters.IMAGE: {x-k8s-cli: {setter: {name: IMAGE, value: "nginx:1.25"}}}
""")
FLAT = "resources: [pod.yaml]\n"


KPT = {
    "Kptfile": """apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: web}
pipeline:
  mutators:
  - image: gcr.io/kpt-fn/apply-setters:v0.2
    configMap: {image: nginx, tag: "1.26", replicas: "3", gone: x}
  - image: gcr.io/kpt-fn/set-labels:v0.1
""",
    "web.yaml": """apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3 # kpt-set: ${replicas}
  template:
    spec:
      containers:
      - name: web
        image: nginx:1.25 # kpt-set: ${image}:${tag}
        args: # kpt-set: ${hosts}
        - a
        - b
""",
    "below/conf.yaml": """apiVersion: v1
kind: ConfigMap
metadata: {name: web, annotations: {config.kubernetes.io/local-config: "false"}}
data:
  image: nginx:1.25 # kpt-set: ${image}:${tag}
  other: nginx:1.9 # kpt-set: ${image}:${tag}
""",
    "local.yaml": """apiVersion: v1
kind: ConfigMap
metadata: {name: local, annotations: {config.kubernetes.io/local-config: "true"}}
""",
}


def test_a_package_of_kpt_keeps_its_setters_and_names_what_it_loses(here: Path, tmp_path: Path) -> None:
    said = run(here, write(tmp_path / "web", KPT))
    (folder,) = composed(here, "web", tmp_path / "out").values()
    assert manifests(folder) == objects(KPT["web.yaml"], KPT["below/conf.yaml"])
    after = set_values(folder, {"image": ["busybox"], "tag": ["1"], "replicas": ["5"], "hosts": ["c"]})
    edits = {"nginx:1.25": "busybox:1", "replicas: 3": "replicas: 5", "- a\n        - b": "- c"}
    text = "---\n".join(KPT[path] for path in ("web.yaml", "below/conf.yaml"))
    for old, new in edits.items():
        text = text.replace(old, new)
    assert after == objects(text)
    assert cases(said, "functions of the pipeline") == ["Kptfile: mutators: gcr.io/kpt-fn/set-labels:v0.1"]
    (other,) = cases(said, "setting them changed more than a value")
    assert other == "below/conf.yaml:6: data.other: ${image}:${tag} yields 'nginx:1.25', not 'nginx:1.9'"


@pytest.mark.parametrize(
    ("field", "setters"),
    [
        ('""  # kpt-set: ${proxy}', {"proxy": ""}),
        ('":80" # kpt-set: ${host}:${port}', {"host": "", "port": "80"}),
        ('"x-" # kpt-set: x-${tail}', {"tail": ""}),
        ('"" # kpt-set: ${one}${two}', {"one": "", "two": ""}),
    ],
)
def test_an_empty_field_of_kpt_keeps_its_setters(
    here: Path, tmp_path: Path, field: str, setters: dict[str, str]
) -> None:
    text = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web}}\ndata:\n  a: {field.replace('  #', ' #')}\n"
    said = run(here, write(tmp_path / "web", {"Kptfile": KPT["Kptfile"].partition("pipeline")[0], "web.yaml": text}))
    assert cases(said, "yield another text") == []
    (folder,) = composed(here, "web", tmp_path / "out").values()
    assert manifests(folder) == objects(text)
    assert {name.lower(): value for name, (_, _, value) in importing.setters(folder).items()} == setters


SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData:\n  password: hunter2hunter2\n"


def test_what_worked_with_a_fault_gets_an_exception_at_its_line(here: Path, tmp_path: Path) -> None:
    said = run(here, write(tmp_path / "web", {"secret.yaml": SECRET.rstrip("\n")}))
    (case,) = cases(said, "plain-secret, which an exception in a comment above allows")
    assert [note["do"].partition(":")[0] for note in said["notes"] if case in note["cases"]] == [
        "name a Secret that each user creates instead"
    ]
    assert case.startswith("bases/web/secret.yaml:6:3: error: password is a secret in plain text")
    (folder,) = composed(here, "web", tmp_path / "out").values()
    assert manifests(folder) == objects(SECRET)


INITS = """  initContainers:
  - {name: first, image: "init:1"} # before all
  - {name: second, image: "init:2"}
  containers"""
KUSTOMIZATIONS = {
    "base/kustomization.yaml": """resources: [pod.yaml, web.yaml]
labels: [{pairs: {app: web}}]
namespace: base
configMapGenerator:
- {name: conf, envs: [conf.env], files: [app.toml=below/one.toml]}
""",
    "base/conf.env": '# Read at the start.\nLEVEL=info\nQUOTED="x"\n',
    "base/below/one.toml": "port = 80\n",
    "base/pod.yaml": POD.replace("  containers", INITS)
    + "    envFrom: [{configMapRef: {name: conf}}, {secretRef: {name: creds}}] # both\n",
    "base/web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}\n",
    "overlays/dev/kustomization.yaml": """# Copyright 2024 Some One
# Licensed under the Apache License.

# For developers.
bases: [../../base]
namePrefix: dev-
components: [../../all]
patchesStrategicMerge:
- first.yaml
- |-
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec: {minReadySeconds: 1}
secretGenerator:
- {name: creds, literals: [password=hunter2hunter2]}
""",
    "overlays/dev/first.yaml": POD.partition("  containers")[0]
    + "  initContainers: [{name: second, image: 'init:3'}] # merged by name\n",
    "all/kustomization.yaml": """apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
commonAnnotations: {owner: ml}
resources: [service.yaml]
patches: [{target: {kind: Pod}, patch: "- {op: add, path: /spec/hostname, value: h}"}]
""",
    "all/service.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n",
    "overlays/prod/kustomization.yaml": """resources: [../../base]
nameSuffix: -prod
namespace: prod
replicas: [{name: web, count: 3}]
configMapGenerator:
- {name: conf, behavior: merge, literals: [LEVEL=warn]}
secretGenerator:
- {name: creds, envs: [creds.env]}
patchesJson6902: [{target: {kind: Deployment, name: web}, path: paused.yaml}]
""",
    "overlays/prod/paused.yaml": "- {op: add, path: /spec/paused, value: true}\n",
    "overlays/prod/creds.env": "password=s3cretS3cret\n",
    "readme.md": "# Web\n",
    "old/a.txt": "",
    "old/b.txt": "",
}


@pytest.mark.usefixtures("kustomize5_in_path")
def test_what_no_part_can_say_is_written_as_patches_of_parts(here: Path, tmp_path: Path, kustomize5: Kustomize) -> None:
    said = run(here, write(tmp_path / "web", KUSTOMIZATIONS))
    found = composed(here, "web", tmp_path / "out")
    assert sorted(found) == ["dev", "prod"]
    for path, folder in found.items():
        assert reading.built(kustomize5, folder) == reading.built(kustomize5, tmp_path / "web/overlays" / path)
    assert cases(said, "taken as kustomize builds them") == []
    patched = cases(said, "fields that no part has")
    assert patched[0] == "base/kustomization.yaml:3: namespace (bases/web-dev, bases/web-prod)"
    assert [case.partition(": ")[2] for case in patched[1:]] == [
        *("commonAnnotations (bases/web-dev)", "namePrefix (bases/web-dev)", "secretGenerator (bases/web-dev)"),
        *("nameSuffix (bases/web-prod)", "replicas (bases/web-prod)", "secretGenerator (bases/web-prod)"),
        "configMapGenerator: behavior (bases/web-prod)",
    ]
    kept = {"web-base/web.yaml": "base/web.yaml", "web-prod/paused.yaml": "overlays/prod/paused.yaml"}
    assert all((here / "bases" / file).read_text() == KUSTOMIZATIONS[path] for file, path in kept.items())
    dev = (here / "bases/web-dev/kustomization.yaml").read_text()
    for line in (
        "# Copyright 2024 Some One",
        "# For developers.",
        "- ../web-base",
        "- ../../overlays/programs/web-all",
    ):
        assert f"{line}\n" in dev
    assert "prod: {base: web-prod, namespace: prod}" in (here / "packages/web/package.yaml").read_text()
    assert "files: [app.toml=one.toml]" in (here / "bases/web-base/kustomization.yaml").read_text()
    assert cases(said, "files beside the use cases") == ["old/", "readme.md"]


@pytest.mark.usefixtures("kustomize5_in_path")
def test_an_overlay_that_another_builds_on_is_a_use_case_or_named(
    here: Path, tmp_path: Path, kustomize5: Kustomize
) -> None:
    on = {"base": "pod.yaml", "ov/prod": "../../base", "ov/prod-eu": "../prod", "deep/x": "../../base"}
    on["ov/stage"] = "../../deep/x"
    says = {
        f"{name}/kustomization.yaml": f"resources: [{path}]\nnamePrefix: {name[-1]}-\n" for name, path in on.items()
    }
    said = run(here, write(tmp_path / "app", says | {"base/pod.yaml": POD}))
    assert cases(said, "overlays that are no use cases") == ["deep/x"]
    found = composed(here, "app", tmp_path / "out")
    assert sorted(found) == ["ov/prod", "ov/prod-eu", "ov/stage"]
    for path, folder in found.items():
        assert reading.built(kustomize5, folder) == reading.built(kustomize5, tmp_path / "app" / path)


def test_without_kustomize_what_only_that_can_build_is_refused(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = tiny.refused("import", write(tmp_path / "web", KUSTOMIZATIONS), "--workspace", here)
    assert "install kustomize" in refused or "kustomize" in refused
    assert reading.files(here).keys() == {"LICENSE", "packyard.yaml"}


ODD = """# About the pod.

apiVersion: v1
kind: Pod
metadata: {name: web, labels: &labels {app: web}}
spec:
  hostname: h
  nodeSelector: *labels
  securityContext: {<<: *labels, runAsUser: !!str 7}
  containers:
  - name: web
    image: "nginx:\\
      1.25" # {"$ref":"#/definitions/io.k8s.cli.setters.IMAGE"}
    env:
    - {name: A, value: "yes"}
    - name: text
      value: |2 # indented
          two
         one
"""


def test_yaml_that_no_part_can_hold_is_taken_as_it_is_built(here: Path, tmp_path: Path, kustomize5: Kustomize) -> None:
    said = run(here, write(tmp_path / "web", {"kustomization.yaml": FLAT, "pod.yaml": ODD, "Krmfile": KRMFILE}))
    (folder,) = composed(here, "web", tmp_path / "out").values()
    assert reading.built(kustomize5, folder) == reading.built(kustomize5, tmp_path / "web")
    (case,) = cases(said, "taken as kustomize builds them")
    assert case.startswith("pod.yaml:9:45: tags")


BAD: dict[str, tuple[dict[str, str], str]] = {
    "no use case": ({"readme.md": "# A readme.\n"}, "holds no use case"),
    "yaml that cannot be read": ({"kustomization.yaml": FLAT, "pod.yaml": "a: [\n"}, "pod.yaml:2:1"),
    "a key twice": ({"kustomization.yaml": FLAT, "pod.yaml": POD + "kind: Pod\n"}, "key 'kind' occurs twice"),
    "one that leads out": ({"kustomization.yaml": "resources: [../../secret.yaml]\n"}, "secret.yaml"),
    "no kind": (
        {"kustomization.yaml": FLAT, "pod.yaml": "apiVersion: v1\nmetadata: {name: a}\n"},
        "pod.yaml:1:1: an object without a kind",
    ),
    "several packages": (
        {
            f"{name}/use-cases/run/{file}": text
            for name in "ab"
            for file, text in (("kustomization.yaml", FLAT), ("pod.yaml", POD))
        },
        "holds several packages: a, b (import each by itself, first: packyard import",
    ),
    "two use cases of one name": (
        {"a.b/kustomization.yaml": FLAT, "a-b/kustomization.yaml": FLAT},
        "would be one use case",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_and_nothing_is_written(here: Path, tmp_path: Path, name: str) -> None:
    files, message = BAD[name]
    assert message in tiny.refused("import", write(tmp_path / "web", files), "--workspace", here)
    assert reading.files(here).keys() == {"LICENSE", "packyard.yaml"}


def test_a_kind_that_is_no_name_for_a_file_leads_nowhere(here: Path, tmp_path: Path) -> None:
    odd = 'apiVersion: v1\nkind: "../../../../evil}"\nmetadata: {name: "../a"}\n'
    run(
        here,
        write(tmp_path / "web", {"kustomization.yaml": FLAT, "pod.yaml": odd + "---\n" + odd.replace("../a", "../b")}),
    )
    assert not [path for path in tmp_path.rglob("*evil*") if path.parent.parent.parent != here]
    (folder,) = composed(here, "web", tmp_path / "out").values()
    assert manifests(folder) == objects(odd, odd.replace("../a", "../b"))


def test_folders_that_are_there_are_not_written_to(here: Path, tmp_path: Path) -> None:
    write(tmp_path / "web", {"kustomization.yaml": FLAT, "pod.yaml": POD, "Krmfile": KRMFILE})
    for taken in ("packages/web", "bases/web"):
        tiny.write(here / taken / "mine.txt", "mine\n")
        refused = tiny.refused("import", tmp_path / "web", "--workspace", here)
        assert f"{here / taken}: exists already, and is not empty (choose another name: --name NAME)" in refused
        (here / taken / "mine.txt").unlink()
    assert run(here, tmp_path / "web")["name"] == "web"
    assert "is no name for a package" in tiny.refused("import", tmp_path / "web", "--workspace", here, "--name", "A/b")


def test_secrets_are_told_and_paths_are_those_of_the_workspace_wherever_it_is_run(here: Path) -> None:
    write(here / "below/web", {"secret.yaml": SECRET})
    done = tiny.packyard("import", "web", cwd=here / "below")
    assert "warning: the package has secrets in plain text: bases/web/secret.yaml:6\n" in done.stderr
    assert f"next: in {here}, work through packages/web/import.md, then: packyard lint web\n" in done.stderr
    assert ".." not in done.stdout + done.stderr + (here / "packages/web/import.md").read_text()


def test_what_is_no_folder_is_refused_with_what_to_name(here: Path, tmp_path: Path) -> None:
    tiny.write(tmp_path / "web.tar.gz", "x")
    for name, why in (("web.tar.gz", "is a file (name the folder that holds it"), ("gone", "no such folder")):
        assert f"{name}: {why}" in tiny.refused("import", tmp_path / name, "--workspace", here)
