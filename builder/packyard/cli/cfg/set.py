"""`cfg set`: one setter, in the words of kustomize."""

from __future__ import annotations

from collections.abc import Sequence

from packyard.cli.cfg import blocks
from packyard.cli.flags import Declared
from packyard.core.errors import InputError, NotHereError, UsageError, refuse
from packyard.core.work.memo import Memo
from packyard.using.setters.change import PackageSetters, unbound
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Assignment, Plan

FLAGS = Declared({"recurse-subpackages": False}, ("values", "set-by", "description", "version"))


def set_value(words: Sequence[str]) -> int:
    """Set one setter of a package, or with ``-R`` of every package below that has it."""
    parsed = FLAGS.parse(words)
    if len(parsed.arguments) < 2:
        raise UsageError(f"requires at least 2 arg(s), only received {len(parsed.arguments)}")
    folder, name, *values = parsed.arguments
    if values and "values" in parsed.values:
        raise UsageError("value should set either from flag or arg")
    values = values or parsed.values.get("values", [])
    if not values:
        raise UsageError("value must be provided either from flag or arg")

    if parsed.text("version") == "v1":
        blocks.refuse_version_1(folder, name)
    by, description = parsed.text("set-by"), parsed.text("description")

    recursive = parsed.switches["recurse-subpackages"]
    memo, assignment = Memo(), Assignment({name: values}, (), by, description, as_kustomize=True)
    known: set[str] = set()

    def plan_package(package: PackageFiles) -> tuple[Plan, str]:
        setters = PackageSetters(package, memo)
        if name not in setters.names:
            raise NotHereError(f'setter "{name}" is not found')
        known.add(name)
        planned = setters.plan(assignment)
        if not planned.counts[name]:
            refuse([] if package.is_of_kustomize else [unbound(package, planned.definitions.setters[name])])
        return planned, f'set {planned.counts[name]} field(s) of setter "{name}" to value {blocks.quoted(values[0])}'

    title = f"cfg set {name} {' '.join(values)}"
    try:
        return blocks.change(folder, plan_package, title=title, recursive=recursive, kpt=True)
    except InputError:
        if not known:
            blocks.refuse_version_1(folder, name)
        raise
