"""Whether images are for the processors of the nodes that pods may run on, as far as their registries answer.

Registries are asked once per image, all together and for a few images, while the cluster is; one that is silent for
some seconds, or does not let us in, says nothing, and nothing is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from packyard.core.kubernetes import images
from packyard.core.kubernetes.lenient import Object, labels_of, mapping, text
from packyard.running.doctor import nodes, wanted
from packyard.running.doctor.facts import Facts
from packyard.running.doctor.finding import Finding, error, passed, warning
from packyard.running.doctor.wanted import PodSet

_LABEL = "kubernetes.io/arch"
#: Images that are asked for, and seconds that a registry may be silent.
_MOST, _PATIENCE = 4, 2.0
_SHOWN = f"kubectl get nodes -L {_LABEL}"

#: For which architectures an image is; None where its registry does not have it.
Made = frozenset[str] | None
Ask = Callable[[str], Made]


def ask_registry(reference: str) -> Made:
    """Ask the registry of an image; see `sharing.fetching.architectures.ask`."""
    from packyard.sharing.fetching import architectures  # a client of registries is slow to import

    return architectures.ask(reference, patience=_PATIENCE)


def of_images(objects: Sequence[Object], ask: Ask = ask_registry) -> Mapping[str, Made]:
    """Return for which architectures the images of objects are; those of which nothing is known are left out."""
    named = [each for each in images.find(objects) if images.is_valid(each)][:_MOST]
    with ThreadPoolExecutor(_MOST) as pool:
        return {
            each: made_for
            for each, made_for in zip(named, pool.map(ask, named), strict=True)
            if made_for is None or made_for
        }


def valid(objects: Sequence[Object], _: Facts) -> Iterator[Finding]:
    """Find each image by a name that a registry can have."""
    for reference in images.find(objects):
        if not images.is_valid(reference) and "{{" not in reference:  # what Argo fills in
            message = "is no name of an image: HOST/PATH:TAG, the path in lower case letters and digits"
            yield error("image", f"image {reference}", message, why="nodes cannot pull it: InvalidImageName")


def there(by_image: Mapping[str, Made]) -> Iterator[Finding]:
    """Find each image in its registry, which may hide it from us, and not from nodes."""
    for reference, made_for in by_image.items():
        if made_for is None:
            message = "its registry has no such image or tag, or hides it"
            yield warning("image", f"image {reference}", message, why="nodes cannot pull it: ImagePullBackOff")


def fit(objects: Sequence[Object], by_image: Mapping[str, Made], facts: Facts) -> Iterator[Finding]:
    """Find nodes for each image among those that its pods may run on."""
    for pod_set in wanted.find(objects) if by_image else ():
        of_nodes = [_of_node(node) for node in nodes.open_to(pod_set, facts)]
        for reference in images.of_pod(pod_set.pod):
            if (made_for := by_image.get(reference)) and of_nodes:
                yield _judge(pod_set, reference, made_for, of_nodes)


def _judge(pod_set: PodSet, reference: str, built_for: frozenset[str], there: Sequence[str]) -> Finding:
    made_for = f"image {reference} is for {', '.join(sorted(built_for))}"
    others = [architecture for architecture in there if architecture and architecture not in built_for]
    if not others:
        return passed(nodes.CHECK, f"architecture of {reference}")
    kinds = ", ".join(sorted({*others}))
    if len(others) == len(there):
        message = f"{made_for}, and the nodes that its pods may run on are {kinds}"
        return error(nodes.CHECK, pod_set.who, message, why="it cannot be pulled there, or cannot run", fix=_SHOWN)
    message = f"{made_for}, and {len(others)} of {len(there)} nodes that its pods may run on are {kinds}"
    why = f"pods that come there fail; option node-pool keeps them on nodes with {_LABEL}={min(built_for)}"
    return warning(nodes.CHECK, pod_set.who, message, why=why, fix=_SHOWN)


def _of_node(node: Object) -> str:
    info = mapping(mapping(node.get("status")).get("nodeInfo"))
    return text(labels_of(node).get(_LABEL)) or text(info.get("architecture"))
