"""Names, judged by a real API server where it judges them: what it refuses is found, what it takes is no finding."""

import pytest
import yaml

from controlplane.api import Api
from writing.checks.linting import lint, package

TEMPLATE = """\
template:
  metadata: {labels: {l: LABEL}}
  spec:
    restartPolicy: Never
    containers:
    - {name: CONTAINER, image: 'a:1', ports: [{name: PORT, containerPort: 80}]}
"""
_HEAD = "apiVersion: {}\nkind: {}\nmetadata: {{name: NAME}}\n"
JOB = _HEAD.format("batch/v1", "Job") + "spec:\n" + "".join(f"  {line}\n" for line in TEMPLATE.splitlines())
INDEXED = JOB.replace("spec:\n", "spec:\n  completionMode: Indexed\n  completions: 100\n  parallelism: 1\n", 1)
CRON_JOB = _HEAD.format("batch/v1", "CronJob") + "spec:\n  schedule: '* * * * *'\n  jobTemplate:\n    spec:\n"
CRON_JOB += "".join(f"      {line}\n" for line in TEMPLATE.splitlines())
JOB_SET = _HEAD.format("jobset.x-k8s.io/v1alpha2", "JobSet") + "spec:\n  replicatedJobs:\n  - name: worker\n"
JOB_SET += "    template:\n      spec:\n        completions: 100\n"
JOB_SET += "".join(f"        {line}\n" for line in TEMPLATE.splitlines())
SERVICE = _HEAD.format("v1", "Service") + "spec: {ports: [{port: 80}]}\n"
CONFIG_MAP = _HEAD.format("v1", "ConfigMap")
SOUND = {"NAME": "run", "LABEL": "a", "CONTAINER": "main", "PORT": "http"}

CASES = [
    *(
        (text, "NAME", name)
        for text in (CONFIG_MAP, SERVICE, JOB)
        for name in ("a-b", "1a", "a.b", "A", "a_b", "-a", "a-")
    ),
    *((text, "NAME", "a.b") for text in (INDEXED, CRON_JOB)),
    *((CONFIG_MAP, "NAME", "a" * length) for length in (253, 254)),
    *((SERVICE, "NAME", "a" * length) for length in (63, 64)),
    *((JOB, "NAME", "a" * length) for length in (63, 64)),
    *((INDEXED, "NAME", "a" * length) for length in (60, 61)),
    *((CRON_JOB, "NAME", "a" * length) for length in (52, 53)),
    *((JOB, "LABEL", value) for value in ("A_b.c", "a b", "-a", "''", "a" * 63, "a" * 64)),
    *((JOB, "CONTAINER", value) for value in ("a-1", "'1'", "A", "a.b", "a" * 63, "a" * 64)),
    *((JOB, "PORT", value) for value in ("a1", "'80'", "a--b", "-a", "A", "a" * 15, "a" * 16)),
]


@pytest.fixture(scope="session")
def namespace(api_server: Api) -> str:
    return api_server.create_namespace("privileged")


@pytest.mark.parametrize(
    ("text", "place", "value"), CASES, ids=lambda part: part.splitlines()[1][6:] if "\n" in part else part
)
def test_finds_the_names_that_the_api_server_refuses(
    text: str, place: str, value: str, api_server: Api, namespace: str
) -> None:
    judge(api_server, namespace, text, place, value)


@pytest.mark.parametrize("name", ["run", "1a", "a.b", "a" * 45, "a" * 46])
def test_finds_the_names_that_the_webhook_of_job_sets_refuses(name: str, cluster: Api, namespace: str) -> None:
    judge(cluster, namespace, JOB_SET, "NAME", name)


def judge(api: Api, namespace: str, text: str, place: str, value: str) -> None:
    for name, sound in {**SOUND, place: value}.items():
        text = text.replace(name, sound)
    refusal = api.create(yaml.safe_load(text), namespace, dry_run=True).refusal
    is_found = any(finding.rule in ("no-name", "name-too-long") for finding in lint(package({"a.yaml": text})))
    assert is_found is bool(refusal), refusal
