"""References to ConfigMaps and ServiceAccounts: there, and changing with the name that they refer to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Found = Callable[..., list[str]]

KRMFILE = """\
openAPI:
  definitions:
    io.k8s.cli.setters.NAME:
      x-k8s-cli: {setter: {name: NAME, value: run}}
    io.k8s.cli.substitutions.ALSO:
      x-k8s-cli:
        substitution:
          name: ALSO
          pattern: ${NAME}
          values: [{marker: "${NAME}", ref: "#/definitions/io.k8s.cli.setters.NAME"}]
"""
COMMENT = ' # {"$openapi":"NAME"}'
ALSO = ' # {"$openapi":"ALSO"}'
CONFIG = f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: run{COMMENT}\n"
POD = f"""\
apiVersion: v1
kind: Pod
metadata:
  name: run{COMMENT}
  labels:
    also: run{ALSO}
spec:
  containers:
  - name: main
    envFrom:
    - configMapRef:
        name: run{COMMENT}
"""


def test_a_reference_that_changes_with_the_name_has_no_findings(found: Found) -> None:
    assert found(KRMFILE, a_yaml=CONFIG, b_yaml=POD) == []


def test_a_reference_by_another_definition_of_the_same_setters_has_no_findings(found: Found) -> None:
    pod = POD.replace("        name: run" + COMMENT, "        name: run" + ALSO)
    assert found(KRMFILE, a_yaml=CONFIG, b_yaml=pod) == []


def test_finds_a_reference_that_a_set_leaves_behind(found: Found) -> None:
    pod = POD.replace("        name: run" + COMMENT, "        name: run")
    assert found(KRMFILE, a_yaml=CONFIG, b_yaml=pod) == ["b.yaml:12:15 error reference-left-behind"]
    assert found(KRMFILE, a_yaml=CONFIG.replace(COMMENT, ""), b_yaml=POD) == [
        "b.yaml:12:15 error reference-left-behind"
    ]


def test_finds_a_reference_that_changes_with_another_setter(found: Found) -> None:
    krmfile = KRMFILE + "    io.k8s.cli.setters.OTHER:\n      x-k8s-cli: {setter: {name: OTHER, value: run}}\n"
    pod = POD.replace("        name: run" + COMMENT, '        name: run # {"$openapi":"OTHER"}')
    assert found(krmfile, a_yaml=CONFIG, b_yaml=pod) == ["b.yaml:12:15 error reference-left-behind"]


def test_what_only_looks_like_a_reference_is_no_finding(found: Found) -> None:
    config = CONFIG + "data:\n  serviceAccountName: none\n"
    schema = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: c}\n"
    schema += "spec: {properties: {configMapRef: {type: object}, serviceAccountName: {type: string}}}\n"
    assert found(KRMFILE, a_yaml=config, b_yaml=POD, c_yaml=schema) == []


def test_finds_a_reference_to_an_object_that_is_not_there(found: Found) -> None:
    pod = POD.replace("        name: run" + COMMENT, "        name: ran")
    assert found(KRMFILE, a_yaml=CONFIG, b_yaml=pod) == ["b.yaml:12:15 error dangling-reference"]


def test_where_the_package_has_no_such_kind_the_cluster_may_have_it(found: Found) -> None:
    assert found(KRMFILE, b_yaml=POD) == ["b.yaml:12:15 warning dangling-reference"]


@pytest.mark.parametrize(
    "holder",
    [
        "serviceAccountName: none",
        "volumes: [{name: v, configMap: {name: none}}]",
        "volumes: [{name: v, projected: {sources: [{configMap: {name: none}}]}}]",
    ],
)
def test_follows_every_way_to_refer(found: Found, holder: str) -> None:
    pod = f"{POD}    volumeMounts: [{{name: v, mountPath: /v}}]\n  {holder}\n"
    rules = [line.rpartition(" ")[2] for line in found(KRMFILE, a_yaml=CONFIG, b_yaml=pod)]
    assert "dangling-reference" in rules


@pytest.mark.parametrize(
    "field",
    [
        "serviceAccountName: default",
        'serviceAccountName: ""',
        "imagePullSecrets: [{name: none}]",
        "containers: [{name: a, env: [{name: A, valueFrom: {secretKeyRef: {name: none, key: a}}}]}]",
        "containers: [{name: a, envFrom: [{configMapRef: {name: none, optional: true}}]}]",
        "containers: [{name: a, envFrom: [{configMapRef: {name: kube-root-ca.crt}}]}]",
    ],
)
def test_what_is_optional_or_the_clusters_is_no_finding(found: Found, field: str) -> None:
    pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec:\n  {field}\n"
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
    assert found(a_yaml=config, b_yaml=pod) == []


@pytest.mark.parametrize("kustomization", ["resources: [b.yaml, ../base]\n", "resources: [b.yaml]\nnamePrefix: x-\n"])
def test_says_nothing_of_objects_that_may_come_from_elsewhere(found: Found, kustomization: str) -> None:
    assert found(KRMFILE, b_yaml=POD, kustomization_yaml=kustomization) == []


def test_a_file_that_is_not_built_brings_no_objects(found: Found) -> None:
    kustomization = "resources: [b.yaml]\n"
    assert found(KRMFILE, a_yaml=CONFIG, b_yaml=POD, kustomization_yaml=kustomization) == [
        "b.yaml:12:15 warning dangling-reference"
    ]


@pytest.mark.parametrize("holder", ["configMapRef", "secretRef"])
def test_finds_a_reference_whose_name_slipped_out_of_it(found: Found, holder: str) -> None:
    pod = POD.replace("configMapRef", holder).replace("        name: run", "      name: run")
    assert found(KRMFILE, a_yaml=CONFIG, b_yaml=pod) == ["b.yaml:11:7 error empty-reference"]
