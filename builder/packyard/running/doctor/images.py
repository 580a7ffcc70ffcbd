"""Whether images have names by which nodes can pull them; no registry is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packyard.core.kubernetes import images
from packyard.core.kubernetes.lenient import Object
from packyard.running.doctor.facts import Facts
from packyard.running.doctor.finding import Finding, error


def valid(objects: Sequence[Object], _: Facts) -> Iterator[Finding]:
    """Find each image by a name that a registry can have."""
    for reference in images.find(objects):
        if not images.is_valid(reference) and "{{" not in reference:  # what Argo fills in
            message = "is no name of an image: HOST/PATH:TAG, the path in lower case letters and digits"
            yield error("image", f"image {reference}", message, why="nodes cannot pull it: InvalidImageName")
