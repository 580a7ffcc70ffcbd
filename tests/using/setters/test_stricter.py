"""Values that kustomize takes and `packyard set` refuses: emptied ones, and numbers in other forms than decimal."""

from pathlib import Path

import pytest

from packyard.using.setters.check import is_refused
from packyard.using.setters.definition import Setter
from tiny import packyard
from using.commands import refused
from using.setters import judged

KRMFILE = """\
openAPI:
  definitions:
    io.k8s.cli.setters.RUN_NAME:
      maxLength: 13
      pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'
      default: run
      x-k8s-cli: {setter: {name: RUN_NAME, value: run}}
    io.k8s.cli.setters.SERVER:
      pattern: '^[a-z.]*$'
      x-k8s-cli: {setter: {name: SERVER, value: "", required: true}}
    io.k8s.cli.setters.WORKERS:
      type: integer
      minimum: 1
      default: 2
      x-k8s-cli: {setter: {name: WORKERS, value: "2"}}
"""
RESOURCE = """\
apiVersion: example.com/v1
kind: Run
metadata:
  name: run # {"$openapi":"RUN_NAME"}
server: "" # {"$openapi":"SERVER"}
workers: 2 # {"$openapi":"WORKERS"}
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "Krmfile").write_text(KRMFILE)
    (tmp_path / "r.yaml").write_text(RESOURCE)
    (tmp_path / "kustomization.yaml").write_text("resources: [r.yaml]\n")
    return tmp_path


@pytest.mark.parametrize(("schema", "refuses"), judged.cases("emptied"))
def test_an_emptied_value_is_checked_like_any_other(schema: dict[str, object], *, refuses: bool) -> None:
    setter = Setter("A", value="a", type=str(schema.get("type", "")), schema=schema)
    assert not is_refused(setter, [], as_kustomize=True)
    assert is_refused(setter, []) is refuses
    assert is_refused(setter, [""]) is refuses


@pytest.mark.parametrize("text", ["~", "null", "NULL", "true", "1.5", ".inf", "+5", "12345678901234"])
def test_a_definition_without_a_type_judges_what_yaml_reads_as_no_text(package: Path, text: str) -> None:
    setter = Setter("A", schema={"pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 4})
    assert not is_refused(setter, [text], as_kustomize=True)
    assert is_refused(setter, [text]) is (text not in ("null", "true"))
    assert is_refused(Setter("A", schema={"format": "ipv4"}), [text])
    assert not is_refused(Setter("A", type="integer", schema={"type": "integer", "pattern": "^a$"}), ["5"])
    if text not in ("null", "true"):
        assert "RUN_NAME takes lower-case letters, digits and '-'" in refused(package, "set", ".", f"RUN_NAME={text}")


def test_what_was_emptied_can_be_taken_back(package: Path) -> None:
    unset = "(to go back to the shipped value: packyard set . --unset RUN_NAME)"
    assert unset in refused(package, "set", "RUN_NAME=")
    assert unset in refused(package, "set", ".", "RUN_NAME", "")
    assert "(for example: packyard set . SERVER=" not in refused(package, "set", "SERVER=")
    assert packyard("set", "SERVER=a.b", cwd=package).returncode == 0
    assert "packyard set . --unset SERVER" in refused(package, "set", "SERVER=")
    assert packyard("set", "--unset", "SERVER", cwd=package).returncode == 0
    (package / "values.yaml").write_text("RUN_NAME: ''\n")
    assert unset in refused(package, "set", "--values", "values.yaml")


@pytest.mark.parametrize(("text", "meant"), judged.cases("numbers-meant"))
def test_whole_numbers_are_decimal_and_the_one_that_was_meant_is_named(package: Path, text: str, meant: str) -> None:
    said = refused(package, "set", f"WORKERS={text}")
    assert f"not '{text}' (did you mean: packyard set . WORKERS={meant})" in said


def test_cfg_set_takes_what_kustomize_takes_and_render_refuses_it(package: Path) -> None:
    assert packyard("set", "SERVER=a.b", cwd=package).returncode == 0
    for name, text in (("RUN_NAME", ""), ("WORKERS", "010")):
        assert packyard("cfg", "set", ".", name, text, cwd=package).returncode == 0
        assert f"{name} " in refused(package, "render", "--built-in")
        assert packyard("set", "--unset", name, cwd=package).returncode == 0


def test_a_setter_without_a_field_is_refused(package: Path) -> None:
    for behind in ('a: [{b: ""}] # {"$openapi":"WORKERS"}', 'a: 2 # mine # {"$openapi":"WORKERS"}'):
        (package / "r.yaml").write_text(RESOURCE.replace('workers: 2 # {"$openapi":"WORKERS"}', behind))
        said = refused(package, "set", "WORKERS=7")
        assert "r.yaml:6: WORKERS would set no field: no comment binds one to it" in said
    (package / "r.yaml").write_text(RESOURCE.replace(' # {"$openapi":"WORKERS"}', ""))
    for words in (("set", "WORKERS=7"), ("set", "WORKERS=7", "-R"), ("set", "WORKERS=7", "RUN_NAME=other")):
        assert "WORKERS would set no field" in refused(package, *words)
    (package / "Krmfile").unlink()
    mutators = "[{image: apply-setters:v0.2, configMap: {WORKERS: 2, app: web}}]"
    (package / "Kptfile").write_text(f"kind: Kptfile\npipeline: {{mutators: {mutators}}}\n")
    for words in (("set", "app=7"), ("set", "-R", "app=7"), ("cfg", "set", ".", "app", "7")):
        assert "app would set no field" in refused(package, *words)


def test_a_field_that_was_edited_by_hand_is_told_when_it_is_set(package: Path) -> None:
    (package / "r.yaml").write_text(RESOURCE.replace("workers: 2", "workers: 5").replace('""', "typed-in"))
    process = packyard("set", "WORKERS=7", "SERVER=a.b", cwd=package)
    assert "r.yaml:6: workers was '5', edited by hand" in process.stderr
    assert "typed-in" not in process.stderr  # SERVER was still to be set
