"""What lint says an API server refuses is refused by a real one, and what is right is admitted by both."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from controlplane.api import Api
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks.lint import lint

POD = (
    "apiVersion: apps/v1\nkind: DaemonSet\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n"
    "    metadata: {labels: {a: b}}\n    spec:\n      containers:\n      - name: main\n        image: a:1\n"
)
TEMPLATE = "{metadata: {labels: {a: b}}, spec: {containers: [{name: main, image: 'a:1'}]}}"
DEPLOYMENT = (
    f"apiVersion: apps/v1\nkind: Deployment\nspec:\n  selector: {{matchLabels: {{a: b}}}}\n  template: {TEMPLATE}\n"
)
HPA = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec:\n"
HPA += "  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}\n"
PDB = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nspec:\n  selector: {matchLabels: {a: b}}\n"
SERVICE = "apiVersion: v1\nkind: Service\nspec:\n  selector: {a: b}\n"
INGRESS = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nspec:\n  rules:\n  - http:\n      paths:\n"
BACKEND = "{service: {name: a, port: {number: 80}}}"
POLICY = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nspec:\n  podSelector: {}\n  ingress:\n"
VOLUME = "apiVersion: v1\nkind: PersistentVolume\nspec:\n  accessModes: [ReadWriteMany]\n  capacity: {storage: 1Gi}\n"
JOB_TEMPLATE = "{spec: {restartPolicy: Never, containers: [{name: main, image: 'a:1'}]}}"
JOB = f"apiVersion: batch/v1\nkind: Job\nspec:\n  template: {JOB_TEMPLATE}\n"
CRON = f"apiVersion: batch/v1\nkind: CronJob\nspec:\n  jobTemplate: {{spec: {{template: {JOB_TEMPLATE}}}}}\n"
#: The beginning of an object, an end that is refused, and one that is not.
CASES = [
    (HPA, "  minReplicas: 5\n  maxReplicas: 3\n", "  minReplicas: 3\n  maxReplicas: 3\n"),
    (PDB, "  minAvailable: 1\n  maxUnavailable: 1\n", "  maxUnavailable: 1\n"),
    (
        DEPLOYMENT,
        "  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}\n",
        "  strategy: {rollingUpdate: {maxSurge: 0}}\n",
    ),
    (DEPLOYMENT, "  strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}\n", "  strategy: {type: Recreate}\n"),
    (SERVICE, "  ports: [{port: 80800}]\n", "  ports: [{port: 8080}]\n"),
    (SERVICE, "  ports: [{port: 80, targetPort: 80800}]\n", "  ports: [{port: 80, targetPort: http}]\n"),
    (SERVICE, "  ports: [{port: 80, protocol: tcp}]\n", "  ports: [{port: 80, protocol: UDP}]\n"),
    (SERVICE, "  ports: [{port: 80, name: a}, {port: 81}]\n", "  ports: [{port: 80, name: a}, {port: 81, name: b}]\n"),
    (SERVICE, "  type: ExternalName\n", "  type: ExternalName\n  externalName: a.example\n"),
    (
        INGRESS,
        f"      - {{path: /, pathType: prefix, backend: {BACKEND}}}\n",
        f"      - {{path: /, pathType: Prefix, backend: {BACKEND}}}\n",
    ),
    (
        INGRESS,
        f"      - {{path: a, pathType: Exact, backend: {BACKEND}}}\n",
        f"      - {{path: /a, pathType: Exact, backend: {BACKEND}}}\n",
    ),
    (POLICY, "  - ports: [{port: 70000}]\n", "  - ports: [{port: 7000}]\n"),
    (POLICY, "  - ports: [{port: 80, protocol: udp}]\n", "  - ports: [{port: 80, protocol: UDP}]\n"),
    (VOLUME, "  nfs: {server: a, path: export}\n", "  nfs: {server: a, path: /export}\n"),
    (JOB, "  backoffLimitPerIndex: 1\n", "  backoffLimitPerIndex: 1\n  completionMode: Indexed\n  completions: 1\n"),
    *(
        (CRON, f"  schedule: '{wrong}'\n", f"  schedule: '{right}'\n")
        for wrong, right in [
            ("0 3 * * 1-5 2026", "0 3 * * 1-5"),
            ("75 * * * *", "*/15 * * * *"),
            ("0 24 * * *", "0 0-23/2 * * *"),
            ("0 3 0 * *", "0 3 1,15 * *"),
            ("0 3 * 13 *", "0 3 * JAN-mar *"),
            ("0 3 * * 7", "0 3 ? * sun"),
            ("0 3 * * 5-1", "@every 1h30m"),
            ("@often", "@hourly"),
        ]
    ),
    (
        POD,
        "        env: [{name: A, value: a, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]\n",
        "        env: [{name: A, value: a}]\n",
    ),
    (POD, "        ports: [{containerPort: 80800}]\n", "        ports: [{containerPort: 8080}]\n"),
    (
        POD,
        "        ports: [{containerPort: 80, protocol: tcp}]\n",
        "        ports: [{containerPort: 80, protocol: SCTP}]\n",
    ),
    (POD, "        livenessProbe: {tcpSocket: {port: 70000}}\n", "        livenessProbe: {tcpSocket: {port: 7000}}\n"),
    (
        POD,
        "        readinessProbe: {tcpSocket: {port: 80}, exec: {command: [a]}}\n",
        "        readinessProbe: {tcpSocket: {port: 80}, successThreshold: 2}\n",
    ),
    (
        POD,
        "        startupProbe: {tcpSocket: {port: 80}, successThreshold: 2}\n",
        "        startupProbe: {tcpSocket: {port: 80}, successThreshold: 1}\n",
    ),
    (
        POD,
        "      volumes: [{name: a, emptyDir: {}, persistentVolumeClaim: {claimName: a}}]\n",
        "      volumes: [{name: a, emptyDir: null, persistentVolumeClaim: {claimName: a}}]\n",
    ),
    (
        POD,
        "      volumes: [{name: a, nfs: {server: a, path: export}}]\n",
        "      volumes: [{name: a, nfs: {server: a, path: /export}}]\n",
    ),
]


def judged(text: str) -> list[str]:
    """Return what lint says of the server, or of a value that it refuses."""
    data = text.replace("spec:\n", "metadata: {name: a}\nspec:\n", 1).encode()
    found = lint(PackageFiles(b"kind: Krmfile\n", {"a.yaml": data}))
    return [each.message for each in found if each.rule in ("server-refuses", "wrong-value")]


def described(text: str) -> dict[str, Any]:
    item: dict[str, Any] = yaml.safe_load(text)
    return {**item, "metadata": {"name": "a"}}


@pytest.mark.parametrize(("begin", "wrong", "right"), CASES)
def test_a_real_server_refuses_what_lint_says_it_does(begin: str, wrong: str, right: str, api_server: Api) -> None:
    namespace = "" if begin is VOLUME else "default"
    assert judged(begin + right) == []
    assert api_server.create(described(begin + right), namespace, dry_run=True).status == 201
    assert len(judged(begin + wrong)) == 1
    assert api_server.create(described(begin + wrong), namespace, dry_run=True).status == 422


def test_values_that_are_filled_in_later_are_not_judged() -> None:
    assert judged(SERVICE + "  ports: [{port: 80, protocol: '{{a}}'}]\n") == []
    assert judged(VOLUME + "  nfs: {server: a, path: ''}\n") == []
