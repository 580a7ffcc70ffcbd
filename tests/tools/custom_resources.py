"""Write builder/packyard/core/kubernetes/custom_resources.json from the definitions in the operators' own Go modules.

    python tests/tools/custom_resources.py > builder/packyard/core/kubernetes/custom_resources.json

Of their 15 MB the table keeps what `structural` does. Equal parts are written once.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from packyard.core.kubernetes import structural


class Module(NamedTuple):
    """A Go module with definitions; ``operator`` and ``version`` are what users call it."""

    operator: str
    version: str
    path: str
    release: str
    checksum: str
    folder: str
    files: tuple[str, ...]


def _modules(operator: str, path: str, folder: str, prefix: str, kinds: str) -> Callable[[str, str], Module]:
    """Return what makes a module of a release and its checksum; from 2 on the path has the number."""

    def module(release: str, checksum: str) -> Module:
        version = release.removeprefix("v").rpartition(".")[0]
        major = version.partition(".")[0]
        numbered = f"{path}/v{major}" if int(major) > 1 else path
        return Module(operator, version, numbered, release, checksum, folder, files)

    files = tuple(f"{prefix}_{kind}.yaml" for kind in kinds.split())
    return module


_BASES, _COMPONENTS = "config/crd/bases", "config/components/crd/bases"
_KUBEFLOW, _SIGS, _ROOT = "github.com/kubeflow", "sigs.k8s.io", "manifests/base"
_mpi_operator = _modules("mpi-operator", f"{_KUBEFLOW}/mpi-operator", _ROOT, "kubeflow.org", "mpijobs")
_training_operator = _modules(
    *("training-operator", f"{_KUBEFLOW}/training-operator", f"{_ROOT}/crds", "kubeflow.org"),
    "tfjobs pytorchjobs mpijobs",
)
_argo = _modules(
    *("argo-workflows", "github.com/argoproj/argo-workflows", f"{_ROOT}/crds/full", "argoproj.io"),
    "workflows workflowtemplates cronworkflows",
)
_jobset = _modules("jobset", f"{_SIGS}/jobset", _COMPONENTS, "jobset.x-k8s.io", "jobsets")
_trainer = _modules(
    *("trainer", f"{_KUBEFLOW}/trainer", f"{_ROOT}/crds", "trainer.kubeflow.org"),
    "trainjobs trainingruntimes clustertrainingruntimes",
)
_lws = _modules("lws", f"{_SIGS}/lws", _BASES, "leaderworkerset.x-k8s.io", "leaderworkersets")
_kueue = _modules("kueue", f"{_SIGS}/kueue", _COMPONENTS, "kueue.x-k8s.io", "localqueues clusterqueues resourceflavors")
_keda = _modules("keda", "github.com/kedacore/keda", _BASES, "keda.sh", "scaledobjects triggerauthentications")
_gateway = _modules(
    *("gateway-api", f"{_SIGS}/gateway-api", "config/crd/standard", "gateway.networking.k8s.io"), "gateways httproutes"
)
_inference = _modules(
    *("gateway-api-inference-extension", f"{_SIGS}/gateway-api-inference-extension", _BASES),
    *("inference.networking.k8s.io", "inferencepools"),
)
_kuberay = _modules(
    *("kuberay", "github.com/ray-project/kuberay/ray-operator", _BASES, "ray.io", "rayclusters rayjobs rayservices"),
)
_prometheus = _modules(
    *("prometheus-operator", "github.com/prometheus-operator/prometheus-operator", "example/prometheus-operator-crd"),
    *("monitoring.coreos.com", "podmonitors"),
)

MODULES = (
    _mpi_operator("v0.5.0", "h1:XvBwyXXQ9103DNMa22sxsaQlaktvaT2LY/g0UniGn5U="),
    _mpi_operator("v0.6.0", "h1:RzzG03oyQIiHe/SH2k19N+Hp4QkxEsG2l9G1T7US+ys="),
    _mpi_operator("v0.7.0", "h1:ID1eyzAFOMofgynEvfy4//S3q7Ra1OSexrggb1VcC1o="),
    _mpi_operator("v0.8.0", "h1:22EccUiO4VDooG4TooesdE8o8euGVj89PIRhiP24SRE="),
    _argo("v3.4.0", "h1:1J4mcRKzVgkO035UKtf3cGJueJYYMvLeZpRpFiEpfOY="),
    _argo("v3.5.0", "h1:6cJOgB05bUsDG8gd+P8pclCBxbr/mQnunEM4laeT8MM="),
    _argo("v3.6.0", "h1:EMg//kaW6kaf9fDeBR5H8zYjdUoepgI9CnRzmYCs+ds="),
    _argo("v3.7.0", "h1:TDijZztm6dLruB7yZLH+Ps4OJKRwu0YSAJ4/NvceON0="),
    _argo("v4.0.5", "h1:/1lru5oXUd+k6KEDUps6rLX5OKfi1jTfabgXTly/VFU="),
    _jobset("v0.8.0", "h1:80cJcPld+IMdKFOqzEW4et3Y6lGAPcP8YmBZ+aiKGYA="),
    _jobset("v0.9.0", "h1:B8IBKEy25w6Cu46+eFBbWtuXnI9goLTz6UY6fa4qSoA="),
    _jobset("v0.10.1", "h1:u8QKifNsrWVrlRFe6w2ofYTqFT9ma2DRHxfeB2m9xyU="),
    _jobset("v0.11.0", "h1:1r2uTNQmylnqG/WCSSDADgNkHryvyUaCNCOgvSPWpN8="),
    _jobset("v0.12.0", "h1:YYPuV0px8Ongq/RXmJg6V0w2UC67aiR+rCMD06vhQQQ="),
    _training_operator("v1.8.1", "h1:mVvoBSCInbMBX0gGSn4+Ihj3ycwoLO1iEAw+0qPhQfc="),
    _trainer("v2.0.0", "h1:mnQSR9iPKItxyUR8mq66XsmxqKNVHwr9YYOB7BTU9dU="),
    _trainer("v2.1.0", "h1:jRABD9ZYToamNH2atHze3L/VC/v6KCAqUEqsOQOjVTg="),
    _trainer("v2.2.0", "h1:whChZckEtycLo1UKH/M0hiNaCUozbLvf9JrgmMv+TAg="),
    _trainer("v2.3.0", "h1:Je+e7zvTLzB4qW09J1fB7pZrqvPtWuGng2NqdN5p5QU="),
    _lws("v0.6.0", "h1:qHvhm54daBzL1S/+e8bafp7BKRC3jhrqY+EgpDGf41o="),
    _lws("v0.7.0", "h1:qWfzX8+UBak+Hq0+m/PuE3uO0mp/3dmm5q/h/7z31A8="),
    _lws("v0.8.0", "h1:DdhJ8QabwTfWgbgaHH2gdf8twliioHaoSfmDXRYEVU0="),
    _lws("v0.9.0", "h1:DcJCgxjjoGOx//QHZkeKpyiblxYq70aCRZNYSfykWyI="),
    _training_operator("v1.9.3", "h1:aaSHqskOtCY8Dn8sVd+l9p5XAczW6O0nYMPjVLAw/lc="),
    _kueue("v0.15.2", "h1:UYjEd8lx3Am1njcvpyEO/QkwCFerE6WW6qaaXNYg768="),
    _kueue("v0.17.0", "h1:7hzb38M4eKGzYW+CFv2s1L+swzzacUCHOCXxZmAV90I="),
    _keda("v2.18.0", "h1:ttR223fii/4QJ0YvtrhcWHaEoezByb/t5CeFopjl6EI="),
    _keda("v2.21.0", "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps="),
    _gateway("v1.4.0", "h1:ZwlNM6zOHq0h3WUX2gfByPs2yAEsy/EenYJB78jpQfQ="),
    _gateway("v1.6.1", "h1:mock6phZbI6rvZerwrVNk7hVNymQgHo+6sJ81Ia7ftY="),
    _inference("v1.1.0", "h1:MqRYk+3LNUWB0MbTgTZVhmJGNDTvm8l3ze4MOlzR7MU="),
    _inference("v1.6.0", "h1:cjtwMJYcTnLXBYE5ffR1/hHhn7U1aIFfe2RITYmOXVA="),
    _kuberay("v1.4.2", "h1:A4tGzbIky8sInAUxZBdBb+rrpZ7fbqoxdsOtm559Zqg="),
    _kuberay("v1.5.1", "h1:7FJYmB8oM+cnjv1VYCj/TfzRZG4XHvvt5Ayn5pZ5A1c="),
    _kuberay("v1.6.2", "h1:XUckRswLMyk71D00L62d2Vanh0fVkNqu56+IF/rr+O0="),
    _prometheus("v0.93.0", "h1:AohlYJT+En8TmNpAcEUJ3GsaJTAqfEBwHmGTVpRm/Io="),
)

Schema = dict[str, Any]


def module_dir(module: Module) -> Path:
    """Return the folder of a Go module, downloaded where it is not there; other content than pinned is refused."""
    with tempfile.TemporaryDirectory() as outside:
        command = ["go", "mod", "download", "-json", f"{module.path}@{module.release}"]
        environment = {**os.environ, "GONOSUMDB": "*"}  # MODULES has the checksums
        answer = subprocess.run(command, cwd=outside, env=environment, capture_output=True, text=True)
    if answer.returncode:
        raise LookupError(f"{' '.join(command)}: {answer.stdout}{answer.stderr}")
    found = json.loads(answer.stdout)
    if found["Sum"] != module.checksum:
        raise SystemExit(f"{module.path}@{module.release} is {found['Sum']}, not {module.checksum}")
    return Path(found["Dir"])


def definitions(module: Module) -> Iterator[Schema]:
    """Yield the CustomResourceDefinitions of a module."""
    root = module_dir(module) / module.folder
    for file in module.files:
        for document in yaml.load_all((root / file).read_text("utf-8"), Loader=yaml.CSafeLoader):
            if document is not None:
                yield document


_READ = {"type", "properties", "additionalProperties", "items", "required", "anyOf", "nullable"}
_READ |= {"x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields", structural.RULES}
_DROPPED = {"description", "format", "oneOf"}
_DROPPED |= {"x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"}
#: All keywords that are known, of which the value of ``anyOf`` is one alone.
_KNOWN = structural.KEPT | _READ | _DROPPED
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]


class Table:
    """The schemas of all kinds, each part under the number of its first occurrence."""

    def __init__(self) -> None:
        self.kinds: dict[str, dict[str, dict[str, str]]] = {}
        self.parts: dict[str, str] = {}

    def add(self, module: Module, definition: Schema) -> None:
        for kind, schema in structural.kinds(definition):
            reference = self.part(schema)["$ref"]
            versions = self.kinds.setdefault(kind, {}).setdefault(module.operator, {})
            versions[module.version] = reference.rpartition("/")[2]

    def part(self, schema: Mapping[str, Any]) -> Schema:
        """Return the JSON Schema of a structural schema, one with fields as a reference."""
        unknown = schema.keys() - _KNOWN
        if unknown or ("anyOf" in schema and schema["anyOf"] != _INT_OR_STRING):
            raise SystemExit(f"keywords that this program does not know: {unknown or schema['anyOf']}")
        found = structural.translate(schema, self.part)
        if "properties" not in found:
            return found
        text = json.dumps(found, separators=(",", ":"), sort_keys=True)
        return {"$ref": "#/$defs/" + self.parts.setdefault(text, str(len(self.parts)))}

    def text(self) -> str:
        """Return the table as JSON, a part a line."""
        parts = ",\n".join(f'"{number}":{text}' for text, number in self.parts.items())
        return f'{{"kinds":{json.dumps(self.kinds, indent=1)},\n"$defs":{{\n{parts}\n}}}}\n'


def build(modules: Sequence[Module] = MODULES) -> str:
    """Return the text of custom_resources.json, for all modules or some."""
    table = Table()
    for module in modules:
        for definition in definitions(module):
            table.add(module, definition)
    return table.text()


if __name__ == "__main__":
    sys.stdout.write(build())
