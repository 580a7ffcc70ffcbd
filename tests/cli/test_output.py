"""Output on a terminal or a pipe: text for people is clean, JSON and diffs are exact, and one module prints."""

import json
import os
import subprocess
import unicodedata
from pathlib import Path

import pytest

import tiny
from tiny import COMMAND, done, environment, inside, packyard

#: Sequences that set the title and the color, DEL, what turns or hides text, line separators, a carriage return.
EVIL = "d\x1b]0;TITLE\x07 \x9b31m \x7f \u202egnp.exe \u2066 \u2028 \u2029 \u200b \ufeff \r \b"
KRMFILE = tiny.text("output/Krmfile")
ACTS = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def acts(text: str) -> list[str]:
    """Return what a terminal would act on."""
    return [sign for sign in text if sign != "\n" and unicodedata.category(sign) in ACTS]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    root = tmp_path / "pkg"
    below = root / "sub\x1b[2J\u202e"
    written = "".join(f"\\U{ord(sign):08x}" if not sign.isprintable() else sign for sign in EVIL)
    tiny.write(root / "Krmfile", KRMFILE.replace("EVIL", written))
    (root / "cm.yaml").write_text('apiVersion: v1\nkind: ConfigMap\ndata:\n  a: "1" # {"$openapi":"A"}\n# \u202e\r\n')
    tiny.write(below / "x.yaml", 'a: "1" # {"$openapi":"A"}\nb: c # {"$openapi":"NO\u202e"}\n')
    (root / "kustomization.yaml").write_text("resources: [cm.yaml]\n")
    kind = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    about = EVIL.replace("\u2028", "").replace("\u2029", "").replace("\r", "")
    tiny.write(tmp_path / "options/o/kustomization.yaml", f"# an option {about}\n{kind}")
    return root


#: Commands that print what they were given, or what is in the package.
COMMANDS = (
    "setters|explain A|set A=x|set A=1|set A=7|set --unset A|set \x1b[2J=1|set \u202e 1|enable|enable \x9bp|lint|render"
    "|render --built-in|undo|cfg list-setters .|cfg set . A \x1b[2J|cfg set . NO x|cfg \x1b[2J|\x1b[2J|get \x1b[2J"
    "|list --from \x1b[2J|build \x1b --to \x1b|--\u202e"
)


@pytest.mark.parametrize("words", COMMANDS.split("|"))
def test_no_text_for_people_acts_on_a_terminal(package: Path, words: str) -> None:
    process = inside(*words.split(" "), cwd=package)
    assert "Traceback" not in process.stderr
    if words != "render --built-in":
        assert not acts(process.stdout)
    assert not acts(process.stderr)


def test_controls_are_shown_escaped(package: Path) -> None:
    shown = r"d\x1b]0;TITLE\x07 \x9b31m \x7f \u202egnp.exe"
    assert shown in done("setters", package)
    assert shown in done("explain", package, "A")
    assert shown in done("enable", package)
    assert shown in packyard("-v", "set", package, "A=x").stderr


def test_json_is_exact_and_harmless(package: Path) -> None:
    text = done("setters", package, "--output", "json")
    assert not acts(text)
    (listed,) = json.loads(text)
    assert EVIL in {row["description"] for row in listed["setters"]}
    (change,) = json.loads(done("set", package, "A=1", "--dry-run", "--output", "json"))
    assert {field["file"] for field in change["fields"]} == {f"{package}/cm.yaml", f"{package}/sub\x1b[2J\u202e/x.yaml"}


def test_diffs_and_manifests_are_exact(package: Path) -> None:
    command = [*COMMAND, "set", str(package), "A=5", "--dry-run"]
    diff = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, check=True, cwd=package).stdout
    assert "\n # \u202e\r\n".encode() in diff
    assert "\u202e".encode() in diff.split(b"cm.yaml")[-1]


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A package whose files have a blank and a quote in their names."""
    root = tmp_path / "here" / "my pkg"
    definition = KRMFILE.split("      description")[0] + '      x-k8s-cli: {setter: {name: A, value: "1"}}\n'
    tiny.write(root / "Krmfile", definition)
    for name in ("a file.yaml", "sub/ü.yaml"):
        tiny.write(root / name, 'a: "1" # {"$openapi":"A"}\n')
    return root


@pytest.mark.parametrize("stand", [".", "my pkg", ".."])
@pytest.mark.parametrize("absolute", [False, True])
def test_a_dry_run_is_a_patch_where_one_stands(plain: Path, stand: str, absolute: bool) -> None:
    here = plain.parent / stand
    named = str(plain) if absolute else os.path.relpath(plain, here)
    diff = done("set", named, "A=2", "--dry-run", cwd=here)
    subprocess.run(["git", "apply", "-p1"], cwd=here, input=diff, text=True, check=True)
    patched = {path: (plain / path).read_bytes() for path in ("Krmfile", "a file.yaml", "sub/ü.yaml")}
    assert b'"2"' in patched["sub/ü.yaml"]
    subprocess.run(["git", "apply", "-p1", "-R"], cwd=here, input=diff, text=True, check=True)
    done("set", named, "A=2", cwd=here)
    assert {path: (plain / path).read_bytes() for path in patched} == patched
