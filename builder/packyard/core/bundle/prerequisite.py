"""What authors say that a cluster must have, as packyard.json carries it, and as packyard's own table of operators is.

{"operator": "KubeRay", "definitions": ["rayjobs.ray.io"], "image": "operator", "oldest": "1.2", "link": "https://…"}
{"secret": "hf-token", "keys": ["token"], "description": "A token of Hugging Face."}
{"kubernetes": "1.31"}
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from packyard.core.bundle.record import in_json, list_of, text

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prerequisite:
    """An operator, a Secret or a version of Kubernetes; the fields of the others are empty.

    An ``operator`` brings ``definitions`` of custom resources, whose objects it reconciles, or ``offers`` something
    else, devices or drivers, in the words of packyard.json: ``Resource nvidia.com/gpu``. ``image`` is the last part of
    its image's name, by which it is found. ``oldest`` is the oldest version that does, ``newest`` the newest that was
    tried, ``tested`` one that tests run; empty where nothing is known. ``install`` are commands, for ``tested``, or
    else for a version that they name. A ``secret`` has to hold ``keys``. ``kubernetes`` is the oldest version that
    does. ``description`` is for people.
    """

    operator: str = field(default="", metadata=in_json(text, ""))
    definitions: tuple[str, ...] = field(default=(), metadata=in_json(list_of(text), ()))
    offers: tuple[str, ...] = field(default=(), metadata=in_json(list_of(text), ()))
    image: str = field(default="", metadata=in_json(text, ""))
    oldest: str = field(default="", metadata=in_json(text, ""))
    newest: str = field(default="", metadata=in_json(text, ""))
    tested: str = field(default="", metadata=in_json(text, ""))
    link: str = field(default="", metadata=in_json(text, ""))
    install: tuple[str, ...] = field(default=(), metadata=in_json(list_of(text), ()))
    secret: str = field(default="", metadata=in_json(text, ""))
    keys: tuple[str, ...] = field(default=(), metadata=in_json(list_of(text), ()))
    kubernetes: str = field(default="", metadata=in_json(text, ""))
    description: str = field(default="", metadata=in_json(text, ""))
    extra: dict[str, object] = field(default_factory=dict, hash=False)

    @property
    def words(self) -> Sequence[str]:
        """What a use case requires that has it, as packyard.json says it."""
        if self.secret or self.kubernetes:
            return [f"Secret {self.secret}" if self.secret else f"Kubernetes {self.kubernetes}"]
        return [*(f"CustomResourceDefinition {name}" for name in self.definitions), *self.offers]

    @property
    def needs(self) -> str:
        """The versions of an operator that do: ``2.0 or later (tried up to 2.3)``, or nothing."""
        words = [f"{self.oldest} or later"] if self.oldest else []
        return " ".join([*words, f"(tried up to {self.newest})"] if self.newest else words)

    def admits(self, version: Version) -> bool:
        """Say whether a version of an operator does."""
        oldest = version_of(self.oldest)
        return oldest is None or version >= oldest

    @property
    def fix(self) -> str:
        """What to type, or to read, for an operator to be there."""
        return " && ".join(self.install) or self.link


def version_of(tag: str) -> Version | None:
    """Return the numbers of a version, such as the tag of an image; None for one that is none: ``latest``."""
    match = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+.].*)?\Z", tag)
    return tuple(int(number or 0) for number in match.groups()) if match else None
