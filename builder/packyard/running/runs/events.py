"""The events of a run: those of its objects, of what controllers made of them, and of pods, also of deleted ones.

An event names what it is about. What is made of an object has a name that begins with that of the object; of several
such objects, also of other runs, it belongs to that with the longest name.
"""

from collections.abc import Mapping, Sequence

from packyard.core.kubernetes.lenient import Object, mapping, text
from packyard.running.runs import look
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.record import RunRecord


def read(kubectl: Kubectl, records: Mapping[str, Sequence[RunRecord]], run: str) -> list[Object]:
    """Return the events of one of the runs of ``records``, the newest last.

    What happened to an ``object``, ``count`` times, the last time at ``when``; the ``type`` is Normal or Warning.
    """
    runs = {item.name: name for name, of_run in records.items() for item in of_run[-1].objects}
    owners = sorted(runs, key=len, reverse=True)
    events: list[Object] = []
    for event in sorted(kubectl.read("get", "events", "--chunk-size=0"), key=look.time_of):
        about = mapping(event.get("involvedObject"))
        name = text(about.get("name"))
        owner = next((owner for owner in owners if f"{name}-".startswith(f"{owner}-")), "")
        if runs.get(owner) == run:
            count = event.get("count") or mapping(event.get("series")).get("count")
            events.append(
                {
                    "when": look.time_of(event),
                    "count": count if isinstance(count, int) else 1,
                    "type": "Warning" if event.get("type") == "Warning" else "Normal",
                    "reason": text(event.get("reason")),
                    "object": f"{text(about.get('kind'))} {name}",
                    "message": " ".join(text(event.get("message")).split()),
                }
            )
    return events
