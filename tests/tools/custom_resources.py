"""Write builder/packyard/core/kubernetes/custom_resources.json from the definitions in the operators' own Go modules.

    python tests/tools/custom_resources.py > builder/packyard/core/kubernetes/custom_resources.json

Of their 15 MB the table keeps what `structural` does. Equal parts are written once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
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


def _mpi_operator(version: str, checksum: str) -> Module:
    path, files = "github.com/kubeflow/mpi-operator", ("kubeflow.org_mpijobs.yaml",)
    return Module("mpi-operator", version, path, f"v{version}.0", checksum, "manifests/base", files)


def _training_operator(release: str, checksum: str) -> Module:
    path, version = "github.com/kubeflow/training-operator", release.removeprefix("v").rpartition(".")[0]
    files = tuple(f"kubeflow.org_{kind}.yaml" for kind in ("tfjobs", "pytorchjobs", "mpijobs"))
    return Module("training-operator", version, path, release, checksum, "manifests/base/crds", files)


def _argo(release: str, checksum: str) -> Module:
    version, folder = release.removeprefix("v").rpartition(".")[0], "manifests/base/crds/full"
    path = f"github.com/argoproj/argo-workflows/v{version.partition('.')[0]}"
    files = tuple(f"argoproj.io_{kind}.yaml" for kind in ("workflows", "workflowtemplates", "cronworkflows"))
    return Module("argo-workflows", version, path, release, checksum, folder, files)


def _jobset(release: str, checksum: str) -> Module:
    path, version = "sigs.k8s.io/jobset", release.removeprefix("v").rpartition(".")[0]
    files = ("jobset.x-k8s.io_jobsets.yaml",)
    return Module("jobset", version, path, release, checksum, "config/components/crd/bases", files)


def _trainer(version: str, checksum: str) -> Module:
    path, folder = "github.com/kubeflow/trainer/v2", "manifests/base/crds"
    kinds = ("trainjobs", "trainingruntimes", "clustertrainingruntimes")
    files = tuple(f"trainer.kubeflow.org_{kind}.yaml" for kind in kinds)
    return Module("trainer", version, path, f"v{version}.0", checksum, folder, files)


def _lws(version: str, checksum: str) -> Module:
    path, files = "sigs.k8s.io/lws", ("leaderworkerset.x-k8s.io_leaderworkersets.yaml",)
    return Module("lws", version, path, f"v{version}.0", checksum, "config/crd/bases", files)


def _kueue(release: str, checksum: str) -> Module:
    version, folder = release.removeprefix("v").rpartition(".")[0], "config/components/crd/bases"
    files = tuple(f"kueue.x-k8s.io_{kind}.yaml" for kind in ("localqueues", "clusterqueues", "resourceflavors"))
    return Module("kueue", version, "sigs.k8s.io/kueue", release, checksum, folder, files)


def _keda(version: str, checksum: str) -> Module:
    files = tuple(f"keda.sh_{kind}.yaml" for kind in ("scaledobjects", "triggerauthentications"))
    return Module("keda", version, "github.com/kedacore/keda/v2", f"v{version}.0", checksum, "config/crd/bases", files)


def _inference(version: str, checksum: str) -> Module:
    name, files = "gateway-api-inference-extension", ("inference.networking.k8s.io_inferencepools.yaml",)
    return Module(name, version, f"sigs.k8s.io/{name}", f"v{version}.0", checksum, "config/crd/bases", files)


MODULES = (
    _mpi_operator("0.5", "h1:XvBwyXXQ9103DNMa22sxsaQlaktvaT2LY/g0UniGn5U="),
    _mpi_operator("0.6", "h1:RzzG03oyQIiHe/SH2k19N+Hp4QkxEsG2l9G1T7US+ys="),
    _mpi_operator("0.7", "h1:ID1eyzAFOMofgynEvfy4//S3q7Ra1OSexrggb1VcC1o="),
    _mpi_operator("0.8", "h1:22EccUiO4VDooG4TooesdE8o8euGVj89PIRhiP24SRE="),
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
    _trainer("2.0", "h1:mnQSR9iPKItxyUR8mq66XsmxqKNVHwr9YYOB7BTU9dU="),
    _trainer("2.1", "h1:jRABD9ZYToamNH2atHze3L/VC/v6KCAqUEqsOQOjVTg="),
    _trainer("2.2", "h1:whChZckEtycLo1UKH/M0hiNaCUozbLvf9JrgmMv+TAg="),
    _trainer("2.3", "h1:Je+e7zvTLzB4qW09J1fB7pZrqvPtWuGng2NqdN5p5QU="),
    _lws("0.6", "h1:qHvhm54daBzL1S/+e8bafp7BKRC3jhrqY+EgpDGf41o="),
    _lws("0.7", "h1:qWfzX8+UBak+Hq0+m/PuE3uO0mp/3dmm5q/h/7z31A8="),
    _lws("0.8", "h1:DdhJ8QabwTfWgbgaHH2gdf8twliioHaoSfmDXRYEVU0="),
    _lws("0.9", "h1:DcJCgxjjoGOx//QHZkeKpyiblxYq70aCRZNYSfykWyI="),
    _training_operator("v1.9.3", "h1:aaSHqskOtCY8Dn8sVd+l9p5XAczW6O0nYMPjVLAw/lc="),
    _kueue("v0.15.2", "h1:UYjEd8lx3Am1njcvpyEO/QkwCFerE6WW6qaaXNYg768="),
    _kueue("v0.17.0", "h1:7hzb38M4eKGzYW+CFv2s1L+swzzacUCHOCXxZmAV90I="),
    _keda("2.18", "h1:ttR223fii/4QJ0YvtrhcWHaEoezByb/t5CeFopjl6EI="),
    _keda("2.21", "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps="),
    Module(
        operator="gateway-api",
        version="1.4",
        path="sigs.k8s.io/gateway-api",
        release="v1.4.0",
        checksum="h1:ZwlNM6zOHq0h3WUX2gfByPs2yAEsy/EenYJB78jpQfQ=",
        folder="config/crd/standard",
        files=tuple(f"gateway.networking.k8s.io_{kind}.yaml" for kind in ("gateways", "httproutes")),
    ),
    _inference("1.1", "h1:MqRYk+3LNUWB0MbTgTZVhmJGNDTvm8l3ze4MOlzR7MU="),
    _inference("1.6", "h1:cjtwMJYcTnLXBYE5ffR1/hHhn7U1aIFfe2RITYmOXVA="),
    Module(
        operator="prometheus-operator",
        version="0.85",
        path="github.com/prometheus-operator/prometheus-operator",
        release="v0.85.0",
        checksum="h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
        folder="example/prometheus-operator-crd",
        files=("monitoring.coreos.com_podmonitors.yaml",),
    ),
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
