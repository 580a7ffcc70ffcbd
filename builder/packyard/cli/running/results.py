"""Show where the results of a run are, and how they are copied to this computer.

packyard results RUN        where they are, and the commands that copy them
packyard results RUN --pod  for these: pods of the run's image and user that may
                            only read what it wrote, as JSON for kubectl create
"""

import shlex
from collections.abc import Sequence

from packyard.cli import declare, output
from packyard.cli.rows import Rows
from packyard.cli.running import clusters
from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes.lenient import name_of
from packyard.running.runs import outputs
from packyard.running.runs import record as records
from packyard.running.runs.kubectl import Kubectl, listed
from packyard.running.runs.outputs import Place
from packyard.running.runs.run import Object

ROWS = Rows("place", "run, path, held, copy")
_SYNC = {"s3": "aws s3 sync", "gs": "gcloud storage rsync --recursive"}


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    clusters.add_arguments(parser, is_of_run=True)
    parser.switch("--pod", "print pods that can read them")


def run(arguments: declare.Arguments) -> None:
    """Show the places of results, or print the pods that read them."""
    if arguments.pod:
        declare.alone(arguments, "results", "beside --pod", "output")
    client, name = clusters.find(arguments), arguments.run
    if not (places := outputs.places(records.read_last(client, name).read_objects())):
        hint = f"{client.packyard('logs', name)} prints what it logs"
        raise InputError(Problem(f"run {name} does not say where its results are: no OUTPUT_DIR", hint=hint))
    readable = [place for place in places if place.volume and not place.is_of_pods]
    pods = {place.path: outputs.reader(place, name, number) for number, place in enumerate(readable)}
    if arguments.pod:
        output.data(listed(pods.values()))
        return
    ways = [(place, _ways(client, name, place, pods.get(place.path))) for place in places]
    if ROWS.show([(name, place.path, place.location, " && ".join(way)) for place, way in ways], arguments.output):
        for place, way in ways:
            output.line(str(place))
            output.note(*(f"  {command}" for command in way))


def _ways(client: Kubectl, run: str, place: Place, pod: Object | None) -> Sequence[str]:
    """Return the commands that copy a place, or why there are none."""
    scheme, _, is_bucket = place.path.partition("://")
    if is_bucket:
        return [f"{_SYNC.get(scheme, f'# by a client of {scheme}:')} {shlex.quote(place.path)} DIR"]
    if not pod:
        enters = f"{client.packyard('exec', run)} enters a pod that has it"
        return [enters if place.is_of_pods else "no volume of its pods is known to hold that"]
    name = name_of(pod)
    return [
        f"{client.packyard('results', run, '--pod')} | {client.by_hand('create', '--filename=-')}",
        client.by_hand("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=5m"),
        client.by_hand("cp", f"{name}:{place.path}", "DIR"),
        client.by_hand("delete", "pod", name),
    ]
