"""`cfg set`: one setter, in the words of kustomize."""

from __future__ import annotations

from packyard.cli import output
from packyard.cli.cfg import blocks
from packyard.cli.flags import Flags
from packyard.core.errors import InputError, NotHereError, UsageError, refuse
from packyard.using.setters.change import unbound
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Assignment, Plan
from packyard.using.setting import PackageSetters


def set_value(parsed: Flags) -> None:
    """usage: packyard cfg set DIR NAME VALUE ... [flags]

    Set a setter: every field that its comments mark gets the value.

      --values VALUE            a value; may be repeated, for a setter that is
                                a list
      --description TEXT        the setter's description
      --set-by WHO              who sets the value; it is kept in the Krmfile
      --version {v2}            the version of all setters here
      -R, --recurse-subpackages  in every package below DIR that has the setter
    """
    folder, name, *values = blocks.arguments(parsed, 2)
    if bool(values) == ("values" in parsed.values):
        raise UsageError("give the value as an argument or by --values")
    values = values or parsed.values["values"]
    by, description = parsed.text("set-by"), parsed.text("description")
    assignment = Assignment({name: values}, (), by, description, as_kustomize=True)
    known: set[str] = set()

    def plan_package(package: PackageFiles) -> tuple[Plan, str]:
        setters = PackageSetters(package)
        if name not in setters.names:
            raise NotHereError(f'setter "{name}" is not found')
        known.add(name)
        planned = setters.plan(assignment)
        if len(values) > 1 and not planned.definitions.setters[name].is_list:
            output.warning(f"{name} takes one value: {' '.join(values[1:])} is passed over, as kustomize does")
        if not planned.counts[name] and not package.is_of_kustomize:  # which counts 0
            refuse([unbound(package, planned.definitions.setters[name])])
        return planned, f'set {planned.counts[name]} field(s) of setter "{name}" to value "{values[0]}"'

    try:
        blocks.change(parsed, plan_package, title=f"set {name} {' '.join(values)}", kpt=True)
    except InputError:
        if not known:
            blocks.refuse_version_1(folder, name)
        raise
