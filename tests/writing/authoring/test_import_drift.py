"""packyard import of setters that drifted from their fields, of ${NAME}, and of plain manifests with odd objects."""

from pathlib import Path

import tiny
from writing.authoring import importing
from writing.authoring.importing import cases, composed, manifests, run, set_values, write

FLAT = "resources: [web.yaml]\n"


def test_what_envsubst_filled_in_stays_and_is_listed(here: Path, tmp_path: Path) -> None:
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata:\n  a: ${A:-1}\n  b: |\n    echo ${B}\n"
    said = run(here, write(tmp_path / "web", {"kustomization.yaml": FLAT, "web.yaml": config}))
    (folder,) = composed(here, "web", tmp_path / "out").values()
    assert manifests(folder) == importing.objects(config)
    assert [case.rpartition("web.yaml")[2] for case in cases(said, "${NAME}")] == [":5: ${A:-1}"]


DRIFTED = """apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  hostname: one # {"$openapi":"HOST"}
  containers:
  - name: web
    image: "hub.example/web:1.23" # {"$openapi":"IMAGE"}
    args:
    - --host=three # {"$openapi":"ARG"}
"""
DEFINED = tiny.krmfile("""\
    io.k8s.cli.setters.HOST: {x-k8s-cli: {setter: {name: HOST, value: two}}}
    io.k8s.cli.setters.TAG: {description: The tag., x-k8s-cli: {setter: {name: TAG, value: "1.28"}}}
    io.k8s.cli.substitutions.IMAGE: {x-k8s-cli: {substitution: {name: IMAGE, pattern: "hub.example/web:TAG", values: [
      {marker: TAG, ref: '#/definitions/io.k8s.cli.setters.TAG'}]}}}
    io.k8s.cli.substitutions.ARG: {x-k8s-cli: {substitution: {name: ARG, pattern: "--host=HOST", values: [
      {marker: HOST, ref: '#/definitions/io.k8s.cli.setters.HOST'}]}}}
""")
DRIFT = {"kustomization.yaml": FLAT, "web.yaml": DRIFTED, "Krmfile": DEFINED}


def test_setters_that_drifted_get_what_their_fields_have(here: Path, tmp_path: Path) -> None:
    said = run(here, write(tmp_path / "web", DRIFT))
    (folder,) = composed(here, "web", tmp_path / "out").values()
    assert importing.setters(folder) == {"HOST": (None, None, "one"), "TAG": ("The tag.", None, "1.23")}
    assert manifests(folder) == importing.objects(DRIFTED)
    (pod,) = set_values(folder, {"TAG": ["9"], "HOST": ["new"]})
    assert (pod["spec"]["hostname"], pod["spec"]["containers"][0]["image"]) == ("new", "hub.example/web:9")
    assert [case.split(" ")[2] for case in cases(said, "what the fields have counts")] == ["HOST", "IMAGE"]
    (torn,) = cases(said, "setting them changed more than a value")
    assert "ARG yields '--host=one', not '--host=three'" in torn


UNNAMED = "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: a-}\n"
PLAIN = {
    "operator.yaml": "apiVersion: example.com/v1\nkind: Operator\nmetadata: {name: one}\nspec: {level: 1}\n",
    "below/config.yaml": "# Read first.\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, annotations: {}}\n"
    "data:\n  run: |-\n    a\n       \n     b\n",
}


def test_plain_manifests_are_one_base_with_their_files_as_they_are_and_what_is_no_object_is_listed(
    here: Path, tmp_path: Path
) -> None:
    source = write(tmp_path / "web", {**PLAIN, "values.yaml": "a: b\n", "c/broken.yaml": "a: [\n", "d.yaml": UNNAMED})
    assert "c/broken.yaml:2" in tiny.refused("import", source, "--workspace", here)
    (source / "c/broken.yaml").unlink()
    said = run(here, source)
    assert said["useCases"] == ["web"]
    assert cases(said, "files that hold more than objects") == ["d.yaml:1", "values.yaml:1"]
    assert not (here / "bases/web/d.yaml").exists()
    for name in ("operator.yaml", "below/config.yaml"):
        assert (here / "bases/web" / name).read_text() == PLAIN[name]
    (folder,) = composed(here, "web", tmp_path / "out").values()
    assert manifests(folder) == importing.objects(PLAIN["operator.yaml"], PLAIN["below/config.yaml"])
