"""`cfg create-setter` and `cfg create-subst`: their flags, and the lines that they print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from packyard.cli.cfg import blocks
from packyard.cli.flags import Declared, Flags
from packyard.core.errors import InputError, UsageError
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Plan
from packyard.writing.authoring import create, schemafile
from packyard.writing.authoring.create import NewSetter, NewSubstitution

SETTER_FLAGS = Declared(
    {"recurse-subpackages": False, "required": False, "partial": False},
    ("value", "field", "type", "schema-path", "description", "set-by", "version", "name", "kind"),
)
SUBST_FLAGS = Declared({"recurse-subpackages": False}, ("field-value", "pattern", "field", "version"))


def create_setter(words: Sequence[str]) -> int:
    """Create a setter in a package, or with ``-R`` in every package below."""
    parsed = SETTER_FLAGS.parse(words)
    if not 2 <= len(parsed.arguments) <= 3:
        raise UsageError(f"accepts between 2 and 3 arg(s), received {len(parsed.arguments)}")
    folder, name, *values = parsed.arguments
    new = _new_setter(parsed, name, values)
    if parsed.text("version") == "v1":
        raise UsageError("setters of version 1 are not supported: leave out --version v1")

    def plan_package(package: PackageFiles) -> tuple[Plan, str]:
        created = create.create_setter(package, new)
        lines = [f"created setter {blocks.quoted(name)}"]
        if not created.fields:
            text = f"setter {blocks.quoted(name)} doesn't match any field in resource configs"
            lines.insert(0, f"{text}, but creating setter definition")
        return created.plan, "\n".join(lines)

    title = f"cfg create-setter {name}"
    return blocks.change(folder, plan_package, title=title, recursive=parsed.switches["recurse-subpackages"])


def _new_setter(parsed: Flags, name: str, values: Sequence[str]) -> NewSetter:
    try:
        keywords = schemafile.parse(_read(parsed.text("schema-path"))) if parsed.text("schema-path") else {}
        declared = schemafile.declared_type(keywords, parsed.text("type"))
    except InputError as error:
        raise UsageError(str(error)) from error
    if declared == "array" and not parsed.text("field"):
        raise UsageError("field flag must be set for array type setters")
    if parsed.text("type") != "array" and not values and "value" not in parsed.values:
        raise UsageError(
            "setter name and value must be provided, value can either be an argument or can be passed as a flag --value"
        )
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


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"open {path}: {reason}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"unable to parse schema: {path} is not UTF-8") from error


def create_subst(words: Sequence[str]) -> int:
    """Create a substitution in a package, or with ``-R`` in every package below."""
    parsed = SUBST_FLAGS.parse(words)
    if len(parsed.arguments) != 2:
        raise UsageError(f"accepts 2 arg(s), received {len(parsed.arguments)}")
    missing = [f'"{name}"' for name in ("field-value", "pattern") if name not in parsed.values]
    if missing:
        raise UsageError(f"required flag(s) {', '.join(missing)} not set")
    folder, name = parsed.arguments
    new = NewSubstitution(
        name=name, pattern=parsed.text("pattern"), value=parsed.text("field-value"), field=parsed.text("field")
    )

    def plan_package(package: PackageFiles) -> tuple[Plan, str]:
        created = create.create_substitution(package, new)
        lines = [_told(marker, value) for marker, value in created.markers]
        if not created.fields:
            text = f"substitution {name} doesn't match any field value in resource configs"
            lines.append(f"{text}, but creating substitution definition")
        return created.plan, "\n".join([*lines, f"created substitution {blocks.quoted(name)}"])

    title = f"cfg create-subst {name}"
    return blocks.change(folder, plan_package, title=title, recursive=parsed.switches["recurse-subpackages"])


def _told(marker: str, value: str | None) -> str:
    if value is None:
        return f'found a substitution with name "{marker}"'
    return f"unable to find setter with name {marker[2:-1]}, creating new setter with value {value}"
