"""`cfg set`: one setter, in the words of kustomize."""

from __future__ import annotations

from collections.abc import Sequence

from packyard.cli import flags
from packyard.cli.cfg import blocks
from packyard.errors import NotHereError, UsageError
from packyard.setters.plan import PackageFiles, Plan, plan, read_krmfile


def set_value(words: Sequence[str]) -> int:
    """Set one setter of a package, or with ``-R`` of every package below that has it."""
    parsed = flags.parse(
        words, switches={"recurse-subpackages": False}, values=("values", "set-by", "description", "version")
    )
    if len(parsed.arguments) < 2:
        raise UsageError(f"requires at least 2 arg(s), only received {len(parsed.arguments)}")
    folder, name, *values = parsed.arguments
    if values and "values" in parsed.values:
        raise UsageError("value should set either from flag or arg")
    values = values or parsed.values.get("values", [])
    if not values:
        raise UsageError("value must be provided either from flag or arg")

    def plan_package(package: PackageFiles) -> tuple[Plan, str]:
        krmfile = read_krmfile(package)
        if name not in krmfile.definitions.setters:
            raise NotHereError(f'setter "{name}" is not found')
        by, description = parsed.text("set-by"), parsed.text("description")
        planned = plan(package, {name: values}, set_by=by, description=description, krmfile=krmfile)
        return planned, f'set {planned.counts[name]} field(s) of setter "{name}" to value {blocks.quoted(values[0])}'

    return blocks.change(folder, plan_package, recursive=parsed.switches["recurse-subpackages"])
