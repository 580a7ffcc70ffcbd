"""The setters of a package in whichever spelling it has them: kustomize's definitions, kpt's comments, or both."""

from __future__ import annotations

from packyard.errors import refuse
from packyard.setters.definition import Setter
from packyard.setters.packagefiles import PackageFiles
from packyard.setters.plan import Assignment, Copies, Plan, Shipped, no_default, plan, unknown

_NOT_SHIPPED: Shipped = {}


def names(package: PackageFiles, copies: Copies) -> set[str]:
    """Return the names of all setters."""
    return {*copies.read_krmfile(package).definitions.setters, *_tagged(package)}


def plan_setters(
    package: PackageFiles, asked: Assignment, *, shipped: Shipped = _NOT_SHIPPED, copies: Copies | None = None
) -> Plan:
    """Plan as `plan.plan` does: what is defined first, then in the files that this leaves what kpt's comments tag."""
    copies = copies or Copies()
    tagged = _tagged(package)
    if not tagged:
        return plan(package, asked, shipped=shipped, copies=copies)
    from packyard.setters.kpt.kptpackage import KptPackage

    defined = copies.read_krmfile(package).definitions.setters
    known = {*defined, *tagged}
    refuse(unknown(name, known, package) for name in asked.names if name not in known)
    file = package.where + package.name
    left = {name: no_default(Setter(name, file=file)) for name in asked.unset if name not in defined}
    ours = asked.among(defined)
    first = plan(package, ours, shipped=shipped) if ours.names else Plan()
    values = asked.among(tagged).values
    then = KptPackage(package.with_files(first.files)).set(values) if values else Plan()
    return first.then(then).then(Plan(left=left))


def _tagged(package: PackageFiles) -> set[str]:
    """Return the names of setters in kpt's spelling."""
    if package.kptfile is None:
        return set()
    from packyard.setters.kpt.kptpackage import KptPackage

    return KptPackage(package).names()
