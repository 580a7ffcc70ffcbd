"""Faults of images: none, a name that is no image, a stand-in that nobody replaced, a tag that moves."""

import re
from collections.abc import Iterator

from packyard.core.kubernetes import images, pods
from packyard.core.kubernetes.kinds import kind_of
from packyard.core.kubernetes.pods import Pod
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.using.setters.comment import parse
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

#: A text that some program replaces before it is an image.
_TEMPLATED = re.compile(r"\{\{|\$[A-Z({]|^ko://")
#: Names that stand for an image that the reader has to fill in.
_STAND_IN = re.compile(
    r"(?i)(^|/)(image|your[-_]?\w*|my[-_]?image|replace[-_]?me\w*|change[-_]?me|placeholder|todo|image[-_]?name|"
    r"image[-_]?(to[-_]?be[-_]?)?replaced?|path[-_]to[-_]\w*|xxx+)(:|@|$)|<[^>]*>|(^|//)(\w+\.)?example\.(com|org|net)/|"
    r"^(your|my)[-_]?(registry|repo|account|org)\w*/"
)


def check(subject: Subject) -> Iterator[Finding]:
    """Find images that cannot be pulled, or whose tags move."""
    for root in subject.objects:
        for pod in subject.pods_of(root):
            for container in pod.containers:
                image = container.scalar("image")
                label = f"container {name!r}" if (name := container.text("name")) else "the container"
                if image and image.value not in ("", "null", "~"):
                    yield from _image(image, container, label, subject)
                elif _must_have(image, root, pod, subject):
                    place = container.entry("image") or container
                    yield breach("no-image", place, f"{label} has no image", "name it, or bind a setter")


def _image(image: Scalar, container: MappingNode, label: str, subject: Subject) -> Iterator[Finding]:
    reference = subject.builds[0].image(image.value)
    if _TEMPLATED.search(reference):
        return
    if _STAND_IN.search(reference):
        message = f"{reference!r} of {label} stands for an image that nobody has named"
        hint = "name the image, or replace it in the kustomization's images"
        yield breach("stand-in-image", image, message, hint)
    elif not images.is_valid(reference):
        message = f"{reference!r} of {label} is not the name of an image"
        yield breach("invalid-image", image, message, "REGISTRY/NAME:TAG")
    parts = images.parse(reference)
    if not parts.is_moving or subject.waits(image):
        return
    node, policy = container.get("imagePullPolicy"), container.text("imagePullPolicy")
    if node and policy == "Always":
        message = f"the image of {label} is pulled at each start, as its tag moves"
        yield breach("pulled-each-time", node, message, "use a tag that does not move, or say why")
    elif policy != "Always":
        what = f"the tag {parts.tag!r}" if parts.tag else "an image without a tag"
        message = f"{what} of {label} moves: what runs tomorrow is another program, or an older one that a node kept"
        yield breach("moving-tag", image, message, "name a tag that does not move, or imagePullPolicy: Always")


def _must_have(image: Scalar | None, root: MappingNode, pod: Pod[MappingNode], subject: Subject) -> bool:
    """Say whether a container needs an image: not where another object or a setter gives one."""
    if subject.changed_by(image):
        return not subject.waits(image)
    if image and image.comment and parse(image.comment.text):
        return False
    return pod.template is not None and subject.complete and pods.knows(kind_of(root))
