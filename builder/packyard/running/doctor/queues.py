"""Whether the queues of Kueue that objects are to wait in are there, and let something in."""

from collections.abc import Iterator, Sequence
from shlex import quote

from packyard.core.kubernetes import operators
from packyard.core.kubernetes.kinds import KUEUE
from packyard.core.kubernetes.lenient import Object, condition, text, texts_under
from packyard.running.doctor.facts import Facts, Questions
from packyard.running.doctor.finding import Finding, error, passed, warning
from packyard.running.runs.waiting import QUEUE

_CHECK, _KIND, _RESOURCE = "queue", "LocalQueue", f"localqueues.{KUEUE}"


def ask(objects: Sequence[Object]) -> Questions:
    """Ask for the queues that objects name, and whether there is Kueue."""
    names = texts_under(objects, QUEUE)
    return Questions(custom=frozenset((_RESOURCE, name) for name in names), groups=bool(names))


def active(objects: Sequence[Object], facts: Facts) -> Iterator[Finding]:
    """Find each queue there, and active."""
    for name in sorted(texts_under(objects, QUEUE)):
        about = f"{_KIND} {name}"
        if KUEUE not in facts.groups:
            kueue = operators.of(_RESOURCE)
            why = "the label of the queue has no effect: the run starts at once, beside all others"
            yield warning(_CHECK, about, "there is no Kueue in the cluster", why=why, fix=kueue.fix if kueue else "")
        elif (queue := facts.find(_KIND, name)) is None:
            why = "the run stays suspended, and never starts"
            yield error(_CHECK, about, "is not there", why=why, fix=f"{facts.inside} get {_RESOURCE}")
        elif (state := condition(queue, "Active")).get("status") == "False":
            fix = f"{facts.inside} describe {_RESOURCE} {quote(name)}"
            message = f"is not active: {text(state.get('message'))}"
            yield error(_CHECK, about, message, why="the run stays suspended until it is", fix=fix)
        else:
            yield passed(_CHECK, about)
