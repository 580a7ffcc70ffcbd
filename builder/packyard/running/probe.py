"""A probe: small Jobs of the pods of a use case, which say what a container finds where it is to run.

    DATASET_DIR: /data/set      below a read-only mount        read $(DATASET_DIR)
    OUTPUT_DIR: /pvc/user/run   below a mount                  write $(OUTPUT_DIR)

Its pods start with the images, as the users and on the nodes of the run, and look at folders of volumes that last. What
the use case brings is not there yet: variables of its ConfigMaps are written out, its volumes are empty, and its
account is the namespace's own. The last words of a container say what `probe.sh` found there. Whether an image has the
program, the run says itself as soon as it starts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from packyard.core.kubernetes import dependencies, pods
from packyard.core.kubernetes.lenient import Object, labels_of, mapping, mappings, name_of, text, type_of
from packyard.core.kubernetes.pods import Pod
from packyard.running.doctor.finding import Finding, error, passed, unknown, warning
from packyard.running.runs import trouble
from packyard.running.runs.outputs import mount_around
from packyard.running.runs.record import RunRecord
from packyard.running.runs.rendering import Rendered
from packyard.running.runs.run import LABEL, MANAGED, PURPOSE, Reference
from packyard.running.runs.status import RunStatus

_REFERENCE = re.compile(r"\$\$|\$\(([^)]*)\)")
#: Volumes that are there before a pod and after it.
_LASTING = {"persistentVolumeClaim", "nfs", "hostPath", "csi"}
#: The fields of a pod that decide where it runs, as whom, and what it sees.
_OF_POD = (
    *("automountServiceAccountToken", "hostNetwork", "hostUsers", "imagePullSecrets", "nodeSelector", "os"),
    *("priorityClassName", "runtimeClassName", "schedulerName", "securityContext", "serviceAccountName", "tolerations"),
)
_OF_CONTAINER = ("image", "imagePullPolicy", "securityContext", "volumeMounts", "workingDir")
_NOT_MAIN = frozenset(("initContainers", "ephemeralContainers", "sidecars"))
_RESOURCES = {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"cpu": "500m", "memory": "256Mi"}}
_CHECK = "probe"
_LONGEST = 40  # characters of the name of a run in that of its probe
_KEPT = 600  # seconds that a Job stays that has ended
_OF_JOB = "batch.kubernetes.io/job-name"
_LINE = re.compile(r"(\d{1,3})(?: ([ -~]{1,80}))?")
#: What comes of a fault, by what is looked for: the functions of `probe.sh`.
_WHY = {
    "read": "the program finds no data, unless the run waits for it or makes it",
    "write": "the run ends when it writes its results",
}
#: What may be otherwise once the run reads it.
_YET = re.compile(r"(?i)no such file|is empty")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to look for: ``word`` is given to the probe, ``about`` names it to people."""

    kind: str
    word: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The Jobs of a probe, and what each container of their pods looks for, by the names of both."""

    name: str
    jobs: Sequence[Object]
    checks: Mapping[tuple[str, str], Sequence[Check]]

    def record(self, namespace: str) -> RunRecord:
        """Return its Jobs as a run, of which `status` says what it does."""
        objects = tuple(Reference.of(job, namespace) for job in self.jobs)
        return RunRecord(run=self.name, number=1, when="", objects=objects)

    def is_over(self, now: RunStatus) -> bool:
        """Say whether there is nothing to wait for: all pods have ended, or will not start by themselves."""
        over = [pod for pod in now.pods if not pod.is_active or trouble.is_failing(pod.item)]
        return len(over) == len(self.jobs)

    def findings(self, now: RunStatus) -> list[Finding]:
        """Return what its pods found, and why some did not run to their end."""
        findings, left = list[Finding](), set(self.checks)
        for pod in now.pods:
            for container in mappings(mapping(pod.item.get("status")).get("containerStatuses")):
                key = text(labels_of(pod.item).get(_OF_JOB)), text(container.get("name"))
                ended = mapping(container.get("state")).get("terminated")
                if ended and key in left:
                    left.remove(key)
                    findings += read(self.checks[key], mapping(ended), text(container.get("image")))
        if left:
            message = f"did not run to its end: {now.reason or 'the time was up'}"
            findings.append(error(_CHECK, "pod", message, why="the run's own pods would wait as well"))
        return list(dict.fromkeys(findings))


def make(rendered: Rendered, word: str, *, seconds: int) -> Probe:
    """Make the probe of a use case; ``word`` tells it from others, and its pods end after ``seconds``."""
    name = f"{rendered.run[:_LONGEST].rstrip('-.')}-{_CHECK}-{word}"
    labels = {**MANAGED, PURPOSE: _CHECK, LABEL: name}
    jobs: list[Object] = []
    checks: dict[tuple[str, str], Sequence[Check]] = {}
    for pod in pods.find_all(rendered.objects):
        spec, of_containers = _pod(pod, name, rendered.objects)
        annotations = mapping(mapping((pod.template or {}).get("metadata")).get("annotations"))
        of_job = {
            "backoffLimit": 0,
            "activeDeadlineSeconds": seconds,
            "ttlSecondsAfterFinished": _KEPT,
            "template": {"metadata": {"annotations": annotations, "labels": labels}, "spec": spec},
        }
        if of_job not in [job["spec"] for job in jobs]:
            called_job = f"{name}-{len(jobs)}"
            metadata = {"name": called_job, "labels": labels}
            jobs.append({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": of_job})
            checks |= {(called_job, called): of for called, of in of_containers.items()}
    return Probe(name=name, jobs=jobs, checks=checks)


def _pod(pod: Pod[Any], name: str, objects: Sequence[Object]) -> tuple[Object, dict[str, Sequence[Check]]]:
    """Return a pod that runs the script in each container, and what each looks for."""
    own = {(text(item.get("kind")), name_of(item)) for item in objects}

    def is_brought(part: Mapping[str, Any]) -> bool:
        return any((reference.kind, reference.name) in own for reference in dependencies.of(part))

    volumes = [
        {"name": volume.get("name"), "emptyDir": {}} if "ephemeral" in volume or is_brought(volume) else volume
        for volume in pod.volumes
    ]
    named = {text(volume.get("name")) for volume in volumes}
    volumes += [{"name": name, "emptyDir": {}} for name in sorted(pod.volume_names - named)]
    fields = {field: value for field in _OF_POD if (value := pod.get(field)) is not None}
    if ("ServiceAccount", fields.get("serviceAccountName")) in own:
        del fields["serviceAccountName"]
    fields["affinity"] = {"nodeAffinity": mapping(pod.get("affinity")).get("nodeAffinity")}
    script = files("packyard.running").joinpath("probe.sh").read_text("utf-8")
    containers, checks = [], dict[str, Sequence[Check]]()
    for container in (container_node for path, container_node in pod.container_places if _NOT_MAIN.isdisjoint(path)):
        called, values = text(container.get("name")) or "main", values_of(container, objects)
        checks[called] = find(container, volumes, values)
        env = [item for item in mappings(container.get("env")) if item.get("name") not in values]
        spec = {
            **{field: container[field] for field in _OF_CONTAINER if field in container},
            "name": called,
            "command": ["/bin/sh", "-c", script, "probe.sh"],
            "args": [name, *(part for check in checks[called] for part in (check.kind, check.word))],
            "env": [
                *({"name": name, "value": value} for name, value in values.items()),
                *(variable for variable in env if not is_brought(variable)),
            ],
            "envFrom": [item for item in mappings(container.get("envFrom")) if not is_brought(item)],
            "resources": _RESOURCES,
        }
        containers.append(spec)
    return {**fields, "volumes": volumes, "containers": containers, "restartPolicy": "Never"}, checks


def find(container: Object, volumes: Sequence[Object], values: Mapping[str, str]) -> list[Check]:
    """Return the folders that a container needs whose pod has these volumes, and that has these variables."""
    lasting = {text(volume.get("name")) for volume in volumes if not _LASTING.isdisjoint(volume)}
    checks = []
    for name, value in values.items():
        mount = mount_around(value, container)
        if mount.get("name") in lasting:
            kind = "read" if mount.get("readOnly") is True else "write"
            checks.append(Check(kind, f"$({name})", f"{name} {value}"))
    return checks


def values_of(container: Object, objects: Sequence[Object]) -> dict[str, str]:
    """Return the variables of a container that are written out, in it or in a ConfigMap among ``objects``."""
    maps = {name_of(item): mapping(item.get("data")) for item in objects if type_of(item) == ("v1", "ConfigMap")}
    values: dict[str, str] = {}
    for source in mappings(container.get("envFrom")):
        named = maps.get(text(mapping(source.get("configMapRef")).get("name")), {})
        values |= {text(source.get("prefix")) + key: text(value) for key, value in named.items()}
    for variable in mappings(container.get("env")):
        reference = mapping(mapping(variable.get("valueFrom")).get("configMapKeyRef"))
        if "value" in variable:
            values[text(variable.get("name"))] = _expanded(text(variable["value"]), values)
        elif (value := maps.get(text(reference.get("name")), {}).get(text(reference.get("key")))) is not None:
            values[text(variable.get("name"))] = text(value)
    return values


def _expanded(value: str, values: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda match: "$" if match[1] is None else values.get(match[1], match[0]), value)


def read(checks: Sequence[Check], ended: Mapping[str, Any], image: str) -> Iterator[Finding]:
    """Yield what a container said; lines that it cannot have said are passed over."""
    lines = filter(None, map(_LINE.fullmatch, text(ended.get("message")).splitlines()))
    by_number = {int(line[1]): line[2] or "" for line in lines}
    if ended.get("exitCode") != 0:
        reason = text(ended.get("message")) or text(ended.get("reason"))
        yield unknown(_CHECK, f"image {image}", f"cannot be looked into: its /bin/sh says nothing, but: {reason}")
        return
    yield passed(_CHECK, f"image {image}")
    for number, check in enumerate(checks):
        if (fault := by_number.get(number)) is None:
            yield unknown(_CHECK, check.about, "could not be looked for")
        elif fault:
            make = warning if check.kind == "read" and _YET.search(fault) else error
            yield make(_CHECK, check.about, fault, why=_WHY[check.kind])
        else:
            yield passed(_CHECK, check.about)
