"""The Jobs of a probe: made of the pods of a use case, created and deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from packyard.core.errors import Problem
from packyard.core.kubernetes import pods
from packyard.core.kubernetes.kinds import CORE, JOBSET, KUBEFLOW, TRAINER
from packyard.core.kubernetes.lenient import kind_of, mapping, mappings, name_of, text
from packyard.core.kubernetes.name_fields import HOLDERS, NAMES
from packyard.core.kubernetes.pods import Pod
from packyard.running.probe import contract
from packyard.running.probe.contract import Check
from packyard.running.runs import beside
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.prepared import Prepared
from packyard.running.runs.run import LABEL, Object

#: What a pod needs of its use case before it starts; a probe has copies.
_COPIED = ("ConfigMap", "Secret", "ServiceAccount")
#: The fields of a pod that decide where it runs, as whom, and what it sees.
_OF_POD = (
    *("automountServiceAccountToken", "dnsConfig", "dnsPolicy", "enableServiceLinks", "hostAliases", "hostNetwork"),
    *("hostUsers", "imagePullSecrets", "nodeSelector", "os", "priorityClassName", "runtimeClassName", "schedulerName"),
    *("securityContext", "serviceAccountName", "tolerations"),
)
_OF_CONTAINER = ("env", "envFrom", "image", "imagePullPolicy", "securityContext", "volumeMounts", "workingDir")
_NOT_MAIN = frozenset(("initContainers", "ephemeralContainers", "sidecars"))
_RESOURCES = {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"cpu": "500m", "memory": "256Mi"}}
_STANDARD = "app.kubernetes.io/"
_PURPOSE = "probe"
#: A name that every cluster has, and the groups of kinds whose pods find each other by names.
_DNS = Check("name", "kubernetes.default.svc", "kubernetes.default.svc")
_NAMED = (KUBEFLOW, JOBSET, TRAINER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The objects of a probe, and what each container of its Jobs looks for, by the names of both.

    ``absent`` are the claims that the run brings: they are not there yet.
    """

    name: str
    objects: Sequence[Object]
    checks: Mapping[tuple[str, str], Sequence[Check]]
    absent: Sequence[str]

    def image(self, job: str, container: str) -> str:
        """Return the image of a container."""
        named = (each for each in self.objects if (each["kind"], each["metadata"]["name"]) == ("Job", job))
        pod = next(named)["spec"]["template"]["spec"]
        return next(text(each.get("image")) for each in pod["containers"] if each["name"] == container)


def make(prepared: Prepared, word: str, *, seconds: int) -> Probe:
    """Make the probe of a use case; ``word`` tells it from others, and its pods end after ``seconds``."""
    objects, name = prepared.objects, beside.name(prepared.run, _PURPOSE, word)
    labels = beside.labels(name, _PURPOSE)
    own = {(text(item.get("kind")), name_of(item)): item for item in objects}
    renamed = {key: f"{name}-{number}" for number, key in enumerate(own) if key[0] in _COPIED}
    tried: dict[str, tuple[Object, Mapping[str, Sequence[Check]]]] = {}
    for pod in pods.find_all(objects):
        volumes = [_volume(each, own) for each in pod.volumes]
        containers = {text(each.get("name")) or "main": each for each in _containers(pod)}
        more = (_DNS,) if _needs_names(objects) else ()
        checks = {each: (*contract.find(container, volumes, objects), *more) for each, container in containers.items()}
        named = {text(each.get("name")) for each in volumes}
        volumes += [{"name": each, "emptyDir": {}} for each in sorted(pod.volume_names - named)]
        probing = [_container(name, each, container, checks[each]) for each, container in containers.items()]
        spec = {**_pod(pod), "volumes": volumes, "containers": probing, "restartPolicy": "Never"}
        template = {"metadata": _metadata(pod, objects, labels), "spec": _renamed(spec, renamed)}
        tried.setdefault(json.dumps(template, sort_keys=True), (template, checks))
    jobs = {f"{name}-{number}": pair for number, pair in enumerate(tried.values())}
    return Probe(
        name=name,
        objects=[
            *(_copy(own[key], new, labels, renamed) for key, new in renamed.items()),
            *(beside.job(job, labels, template, seconds) for job, (template, _) in jobs.items()),
        ],
        checks={(job, container): of for job, (_, checks) in jobs.items() for container, of in checks.items()},
        absent=[claim for kind, claim in own if kind == "PersistentVolumeClaim"],
    )


def _needs_names(objects: Sequence[Object]) -> bool:
    return any(group in _NAMED or (group, kind) == (CORE, "Service") for group, kind in map(kind_of, objects))


def _containers(pod: Pod[Any]) -> list[Object]:
    """Return the containers that do what the pod is for."""
    return [each for path, each in pod.container_places if _NOT_MAIN.isdisjoint(path)]


def _pod(pod: Pod[Any]) -> Object:
    fields = {field: value for field in _OF_POD if (value := pod.get(field)) is not None}
    node_affinity = mapping(pod.get("affinity")).get("nodeAffinity")
    return {**fields, **({"affinity": {"nodeAffinity": node_affinity}} if node_affinity else {})}


def _container(name: str, called: str, container: Object, checks: Sequence[Check]) -> Object:
    """Return a container that runs the script; variables in what it looks for are left to the kubelet."""
    script = files("packyard.running.probe").joinpath("probe.sh").read_text("utf-8")
    return {
        **{field: container[field] for field in _OF_CONTAINER if field in container},
        "name": called,
        "command": ["/bin/sh", "-c", script, "probe.sh"],
        "args": [name, *(part for each in checks for part in (each.kind, each.word))],
        "resources": _RESOURCES,
    }


def _volume(volume: Object, own: Mapping[tuple[str, str], Object]) -> Object:
    """Return a volume, or an empty one where it would be made for the run alone."""
    claim = text(mapping(volume.get("persistentVolumeClaim")).get("claimName"))
    if "ephemeral" in volume or ("PersistentVolumeClaim", claim) in own:
        return {"name": volume.get("name"), "emptyDir": {}}
    return volume


def _metadata(pod: Pod[Any], objects: Sequence[Object], own: Mapping[str, str]) -> Object:
    """Return annotations and labels of a pod, but for labels by which others would take it for one of the run."""
    sources = [mapping((pod.template or {}).get("metadata"))]
    if pod.is_argo:
        sources = [mapping(pod.get("podMetadata")), mapping(pod.spec.get("metadata"))]
    labels = {key: value for each in sources for key, value in mapping(each.get("labels")).items()}
    annotations = {key: value for each in sources for key, value in mapping(each.get("annotations")).items()}
    selected = {key for item in objects for key in _selected(mapping(item.get("spec")))}
    kept = {key: value for key, value in labels.items() if key not in selected and not key.startswith(_STANDARD)}
    return {"annotations": annotations, "labels": {**kept, **own}}


def _selected(spec: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of labels by which an object selects pods."""
    for selector in (mapping(spec.get("selector")), mapping(spec.get("podSelector"))):
        yield from mapping(selector.get("matchLabels", selector))
        yield from (text(each.get("key")) for each in mappings(selector.get("matchExpressions")))


def _copy(item: Object, new: str, labels: Mapping[str, str], renamed: Mapping[tuple[str, str], str]) -> Object:
    annotations = mapping(mapping(item.get("metadata")).get("annotations"))
    metadata = {"name": new, "labels": labels, "annotations": annotations}
    body = _renamed(item, renamed) if item.get("kind") == "ServiceAccount" else item  # in others, all is data
    return {**body, "metadata": metadata}


def _renamed(value: Any, renamed: Mapping[tuple[str, str], str], field: str = "") -> Any:
    """Return a value in which references to copied objects have the names of the copies."""
    if isinstance(value, list):
        return [_renamed(each, renamed, field) for each in value]
    if not isinstance(value, dict):
        return renamed.get((NAMES.get(field, ""), value), value) if isinstance(value, str) else value
    kind, keys = HOLDERS.get(field) or (("Secret", ("name",)) if field == "imagePullSecrets" else ("", ()))
    names = {key: renamed[kind, value[key]] for key in keys if (kind, value.get(key)) in renamed}
    return {**{key: _renamed(each, renamed, key) for key, each in value.items()}, **names}


def delete(kubectl: Kubectl, probe: Probe) -> None:
    """Delete what there is of a probe."""
    kinds = ",".join(sorted({text(each.get("kind")).lower() for each in probe.objects}))
    command = kubectl.by_hand("delete", kinds, f"--selector={LABEL}={probe.name}")
    left = Problem(f"the probe {probe.name} could not be deleted", hint=command)
    beside.delete(kubectl, probe.objects, left=left)
