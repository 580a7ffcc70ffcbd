"""References to ConfigMaps and ServiceAccounts: there, and changing with the name that they refer to."""

from collections.abc import Callable

import pytest

import tiny
from writing.checks.linting import lint, package

Found = Callable[..., list[str]]

KRMFILE = tiny.text("checks/references/Krmfile")
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


@pytest.mark.parametrize(
    "field",
    [
        "serviceAccountName: default",
        'serviceAccountName: ""',
        "imagePullSecrets: []",
        "containers: [{name: a, env: [{name: A, valueFrom: {secretKeyRef: {name: made-by-that-name, key: a}}}]}]",
        "containers: [{name: a, envFrom: [{configMapRef: {name: none, optional: TRUE}}]}]",
        "containers: [{name: a, envFrom: [{configMapRef: {name: kube-root-ca.crt}}]}]",
    ],
)
def test_what_is_optional_or_the_clusters_is_no_finding(found: Found, field: str) -> None:
    pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: x}}\nspec:\n  {field}\n"
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
    assert found(a_yaml=config, b_yaml=pod) == []


@pytest.mark.parametrize(
    ("network", "column"), [("{}", 0), (f"\n    subdomain: run{COMMENT}", 0), ("{enableDNSHostnames: false}", 14)]
)
def test_a_job_set_makes_the_service_of_its_pods(network: str, column: int, found: Found) -> None:
    job_set = f"apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata:\n  name: run{COMMENT}\n"
    job_set += f"spec:\n  network: {network}\n"
    pod = POD.replace("spec:\n", f"spec:\n  subdomain: run{COMMENT}\n")
    expected = [f"b.yaml:8:{column} warning dangling-reference"] if column else []
    assert found(KRMFILE, a_yaml=CONFIG, b_yaml=pod, c_yaml=job_set) == expected


def test_a_train_job_needs_its_runtime_which_may_be_the_clusters(found: Found) -> None:
    train_job = f"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata:\n  name: run{COMMENT}\n"
    train_job += f"spec:\n  runtimeRef:\n    kind: TrainingRuntime\n    name: run{COMMENT}\n"
    assert found(KRMFILE, a_yaml=CONFIG, b_yaml=POD, c_yaml=train_job) == ["c.yaml:8:11 warning dangling-reference"]
    none = train_job.replace("    kind: TrainingRuntime\n", "")
    assert found(KRMFILE, a_yaml=CONFIG, b_yaml=POD, c_yaml=none) == []


@pytest.mark.parametrize(
    "kustomization", ["resources: [b.yaml, ../base]\n", "resources: [b.yaml]\nvars: [{name: A}]\n"]
)
def test_says_nothing_of_objects_that_may_come_from_elsewhere(found: Found, kustomization: str) -> None:
    assert found(KRMFILE, b_yaml=POD, kustomization_yaml=kustomization) == []


DANGLING, UNREACHED = "dangling-reference", "entry-without-target"


def test_config_maps_of_programs_are_known_and_hide_no_other_reference() -> None:
    component = "kind: Component\nconfigMapGenerator:\n- {name: programs, files: [run.py]}\n"
    patch = "apiVersion: v1\nkind: KIND\nmetadata: {name: NAME}\ndata: {instance: a}\n"
    listed = "resources: [pod.yaml]\ncomponents: [../programs/tune]\npatches: [{path: programs.yaml}]\n"

    def rules(mounted: str, patched: str = "programs", kind: str = "ConfigMap") -> list[str]:
        pod = POD.replace(COMMENT, "").replace("name: run", f"name: {mounted}").replace(ALSO, "")
        patched_by = patch.replace("KIND", kind).replace("NAME", patched)
        files = {"pod.yaml": pod, "kustomization.yaml": listed, "programs.yaml": patched_by}
        found = lint(package(files | {"../programs/tune/kustomization.yaml": component}))
        return sorted(each.rule for each in found if each.rule in (DANGLING, UNREACHED))

    assert rules("programs") == []
    assert rules("others") == [DANGLING]
    assert rules("others", patched="others") == [DANGLING, UNREACHED]  # which kustomize does not patch either
    assert rules("programs", kind="ConfigMapx") == [UNREACHED]


CLUSTER_ROLE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: pod-reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [list]}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: router, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: router}
subjects: [{kind: ServiceAccount, name: router, namespace: default}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: pod-reader}
"""


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("kind: ClusterRole, name: pod-reader", "kind: ClusterRole, name: pods-reader", "did you mean 'pod-reader'?"),
        ("kind: ClusterRole, name: pod-reader", "kind: ClusterRole, name: view", ""),
        ("ServiceAccount, name: router,", "ServiceAccount, name: routers,", "did you mean 'router'?"),
        ("ServiceAccount, name: router, namespace: default", "ServiceAccount, name: other, namespace: there", ""),
    ],
)
def test_a_slip_in_a_role_of_the_cluster_or_an_account_of_the_packages_namespace(old: str, new: str, hint: str) -> None:
    text = CLUSTER_ROLE.replace(old, new)
    assert text != CLUSTER_ROLE
    found = lint(package({"a.yaml": text}))
    assert [each.hint for each in found if each.rule == "dangling-reference"] == ([hint] if hint else [])
