"""What every use case should be: each rule on a sound package with one fault."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

import tiny
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.lint import lint
from writing.checks import practicerules

KRMFILE = tiny.text("checks/practice/Krmfile")
SPEC = tiny.text("checks/sound-pod-spec.yaml")
METADATA = """\
metadata:
  name: run
  labels: {app.kubernetes.io/name: a, app.kubernetes.io/instance: run}
"""
TEMPLATE = f"""\
{METADATA}  annotations: {{sidecar.istio.io/inject: "false"}}
spec:
{indent(SPEC, "  ")}"""
JOB = f"""\
apiVersion: batch/v1
kind: Job
{METADATA}spec:
  template:
{indent(TEMPLATE, "    ")}"""
DEPLOYMENT = JOB.replace("batch/v1", "apps/v1").replace("kind: Job", "kind: Deployment")
MPI_JOB = f"""\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
{METADATA}spec:
  mpiReplicaSpecs:
    Worker:
      template:
{indent(TEMPLATE, "        ")}"""
CLAIM = f"""\
apiVersion: v1
kind: PersistentVolumeClaim
{METADATA}spec:
  storageClassName: "" # {{"$openapi":"CLASS"}}
"""


def judged(text: str, *more: str) -> list[str]:
    files = {"a.yaml": text.encode(), **{f"b{index}.yaml": other.encode() for index, other in enumerate(more)}}
    found = lint(PackageFiles(KRMFILE.encode(), files))
    return [
        f"{each.line}:{each.column} {each.severity} {each.rule}" for each in found if each.rule in practicerules.RULES
    ]


def place(text: str, of: str) -> str:
    before = text[: text.index(of)]
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


@pytest.mark.parametrize("text", [JOB, DEPLOYMENT, MPI_JOB, CLAIM])
def test_a_sound_object_has_no_findings(text: str) -> None:
    assert judged(text) == []


ROOT = "securityContext: {runAsNonRoot: false, runAsUser: 0}"
HOST_PATH = "      volumes: [{{name: v, hostPath: {{{}}}}}]\n      containers"
#: What is replaced in the Job, by what, the text or the place that the finding is at, and its rule.
FAULTS = [
    ("a/b:1.2", "a/b", "a/b\n", "warning moving-tag"),
    ("a/b:1.2", "a/b:latest", "a/b", "warning moving-tag"),
    ("a/b:1.2", "a/b:latest\n        imagePullPolicy: IfNotPresent", "a/b", "warning moving-tag"),
    ("a/b:1.2", "a/b\n        imagePullPolicy: Never", "a/b", "warning moving-tag"),
    ("a/b:1.2", "a/b:tf-latest-x", "a/b", "warning moving-tag"),
    ("a/b:1.2", "a/b:nightly", "a/b", "warning moving-tag"),
    (
        "a/b:1.2",
        "a/b:tf-latest-x\n        imagePullPolicy: Always # packyard: allow pulled-each-time: a",
        "a/b",
        "",
    ),
    ("a/b:1.2", "a:5000/b:translatest", "a:5", ""),
    ("a/b:1.2", f"a/b:tf-latest-x@sha256:{'0' * 64}\n        imagePullPolicy: IfNotPresent", "a/b", ""),
    ("        command: [python3]\n", "", "args", "warning args-without-command"),
    ("          requests: {cpu: 1}\n", "", "resources:", ""),
    ("limits: {cpu: 1, memory: 1Gi}", "limits: {}", "resources:", "warning no-resources"),
    ("runAsNonRoot: true", "runAsNonRoot: false", "name: main", "warning runs-as-root"),
    ("        command", f"        {ROOT}\n        command", "0}", "warning runs-as-root"),
    ("automountServiceAccountToken: false", "automountServiceAccountToken: true", "serviceA", "warning token-mounted"),
    ("      automountServiceAccountToken: false\n", "", "serviceAccountName", "warning token-mounted"),
    ('      annotations: {sidecar.istio.io/inject: "false"}\n', "", "8:5", "warning sidecar"),
    ('sidecar.istio.io/inject: "false"', 'sidecar.istio.io/inject: "true"', "8:5", "warning sidecar"),
    ("app.kubernetes.io/name: a, ", "", "metadata", ""),
    (", app.kubernetes.io/instance: run", "", "metadata", ""),
    ("{app.kubernetes.io/name: a, app.kubernetes.io/instance: run}", "{a: b}", "metadata", "warning no-labels"),
    ("a/b:1.2", "a/b:nightly\n        imagePullPolicy: Always", "Always", "warning pulled-each-time"),
    (
        "a/b:1.2",
        "a/b:nightly\n        imagePullPolicy: Always # packyard: allow pulled-each-time: a",
        "Always",
        "",
    ),
    ("  template:", "  ttlSecondsAfterFinished: 60\n  template:", "ttlSeconds", "warning fixed-deadline"),
    ("  template:", '  activeDeadlineSeconds: 1000 # {"$openapi":"USER_ID"}\n  template:', "", ""),
    ("      containers", "      activeDeadlineSeconds: 60\n      containers", "activeDead", "warning fixed-deadline"),
    ("      containers", HOST_PATH.format("path: /v"), "hostPath", "warning untyped-host-path"),
    ("      containers", HOST_PATH.format("path: /v, type: Directory"), "hostPath", ""),
    ("        command", "        env: [{name: HF_TOKEN, value: abc}]\n        command", "abc", "error plain-secret"),
    ("        command", "        env: [{name: DB_PASSWORD, value: abc}]\n        command", "abc", "error plain-secret"),
    ("        command", "        env: [{name: TOKEN, value: $(OTHER)}]\n        command", "abc", ""),
    ("        command", "        env: [{name: TOKEN, value: ''}]\n        command", "abc", ""),
    ("        command", "        env: [{name: MAX_TOKENS, value: '9'}]\n        command", "abc", ""),
    ("        command", "        env: [{name: PASSWORD_FILE, value: /x}]\n        command", "abc", ""),
]


@pytest.mark.parametrize(("old", "new", "at", "expected"), FAULTS)
def test_finds_one_fault(old: str, new: str, at: str, expected: str) -> None:
    assert old in JOB
    text = JOB.replace(old, new, 1)
    assert judged(text) == ([f"{place(text, at) if at in text else at} {expected}"] if expected else [])


def test_a_pod_that_has_limits_itself_needs_none_in_its_containers() -> None:
    bare = JOB.replace("limits: {cpu: 1, memory: 1Gi}", "limits: {}", 1)
    own = "      resources: {limits: {memory: 1Gi}}\n"
    assert judged(bare.replace("      containers", f"{own}      containers", 1)) == []


def test_what_an_alias_repeats_counts_where_it_stands() -> None:
    """A pod's metadata, its security context and its limits, each written once for two pods."""
    marked = TEMPLATE.replace("metadata:\n", "metadata: &pod\n", 1).replace(
        "securityContext:\n", "securityContext: &u\n"
    )
    marked = marked.replace("resources:\n", "resources: &r\n")
    again = """\
metadata: *pod
spec:
  automountServiceAccountToken: false
  securityContext: *u
  containers:
  - {name: main, image: "a/b:1.2", command: [a], resources: *r}
"""
    launcher = f"    Launcher:\n      template:\n{indent(marked, '        ')}"
    worker = f"    Worker:\n      template:\n{indent(again, '        ')}"
    text = f"apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\n{METADATA}spec:\n  mpiReplicaSpecs:\n{launcher}{worker}"
    assert judged(text) == []
    unlimited = text.replace("limits: {cpu: 1, memory: 1Gi}", "limits: {}")
    expected = [f"{place(text, at)} warning no-resources" for at in ("resources: &r", "resources: *r")]
    assert judged(unlimited) == expected


def test_an_account_without_a_token_needs_no_word_in_the_pod() -> None:
    text = JOB.replace("      automountServiceAccountToken: false\n", "")
    account = f"apiVersion: v1\nkind: ServiceAccount\n{METADATA}automountServiceAccountToken: false\n"
    assert judged(text, account) == []
    assert judged(text, account.replace("name: run", "name: ran"))[0].endswith("token-mounted")


def test_finds_user_0_together_with_fs_group_where_ssh_has_to_read_a_key() -> None:
    zero = MPI_JOB.replace('1000 # {"$openapi":"USER_ID"}', "0")
    at = place(zero, "0" + chr(10) + "            fsGroup")
    refused = f"{at} error runs-as-root"  # by runAsNonRoot
    assert judged(zero) == [f"{at} error root-with-fs-group", refused]
    assert judged(zero.replace("            fsGroup: 2000\n", "")) == [refused]
    own = MPI_JOB.replace("image: a/b:1.2", "image: a/b:1.2\n            securityContext: {runAsUser: 0}")
    assert judged(own) == [f"{place(own, '0}')} error {rule}" for rule in ("root-with-fs-group", "runs-as-root")]
    assert [each.split()[-1] for each in judged(JOB.replace('1000 # {"$openapi":"USER_ID"}', "0"))] == ["runs-as-root"]


def test_finds_a_setter_that_admits_user_0_together_with_fs_group() -> None:
    files = {"a.yaml": MPI_JOB.encode()}
    found = lint(PackageFiles(KRMFILE.replace("minimum: 1", "minimum: 0").encode(), files))
    assert [each.hint for each in found if each.rule == "root-with-fs-group"] == ["give USER_ID minimum: 1"]


def test_an_empty_storage_class_switches_provisioning_off() -> None:
    text = CLAIM.replace(' # {"$openapi":"CLASS"}', "")
    assert judged(text) == ["7:21 error empty-storage-class"]
    assert judged(text + "  volumeName: mine\n") == []
    templates = dedent("""\
        volumeClaimTemplates:
        - metadata: {name: data}
          spec: {storageClassName: ''}
    """)
    assert judged(DEPLOYMENT.replace("Deployment", "StatefulSet") + indent(templates, "  "))[0].endswith(
        "error empty-storage-class"
    )
    own = f"apiVersion: production-stack.vllm.ai/v1alpha1\nkind: VLLMRuntime\n{METADATA}spec: {{storageConfig: %s}}\n"
    assert judged(own % '{storageClassName: "", accessMode: ReadWriteMany}') == []  # the operator's default
    (found,) = judged(own % '{storageClassName: "", accessModes: [ReadWriteMany]}')
    assert found.endswith("error empty-storage-class")


def test_finds_a_secret_with_content() -> None:
    secret = f"apiVersion: v1\nkind: Secret\n{METADATA}stringData:\n  token: me\n  password: ''\n"
    assert judged(secret) == ["7:3 error plain-secret"]
    assert judged(secret.replace("token: me", "token: ''")) == []
    assert judged(secret.replace("token: me", "token: ${USER_NAME}")) == []
    for place in ("<REPLACE_WITH_YOUR_TOKEN>", "xxxxx", "'***'", "your-token", "replace me"):
        assert judged(secret.replace("token: me", f"token: {place}")) == [], place
    assert judged(secret.replace("token: me", "token: your")) == ["7:3 error plain-secret"]


def test_a_placeholder_is_no_secret_unless_it_has_one() -> None:
    """envsubst and Flux put the secret there."""
    config = f"apiVersion: v1\nkind: ConfigMap\n{METADATA}data:\n  HF_TOKEN: "
    assert judged(config + "${HF_TOKEN}\n") == ["7:13 warning unexpanded-variable"]
    assert "7:13 error plain-secret" in judged(config + "${HF_TOKEN:-hf_x}\n")


def test_finds_variables_that_nothing_expands() -> None:
    config = f"apiVersion: v1\nkind: ConfigMap\n{METADATA}data:\n  PYTHONPATH: /a:$PYTHONPATH\n  B: ${{HOME}}/b\n"
    assert judged(config) == ["7:15 warning unexpanded-variable", "8:6 warning unexpanded-variable"]
    script = f"apiVersion: v1\nkind: ConfigMap\n{METADATA}data:\n  a.sh: |\n    cd $HOME\n    ls\n  price: 5$\n"
    assert judged(script) == []
    variable = JOB.replace(
        "        command", "        env: [{name: A, value: $HOME}, {name: B, value: $(A)/b}]\n        command"
    )
    assert judged(variable) == [f"{place(variable, '$HOME')} warning unexpanded-variable"]


@pytest.mark.parametrize("kind", ["PersistentVolumeClaim", "PersistentVolume", "Namespace"])
def test_storage_and_namespaces_belong_to_no_run(kind: str) -> None:
    text = CLAIM.replace("PersistentVolumeClaim", kind)
    labels = "labels: {app.kubernetes.io/name: a, app.kubernetes.io/instance: run}"
    assert labels in text
    assert judged(text.replace(labels, "labels: {}")) == []


SECRET = f"""\
apiVersion: v1
kind: Secret
{METADATA}stringData:
  token: hf_4711 # {{"$openapi":"TOKEN"}}
"""
TOKEN = "    io.k8s.cli.setters.TOKEN:\n      x-k8s-cli: {setter: {name: TOKEN, value: hf_4711REQUIRED}}\n"


@pytest.mark.parametrize(("required", "rules"), [(", required: true", []), ("", ["plain-secret"])])
def test_a_secret_that_users_have_to_set_is_none_of_the_author(required: str, rules: list[str]) -> None:
    krmfile = KRMFILE + TOKEN.replace("REQUIRED", required)
    found = lint(PackageFiles(krmfile.encode(), {"a.yaml": SECRET.encode()}), shipped=False)
    assert [each.rule for each in found if each.rule == "plain-secret"] == rules
