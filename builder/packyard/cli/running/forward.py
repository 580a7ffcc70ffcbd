"""Reach what a run serves from this machine: TensorBoard, a notebook, the servers of a model. Ctrl-C ends it.

Without PORT it is the first that speaks HTTP of those that the pod announces. `kubectl port-forward` opens it on this
machine alone, as what is forwarded may ask nobody for a password, and says where.
"""

from packyard.cli import declare
from packyard.cli.running import clusters
from packyard.core.errors import InputError, Problem
from packyard.core.kubernetes.lenient import mapping, mappings, text
from packyard.running.runs.kubectl import Kubectl
from packyard.running.runs.workloads import PodStatus


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    clusters.add_pods(parser)
    parser.add_argument("port", metavar="PORT", nargs="?", default="", help="which port, by number or name")


def run(arguments: declare.Arguments) -> int:
    """Find the port, and hand over to kubectl."""
    client = clusters.find(arguments)
    pod, _ = clusters.running(client, arguments)
    return client.attach("port-forward", f"pod/{pod.name}", arguments.port or _port(client, pod))


def _port(client: Kubectl, pod: PodStatus) -> str:
    """Return the port of a pod that somebody is most likely to ask for."""
    containers = mappings(mapping(pod.item.get("spec")).get("containers"))
    ports = [port for container in containers for port in mappings(container.get("ports"))]
    for port in sorted(ports, key=lambda candidate: not text(candidate.get("name")).startswith("http")):
        return str(port.get("containerPort"))
    hint = f"{client.packyard('forward', 'RUN', 'PORT')} names one; --role and --index choose another pod"
    raise InputError(Problem(f"pod {pod.name} announces no port", hint=hint))
