"""The real kpt and kustomize start our functions: what is in the files afterwards, object, comment and order."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import tiny
from real import Kustomize

FILES = tiny.read_tree("kpt")

KPTFILE = tiny.text("kpt-run/Kptfile")

SETTERS = tiny.text("kpt-run/setters.yaml")

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(kpt: Path, kustomize5: Kustomize, tmp_path: Path) -> Run:
    programs = {"kpt": kpt, "kustomize": kustomize5.program}
    search = tiny.programs_dir(tmp_path / "bin", programs)
    env = {**os.environ, "PATH": f"{search}:{os.environ['PATH']}"}

    def start(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return start


def read(directory: Path) -> dict[str, str]:
    files = sorted(file for file in directory.rglob("*") if file.is_file())
    return {file.relative_to(directory).as_posix(): file.read_text("utf-8") for file in files}


def as_kpt_writes(run: Run, tmp_path: Path, files: dict[str, str], *replaced: tuple[str, str]) -> dict[str, str]:
    """Return the files as kpt writes them around a function that changes nothing, with texts replaced in them."""
    shutil.rmtree(tmp_path / "same", ignore_errors=True)
    tiny.write_all(tmp_path / "same", files)
    run("kpt", "fn", "eval", "same", "--exec", "cat")
    found = read(tmp_path / "same")
    for old, new in replaced:
        assert sum(text.count(old) for text in found.values()) == 1, old
        found = {path: text.replace(old, new) for path, text in found.items()}
    return found


def test_kpt_eval_sets_fields_and_leaves_every_other_byte_as_with_cat(run: Run, tmp_path: Path) -> None:
    tiny.write_all(tmp_path / "pkg", FILES)
    done = run("kpt", "fn", "eval", "pkg", "--exec", "packyard fn apply-setters", "--truncate-output=false", "--",
               "app=shop", "replicas=5", "zone=b", "env=[{name: A, value: y}, {name: 'B', value: \"1\"}]")  # fmt: skip
    assert read(tmp_path / "pkg") == as_kpt_writes(
        run,
        tmp_path,
        FILES,
        ("name: web # kpt-set", "name: shop # kpt-set"),
        ("zone: 'a'", "zone: 'b'"),
        ("replicas: 3", "replicas: 5"),
        ("/web:1.7", "/shop:1.7"),
        ("- name: A\n          value: x\n", "- {name: A, value: y}\n        - {name: 'B', value: \"1\"}\n"),
        ("web-config", "shop-config"),
        ('zones: "a"', 'zones: "b"'),
    )
    assert '[info] apps/v1/Deployment/web spec.replicas: set field value to "5"' in done.stderr


KUSTOMIZATION = """\
resources: [deployment.yaml, sub/config.yaml]
transformers: [setters.yaml]
"""

FUNCTION = tiny.text("kpt-run/function.yaml")


def test_kustomize_build_is_refused_as_no_comment_arrives(run: Run, tmp_path: Path) -> None:
    tiny.write_all(tmp_path / "pkg", {**FILES, "kustomization.yaml": KUSTOMIZATION, "setters.yaml": FUNCTION})
    refused = run("kustomize", "build", "pkg", "--enable-alpha-plugins", "--enable-exec", code=1)
    assert refused.stdout == ""
    assert "no comment was seen: kustomize build drops them all" in refused.stderr


def test_what_packyard_set_did_is_what_kpt_render_would_do(run: Run, tmp_path: Path) -> None:
    files = {**FILES, "Kptfile": KPTFILE, "setters.yaml": SETTERS}
    tiny.write_all(tmp_path / "pkg", files)
    run("packyard", "set", "pkg", "tag=2.0", "replicas=7", "zones=[e, f]", "args=[]")
    ours = read(tmp_path / "pkg")
    assert sum(ours[path] != files[path] for path in files) == 4
    expected = as_kpt_writes(run, tmp_path, ours)
    run("kpt", "fn", "render", "pkg", "--allow-exec")
    assert read(tmp_path / "pkg") == expected
    listed = run("packyard", "setters", "pkg").stdout
    assert [line.split()[:2] for line in listed.splitlines()[1:] if "replicas" in line] == [["replicas", "7"]]
