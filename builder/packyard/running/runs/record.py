"""What a cluster knows of a run: a ConfigMap for each time it was deployed, made before the objects are applied.

    packyard.mnist-fp32-training-first-run.2        the second record of this run; labels: packyard/run, packyard/record
      data.run             package, version, values, who and when, and the names of the objects, as JSON
      binaryData.objects   the objects as they were applied, gzipped JSON; the data of Secrets is not among them

A record is created once and never changed, so that of two who deploy the same run at once one is refused. Everybody who
may write ConfigMaps in the namespace could have written it: it is checked as what comes from elsewhere.
"""

import base64
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from packyard.core.bundle import record
from packyard.core.bundle.record import in_json, list_of, map_of, object_of, size, text
from packyard.core.errors import ConflictError, InputError, IntegrityError, Problem, suggest
from packyard.core.kubernetes.lenient import mapping, mappings, name_of, type_of
from packyard.core.kubernetes.lenient import text as text_of
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.run import LABEL, MANAGED, Object, Reference, can_be

#: The label of records, with their number.
NUMBER = "packyard/record"
_KIND, _DATA, _OBJECTS = "Run", "run", "objects"
_MOST_UNPACKED = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One time that a run was deployed: the ``number`` counts from 1, ``when`` is UTC as ISO 8601.

    ``action`` is ``rollback`` where it was made of another record, that of the number ``source``.
    """

    run: str = field(metadata=in_json(text))
    number: int = field(metadata=in_json(size))
    package: str = field(default="", metadata=in_json(text, ""))
    version: str = field(default="", metadata=in_json(text, ""))
    digest: str = field(default="", metadata=in_json(text, ""))
    use_case: str = field(default="", metadata=in_json(text, ""))
    values: Mapping[str, str] = field(default_factory=dict, metadata=in_json(map_of(text)))
    options: tuple[str, ...] = field(default=(), metadata=in_json(list_of(text), ()))
    who: str = field(default="", metadata=in_json(text, ""))
    when: str = field(metadata=in_json(text))
    action: str = field(default="", metadata=in_json(text, ""))
    source: int = field(default=0, metadata=in_json(size, 0))
    objects: tuple[Reference, ...] = field(default=(), metadata=in_json(list_of(object_of(Reference))))
    extra: Mapping[str, object] = field(default_factory=dict)
    applied: str = field(default="", repr=False)

    @property
    def name(self) -> str:
        """The name of its ConfigMap."""
        return f"packyard.{self.run}.{self.number}"

    def of(self, objects: Sequence[Object]) -> "RunRecord":
        """Return the record with ``objects``, but the data of Secrets."""
        data = ("data", "stringData")
        public = [
            {key: value for key, value in item.items() if key not in data or type_of(item) != ("v1", "Secret")}
            for item in objects
        ]
        packed = gzip.compress(json.dumps(public).encode(), mtime=0)
        return replace(self, applied=base64.b64encode(packed).decode())

    def to_object(self) -> Object:
        """Return its ConfigMap."""
        document = {"apiVersion": record.API_VERSION, "kind": _KIND, **record.document(self)}
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": self.name, "labels": {LABEL: self.run, NUMBER: str(self.number), **MANAGED}},
            "immutable": True,
            "data": {_DATA: record.to_bytes(document).decode()},
            "binaryData": {_OBJECTS: self.applied},
        }

    @classmethod
    def of_object(cls, item: Mapping[str, Any]) -> "RunRecord":
        """Read a ConfigMap, or raise `IntegrityError`."""
        name = name_of(item)
        data = text_of(mapping(item.get("data")).get(_DATA)).encode()
        packed = text_of(mapping(item.get("binaryData")).get(_OBJECTS))
        run_record = record.parse(data, lambda fields: fields.take_all(cls), kind=_KIND, file=f"ConfigMap {name}")
        if run_record.name != name:
            raise IntegrityError(Problem(f"is a record of {run_record.name}", file=f"ConfigMap {name}"))
        return replace(run_record, applied=packed)

    def read_objects(self) -> list[Object]:
        """Return the objects that were applied; Secrets come without their data."""
        try:
            with gzip.open(io.BytesIO(base64.b64decode(self.applied))) as file:
                data = file.read(_MOST_UNPACKED + 1)
            items = json.loads(data)
        except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
            hint = f"kubectl delete configmap {self.name} forgets this record, in the namespace of the run"
            problem = Problem(f"objects cannot be read: {error}", file=f"ConfigMap {self.name}", hint=hint)
            raise IntegrityError(problem) from error
        return [dict(item) for item in mappings(items)]


class TakenError(ConflictError):
    """Somebody else was quicker: the run is theirs, and nothing of it may be touched."""


def read_all(
    kubectl: Kubectl, run: str = "", unfit: Callable[[IntegrityError], None] | None = None
) -> dict[str, list[RunRecord]]:
    """Return the records of each run of the namespace, or of one, the oldest first; one call.

    A record that cannot be read is an error, or is left out where ``unfit`` is told: it must not hide other runs.
    """
    if run and not can_be(run):
        return {}
    wanted = f"{NUMBER},{LABEL}={run}" if run else NUMBER
    by_run: dict[str, list[RunRecord]] = {}
    for item in kubectl.read("get", "configmaps", f"--selector={wanted}"):
        try:
            run_record = RunRecord.of_object(item)
        except IntegrityError as error:
            forget = kubectl.by_hand("delete", "configmap", name_of(item))
            known = error.hinted(f"{forget} forgets this record; deploy and undeploy go on without it")
            if unfit is None:
                raise known from error
            unfit(known)
        else:
            by_run.setdefault(run_record.run, []).append(run_record)
    return {name: sorted(by_run[name], key=lambda record: record.number) for name in sorted(by_run)}


def read_names(kubectl: Kubectl) -> list[str]:
    """Return the names of the runs of the namespace; a server that is silent for some seconds is not waited for."""
    path = f"--output=jsonpath={{.items[*].metadata.labels.{LABEL}}}"
    printed = kubectl.run("get", "configmaps", f"--selector={NUMBER}", "--request-timeout=3s", path)
    return sorted({*printed.decode().split()})


def read_run(kubectl: Kubectl, run: str) -> list[RunRecord]:
    """Return the records of a run, the oldest first, or refuse its name with the nearest that there is."""
    if records := read_all(kubectl, run).get(run):
        return records
    raise InputError(missing(kubectl, run, read_all(kubectl)))


def read_last(kubectl: Kubectl, run: str) -> RunRecord:
    """Return the newest record of a run, or refuse its name as `read_run` does."""
    return read_run(kubectl, run)[-1]


def missing(kubectl: Kubectl, name: str, names: Iterable[str]) -> Problem:
    """Describe a name that no run has, with the nearest of ``names``."""
    hint = suggest(name, names) or f"{kubectl.packyard('status')} lists the runs"
    return Problem(f"there is no run {name!r} in namespace {kubectl.namespace}", hint=hint)


def create(kubectl: Kubectl, run_record: RunRecord) -> None:
    """Store a record, or raise `TakenError` where somebody else has just deployed the run."""
    data = json.dumps(run_record.to_object()).encode()
    try:
        kubectl.run("create", "--validate=false", "--filename=-", data=data)
    except ConflictError as error:
        stays = kubectl.by_hand("get", "configmap", run_record.name, "--output=yaml")
        hint = f"{kubectl.packyard('status', run_record.run)} shows it, {stays} what is in the way; then try again"
        raise TakenError(Problem(f"run {run_record.run} is being deployed by somebody else", hint=hint)) from error


def keep(kubectl: Kubectl, records: Sequence[RunRecord], count: int) -> None:
    """Delete the oldest records of a run, so that its newest ``count`` are left."""
    if old := [run_record.name for run_record in records[:-count]]:
        kubectl.run("delete", "configmap", "--ignore-not-found", "--wait=false", *old)
