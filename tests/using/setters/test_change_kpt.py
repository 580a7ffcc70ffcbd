"""Packages with setters in both spellings: definitions and kpt's comments are planned together, by any name."""

from __future__ import annotations

import pytest

from packyard.using.setters.change import PackageSetters
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Assignment

KPTFILE = b"""\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata: {name: example}
pipeline:
  mutators:
  - image: gcr.io/kpt-fn/apply-setters:v0.2
    configMap: {app: web}
"""
KRMFILE = b"""\
openAPI:
  definitions:
    io.k8s.cli.setters.TAG:
      default: "1.6"
      x-k8s-cli: {setter: {name: TAG, value: "1.7", isSet: true}}
    io.k8s.cli.setters.app:
      x-k8s-cli: {setter: {name: app, value: web}}
"""
RESOURCE = b'name: web # kpt-set: ${app}\ntag: "1.7" # {"$openapi":"TAG"}\nother: web # {"$openapi":"app"}\n'


@pytest.fixture
def package() -> PackageFiles:
    return PackageFiles(KRMFILE, {"r.yaml": RESOURCE}, kptfile=KPTFILE)


def test_one_name_in_both_spellings_is_set_in_both(package: PackageFiles) -> None:
    assert PackageSetters(package).names == {"TAG", "app"}
    plan = PackageSetters(package).plan(Assignment({"app": ["shop"], "TAG": ["1.8"]}))
    assert plan.files["r.yaml"] == RESOURCE.replace(b"web", b"shop").replace(b"1.7", b"1.8")
    assert b"{app: shop}" in plan.files["Kptfile"]
    assert plan.counts == {"app": 2, "TAG": 1}


def test_a_setter_of_kpt_has_no_default_and_stays_while_others_go_back(package: PackageFiles) -> None:
    alone = PackageFiles(KRMFILE.partition(b"    io.k8s.cli.setters.app")[0], package.resources, kptfile=KPTFILE)
    plan = PackageSetters(alone).plan(Assignment({}, ["app", "TAG"]))
    assert plan.files["r.yaml"] == RESOURCE.replace(b"1.7", b"1.6")
    assert "Kptfile" not in plan.files
    assert [problem.message for problem in plan.left.values()] == ["setter 'app' has no default to go back to"]


def test_values_and_defaults_are_planned_together(package: PackageFiles) -> None:
    plan = PackageSetters(package).plan(Assignment({"app": ["shop"]}, ["TAG"]))
    assert plan.files["r.yaml"] == RESOURCE.replace(b"web", b"shop").replace(b"1.7", b"1.6")
    assert b'{name: TAG, value: "1.6"}' in plan.files["Krmfile"]
