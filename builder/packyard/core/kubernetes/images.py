"""References to container images, and where objects have them.

registry.example.com:5000/team/app:1.2@sha256:…    name registry.example.com:5000/team/app, tag 1.2, digest sha256:…
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packyard.core.kubernetes import pods
from packyard.core.kubernetes.lenient import Object, mapping, text

#: What the distribution specification admits: host with port, path, tag, digest.
_REFERENCE = re.compile(
    r"(([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
    r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?"
)
_MOVING = re.compile(
    r"(^|[-_.])(latest|nightly|main|master|edge|dev|devel|head|stable|current)($|[-_.])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Image:
    """An image reference in its parts; tag and digest are empty where there is none."""

    name: str
    tag: str
    digest: str

    @property
    def is_moving(self) -> bool:
        """Whether the tag may name another image tomorrow: there is none, or it is ``latest``, ``nightly`` or alike."""
        return not self.digest and (not self.tag or bool(_MOVING.search(self.tag)))


def parse(reference: str) -> Image:
    """Take a reference apart, also one that is not valid."""
    name, _, digest = reference.partition("@")
    path, slash, last = name.rpartition("/")
    last, _, tag = last.partition(":")  # behind the last slash, as a registry has its port before
    return Image(path + slash + last, tag, digest)


def replaced(reference: str, new: Mapping[str, str]) -> str:
    """Return a reference with the ``newName``, ``newTag`` and ``digest`` that a kustomization gives it."""
    old = parse(reference)
    name = new.get("newName", old.name)
    if "digest" in new:
        return f"{name}@{new['digest']}"
    if "newTag" in new:
        return f"{name}:{new['newTag']}"
    return name + (f":{old.tag}" if old.tag else "") + (f"@{old.digest}" if old.digest else "")


def is_valid(reference: str) -> bool:
    """Say whether a text is an image reference."""
    return _REFERENCE.fullmatch(reference) is not None


def whole(reference: str) -> tuple[str, str, str]:
    """Return registry, name, and digest or tag of an image, as container engines complete them.

    >>> whole("python")
    ('docker.io', 'library/python', 'latest')
    """
    image = parse(reference)
    registry, slash, name = image.name.partition("/")
    if not slash or not ("." in registry or ":" in registry or registry == "localhost"):
        registry, name = "docker.io", image.name if slash else f"library/{image.name}"
    return registry, name, image.digest or image.tag or "latest"


def find(objects: Sequence[Object]) -> tuple[str, ...]:
    """Return the references of the images that the pods of objects pull, sorted; empty ones are left out."""
    return tuple(sorted({image for pod in pods.find_all(objects) for image in of_pod(pod)}))


def of_pod(pod: pods.Pod[Object]) -> tuple[str, ...]:
    """Return those of one pod."""
    references = {text(container.get("image")) for container in pod.containers}
    references |= {text(mapping(volume.get("image")).get("reference")) for volume in pod.volumes}
    return tuple(sorted(references - {""}))
