"""Every object by the newest Kubernetes, or by all versions of its operator that packages are said to run with."""

from catalogue.usecases import Object, build_all, each_use_case, shipped
from packyard.core.bundle.prerequisite import version_of
from packyard.core.kubernetes import groups, operators, schemas
from packyard.core.kubernetes.lenient import type_of
from packyard.writing.source.package import Package, UseCase
from real import Kustomize

NEWEST = [judge.version for judge in schemas.choose() if judge.name == schemas.KUBERNETES][-1]


@each_use_case
def test_every_version_that_is_said_to_do_takes_all_fields(
    package: Package, use_case: UseCase, kustomize5: Kustomize
) -> None:
    """Alone, and with each option that fits."""
    directory = shipped(package, use_case)
    directory = directory.set(directory.examples)
    built = build_all(kustomize5, "ml", [(directory, []), *((directory, [option]) for option in directory.options)])
    assert [fault for objects in built for item in objects for fault in faults(item)] == []


def faults(item: Object) -> list[str]:
    """Return what the newest Kubernetes, or a version of an operator that is said to do, refuses of an object."""
    version, kind = type_of(item)
    operator = operators.of(groups.definition(version, kind))
    return [
        f"{judge.name} {judge.version}: {fault.message}"
        for judge in schemas.choose([NEWEST])
        if f"{version} {kind}" in judge.kinds and (not operator or operator.admits(version_of(judge.version) or ()))
        for fault in judge.faults(judge.kinds[f"{version} {kind}"], item)
    ]
