"""What a use case asks of its cluster, read off its objects."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from packyard.build.requirements import find
from packyard.kubernetes import pod_security
from packyard.kubernetes.images import find as images
from packyard.kubernetes.pods import find_all

MPI_JOB = """
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: bert, namespace: ml}
spec:
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          serviceAccountName: bert
          containers: [{name: mpi, image: "model-zoo:2.7.0"}]
    Worker:
      template:
        spec:
          imagePullSecrets: [{name: registry}]
          initContainers: [{name: wait, image: "busybox:1.36"}]
          containers:
          - name: worker
            image: "model-zoo:2.7.0"
            resources: {limits: {cpu: 4, nvidia.com/gpu: 1}}
            env:
            - {name: TOKEN, valueFrom: {secretKeyRef: {name: token, key: t}}}
            - {name: MAYBE, valueFrom: {secretKeyRef: {name: maybe, key: t, optional: true}}}
            envFrom: [{configMapRef: {name: env}}]
          volumes:
          - {name: output, nfs: {server: "", path: /export}}
          - {name: data, persistentVolumeClaim: {claimName: ""}}
          - {name: own, persistentVolumeClaim: {claimName: scratch}}
          - {name: settings, configMap: {name: brought}}
          - {name: all, projected: {sources: [{secret: {name: projected}}, {configMap: {name: kube-root-ca.crt}}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: brought}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: scratch}
"""


WORKFLOW = """
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: pipeline}
spec:
  serviceAccountName: runner
  imagePullSecrets: [{name: registry}]
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  volumes: [{name: data, persistentVolumeClaim: {claimName: shared}}]
  templates:
  - {name: all, steps: [[{name: one, template: train}]]}
  - name: train
    serviceAccountName: trainer
    initContainers: [{name: prepare, image: "init:1"}]
    container: {image: "main:1", envFrom: [{configMapRef: {name: env}}]}
    sidecars: [{name: beside, image: "side:1"}]
    volumes: [{name: own, nfs: {server: nfs, path: /a}}]
  - name: say
    script: {image: "script:1", source: echo}
  - name: group
    containerSet: {containers: [{name: a, image: "set:1"}]}
"""


def objects(text: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(textwrap.dedent(text)))


def found(text: str, kind: str = "") -> list[str]:
    return [str(item) for item in find(objects(text)) if item.kind == kind or (not kind and item.kind != "PodSecurity")]


def test_names_all_that_an_mpi_job_needs_and_does_not_bring() -> None:
    assert found(MPI_JOB) == [
        "ConfigMap env",
        "CustomResourceDefinition mpijobs.kubeflow.org",
        "NFS :/export",
        "Namespace ml",
        "PersistentVolumeClaim ",
        "Resource nvidia.com/gpu",
        "Secret projected",
        "Secret registry",
        "Secret token",
        "ServiceAccount bert",
    ]


def test_finds_the_images_of_all_pod_templates_once() -> None:
    assert images(objects(MPI_JOB)) == ("busybox:1.36", "model-zoo:2.7.0")


def test_finds_images_in_pods_of_any_depth_and_leaves_out_unset_ones() -> None:
    text = """
    kind: CronJob
    spec: {jobTemplate: {spec: {template: {spec: {containers: [{image: b}, {image: ""}, {image: null}, {}],
      ephemeralContainers: [{image: a}], volumes: [{name: w, image: {reference: "weights:1"}}]}}}}}
    """
    assert images(objects(text)) == ("a", "b", "weights:1")


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        *[("v1", "Service"), ("apps/v1", "Deployment"), ("batch/v1", "Job"), ("networking.k8s.io/v1", "Ingress")],
        *[("rbac.authorization.k8s.io/v1", "Role"), ("kustomize.config.k8s.io/v1beta1", "Kustomization")],
    ],
)
def test_kubernetes_serves_its_own_kinds(api_version: str, kind: str) -> None:
    assert find([{"apiVersion": api_version, "kind": kind}]) == ()


@pytest.mark.parametrize(
    ("api_version", "kind", "name"),
    [
        ("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets.jobset.x-k8s.io"),
        ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", "trainingruntimes.trainer.kubeflow.org"),
        ("gateway.networking.k8s.io/v1", "Gateway", "gateways.gateway.networking.k8s.io"),
        ("security.istio.io/v1", "AuthorizationPolicy", "authorizationpolicies.security.istio.io"),
        ("serving.knative.dev/v1", "Ingress", "ingresses.serving.knative.dev"),
        ("example.com/v1", "Gateway", "gateways.example.com"),
    ],
)
def test_other_kinds_need_a_definition(api_version: str, kind: str, name: str) -> None:
    (requirement,) = find([{"apiVersion": api_version, "kind": kind}])
    assert (requirement.kind, requirement.name) == ("CustomResourceDefinition", name)


def test_a_train_job_needs_the_definition_of_what_is_made_of_it_too() -> None:
    found = find([{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"}])
    assert [item.name for item in found] == ["jobsets.jobset.x-k8s.io", "trainjobs.trainer.kubeflow.org"]


def test_a_definition_that_is_brought_is_not_needed() -> None:
    text = """
    {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: mpijobs.kubeflow.org}}
    ---
    {apiVersion: kubeflow.org/v2beta1, kind: MPIJob}
    """
    assert found(text) == []


def test_an_export_of_a_volume_that_is_brought_is_needed() -> None:
    text = "{apiVersion: v1, kind: PersistentVolume, spec: {nfs: {server: 10.0.0.5, path: /x}}}"
    assert found(text) == ["NFS 10.0.0.5:/x"]


def test_a_driver_of_volumes_is_needed() -> None:
    text = "{apiVersion: v1, kind: PersistentVolume, spec: {csi: {driver: nfs.csi.k8s.io, volumeHandle: ''}}}"
    assert found(text) == ["CSIDriver nfs.csi.k8s.io"]


def security(text: str) -> str:
    """Return the level that admits pods, and what the next one objects to."""
    level = pod_security.find(find_all(objects(text)))
    assert level is not None
    assert found(text, "PodSecurity") == [f"PodSecurity {level.name}"]
    return f"{level.name}: {'; '.join(level.objections)}"


HARDENED = """
kind: Pod
spec:
  securityContext: {runAsNonRoot: true, runAsUser: "", seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: c
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}}
  volumes: [{name: data, persistentVolumeClaim: {claimName: ""}}, {name: tmp, emptyDir: {}}]
"""


def test_a_hardened_pod_is_admitted_by_restricted() -> None:
    assert found(HARDENED, "PodSecurity") == ["PodSecurity restricted"]


@pytest.mark.parametrize(
    ("before", "after", "objection"),
    [
        ("{name: tmp, emptyDir: {}}", "{name: x, nfs: {server: '', path: ''}}", "volume x is of the type nfs"),
        ("runAsNonRoot: true", "runAsNonRoot: false", "container c does not set runAsNonRoot: true"),
        ("runAsUser: ''", "", ""),
        ('runAsUser: ""', "runAsUser: 0", "the pod runs as user 0"),
        ("allowPrivilegeEscalation: false", "runAsGroup: 1", "does not set allowPrivilegeEscalation: false"),
        ("drop: [ALL]", "drop: [NET_RAW]", "does not drop the capabilities ALL"),
        ("[NET_BIND_SERVICE]", "[CHOWN]", "adds the capabilities CHOWN"),
        ("{type: RuntimeDefault}", "{}", "does not set seccompProfile"),
        ("allowPrivilegeEscalation: false,", "allowPrivilegeEscalation: false, runAsNonRoot: false,", "runAsNonRoot"),
    ],
)
def test_says_what_restricted_objects_to(before: str, after: str, objection: str) -> None:
    line = security(HARDENED.replace(before, after))
    assert objection in line
    assert line.startswith("baseline: " if objection else "restricted: ")


@pytest.mark.parametrize(
    ("pod", "objection"),
    [
        ("hostNetwork: true", "hostNetwork is on"),
        ("volumes: [{name: h, hostPath: {path: /}}]", "volume h is a hostPath"),
        ("initContainers: [{name: i, securityContext: {privileged: true}}]", "container i is privileged"),
        ("initContainers: [{name: i, ports: [{hostPort: 80}]}]", "container i has a hostPort"),
        ("initContainers: [{name: i, securityContext: {capabilities: {add: [SYS_ADMIN]}}}]", "capabilities SYS_ADMIN"),
        ("initContainers: [{name: i, securityContext: {procMount: Unmasked}}]", "changes procMount"),
        ("securityContext: {seccompProfile: {type: Unconfined}}", "the pod has an unconfined seccompProfile"),
        ("securityContext: {seLinuxOptions: {type: spc_t}}", "the pod changes seLinuxOptions"),
        ("securityContext: {sysctls: [{name: kernel.msgmax, value: '1'}]}", "sets the sysctl kernel.msgmax"),
    ],
)
def test_says_what_baseline_objects_to(pod: str, objection: str) -> None:
    line = security(f"{{kind: Pod, spec: {{containers: [{{name: c}}], {pod}}}}}")
    assert line.startswith("privileged: ")
    assert objection in line


def test_objects_without_pods_need_no_pod_security_level() -> None:
    assert find([{"apiVersion": "v1", "kind": "ConfigMap"}]) == ()


FIELDS = re.findall(
    r"\w+",
    """
    apiVersion kind metadata name namespace spec template containers initContainers image volumes nfs server path
    persistentVolumeClaim claimName secret secretName configMap projected sources env envFrom valueFrom secretKeyRef
    ports hostPort securityContext capabilities add drop seccompProfile type runAsUser resources limits sysctls
    serviceAccountName imagePullSecrets seLinuxOptions optional reference
""",
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "x", "ALL", "a/b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6),
)


@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), anything, max_size=6), max_size=3))
def test_never_fails_on_values_of_unexpected_types(items: list[dict[str, Any]]) -> None:
    find(items)
    images(items)


@pytest.mark.parametrize("field", FIELDS)
def test_a_placeholder_may_stand_in_every_field(field: str) -> None:
    def blanked(value: object) -> object:
        if isinstance(value, dict):
            return {key: "" if key == field else blanked(item) for key, item in value.items()}
        return [blanked(item) for item in value] if isinstance(value, list) else value

    for item in objects(MPI_JOB + "---" + HARDENED):
        find([blanked(item)])  # type: ignore[list-item]


def test_the_templates_of_a_workflow_are_pods() -> None:
    found = find(objects(WORKFLOW))
    assert [f"{item.kind} {item.name}" for item in found if item.kind != "PodSecurity"] == [
        "ConfigMap env",
        "CustomResourceDefinition workflows.argoproj.io",
        "NFS nfs:/a",
        "PersistentVolumeClaim shared",
        "Secret registry",
        "ServiceAccount runner",
        "ServiceAccount trainer",
    ]
    assert images(objects(WORKFLOW)) == ("init:1", "main:1", "script:1", "set:1", "side:1")


def test_a_workflow_says_for_its_pods_what_they_leave_open() -> None:
    """Where Pod Security asks for it: what is missing is what no pod of this one says itself."""
    objections = security(WORKFLOW)
    assert objections.startswith("baseline: ")
    assert "volume own is of the type nfs" in objections
    assert "runAsNonRoot" not in objections
    assert "seccompProfile" not in objections
    assert "allowPrivilegeEscalation" in objections
