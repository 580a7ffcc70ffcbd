"""`cfg create-setter` and `cfg create-subst`: their flags, and the lines that they print."""

from __future__ import annotations

from collections.abc import Sequence

from packyard.cli import output
from packyard.cli.cfg import blocks
from packyard.cli.flags import Declared, Flags
from packyard.core.errors import UsageError
from packyard.core.files import regular
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Plan
from packyard.writing.authoring import create, schemafile
from packyard.writing.authoring.create import NewSetter, NewSubstitution

SETTER_FLAGS = Declared(
    {"recurse-subpackages": False, "required": False},
    {**dict.fromkeys(("value", "field", "type", "schema-path", "description", "set-by"), ()), "version": ("v2",)},
)
SUBST_FLAGS = Declared(
    {"recurse-subpackages": False}, {"field-value": (), "pattern": (), "field": (), "version": ("v2",)}
)
_UNUSED = ", which no field has yet"


def create_setter(words: Sequence[str]) -> int:
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
      --version v2              the version of all setters here
      -R, --recurse-subpackages  in packages below DIR, too
    """
    parsed = SETTER_FLAGS.parse(words)
    folder, name, *values = blocks.arguments(parsed, 2, 3)
    new = _new_setter(parsed, name, values)

    def plan_package(package: PackageFiles) -> tuple[Plan, str]:
        created = create.create_setter(package, new)
        for former in created.former:
            output.warning(f"a field of {former} is one of {name} now; packyard undo {folder} takes it back")
        return created.plan, f'created setter "{name}"{"" if created.fields else _UNUSED}'

    title = f"cfg create-setter {name}"
    return blocks.change(folder, plan_package, title=title, recursive=parsed.switches["recurse-subpackages"])


def _new_setter(parsed: Flags, name: str, values: Sequence[str]) -> NewSetter:
    path = parsed.text("schema-path")
    keywords = schemafile.parse(regular.read(path).decode("utf-8", "replace")) if path else {}
    declared = schemafile.declared_type(keywords, parsed.text("type"))
    if declared == "array" and not parsed.text("field"):
        raise UsageError("a setter of type array needs --field PATH")
    if parsed.text("type") != "array" and not values and "value" not in parsed.values:
        raise UsageError("the value is missing: give it as an argument or by --value")
    return NewSetter(
        name=name,
        value=parsed.text("value") or "".join(values),
        field=parsed.text("field"),
        type=declared,
        schema=keywords,
        description=parsed.text("description"),
        set_by=parsed.text("set-by"),
        required=parsed.switches["required"],
    )


def create_subst(words: Sequence[str]) -> int:
    """usage: packyard cfg create-subst DIR NAME --field-value VALUE --pattern PATTERN [flags]

    Create a substitution: a field's value made of those of several setters.

      --field-value VALUE       the value of the fields that it marks
      --pattern PATTERN         the value with setters in it, such as
                                nginx:${TAG}; those that are not there are
                                created
      --field PATH              mark only fields whose path ends so
      --version v2              the version of all setters here
      -R, --recurse-subpackages  in packages below DIR, too
    """
    parsed = SUBST_FLAGS.parse(words)
    folder, name = blocks.arguments(parsed, 2, 2)
    if missing := [f"--{flag}" for flag in ("field-value", "pattern") if flag not in parsed.values]:
        raise UsageError(f"{' and '.join(missing)} must be given")
    new = NewSubstitution(
        name=name, pattern=parsed.text("pattern"), value=parsed.text("field-value"), field=parsed.text("field")
    )

    def plan_package(package: PackageFiles) -> tuple[Plan, str]:
        created = create.create_substitution(package, new)
        lines = [f'created setter "{setter}" with value {value}' for setter, value in created.setters.items() if value]
        return created.plan, "\n".join([*lines, f'created substitution "{name}"{"" if created.fields else _UNUSED}'])

    title = f"cfg create-subst {name}"
    return blocks.change(folder, plan_package, title=title, recursive=parsed.switches["recurse-subpackages"])
