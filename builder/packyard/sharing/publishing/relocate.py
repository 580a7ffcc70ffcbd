"""Bringing the images of packages into another registry, for networks that reach no other.

    docker.io/intel/a:1   to   HOST/PATH/docker.io/intel/a:1, where a package with REGISTRY=HOST/PATH/docker.io looks

An image is copied by the digest that its tag has, or that a lock says: `Lock`. All images are looked for before the
first is copied; the next run sends no blob again that is there. No byte of a bundle changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packyard.core.bundle import record
from packyard.core.digest import Digest
from packyard.core.errors import ConflictError, InputError, PackyardError, Problem, refuse
from packyard.core.files import atomic, regular
from packyard.core.kubernetes.images import is_valid, parse, whole_name
from packyard.core.work.parallel import each
from packyard.sharing.stores.oci import transport
from packyard.sharing.stores.oci.address import Address
from packyard.sharing.stores.oci.registry import Registry
from packyard.sharing.stores.oci.transport import Repository

#: The setter that says where pods pull from.
REGISTRY = "REGISTRY"
_AT_ONCE = 4
_KIND = "ImageLock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relocated:
    """An image, its digest, where it is now, and the digest that its tag has by now, if the lock says another."""

    image: str
    digest: Digest
    place: str
    moved: Digest | None = None


def copy_images(
    references: Iterable[str],
    to: Address,
    locked: Mapping[str, Digest],
    *,
    patience: float,
    done: Callable[[int, int], object] = lambda *_: None,
) -> list[Relocated]:
    """Copy images to a registry, and return them by their names; of what ``locked`` has, the digests that it says.

    Raises `InputError` for all images that there are not, and `ConflictError` where a tag has another image already,
    which pods there may use; nothing was copied then.
    """
    target = Registry(to, patience)
    plans = [_Plan.of(image, to, target, patience) for image in sorted({*references})]
    looked = each(lambda plan: plan.look(locked.get(plan.image)), plans, _AT_ONCE)
    for kind in (InputError, ConflictError):
        refuse((problem for one in looked if isinstance(one, kind) for problem in one.problems), kind)
    relocated = [one for one in looked if isinstance(one, Relocated)]
    for number, (plan, image) in enumerate(zip(plans, relocated, strict=True)):
        done(number + 1, len(plans))
        transport.copy(plan.source, plan.target, image.digest, plan.tag)
    return relocated


def resolve(references: Sequence[str], patience: float) -> tuple[dict[str, Digest], list[Problem]]:
    """Return the digests that registries answer for images, and what they say of the others."""

    def ask(image: str) -> Digest | PackyardError:
        try:
            source, reference = _source(image, patience)
            digest = source.resolve(reference)
        except PackyardError as error:
            return error
        return digest or InputError(Problem("there is no such image", file=image))

    answers = dict(zip(references, each(ask, references, _AT_ONCE), strict=True))
    problems = [
        problem for answer in answers.values() if isinstance(answer, PackyardError) for problem in answer.problems
    ]
    return {image: answer for image, answer in answers.items() if not isinstance(answer, PackyardError)}, problems


def _source(image: str, patience: float) -> tuple[Repository, str]:
    """Return where an image is, and its digest or tag."""
    if not is_valid(image):
        raise InputError(Problem(f"{image[:200]!r} is not the name of an image", hint="see packyard show PACKAGE"))
    return transport.find(image, patience)


@dataclass(frozen=True, slots=True)
class _Plan:
    image: str
    source: Repository
    reference: str
    target: Repository
    tag: str

    @classmethod
    def of(cls, image: str, to: Address, target: Registry, patience: float) -> _Plan:
        (source, reference), parsed = _source(image, patience), parse(image)
        place = Repository(target, to.repository(f"{plain(whole_name(parsed.name)[0])}/{source.name}"))
        own = reference if ":" not in reference else f"packyard-{reference[-12:]}"  # what has no tag may be collected
        return cls(image, source, reference, place, parsed.tag or own)

    def look(self, locked: Digest | None) -> Relocated | InputError | ConflictError:
        """Return what is to be copied, or why it cannot be."""
        current = self.source.resolve(self.reference)
        digest = locked or current
        if digest is None:
            hint = "see whether the registry has it, and who may pull it"
            return InputError(Problem("there is no such image", file=self.image, hint=hint))
        there = self.target.resolve(self.tag)
        if there not in (None, digest):
            problem = f"is {there} there already, and {digest} here: its tag moved"
            hint = "keep to the first by images.lock, or remove the tag there"
            return ConflictError(Problem(problem, file=self.target.place(self.tag), hint=hint))
        moved = current if locked and current != locked else None
        return Relocated(image=self.image, digest=digest, place=self.target.place(self.tag), moved=moved)


def plain(host: str) -> str:
    """Return a host as a part of a repository's name: without its port."""
    return host.partition(":")[0].lower()


def site(to: Address, registry: str) -> bytes:
    """Return the site's file that leads packages to what was copied; ``registry`` is their REGISTRY as shipped."""
    host, slash, path = registry.partition("/")
    place = f"{to.host}/{to.repository(plain(host))}{slash}{path}"
    return f"values:\n  {REGISTRY}: {json.dumps(place)}\n".encode()


def read_lock(file: Path) -> Mapping[str, Digest]:
    """Return the digests of a lock by the names of the images, none where there is no file."""
    if not file.exists():
        return {}
    read = record.map_of(record.digest)
    return record.parse(regular.read(file), lambda fields: fields.take("images", read), kind=_KIND, file=str(file))


def write_lock(file: Path, locked: Mapping[str, Digest], relocated: Iterable[Relocated]) -> None:
    """Write a lock with what it had, and what was copied."""
    images = {**locked, **{each.image: each.digest for each in relocated}}
    document = {"apiVersion": record.API_VERSION, "kind": _KIND, "images": images}
    atomic.write(str(file), record.to_bytes(document), mode=0o644, durable=False)
