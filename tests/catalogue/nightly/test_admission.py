"""Every use case as the API server sees it: accepted without a word when set, refused while something is missing.

The server validates strictly and stores nothing (dry run). It looks into MPIJobs and the like no further than their
definition goes, so each pod template is also tried as the Pod that a controller would make of it.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import combinations

import pytest

from catalogue.pods import as_pods
from catalogue.usecases import (
    USE_CASES,
    Directory,
    Object,
    are_rivals,
    build_all,
    each_use_case,
    level,
    moved,
    needed,
    option_names,
    sampled_options,
    shipped,
)
from controlplane.api import Answer, Api
from packyard.core.kubernetes.pod_security import LEVELS
from packyard.writing.source.package import Package, UseCase
from real import Kustomize
from sample import some

pytestmark = pytest.mark.oracle

# Where any text will do: data of a ConfigMap, words of a command, a variable's value, labels, a path in a volume, and
# what only a driver reads, or what a server drops that has no volumes of images yet.
_ANY_TEXT = re.compile(
    r"^(data|stringData|metadata)\b|\.(command|args)\[\d+\]$|\.env\[\d+\]\.value$|\.(labels|annotations)\b|\.subPath$"
    r"|\.volume(Attributes\b|Handle$)|\.volumes\[\d+\]\.image\.reference$"
)


@pytest.fixture
def directory(package: Package, use_case: UseCase) -> Directory:
    return shipped(package, use_case)


def try_objects(api: Api, namespace: str, objects: list[Object]) -> Iterator[Answer]:
    """Try to create and to apply every object, and every pod template as a Pod."""
    for item in sorted(objects, key=lambda item: item["kind"] == "Pod"):
        if item["kind"] == "Pod":
            create_accounts(api, namespace, objects)
        yield api.create(item, namespace, dry_run=True)
        yield api.apply(item, namespace, dry_run=True)
    yield from try_pods(api, namespace, objects)


def try_pods(api: Api, namespace: str, objects: list[Object]) -> Iterator[Answer]:
    """Try to create a Pod of every pod template."""
    create_accounts(api, namespace, objects)
    for place, pod in as_pods(objects):
        yield api.create(pod, namespace, dry_run=True).about(place)


def create_accounts(api: Api, namespace: str, objects: list[Object]) -> None:
    """Create, for good, the accounts that Pods run as: the server refuses a Pod whose account does not exist."""
    brought = [item["metadata"]["name"] for item in objects if item["kind"] == "ServiceAccount"]
    for name in {"default", *needed(objects, "ServiceAccount"), *brought} - {""}:
        account = api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}, namespace)
        assert account.status in (201, 409), account.refusal


def complaints(answers: Iterator[Answer]) -> list[str]:
    return [text for answer in answers for text in (answer.refusal, *answer.warnings) if text]


@each_use_case
def test_is_accepted_without_a_warning(directory: Directory, api_server: Api, kustomize5: Kustomize) -> None:
    """With nothing set but what has to be, in a namespace of the level that the record names."""
    namespace = api_server.create_namespace(level(directory.parse()))
    objects = directory.set(directory.examples).build(kustomize5, namespace)
    assert not complaints(try_objects(api_server, namespace, objects))


@each_use_case
def test_what_users_may_add_is_accepted_without_a_warning(directory: Directory, api_server: Api) -> None:
    namespace = api_server.create_namespace("restricted")
    beside = directory.set(directory.examples).beside()
    assert not complaints(try_objects(api_server, namespace, beside))


@cache
def sampled_pairs() -> list[tuple[Package, UseCase, tuple[str, str]]]:
    """Return pairs of options in the first use case of each base, for elsewhere they do the same: each, in any base."""
    first = {use_case.base: (package, use_case) for package, use_case in reversed(USE_CASES)}
    pairs = [(*each, pair) for each in first.values() for pair in combinations(option_names(*each), 2)]
    return some(pairs, lambda case: (case[1].base, case[2]))


@each_use_case
def test_every_option_and_pair_of_options_is_accepted_without_a_warning(
    package: Package, use_case: UseCase, directory: Directory, api_server: Api, kustomize5: Kustomize
) -> None:
    here = (package, use_case)
    pairs = [pair for *place, pair in sampled_pairs() if here == tuple(place) and not are_rivals(*here, pair)]
    choices = [*((name,) for name in sampled_options(*here, of="admission")), *pairs]
    ready = directory.set(directory.examples)
    tried = ready.build(kustomize5, "any")
    built = build_all(kustomize5, "any", [(ready, choice) for choice in choices])
    for choice, objects in zip(choices, built, strict=True):
        changed = [item for item in objects if item not in tried]
        assert changed or len(choice) > 1, f"{choice} changes nothing"
        namespace = api_server.create_namespace(level(objects))
        assert not complaints(try_objects(api_server, namespace, moved(changed, "any", namespace))), choice
        tried += changed


@each_use_case
def test_the_record_names_the_strictest_level_that_admits_the_pods(directory: Directory, api_server: Api) -> None:
    for stricter in LEVELS[: LEVELS.index(level(directory.parse()))]:
        namespace = api_server.create_namespace(stricter)
        refusals = [
            answer.refusal for answer in try_pods(api_server, namespace, directory.set(directory.examples).parse())
        ]
        assert any(f'violates PodSecurity "{stricter}:latest"' in refusal for refusal in refusals)


@each_use_case
def test_is_refused_while_a_setter_is_empty_whose_field_the_server_looks_at(
    directory: Directory, api_server: Api
) -> None:
    for name, example in directory.examples.items():
        others = {other: text for other, text in directory.examples.items() if other != name}
        lacking = directory.set(others)
        fields = {change.path for change in lacking.plan({name: example}).changes}
        looked_at = sorted(field for field in fields if not _ANY_TEXT.search(field))
        namespace = api_server.create_namespace(level(directory.parse()))
        refusals = list(filter(None, (item.refusal for item in try_objects(api_server, namespace, lacking.parse()))))
        assert bool(refusals) == bool(looked_at), f"{name}: {looked_at}, {refusals}"
