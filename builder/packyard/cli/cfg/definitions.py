"""`cfg create-…`, `cfg delete-…` and `cfg init`: what writes the definitions of a Krmfile."""

from collections.abc import Sequence
from pathlib import Path

from packyard.cli import output, state
from packyard.cli.cfg import blocks
from packyard.cli.flags import Flags
from packyard.core.errors import ConflictError, UsageError
from packyard.core.files import regular
from packyard.core.files.tree import Tree
from packyard.using.setters.definition import Setter
from packyard.using.setters.krmfile import EMPTY, KRMFILE
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Plan
from packyard.writing.authoring import create, delete, schemafile

_UNUSED = ", which no field has yet"


def create_setter(parsed: Flags) -> None:
    """usage: packyard cfg create-setter DIR NAME VALUE [flags]

    Create a setter, and mark every field that has the value.

      --value VALUE             the value that marks fields, instead of the
                                argument
      --field PATH              mark only fields whose path ends so, such as
                                spec.replicas
      --type TYPE               integer, boolean, string or array
      --schema-path FILE        a JSON Schema that values must match
      --description TEXT        the setter's description
      --set-by WHO              who sets the value; it is kept in the Krmfile
      --required                it must be set before the package is used
      --version {v2}            the version of all setters here
      -R, --recurse-subpackages  in packages below DIR, too
    """
    folder, name, *values = blocks.arguments(parsed, 2, 3)
    setter = _setter(parsed, name, values)

    def plan_package(package: PackageFiles) -> tuple[Plan, str]:
        created = create.create_setter(package, setter, parsed.text("field"))
        for former in created.former:
            output.warning(f"a field of {former} is one of {name} now; packyard undo {folder} takes it back")
        return created.plan, f'created setter "{name}"{"" if created.fields else _UNUSED}'

    blocks.change(parsed, plan_package, title=f"create-setter {name}")


def _setter(parsed: Flags, name: str, values: Sequence[str]) -> Setter:
    path, description = parsed.text("schema-path"), parsed.text("description")
    keywords = schemafile.parse(regular.read(path).decode("utf-8", "replace")) if path else {}
    declared = schemafile.declared_type(keywords, parsed.text("type"))
    if declared == "array" and not parsed.text("field"):
        raise UsageError("a setter of type array needs --field PATH")
    if parsed.text("type") != "array" and not values and "value" not in parsed.values:
        raise UsageError("the value is missing: give it as an argument or by --value")
    if description:
        keywords.pop("description", None)
        keywords["description"] = description
    if declared:
        keywords.setdefault("type", declared)
    return Setter(
        name=name,
        value="" if declared == "array" else parsed.text("value") or "".join(values),
        type=declared,
        schema=keywords,
        set_by=parsed.text("set-by"),
        required=parsed.switches["required"],
    )


def create_subst(parsed: Flags) -> None:
    """usage: packyard cfg create-subst DIR NAME --field-value VALUE --pattern PATTERN [flags]

    Create a substitution: a field's value made of those of several setters.

      --field-value VALUE       the value of the fields that it marks
      --pattern PATTERN         the value with setters in it, such as
                                nginx:${TAG}; those that are not there are
                                created
      --field PATH              mark only fields whose path ends so
      --version {v2}            the version of all setters here
      -R, --recurse-subpackages  in packages below DIR, too
    """
    _, name = blocks.arguments(parsed, 2, 2)
    if missing := [f"--{flag}" for flag in ("field-value", "pattern") if flag not in parsed.values]:
        raise UsageError(f"{' and '.join(missing)} must be given")
    pattern, value, field = (parsed.text(flag) for flag in ("pattern", "field-value", "field"))

    def plan_package(package: PackageFiles) -> tuple[Plan, str]:
        created = create.create_substitution(package, name, pattern, value, field)
        lines = [f'created setter "{setter}" with value {value}' for setter, value in created.setters.items() if value]
        return created.plan, "\n".join([*lines, f'created substitution "{name}"{"" if created.fields else _UNUSED}'])

    blocks.change(parsed, plan_package, title=f"create-subst {name}")


def delete_setter(parsed: Flags) -> None:
    """usage: packyard cfg delete-setter DIR NAME [flags]

    Delete a setter, and the comments that mark its fields.

      -R, --recurse-subpackages  in packages below DIR, too
    """
    _delete(parsed, "setter")


def delete_subst(parsed: Flags) -> None:
    """usage: packyard cfg delete-subst DIR NAME [flags]

    Delete a substitution, and the comments that mark its fields.

      -R, --recurse-subpackages  in packages below DIR, too
    """
    _delete(parsed, "substitution")


def _delete(parsed: Flags, kind: str) -> None:
    _, name = blocks.arguments(parsed, 2, 2)

    def plan_package(package: PackageFiles) -> tuple[Plan, str]:
        return delete.delete(package, kind, name), f'deleted {kind} "{name}"'

    blocks.change(parsed, plan_package, title=f"delete {kind} {name}")


def init(parsed: Flags) -> None:
    """usage: packyard cfg init [DIR]

    Make a directory a package: write its Krmfile.
    """
    tree = Tree(Path(*blocks.arguments(parsed, 0, 1)))
    with tree.locked(state.log("cfg init"), below=False):
        try:
            tree.write({KRMFILE: EMPTY}, mode=0o600)  # the mode that kustomize gives it
        except ConflictError as error:
            raise UsageError("directory already initialized with a Krmfile") from error
