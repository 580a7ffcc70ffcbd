"""Every object of an operator's kind, by the definitions of all its versions that packages are said to run with."""

from catalogue.usecases import Object, build_all, each_use_case, shipped
from packyard.core.bundle.required import version_of
from packyard.core.kubernetes import groups, operators, schemas
from packyard.core.kubernetes.lenient import type_of
from packyard.writing.source.package import Package, UseCase
from real import Kustomize


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
    """Return what a version from the oldest that is named to the newest that was tried refuses of an object."""
    version, kind = type_of(item)
    operator = operators.of(groups.definition(version, kind))
    if operator is None:
        return []
    return [
        f"{operator.operator} {judge.version}: {fault.message}"
        for judge in schemas.operators()
        if f"{version} {kind}" in judge.kinds and operator.admits(version_of(judge.version) or ())
        for fault in judge.faults(judge.kinds[f"{version} {kind}"], item)
    ]
