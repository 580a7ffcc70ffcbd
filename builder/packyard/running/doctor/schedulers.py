"""Whether somebody places pods that name a scheduler of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from packyard.core.kubernetes.lenient import Object, mapping, name_of, text
from packyard.running.doctor import wanted
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, passed, warning

_OWN = "default-scheduler"


def ask(objects: Sequence[Object]) -> Questions:
    """Ask for pods: those that a scheduler has placed, and those that it may be."""
    return Questions(everywhere=frozenset({"Pod"} if _named(objects) else ()))


def there(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find each scheduler by what it has placed, or as a pod that is called so or started with its name."""
    for name, who in sorted(_named(objects).items()):
        if any(_placed_by(name, pod) or _is(name, pod) for pod in facts.all("Pod")):
            yield passed("scheduler", f"scheduler {name}")
        else:
            message = f"nothing shows that it is there: it has placed no pod, and no pod is called so ({who})"
            why = "pods for a scheduler that is not there stay Pending, without an event"
            yield warning("scheduler", f"scheduler {name}", message, why=why, fix="kubectl get pods --all-namespaces")


def _named(objects: Sequence[Object]) -> dict[str, str]:
    by_scheduler = {text(each.pod.get("schedulerName")): each.who for each in wanted.find(objects)}
    return {name: who for name, who in by_scheduler.items() if name not in ("", _OWN)}


def _placed_by(name: str, pod: Object) -> bool:
    spec = mapping(pod.get("spec"))
    return spec.get("schedulerName") == name and bool(spec.get("nodeName"))


def _is(name: str, pod: Object) -> bool:
    spec = mapping(pod.get("spec"))
    return name in name_of(pod) or (spec.get("schedulerName") != name and name in json.dumps(spec.get("containers")))
