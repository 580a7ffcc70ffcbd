"""The setters of a package in whichever spelling it has them: kustomize's definitions, kpt's comments, or both."""

from __future__ import annotations

from packyard.errors import refuse
from packyard.setters.definition import Setter
from packyard.setters.packagefiles import PackageFiles, read_krmfile
from packyard.setters.plan import Assignment, Plan, Shipped, no_default, plan, unknown
from packyard.work.memo import Memo

_NOT_SHIPPED: Shipped = {}


def names(package: PackageFiles, memo: Memo | None = None) -> set[str]:
    """Return the names of all setters."""
    return {*read_krmfile(package, memo).definitions.setters, *_tagged(package)}


def plan_setters(
    package: PackageFiles, asked: Assignment, *, shipped: Shipped = _NOT_SHIPPED, memo: Memo | None = None
) -> Plan:
    """Plan as `plan.plan` does: what is defined first, then in the files that this leaves what kpt's comments tag."""
    tagged = _tagged(package)
    if not tagged:
        return plan(package, asked, shipped=shipped, memo=memo)
    from packyard.setters.kpt.kptpackage import KptPackage

    defined = read_krmfile(package, memo).definitions.setters
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
