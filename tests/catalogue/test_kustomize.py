"""Every use case, as shipped and with options of a sample: kustomize and packyard's own builder build the same objects.

kustomize is that of the kubectl which comes as a wheel, so that this needs no other program.
"""

import subprocess
from pathlib import Path

import pytest
import yaml

import real
from catalogue.usecases import USE_CASES, Object, each_package, sampled_options, shipped
from packyard.core.files.tree import Tree
from packyard.using.kustomize.builtin import build
from packyard.writing.source.package import Package
from tiny import write


def objects(text: str) -> list[Object]:
    found = [item for item in yaml.load_all(text, Loader=yaml.CSafeLoader) if item]
    assert found
    return sorted(
        found, key=lambda item: (item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"])
    )


@pytest.mark.xdist_group("catalogue")  # so that its packages are composed once
@each_package
def test_kustomize_builds_what_packyard_builds(package: Package, tmp_path: Path) -> None:
    """All in one build, each in a namespace of its own: to start kustomize takes longer than to build a use case."""
    folders = []
    for use_case in [each for item, each in USE_CASES if item.name == package.name]:
        directory = shipped(package, use_case)
        directory = directory.set(directory.examples)
        for option in ("", *sampled_options(package, use_case, of="kustomize")):
            namespace = f"n{len(folders)}"
            fields: Object = {"namespace": namespace, "components": [f"../options/{option}"] if option else []}
            directory.write(tmp_path / namespace, fields)
            folders.append(f"{namespace}/use-case")
    write(tmp_path / "kustomization.yaml", yaml.safe_dump({"resources": folders}))
    command = [real.own_program("kubectl"), "kustomize", tmp_path]
    built = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    own = "---\n".join(build(Tree(tmp_path / folder)).decode() for folder in folders)
    assert objects(own) == objects(built)
