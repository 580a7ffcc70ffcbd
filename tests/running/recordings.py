"""What kubectl answered on a cluster with a fault, as files in tests/recorded/, and a kubectl that answers so again.

    before/NAME.jsonl    as the doctor and the plan of `deploy` asked, for each fault of `fault_set`
    after/NAME.jsonl     as `status` asked about a run
    cluster.jsonl        what the server says of its API, where a fault changes nothing about it

`test_fault_set` writes them where PACKYARD_RECORD=1, with one name for all namespaces.
"""

import base64
import gzip
import hashlib
import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from operator import itemgetter
from pathlib import Path
from typing import Any

from packyard.core.errors import PackyardError
from packyard.running import doctor
from packyard.running.doctor.facts import without_secrets
from packyard.running.doctor.finding import Finding
from packyard.running.runs import plan as planning
from packyard.running.runs import record as records
from packyard.running.runs import status
from packyard.running.runs.kubectl import Done, Kubectl
from packyard.running.runs.rendering import Rendered
from running import made
from running.fault_set import FAULTS, Fault
from running.patients import rendered

FOLDER = Path(__file__).parent.parent / "recorded"
_SHARED = FOLDER / "cluster.jsonl"
IS_RECORDING = os.environ.get("PACKYARD_RECORD") == "1"
#: What is asked of each fault, and when.
ASKED = [(moment, fault) for fault in FAULTS for moment in ("before", "after") if getattr(fault, moment)]
#: The namespace in files, and the run.
NAMESPACE, RUN = "test-0", "run"
_COMMAND = "make nightly-clusters"
_TEST = re.compile(r"\btest-[0-9a-f]{8}")
#: What is large in the answers of `get --raw`, and asked for by nobody.
_SPARE = {"verbs", "shortNames", "categories", "singularName", "storageVersionHash", "preferredVersion", "groupVersion"}

_LEFT_OUT = {"managedFields", "resourceVersion", "uid", "kubectl.kubernetes.io/last-applied-configuration"}

#: Calls that most faults have the same answers to: what is served, and what an administrator may do.
_OF_SERVER = ("get --raw=", "create --validate=ignore --filename=- --output=json")


class UnrecordedError(AssertionError):
    """A call that no recording has."""


def findings(client: Kubectl, ready: Rendered) -> list[Finding]:
    """Return what the doctor says that is wrong."""
    return [each for each in doctor.examine(client, ready) if each.severity in ("error", "warning")]


def planned(client: Kubectl, ready: Rendered) -> list[str]:
    """Return what `deploy` would refuse."""
    try:
        planning.plan(client, ready, who="ann", when=made.WHEN)
    except PackyardError as error:
        return [str(problem) for problem in error.problems]
    return []


def said(found: Sequence[Finding], refused: Sequence[str]) -> str:
    """Return all that is said before anything is applied."""
    return "\n".join([*(f"{each}; {each.why}" for each in found), *refused])


def before(client: Kubectl, fault: Fault) -> str:
    ready = rendered(fault.run(NAMESPACE))
    return said(findings(client, ready), planned(client, ready))


def after(client: Kubectl, _: Fault) -> str:
    """Return what is said of a run."""
    seen = status.read_one(client, records.read_last(client, RUN))
    return f"{seen.state}: {seen.reason}"


_TOLD = {"before": before, "after": after}


def told(moment: str, fault: Fault, change: Callable[[Any], Any] = lambda objects: objects) -> str:
    """Return what is said of a fault by what was recorded ``before`` or ``after``, with a change of all objects."""
    namespace = fault.namespace(NAMESPACE) if moment == "before" else NAMESPACE
    return _TOLD[moment](replayed(namespace, change, file(moment, fault), _SHARED), fault)


Calls = list[tuple[Sequence[str], bytes, Done]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Kubectl):
    """A kubectl whose calls something else answers."""

    by: Callable[[Sequence[str], bytes], Done]

    def ask(self, words: Sequence[str], data: bytes) -> Done:
        return self.by(words, data)


def recording(kubectl: Kubectl, calls: Calls) -> Kubectl:
    """Return a kubectl that does the same, and whose calls are added."""

    def ask(words: Sequence[str], data: bytes) -> Done:
        done = kubectl.ask(words, data)
        calls.append((words, data, done))
        return done

    return Answered(**{field.name: getattr(kubectl, field.name) for field in fields(kubectl)}, by=ask)


def keep(made: Calls, moment: str, fault: Fault, namespace: str) -> None:
    """Write what was recorded, and refuse where something else is said than by what was recorded before.

    A file whose calls are not those of today is no judge. Whether a run has failed yet depends on the moment, and which
    of its pods is the first on their names; the reason does not.
    """
    place, last = file(moment, fault), None
    with suppress(UnrecordedError):
        last = _reason(told(moment, fault))
    lines = [_line(*each) for each in sorted(made, key=itemgetter(0, 1))]
    calls = _settled([_of_namespace(line, namespace) for line in lines], namespace)
    of_server = {_key(call): call for call in calls if call["call"].startswith(_OF_SERVER)}
    shared = of_server | {_key(each): each for each in _read(_SHARED)}
    _write(_SHARED, shared.values())
    _write(place, (call for call in calls if shared.get(_key(call)) != call))
    now = _reason(told(moment, fault))
    assert last in (None, now), f"{place}: {now!r} was {last!r}"


def _reason(text: str) -> str:
    return re.sub(rf"\A(?:{'|'.join(status.STATES)}): (\w+ \d+: )?", "", text)


def replayed(namespace: str, change: Callable[[Any], Any], place: Path, *others: Path) -> Kubectl:
    """Return a kubectl that answers what a file says, and for calls that it does not have what others say."""
    if not place.exists():
        raise UnrecordedError(f"{place} is not there; {_COMMAND} records it")
    known = {_key(each): each for one in (*others, place) for each in _read(one)}

    def answer(words: Sequence[str], data: bytes) -> Done:
        call = shlex.join(words)
        asked = _opened({"input": _clean(json.loads(data))})["input"] if data else ""
        found = known.get(_key({"call": call, "input": asked}))
        if found is None:
            raise UnrecordedError(f"{place} has no answer to kubectl {call} with {asked}; {_COMMAND} records it")
        output = found.get("output", "")
        if isinstance(output, dict) and "items" in output:
            output = {**output, "items": change(output["items"])}
        printed = output if isinstance(output, str) else json.dumps(output)
        return Done(found.get("code", 0), printed.encode(), found.get("errors", ""), tuple(found.get("warnings", ())))

    flags = ("--context=test",)
    return Answered(program="kubectl", flags=flags, context="test", namespace=namespace, by=answer)


def _line(words: Sequence[str], data: bytes, done: Done) -> dict[str, Any]:
    answer = {"code": done.code, "output": _json(done.output), "errors": done.errors, "warnings": done.warnings}
    whole = {"call": shlex.join(words), "input": _json(data), **answer}
    return {key: _clean(value) for key, value in whole.items() if value}


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode()


def _clean(value: Any) -> Any:
    """Return JSON without what nobody asks an object for, and without the data of Secrets."""
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: _clean(each) for key, each in without_secrets(value).items() if key not in _LEFT_OUT}


def file(moment: str, fault: Fault) -> Path:
    """Return where a recording of a fault is."""
    return FOLDER / moment / f"{fault.name.replace(' ', '-')}.jsonl"


def _key(call: Mapping[str, Any]) -> tuple[str, str]:
    return call["call"], _digest(call.get("input", ""))


def _digest(asked: Any) -> str:
    """Return what stands in files for the standard input of a call."""
    if not asked or (isinstance(asked, str) and asked.startswith("sha256:")):
        return asked or ""
    return f"sha256:{hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]}"


def _read(place: Path) -> list[dict[str, Any]]:
    lines = place.read_text("utf-8").splitlines() if place.exists() else []
    return [call for call in map(json.loads, lines) if "call" in call]


def _write(place: Path, calls: Iterable[Mapping[str, Any]]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    lines = sorted(json.dumps(call, ensure_ascii=False) for call in calls)
    place.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _of_namespace(call: dict[str, Any], namespace: str) -> dict[str, Any]:
    """Return a call without what other tests have left on the cluster, and without what is large and not asked for."""
    output = call["output"] if isinstance(call.get("output"), dict) else {}
    if isinstance(output.get("items"), list):
        call["output"] = {**output, "items": [item for item in output["items"] if not _is_foreign(item, namespace)]}
    if rights := output.get("status", {}).get("resourceRules"):  # which come in any order
        output["status"] = {"resourceRules": sorted(rights, key=json.dumps)}
    return _without(call, _SPARE) if call["call"].startswith("get --raw=") else call


def _is_foreign(item: Mapping[str, Any], namespace: str) -> bool:
    metadata = item.get("metadata", {})
    return bool({*_TEST.findall(f"{metadata.get('name')} {metadata.get('namespace')}")} - {namespace})


def _without(value: Any, keys: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(each, keys) for key, each in value.items() if key not in keys}
    return [_without(each, keys) for each in value] if isinstance(value, list) else value


def _settled(calls: Sequence[Mapping[str, Any]], namespace: str) -> list[dict[str, Any]]:
    """Return calls with the same name of the namespace in every recording, and digests for what was typed."""
    text = json.dumps([*map(_opened, calls)]).replace(namespace, NAMESPACE)
    return [_closed(each) for each in json.loads(text)]


def _records(call: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the ConfigMaps of a call and its answer that hold packed objects."""
    for said in filter(lambda each: isinstance(each, dict), (call.get("input"), call.get("output"))):
        yield from (item for item in said.get("items", [said]) if "binaryData" in item)


def _opened(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """Unpack the objects of records, which name the namespace as well, and which no two versions of zlib pack alike."""
    for item in _records(call):
        packed = item["binaryData"]["objects"]
        item["binaryData"]["objects"] = gzip.decompress(base64.b64decode(packed)).decode()
    return call


def _closed(call: dict[str, Any]) -> dict[str, Any]:
    closed = {**call, "input": _digest(call["input"])} if "input" in call else call
    for item in _records(closed):
        text = item["binaryData"]["objects"]
        item["binaryData"]["objects"] = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    return closed
