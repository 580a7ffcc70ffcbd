"""The setters of a package in whichever spelling it has them: kustomize's definitions, kpt's comments, or both."""

from __future__ import annotations

from packyard.errors import refuse
from packyard.setters.definition import Setter
from packyard.setters.packagefiles import PackageFiles, read_krmfile
from packyard.setters.plan import Assignment, Plan, Shipped, no_default, plan, unknown
from packyard.work.memo import Memo

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from packyard.setters.kpt.kptpackage import KptPackage

_NOT_SHIPPED: Shipped = {}


class PackageSetters:
    """All setters of a package, each file parsed once for their names and for planning."""

    def __init__(self, package: PackageFiles, memo: Memo | None = None) -> None:
        self._package = package
        self._memo = Memo() if memo is None else memo
        self.krmfile = read_krmfile(package, self._memo)
        self._kpt = None if package.kptfile is None else _read_kpt(package)
        self._tagged = self._kpt.names() if self._kpt else set()
        self.names = {*self.krmfile.definitions.setters, *self._tagged}

    def plan(self, asked: Assignment, shipped: Shipped = _NOT_SHIPPED) -> Plan:
        """Plan what is defined as `plan.plan` does, then in the files that this leaves what kpt's comments tag."""
        package, defined = self._package, self.krmfile.definitions.setters
        if self._kpt is None or not self._tagged:
            return plan(package, asked, shipped=shipped, memo=self._memo)
        refuse(unknown(name, self.names, package) for name in asked.names if name not in self.names)
        file = package.where + package.name
        left = {name: no_default(Setter(name, file=file)) for name in asked.unset if name not in defined}
        ours = asked.among(defined)
        first = plan(package, ours, shipped=shipped, memo=self._memo) if ours.names else Plan()
        values = asked.among(self._tagged).values
        kpt = _read_kpt(package.with_files(first.files)) if first.files else self._kpt
        return first.then(kpt.set(values) if values else Plan()).then(Plan(left=left))


def _read_kpt(package: PackageFiles) -> KptPackage:
    from packyard.setters.kpt.kptpackage import KptPackage  # most packages have no Kptfile

    return KptPackage(package)
