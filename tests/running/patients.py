"""What tests of the doctor share: operators as Deployments, and small objects whose pods ``restricted`` admits."""

from collections.abc import Sequence
from typing import Any

import yaml

from controlplane.api import Object
from packyard.core.kubernetes.operators import Operator
from packyard.running.doctor.finding import Finding
from packyard.running.runs.record import RunRecord
from packyard.running.runs.rendering import Rendered

_POD = """
securityContext: {runAsNonRoot: true, runAsUser: 1, seccompProfile: {type: RuntimeDefault}}
containers:
- name: main
  image: registry.example/main:1
  resources: {limits: {cpu: 100m, memory: 64Mi}}
  securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
"""


def rendered(objects: Sequence[Object]) -> Rendered:
    """Return objects as those of a directory that is no package."""
    return Rendered(objects=objects, draft=RunRecord(run="", number=1, when=""))


def told(found: Sequence[Finding]) -> list[str]:
    """Return findings in words, sorted."""
    return sorted(f"{each.severity}: {each}" for each in found)


def read(text: str, **names: str) -> list[Object]:
    """Return the objects of YAML, in which ``<NAME>`` stands for a name of the test."""
    for name, value in names.items():
        text = text.replace(f"<{name}>", value)
    return [item for item in yaml.load_all(text, Loader=yaml.CSafeLoader) if item]


def pod(**fields: Any) -> Object:
    """Return what ``restricted`` admits of a pod, with more fields; those named ``main_…`` are of its container."""
    (spec,) = read(_POD)
    spec["containers"][0].update({name[5:]: each for name, each in fields.items() if name.startswith("main_")})
    return spec | {name: each for name, each in fields.items() if not name.startswith("main_")}


def deployed(name: str, spec: Object, replicas: int = 1) -> Object:
    """Return a Deployment of pods."""
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": spec}
    whole = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": whole}


def running(operator: Operator, version: str) -> Object:
    """Return a Deployment that runs an operator."""
    return deployed(operator.image, pod(main_image=f"registry.example/{operator.image}:{version}"))
