"""What verbs that meet a cluster share: kubectl's own flags, the line that names context and namespace first, DIR."""

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import TypeVar

from packyard.cli import declare, output, packages, progress
from packyard.cli.packages import UseCase
from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.core.kubernetes import plain_secrets
from packyard.running.runs import kubectl, status
from packyard.running.runs import record as records
from packyard.running.runs import run as runs
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.rendering import Rendered
from packyard.running.runs.workloads import PodStatus
from packyard.using.setters.packages import own_setters

T = TypeVar("T")
#: Seconds until a server that does not answer is asked again.
PAUSES = (1, 2, 4, 8, 8, 8)
PAUSE = 1.0  # seconds between two looks
#: The fields of a reference to an object, in the rows that name some.
REFERENCE = "apiVersion, kind, namespace, name"
_FLAGS = ("namespace", "context", "kubeconfig")
_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def add_arguments(parser: declare.Parser, *, is_of_run: bool = False) -> None:
    """Declare kubectl's flags, and RUN, if the verb is of one run."""
    if is_of_run:
        parser.add_argument("run", metavar="RUN", help="a run; packyard status lists them")
    text = "as for kubectl, as are --context and --kubeconfig"
    parser.value("-n --namespace NAME", text, default="")
    for flag in ("--context", "--kubeconfig"):
        parser.add_argument(flag, default="", help=argparse.SUPPRESS)


def add_pods(parser: declare.Parser) -> None:
    """Declare RUN, and the flags that choose pods of it."""
    add_arguments(parser, is_of_run=True)
    parser.value("--role NAME", "a role, such as launcher, worker, ps", default="")
    parser.value("--index N", "one pod of it, counted from 0", type=int)


def find(arguments: declare.Arguments) -> Kubectl:
    """Return kubectl for what the arguments and kubeconfig say, and tell which context and namespace that is."""
    return _told(client(arguments))


def find_for(arguments: declare.Arguments, verb: str, *, is_named: bool = False) -> tuple[Kubectl, Rendered, list[str]]:
    """Return kubectl for the namespace of the use case that ``arguments.words`` name, that rendered, and words to show.

    One that ``is_named`` gets a name that no other run has, where nobody has set one.
    """
    typed = [f"--{name}={value}" for name in _FLAGS if (value := getattr(arguments, name))]
    with packages.opened(arguments, verb) as use_case:
        name = _new_name(use_case) if is_named else {}
        rendered = Rendered.of(
            use_case.tree,
            {**use_case.values, **name},
            path=os.environ.get("PATH", ""),
            command=use_case.command(verb, *typed),
            enabling=use_case.options,
            is_fetched=use_case.is_fetched,
        )
    cluster = client(arguments)  # what is wrong with values is said without a cluster
    namespace = runs.namespace_of(rendered.objects, cluster.namespace, is_asked=bool(arguments.namespace))
    named = [f"{setter}={word}" for setter, (word,) in name.items()]
    plain = [f"{it}=…" if plain_secrets.is_withheld(it := word.partition("=")[0]) else word for word in use_case.words]
    words = [use_case.name, *plain, *named, *use_case.flags]
    return _told(replace(cluster, namespace=namespace)), rendered, words


def _new_name(use_case: UseCase) -> dict[str, tuple[str]]:
    """Return a name for this run alone, where its objects can have one and the user has not set one."""
    setters = own_setters(use_case.tree)
    is_open = runs.SETTER in setters and not setters[runs.SETTER].is_set and runs.SETTER not in use_case.values
    return {runs.SETTER: (runs.new_word(),)} if is_open else {}


def client(arguments: declare.Arguments) -> Kubectl:
    """Return kubectl for what the arguments and kubeconfig say."""
    return kubectl.find(os.environ.get("PATH", ""), **{name: getattr(arguments, name) for name in _FLAGS})


@cache
def _told(client: Kubectl) -> Kubectl:
    """Say which context and namespace all that follows is about; once, of several steps of one verb."""
    output.note(f"{client}")
    return client


def patiently(ask: Callable[[], T]) -> T:
    """Return what is asked; a server that does not answer for a while, as one that starts again, is asked again."""
    for pause in PAUSES:
        try:
            return ask()
        except UnavailableError as error:
            output.note(f"asking again in {pause} s: {error}")
            time.sleep(pause)
    return ask()


def wait(ask: Callable[[], T], is_over: Callable[[T], bool], words: Callable[[T], str], seconds: float) -> T:
    """Return what is asked again and again, as soon as it ``is_over`` or the time is; say ``words`` meanwhile."""
    end, before = time.monotonic() + seconds, ""
    with progress.busy() as show:
        while True:
            answer = patiently(ask)
            if (text := words(answer)) != before and text:
                output.note(text)
            if is_over(answer) or time.monotonic() > end:
                return answer
            show(f"waiting: {text}")
            before = text
            time.sleep(PAUSE)


def running(client: Kubectl, arguments: declare.Arguments, container: str = "") -> tuple[PodStatus, str]:
    """Return the first pod that is meant whose container runs, and that, or say why none does."""
    now = status.read_one(client, records.read_last(client, arguments.run))
    pods = status.choose(now, arguments.role, arguments.index)
    for pod in pods:
        if (name := status.container(pod, container)) in pod.running:
            return pod, name
    why = f"pod {pods[0].name} is {pods[0].state}: {pods[0].reason}" if pods else f"it {now.explained}"
    hint = client.packyard("logs", now.run)
    raise InputError(Problem(f"no such pod of run {now.run} runs; {why.rstrip(': ')}", hint=hint))


def duration(word: str) -> int:
    """Read ``90``, ``90s``, ``15m``, ``2h`` or ``7d`` as seconds."""
    number, unit = (word[:-1], word[-1:]) if word[-1:] in _UNITS else (word, "s")
    if not number.isdecimal() or len(number) > 6:
        raise argparse.ArgumentTypeError(f"{word!r} is not a time such as 90s, 15m, 2h or 7d")
    return int(number) * _UNITS[unit]


def age(since: str) -> str:
    """Return the time since a moment, which is ISO 8601, in its largest unit of which it has two; ``?`` for others."""
    try:
        then = datetime.fromisoformat(since)
        seconds = (datetime.now(UTC) - then).total_seconds()
    except (ValueError, TypeError):
        return "?"
    unit, size = next(((unit, size) for unit, size in _UNITS.items() if seconds >= 2 * size), ("s", 1))
    return f"{max(int(seconds), 0) // size}{unit}"
