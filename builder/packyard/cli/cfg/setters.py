"""`cfg set` and `cfg list-setters`: one setter in the words of kustomize, and a table of all."""

from collections.abc import Sequence
from pathlib import Path

from packyard.cli import output
from packyard.cli.cfg import blocks
from packyard.cli.flags import Flags
from packyard.core.errors import InputError, NotHereError, UsageError, refuse
from packyard.core.files.tree import Tree
from packyard.using.setters.change import unbound
from packyard.using.setters.definition import Definitions
from packyard.using.setters.listing import ListedSetter, list_setters
from packyard.using.setters.packages import PackageFiles, find_packages, read_krmfile, read_package
from packyard.using.setters.plan import Assignment, Plan
from packyard.using.setting import PackageSetters

_COLUMNS = ("NAME", "VALUE", "SET BY", "COUNT", "REQUIRED", "IS SET", "DESCRIPTION")


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


def list_package_setters(parsed: Flags) -> int:
    """usage: packyard cfg list-setters DIR [NAME] [flags]

    List the setters of a package and of those below it; 1 if one has none.

      --include-subst           also list substitutions
      --version {v2}            the version of all setters here
      -R, --recurse-subpackages=false  only those of the package itself
    """
    folder, *names = blocks.arguments(parsed, 1, 2)
    tree = Tree(Path(folder))
    output.note(*tree.warnings())
    for number, package in enumerate(find_packages(tree, recursive=parsed.switches["recurse-subpackages"], kpt=True)):
        files = read_package(tree, package)
        definitions = read_krmfile(files).definitions
        rows = [row for row in list_setters(files, definitions) if not names or row.setter.name == names[0]]
        if not rows:
            blocks.refuse_version_1(folder, "".join(names))
        output.page(f"{chr(10) * bool(number)}{blocks.header(folder, package)}")
        output.table(_COLUMNS, [_cells(row) for row in rows])
        if not rows:
            output.note("no setter to list")
            return 1
        if parsed.switches["include-subst"]:
            output.table(("SUBSTITUTION", "REFERENCES", "PATTERN"), _substitutions(definitions))
    return 0


def _cells(row: ListedSetter) -> Sequence[str]:
    setter = row.setter
    is_required, is_set = ("Yes" if flag else "No" for flag in (setter.required, setter.is_set))
    return setter.name, setter.shown, setter.set_by, str(row.field_count), is_required, is_set, setter.description


def _substitutions(definitions: Definitions) -> list[tuple[str, str, str]]:
    return [
        (item.name, ", ".join(reference.name for _, reference in item.markers if reference), item.pattern)
        for _, item in sorted(definitions.substitutions.items())
    ]
