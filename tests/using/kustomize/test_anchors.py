"""What repeats within an object is written once: each case of the rule, with what kustomize builds of it."""

from pathlib import Path

import yaml

import tiny
from packyard.core.yaml.sources import Sources
from packyard.using.kustomize.accumulate import accumulate
from packyard.writing.source import parts

BASE = tiny.text("anchors/base.yaml")
HEAD = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [run.yaml]\n"


def composed(folder: Path, *operations: str, base: str = BASE) -> str:
    (folder / "run.yaml").write_text(base)
    listed = "".join(f"    - {operation}\n" for operation in operations)
    patches = f"patches:\n- target: {{kind: Run}}\n  patch: |-\n{listed}" if operations else ""
    (folder / "kustomization.yaml").write_text(HEAD + patches)
    (item,) = accumulate(parts.read(Sources(folder), "", "Kustomization"))
    return item.write().decode()


def spec(text: str) -> dict[str, dict[str, object]]:
    found = yaml.safe_load(text)["spec"]
    assert isinstance(found, dict)
    return found


def test_what_one_place_got_writes_that_place_out_and_shares_what_is_inside(tmp_path: Path) -> None:
    text = composed(tmp_path, "{op: add, path: /spec/worker/volumes/-, value: {name: data, emptyDir: {}}}")
    written = "    volumes:\n    - {name: tmp, emptyDir: {}}\n    - *home\n    - {name: data, emptyDir: {}}\n"
    assert text == BASE.replace("&volumes ", "").replace("    volumes: *volumes\n", written)


def test_a_second_value_under_one_name_has_a_number(tmp_path: Path) -> None:
    base = BASE + "  server:\n    volumes: *volumes\n  other:\n    volumes: *volumes\n"
    add = "{{op: add, path: /spec/{}/volumes/-, value: {{name: data, emptyDir: {{}}}}}}"
    text = composed(tmp_path, add.format("server"), add.format("other"), base=base)
    assert "    volumes: *volumes\n    home: *home\n" in text
    assert "  server:\n    volumes: &volumes-2\n    - {name: tmp, emptyDir: {}}\n" in text
    assert text.endswith("  other:\n    volumes: *volumes-2\n")


def test_anchors_of_a_patch_count(tmp_path: Path) -> None:
    text = composed(
        tmp_path,
        "{op: add, path: /spec/launcher/args, value: &args [--steps=1]}",
        "{op: add, path: /spec/worker/args, value: *args}",
    )
    assert "    args: &args [--steps=1]\n" in text
    assert text.endswith("    args: *args\n")
