"""What a cluster says of itself: read once, in few calls of kubectl, by a user who may not be allowed to read all.

    Questions(named={("PersistentVolumeClaim", "data")}, everywhere={"Node"})   ->   Facts

A fact that may not be read is asked for all the same: `Facts` raises `UnreadError` when a check needs it. Of Secrets
only the type and the names of their keys are kept, with a sign where there is something in it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from shlex import quote

from packyard.core.errors import UnavailableError
from packyard.core.kubernetes.groups import resource_of
from packyard.core.kubernetes.lenient import Object, mapping, mappings, name_of, text
from packyard.running.runs.kubectl import FORBIDDEN, UNKNOWN, Kubectl

#: A kind of an object, and its name.
Name = tuple[str, str]

#: How lines of kubectl begin that say why a call failed.
_ERRORS = ("Error from server", "error:", "Unable to")
#: Names that objects can have; nothing is there by any other.
_NAME = re.compile(r"[a-z0-9]([-.:a-z0-9]*[a-z0-9])?")
#: Calls of kubectl at once.
_AT_ONCE = 4


class UnreadError(UnavailableError):
    """A fact that the user may not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """What to read: objects by kind and name, all of a kind in the namespace, and all of a kind everywhere.

    The kinds are Kubernetes' own; ``custom`` has resources of other groups, and names. ``groups`` asks which groups are
    served in which versions. The namespace itself is read in any case.
    """

    named: frozenset[Name] = frozenset()
    custom: frozenset[Name] = frozenset()
    inside: frozenset[str] = frozenset()
    everywhere: frozenset[str] = frozenset()
    groups: bool = False

    def __or__(self, more: "Questions") -> "Questions":
        return Questions(**{item.name: getattr(self, item.name) | getattr(more, item.name) for item in fields(self)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was read.

    ``objects`` has those of a kind, ``groups`` the versions of a group. ``unread`` says why a resource could not be
    read.
    """

    namespace: str
    objects: Mapping[str, Sequence[Object]] = field(default_factory=dict)
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)

    @property
    def inside(self) -> str:
        """The words of a command that acts in the namespace: ``kubectl --namespace=ml``."""
        return f"kubectl --namespace={quote(self.namespace)}"

    def serves(self, api_version: str) -> bool:
        """Say whether an apiVersion is served."""
        group, _, version = api_version.rpartition("/")
        return not group or version in self.groups.get(group, ())

    def all(self, kind: str) -> Sequence[Object]:
        """Return the objects of a kind that were asked for, or raise `UnreadError`."""
        if reason := self.unread.get(resource_of(kind)):
            raise UnreadError(reason)
        return self.objects.get(kind, ())

    def find(self, kind: str, name: str) -> Object | None:
        """Return an object by its name, None where it is not there, or raise `UnreadError`."""
        return next((item for item in self.all(kind) if name_of(item) == name), None)


def read(kubectl: Kubectl, questions: Questions) -> Facts:
    """Read from a cluster what is asked for; the calls go out together."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        got = [pool.submit(_get, kubectl, words) for words in _calls(questions, kubectl.namespace)]
        groups = pool.submit(_groups, kubectl) if questions.groups else None
    objects: dict[str, list[Object]] = {}
    unread: dict[str, str] = {}
    for items, reasons in (future.result() for future in got):
        unread |= reasons
        for item in items:
            objects.setdefault(text(item.get("kind")), []).append(item)
    served = groups.result() if groups else {}
    return Facts(namespace=kubectl.namespace, objects=objects, groups=served, unread=unread)


def _calls(questions: Questions, namespace: str) -> Iterator[list[str]]:
    """Yield the words of each call of ``kubectl get``."""
    named = {("namespace", namespace), *((kind.lower(), name) for kind, name in questions.named)}
    for names in (named, questions.custom):
        if words := [f"{kind}/{name}" for kind, name in sorted(names) if _NAME.fullmatch(name)]:
            yield words
    if questions.inside:
        yield [",".join(sorted(map(resource_of, questions.inside)))]
    if questions.everywhere:
        yield ["--all-namespaces", ",".join(sorted(map(resource_of, questions.everywhere)))]


def _get(kubectl: Kubectl, words: Sequence[str]) -> tuple[list[Object], dict[str, str]]:
    """Return the objects that a call gives, and for each resource that may not be read the reason."""
    answer = kubectl.call("get", "--ignore-not-found", "--chunk-size=0", "--output=json", *words)
    unread = {match[1]: match[0] for match in FORBIDDEN.finditer(answer.errors)}
    failed = [line for line in answer.errors.splitlines() if line.startswith(_ERRORS)]
    unforeseen = [line for line in failed if not UNKNOWN.search(line) and not FORBIDDEN.search(line)]
    if answer.code and (unforeseen or not failed):
        raise kubectl.refusal("\n".join(unforeseen) or answer.errors)
    return [without_secrets(item) for item in kubectl.objects(answer.output)], unread


def without_secrets(item: Object) -> Object:
    """Return an object; of a Secret its type, and the names of its keys with a sign where there is something."""
    if item.get("kind") != "Secret":
        return item
    data = {key: item.get(key) for key in ("apiVersion", "kind", "metadata", "type")}
    return {**data, "data": {key: "…" if value else "" for key, value in mapping(item.get("data")).items()}}


def _groups(kubectl: Kubectl) -> dict[str, list[str]]:
    answer = kubectl.json(kubectl.run("get", "--raw=/apis"))
    return {
        text(group.get("name")): [text(version.get("version")) for version in mappings(group.get("versions"))]
        for group in mappings(answer.get("groups"))
    }
