"""What every use case should be: each rule on a sound package with one fault."""

from textwrap import indent

import pytest

import tiny
from packyard.writing.checks.explanation import table
from writing.checks.linting import lint, package, place

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


def judged(text: str, *more: str) -> list[str]:
    files = {"a.yaml": text, **{f"b{index}.yaml": other for index, other in enumerate(more)}}
    found = lint(package(files, KRMFILE))
    practice = [each for each in found if table()[each.rule].family == "Good practice"]
    return [f"{each.line}:{each.column} {each.severity} {each.rule}" for each in practice]


ROOT = "securityContext: {runAsNonRoot: false, runAsUser: 0}"
#: What is replaced in the Job, by what, the text or the place that the finding is at, and its rule.
FAULTS = [
    ("a/b:1.2", "a/b:latest\n        imagePullPolicy: IfNotPresent", "a/b", "warning moving-tag"),
    ("a/b:1.2", "a/b:nightly", "a/b", "warning moving-tag"),
    ("a/b:1.2", "a:5000/b:translatest", "a:5", ""),
    ("a/b:1.2", f"a/b:tf-latest-x@sha256:{'0' * 64}\n        imagePullPolicy: IfNotPresent", "a/b", ""),
    ("        command", f"        {ROOT}\n        command", "0}", "warning runs-as-root"),
    ("  template:", '  activeDeadlineSeconds: 1000 # {"$openapi":"USER_ID"}\n  template:', "", ""),
    ("        command", "        env: [{name: TOKEN, value: $(OTHER)}]\n        command", "abc", ""),
    ("        command", "        env: [{name: MAX_TOKENS, value: '9'}]\n        command", "abc", ""),
    ("        command", "        env: [{name: PASSWORD_FILE, value: /x}]\n        command", "abc", ""),
]


@pytest.mark.parametrize(("old", "new", "at", "expected"), FAULTS)
def test_finds_one_fault(old: str, new: str, at: str, expected: str) -> None:
    assert old in JOB
    text = JOB.replace(old, new, 1)
    assert judged(text) == ([f"{place(text, at) if at in text else at} {expected}"] if expected else [])


def test_an_account_without_a_token_needs_no_word_in_the_pod() -> None:
    text = JOB.replace("      automountServiceAccountToken: false\n", "")
    account = f"apiVersion: v1\nkind: ServiceAccount\n{METADATA}automountServiceAccountToken: false\n"
    assert judged(text, account) == []
    assert judged(text, account.replace("name: run", "name: ran"))[0].endswith("token-mounted")


def test_finds_a_secret_with_content() -> None:
    secret = f"apiVersion: v1\nkind: Secret\n{METADATA}stringData:\n  token: me\n  password: ''\n"
    assert judged(secret) == ["7:3 error plain-secret"]
    assert judged(secret.replace("token: me", "token: ''")) == []
    assert judged(secret.replace("token: me", "token: ${USER_NAME}")) == []
    for text in ("<REPLACE_WITH_YOUR_TOKEN>", "xxxxx", "'***'", "your-token", "replace me"):
        assert judged(secret.replace("token: me", f"token: {text}")) == [], text
    assert judged(secret.replace("token: me", "token: your")) == ["7:3 error plain-secret"]


def test_a_placeholder_is_no_secret_unless_it_has_one() -> None:
    """envsubst and Flux put the secret there."""
    config = f"apiVersion: v1\nkind: ConfigMap\n{METADATA}data:\n  HF_TOKEN: "
    assert judged(config + "${HF_TOKEN}\n") == ["7:13 warning unexpanded-variable"]
    assert "7:13 error plain-secret" in judged(config + "${HF_TOKEN:-hf_x}\n")


def test_what_belongs_to_the_whole_cluster_is_of_no_run_and_needs_no_labels() -> None:
    role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\nrules: []\n"
    assert judged(role) == ["3:1 warning no-labels"]
    assert judged(role.replace("Role", "ClusterRole")) == []
