"""A required setter without a value has to be set, whatever else its definition says: one property for all verbs."""

import json
from pathlib import Path

import pytest
import yaml

from packyard.using.setters.valuesfile import LIMIT
from tiny import done, packyard, write

FIELD = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  a: "" # {"$openapi":"A"}\n'
LISTED = 'apiVersion: v1\nkind: X\nmetadata: {name: x}\nargs: # {"$openapi":"A"}\n- a\n- b\n'


def make(folder: Path, *lines: str, setter: str = 'value: ""', field: str = FIELD, rule: str = "") -> Path:
    keywords = "".join(f"      {line}\n" for line in lines)
    body = f"      x-k8s-cli: {{setter: {{name: A, {setter}, required: true}}}}\n"
    rules = f"rules:\n- rule: {rule}\n  message: No.\n" if rule else ""
    write(folder / "Krmfile", f"openAPI:\n  definitions:\n    io.k8s.cli.setters.A:\n{keywords}{body}{rules}")
    (folder / "cm.yaml").write_text(field)
    (folder / "kustomization.yaml").write_text("resources: [cm.yaml]\n")
    return folder


def setter(folder: Path) -> dict[str, object]:
    definitions = yaml.safe_load((folder / "Krmfile").read_text())["openAPI"]["definitions"]
    found: dict[str, object] = definitions["io.k8s.cli.setters.A"]["x-k8s-cli"]["setter"]
    return found


@pytest.mark.parametrize("lines", [("type: integer", "nullable: true"), (), ("pattern: ^(/.*)?$",)])
@pytest.mark.parametrize("words", [("set", ".", "A="), ("set", ".", "A", "")])
def test_what_is_required_is_never_set_to_nothing(
    tmp_path: Path, lines: tuple[str, ...], words: tuple[str, ...]
) -> None:
    package = make(tmp_path, *lines)
    for value in ("", "/1" if lines == ("pattern: ^(/.*)?$",) else "1"):
        if value:
            done("set", ".", f"A={value}", cwd=package)
        process = packyard(*words, cwd=package)
        assert process.returncode == 1
        assert "A needs a value: " in process.stderr
        assert ("packyard set . --unset A" in process.stderr) == bool(value)
        assert setter(package)["value"] == value


@pytest.mark.parametrize("lines", [("type: integer", "nullable: true"), (), ("pattern: ^(/.*)?$",)])
@pytest.mark.parametrize("words", [("set", ".", "--unset", "A"), ("cfg", "set", ".", "A", "")])
def test_set_to_nothing_it_is_as_unset_as_before(
    tmp_path: Path, lines: tuple[str, ...], words: tuple[str, ...]
) -> None:
    package = make(tmp_path, *lines, rule="A != 'x'" if not lines else "")
    done(*words, cwd=package)
    assert "isSet" not in setter(package)
    (listed,) = json.loads(done("setters", ".", "--unset", "--output", "json", cwd=package))
    assert [row["name"] for row in listed["setters"]] == ["A"]
    assert [row["holds"] for row in listed["rules"]] == [None] * bool(not lines)
    process = packyard("render", "--built-in", ".", cwd=package)
    assert (process.returncode, process.stdout) == (1, "")
    assert "A is not set" in process.stderr
    done("set", ".", "A=/1" if lines == ("pattern: ^(/.*)?$",) else "A=1", cwd=package)
    assert setter(package)["isSet"] is True
    done("render", "--built-in", ".", cwd=package)
    done(*words, cwd=package)
    assert "isSet" not in setter(package)


def test_of_a_list_nothing_is_no_item(tmp_path: Path) -> None:
    package = make(tmp_path, "type: array", setter="listValues: [a, b]", field=LISTED)
    values = tmp_path / "values"
    done("set", ".", "A=a", "A=b", cwd=package)
    values.write_text('A: ""')
    for words in (("A=",), ("A", ""), ("--values", "values")):
        assert "A needs a value: a list (to go back" in packyard("set", ".", *words, cwd=package).stderr
    krmfile = (package / "Krmfile").read_text()
    (package / "Krmfile").write_text(krmfile.replace(", required: true", ""))
    for words in (("A=",), ("A", ""), ("--values", "values")):
        done("set", ".", "A=a", "A=b", cwd=package)
        done("set", ".", *words, cwd=package)
        assert setter(package)["listValues"] == []
    (package / "Krmfile").write_text(krmfile)
    values.unlink()
    done("set", ".", "A=a", "A=", cwd=package)
    assert setter(package)["listValues"] == ["a", ""]
    done("set", ".", "--unset", "A", cwd=package)
    assert setter(package)["listValues"] == []


def test_what_cannot_be_taken_back_leaves_what_is_set_beside_it_too(tmp_path: Path) -> None:
    package = make(tmp_path)
    krmfile = (package / "Krmfile").read_text()
    optional = krmfile.replace(", required: true", "")
    (package / "Krmfile").write_text(optional + optional.partition("definitions:\n")[2].replace("A", "B"))
    before = (package / "Krmfile").read_bytes(), (package / "cm.yaml").read_bytes()
    process = packyard("set", ".", "A=z", "--unset", "B", cwd=package)
    assert process.returncode == 1
    assert "parameter 'B' has no default to go back to" in process.stderr
    assert process.stdout == ""
    assert ((package / "Krmfile").read_bytes(), (package / "cm.yaml").read_bytes()) == before


def test_a_values_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    package = make(tmp_path)
    (tmp_path / "values").write_text("A: z\n" + "# and so on\n" * (LIMIT // 12 + 1))
    process = packyard("set", ".", "--values", "values", cwd=package)
    assert process.returncode == 1
    assert "error: values: is larger than" in process.stderr
    assert setter(package)["value"] == ""
