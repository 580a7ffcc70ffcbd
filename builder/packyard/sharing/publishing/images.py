"""The digests of images, as their registries answer."""

from __future__ import annotations

from collections.abc import Sequence

from packyard.core.digest import Digest
from packyard.core.errors import InputError, PackyardError, Problem
from packyard.core.kubernetes import images
from packyard.core.work.parallel import each
from packyard.sharing.stores.oci.address import Address
from packyard.sharing.stores.oci.registry import Registry

_AT_ONCE = 4


def resolve(references: Sequence[str], patience: float) -> tuple[dict[str, Digest], list[Problem]]:
    """Return the digests that registries answer for images, and what they say of the others."""
    digests: dict[str, Digest] = {}
    problems: list[Problem] = []
    answers = each(lambda image: _ask(image, patience), references, _AT_ONCE)
    for image, answer in zip(references, answers, strict=True):
        if isinstance(answer, PackyardError):
            problems += answer.problems
        else:
            digests[image] = answer
    return digests, problems


def _ask(image: str, patience: float) -> Digest | PackyardError:
    if not images.is_valid(image):
        return InputError(Problem(f"{image[:200]!r} is not the name of an image", hint="see packyard show PACKAGE"))
    host, name, reference = images.whole(image)
    try:
        manifest = Registry(Address.parse(f"oci://{host}"), patience).manifest(name, reference)
    except PackyardError as error:
        return error
    if manifest is None:
        return InputError(Problem("there is no such image", file=image))
    return Digest.of(manifest)
