"""What pods use now: processors and memory by the metrics API or Prometheus, GPUs by Prometheus or DCGM's exporter.

/apis/metrics.k8s.io/v1beta1/namespaces/NS/pods        metrics-server: containers[].usage of each pod
…/services/NAME:PORT/proxy/api/v1/query                a Prometheus that the cluster's Services name
…/pods/NAME:9400/proxy/metrics                         DCGM's exporter on the nodes of the run, where no Prometheus is

Nothing is guessed: what is not there, may not be read or does not answer is left out, and said once. What comes is
bounded and checked: metrics are of whoever writes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from urllib.parse import urlencode

from packyard.core.errors import PackyardError, UnavailableError
from packyard.core.kubernetes.lenient import Object, mapping, mappings, name_of, text
from packyard.core.kubernetes.requests import amounts
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.run import LABEL

_ONE = 10**9  # of quantities
_MIB = 1024 * 1024
_MOST_NODES, _LARGEST = 8, 8 * 1024 * 1024  # exporters that are asked; bytes of what one says
_NAME_LABEL = "app.kubernetes.io/name"
#: How Services of Prometheus and pods of DCGM's exporter are labelled by their charts and operators.
_PROMETHEUS = (f"{_NAME_LABEL}=prometheus", "operated-prometheus=true")
_DCGM = (f"{_NAME_LABEL}=dcgm-exporter", "app=nvidia-dcgm-exporter")
_OF_GPUS = {"DCGM_FI_DEV_GPU_UTIL": "busy", "DCGM_FI_DEV_FB_USED": "used", "DCGM_FI_DEV_FB_FREE": "free"}
_SERIES = re.compile(r"^(\w+)\{([^{}]*)\}\s+(\S+)", re.MULTILINE)
_LABELS = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Usage:
    """What a pod uses: ``cpu`` in processors, ``memory`` in bytes, ``gpus`` how many are told of, ``gpu`` how busy they
    are on average in percent, ``gpu_memory`` and ``gpu_memory_total`` in bytes; None is what nobody says.
    """

    cpu: float | None = None
    memory: int | None = None
    gpus: int | None = None
    gpu: float | None = None
    gpu_memory: int | None = None
    gpu_memory_total: int | None = None

    @property
    def document(self) -> dict[str, object]:
        """What JSON has."""
        names = ("cpu", "memory", "gpus", "gpu", "gpuMemory", "gpuMemoryTotal")
        values = (self.cpu, self.memory, self.gpus, self.gpu, self.gpu_memory, self.gpu_memory_total)
        return dict(zip(names, values, strict=True))


@dataclass(frozen=True, slots=True)
class Used:
    """What is known of pods by their names, and in words what is not known of any."""

    pods: Mapping[str, Usage] = field(default_factory=dict)
    unknown: Sequence[str] = ()


#: Asks a Prometheus, and returns its series, or raises `PackyardError`.
Ask = Callable[[str], Sequence[Object]]


def read(kubectl: Kubectl, nodes: Iterable[str]) -> Used:
    """Return what the pods of runs in the namespace use, which are on ``nodes``."""
    ask, why_not = _prometheus(kubectl)
    plain, plain_told = _of_metrics_api(kubectl)
    if plain_told and ask:
        plain, plain_told = _attempt(lambda: _of_containers(ask, kubectl.namespace), plain_told)
    gpus, gpus_told = _gpus(kubectl, ask, why_not, {*nodes})
    by_pod = {name: _joined(plain.get(name, Usage()), gpus.get(name, Usage())) for name in {*plain, *gpus}}
    return Used(by_pod, [each for each in (plain_told, gpus_told) if each])


def _joined(plain: Usage, gpus: Usage) -> Usage:
    return replace(gpus, cpu=plain.cpu, memory=plain.memory)


def total(used: Iterable[Usage]) -> Usage:
    """Return what several pods use together; of GPUs how busy all are on average."""
    every = list(used)
    gpus = [each for each in every if each.gpus and each.gpu is not None]
    count = sum(each.gpus or 0 for each in gpus)
    busy = sum((each.gpu or 0) * (each.gpus or 0) for each in gpus)
    return Usage(
        cpu=_sum(each.cpu for each in every),
        memory=_whole(_sum(each.memory for each in every)),
        gpus=count or None,
        gpu=busy / count if count else None,
        gpu_memory=_whole(_sum(each.gpu_memory for each in every)),
        gpu_memory_total=_whole(_sum(each.gpu_memory_total for each in every)),
    )


def cells(used: Usage) -> tuple[str, str, str]:
    """Return in words how many processors, how much memory and what of GPUs is used: ``2: 93 %, 61Gi of 160Gi``."""
    gpu = ""
    if used.gpus:
        parts = [f"{used.gpu:.0f} %"] if used.gpu is not None else []
        held = _size(used.gpu_memory)
        parts += [f"{held} of {_size(used.gpu_memory_total)}" if used.gpu_memory_total else held] if held else []
        gpu = f"{used.gpus}: {', '.join(parts)}"
    return "" if used.cpu is None else f"{used.cpu:.2f}", _size(used.memory), gpu


def _size(amount: int | None) -> str:
    if amount is None:
        return ""
    unit, name = (_MIB * 1024, "Gi") if amount >= _MIB * 1024 else (_MIB, "Mi")
    return f"{amount / unit:.1f}{name}"


def _sum(values: Iterable[float | None]) -> float | None:
    numbers = [each for each in values if each is not None]
    return sum(numbers) if numbers else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _attempt(look: Callable[[], Mapping[str, Usage]], otherwise: str) -> tuple[Mapping[str, Usage], str]:
    """Return what a source says, or why it says nothing."""
    try:
        return look(), ""
    except PackyardError as error:
        return {}, f"{otherwise}; {error.problems[0].message}"


def _of_metrics_api(kubectl: Kubectl) -> tuple[Mapping[str, Usage], str]:
    path = f"/apis/metrics.k8s.io/v1beta1/namespaces/{kubectl.namespace}/pods?{urlencode({'labelSelector': LABEL})}"
    why = "CPU and memory are not shown: the cluster has no metrics API, as metrics-server brings it"
    return _attempt(lambda: {name_of(each): _summed(each) for each in _listed(kubectl, path)}, why)


def _listed(kubectl: Kubectl, path: str) -> list[Object]:
    return mappings(mapping(kubectl.json(kubectl.run("get", f"--raw={path}"))).get("items"))


def _summed(pod: Object) -> Usage:
    used = [amounts(each.get("usage")) for each in mappings(pod.get("containers"))]
    cpu, memory = (sum(each.get(name, 0) for each in used) for name in ("cpu", "memory"))
    return Usage(cpu=cpu / _ONE, memory=memory // _ONE)


def _of_containers(ask: Ask, namespace: str) -> dict[str, Usage]:
    """Return what cAdvisor's metrics of the namespace say."""
    own = f'{{namespace="{namespace}",container!="",pod!=""}}'
    cpu = _by_pod(ask(f"sum by (pod) (rate(container_cpu_usage_seconds_total{own}[5m]))"))
    memory = _by_pod(ask(f"sum by (pod) (container_memory_working_set_bytes{own})"))
    if not cpu and not memory:
        raise UnavailableError("Prometheus has no metrics of its containers")
    return {name: Usage(cpu=cpu.get(name), memory=_whole(memory.get(name))) for name in {*cpu, *memory}}


def _by_pod(series: Sequence[Object]) -> dict[str, float]:
    samples = ((text(mapping(each.get("metric")).get("pod")), _number(each.get("value"))) for each in series)
    return {name: value for name, value in samples if name and value is not None}


def _number(value: object) -> float | None:
    """Return the number of a sample: ``[time, "0.5"]``; None where it is none."""
    last = value[-1] if isinstance(value, list) and value else value
    try:
        number = float(last) if isinstance(last, str | int | float) else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and 0 <= number < 1e18 else None


def _gpus(kubectl: Kubectl, ask: Ask | None, why_not: str, nodes: set[str]) -> tuple[Mapping[str, Usage], str]:
    """Return what pods use of GPUs, and why that is not known."""
    reasons = [why_not] if why_not else []
    sources: list[Callable[[], Sequence[Sample]]] = [lambda: _scraped(kubectl, nodes)]
    if ask:
        sources.insert(0, partial(_asked, ask, kubectl.namespace))
    for source in sources:
        try:
            if by_pod := _of_gpus(source(), kubectl.namespace):
                return by_pod, ""
        except PackyardError as error:
            reasons.append(error.problems[0].message)
    why = f" ({'; '.join(reasons)})" if reasons else ""
    return {}, f"GPUs are not shown: neither Prometheus nor DCGM's exporter tells of any{why}"


#: A sample: the name of a metric, its labels, its value.
Sample = tuple[str, Mapping[str, str], float]


def _asked(ask: Ask, namespace: str) -> list[Sample]:
    names = "|".join(_OF_GPUS)
    parts = (f'{{__name__=~"{names}",{label}="{namespace}"}}' for label in ("namespace", "exported_namespace"))
    series = ask(" or ".join(parts))
    samples = ((mapping(each.get("metric")), _number(each.get("value"))) for each in series)
    return [
        (text(labels.get("__name__")), {key: text(label) for key, label in labels.items()}, value)
        for labels, value in samples
        if value is not None
    ]


def _scraped(kubectl: Kubectl, nodes: set[str]) -> list[Sample]:
    """Return what the exporters on the nodes of the run say."""
    samples: list[Sample] = []
    exporters = [
        each for label in _DCGM for each in kubectl.read("get", "pods", "--all-namespaces", f"--selector={label}")
    ]
    here = [each for each in exporters if mapping(each.get("spec")).get("nodeName") in nodes]
    paths = (f"{_namespace(each)}/pods/{name_of(each)}:{_port(each)}" for each in here[:_MOST_NODES])
    for each in dict.fromkeys(paths):
        path = f"/api/v1/namespaces/{each}/proxy/metrics"
        samples += _parsed(kubectl.run("get", f"--raw={path}")[:_LARGEST].decode("utf-8", "replace"))
    return samples


def _namespace(item: Object) -> str:
    return text(mapping(item.get("metadata")).get("namespace"))


def _port(pod: Object) -> int:
    containers = mappings(mapping(pod.get("spec")).get("containers"))
    ports = [port.get("containerPort") for each in containers for port in mappings(each.get("ports"))]
    return next((each for each in ports if isinstance(each, int)), 9400)


def _parsed(printed: str) -> Iterator[Sample]:
    """Yield the samples of GPUs in Prometheus' text format."""
    for name, labels, value in _SERIES.findall(printed):
        number = _number(value) if name in _OF_GPUS else None
        if number is not None:
            yield name, dict(_LABELS.findall(labels)), number


def _of_gpus(samples: Sequence[Sample], namespace: str) -> dict[str, Usage]:
    """Return by pod what it uses of GPUs, of samples for each."""
    by_pod: dict[str, dict[str, list[float]]] = {}
    for name, labels, value in samples:
        prefix = "exported_" if labels.get("exported_pod") else ""
        if name in _OF_GPUS and labels.get(f"{prefix}namespace") == namespace and (pod := labels.get(f"{prefix}pod")):
            by_pod.setdefault(pod, {}).setdefault(_OF_GPUS[name], []).append(value)
    return {pod: _of_samples(values) for pod, values in by_pod.items()}


def _of_samples(values: Mapping[str, Sequence[float]]) -> Usage:
    busy, used, free = (values.get(each, ()) for each in ("busy", "used", "free"))
    return Usage(
        gpus=max(len(busy), len(used)),
        gpu=sum(busy) / len(busy) if busy else None,
        gpu_memory=int(sum(used) * _MIB) if used else None,
        gpu_memory_total=int((sum(used) + sum(free)) * _MIB) if used and free else None,
    )


def _prometheus(kubectl: Kubectl) -> tuple[Ask | None, str]:
    """Return what asks a Prometheus of the cluster, through its API server."""
    try:
        for label in _PROMETHEUS:
            for each in kubectl.read("get", "services", "--all-namespaces", f"--selector={label}"):
                return _through(kubectl, each), ""
    except PackyardError as error:
        return None, error.problems[0].message
    return None, ""


def _through(kubectl: Kubectl, service: Object) -> Ask:
    ports = mappings(mapping(service.get("spec")).get("ports"))
    named = [each for each in ports if text(each.get("name")) in ("web", "http", "http-web", "prometheus")]
    port = next((each.get("port") for each in (*named, *ports)), 9090)
    path = f"/api/v1/namespaces/{_namespace(service)}/services/{name_of(service)}:{port}/proxy/api/v1/query"

    def ask(query: str) -> Sequence[Object]:
        answer = kubectl.run("get", f"--raw={path}?{urlencode({'query': query})}")
        return series(kubectl.json(answer[:_LARGEST]))

    return ask


def series(answer: object) -> Sequence[Object]:
    """Return the series of an answer of Prometheus' HTTP API."""
    document = mapping(answer)
    if document.get("status") != "success":
        raise UnavailableError(f"Prometheus answers: {text(document.get('error')) or 'no success'}")
    return mappings(mapping(document.get("data")).get("result"))
