"""What kubectl answered while the doctor asked, as a text file without secrets: a report of a bug, and a test of it.

    {"namespace": "ml", "objects": […], "required": […]}                 what is examined
    {"call": "get nodes --output=json", "output": {"kind": "List", …}}   each call, with "input", "code", "errors" and
    {"findings": [{"severity": "error", "about": …}]}                    "warnings" where there are some

Blank are the data of Secrets, what looks like a secret, certificates and tokens. Servers, addresses and users have
other names, the same in all lines. Left out is what nobody asks an object for.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from operator import itemgetter
from typing import Any

from packyard.core.bundle import record
from packyard.core.kubernetes import plain_secrets
from packyard.running.doctor import facts
from packyard.running.doctor.finding import Finding
from packyard.running.runs import secrets
from packyard.running.runs.kubectl import Done, Kubectl
from packyard.running.runs.rendered import Rendered

_LEFT_OUT = {"managedFields", "resourceVersion", "uid", "kubectl.kubernetes.io/last-applied-configuration"}
#: Certificates and keys, also in Base64, and tokens of accounts.
_HIDDEN = re.compile(
    r"-----BEGIN .*?(?:-----END [^-]*-----|\Z)|\bLS0tLS1CRUdJTi[\w+/=]*|\beyJ[\w-]+\.[\w-]+\.[\w-]*", re.DOTALL
)
#: What gets another name; one that was given is not given again.
_NAMED = re.compile(
    r'(?P<user>(?<=User ")(?!user-\d)[^"]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)'
    r"|(?P<server>(?:(?<=https://)|(?<=http://)|(?<=lookup ))(?!server-\d)[\w.-]+(?::\d+)?)"
    r"|(?P<address>\b(?!127\.|0\.)(?:\d{1,3}\.){3}\d{1,3}\b(?!/))"
)


@dataclass(frozen=True, slots=True)
class Transcript:
    """The calls of `kubectl`, and the names that are given in place of some."""

    calls: list[tuple[Sequence[str], bytes, Done]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def of(self, kubectl: Kubectl) -> Kubectl:
        """Return a kubectl that does the same, and whose calls are recorded."""

        def ask(words: Sequence[str], data: bytes) -> Done:
            done = (kubectl.transport or kubectl.ask)(words, data)
            self.calls.append((words, data, done))
            return done

        return replace(kubectl, transport=ask)

    def lines(self, kubectl: Kubectl, rendered: Rendered, findings: Sequence[Finding]) -> Iterator[str]:
        """Yield the lines of the file; calls are in an order of their own, as they are made together."""
        required = record.document(rendered.required)
        yield self._line({"namespace": kubectl.namespace, "objects": rendered.objects, "required": required})
        yield from dict.fromkeys(self._line(_call(*call)) for call in sorted(self.calls, key=itemgetter(0, 1)))
        yield self._line({"findings": [_without_empty(asdict(replace(each, fix="", taints=()))) for each in findings]})

    def clean(self, value: Any) -> Any:
        """Return a value of JSON as the file has it."""
        if isinstance(value, str):
            text = "…" if plain_secrets.find(value) else _HIDDEN.sub("…", value)
            return _NAMED.sub(self._name, text)
        if isinstance(value, list | tuple):
            return [self.clean(each) for each in value]
        if not isinstance(value, dict):
            return value
        if "kind" in value:
            value = secrets.hidden(dict(facts.without_secrets(value)))
        return {key: self.clean(each) for key, each in value.items() if key not in _LEFT_OUT}

    def _line(self, value: Any) -> str:
        return json.dumps(self.clean(value), ensure_ascii=False)

    def _name(self, match: re.Match[str]) -> str:
        return self.names.setdefault(match[0], f"{match.lastgroup}-{len(self.names) + 1}")


def _call(words: Sequence[str], data: bytes, done: Done) -> dict[str, Any]:
    output = "…" if words[:2] == ("auth", "whoami") else _read(done.output)
    answer = {"code": done.code, "output": output, "errors": done.errors, "warnings": done.warnings}
    return _without_empty({"call": shlex.join(words), "input": _read(data), **answer})


def _without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value}


def _read(data: bytes) -> Any:
    """Return what JSON says, or another text as it is."""
    try:
        return json.loads(data)
    except ValueError:
        return data.decode("utf-8", "replace")
