"""Show a parameter: what it may be, and every field that it reaches, with file and line and the substitutions between.

packyard setters DIR lists the names.
"""

from packyard.cli import declare, directory, output
from packyard.cli.rows import Rows
from packyard.cli.using.setters import list_all
from packyard.core.bundle import address, delivery
from packyard.core.bundle.manifest import ShippedValue
from packyard.core.errors import InputError, UsageError, absent
from packyard.core.files.tree import Tree
from packyard.using.options import option_setters
from packyard.using.setters import refusal
from packyard.using.setters.definition import Setter
from packyard.using.setters.listing import Field, find_fields
from packyard.using.setters.packages import read_krmfile
from packyard.using.setters.plan import made_of

ROWS = Rows("definition", "file, line, name, value, set, setBy, fields (file, line, column, path, value, through)")


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    directory.add_arguments(parser, "NAME")


def run(arguments: declare.Arguments) -> None:
    """Explain the setter in every package that has it, and in the options that these have enabled."""
    root_dir, names = directory.split(arguments.words)
    if len(names) != 1:
        typed = f"packyard setters {address.typed(root_dir)}"
        raise UsageError(f"packyard explain: expected one NAME behind DIR, found {len(names)}; {typed} lists them")
    (name,) = names
    tree = Tree(root_dir)
    listings = list_all(tree, "explain", names)
    setters = [(row.setter, listing) for listing in listings for row in listing.setters]
    named = [(setter, listing, find_fields(listing.files, name)) for setter, listing in setters if setter.name == name]
    if not named:
        definitions = ((read_krmfile(listing.files).definitions, str(listing.directory)) for listing in listings)
        reason = next(filter(None, (made_of(name, *of) for of in definitions)), None)
        hint, known = f"packyard setters {address.typed(root_dir)} lists them", {setter.name for setter, _ in setters}
        problem = absent(f"parameter {name!r} is not found", name, known, hint, address.of(root_dir))
        raise InputError(reason or option_setters.elsewhere(tree.at(listings[0].directory), problem))
    rows = [
        (setter.file, setter.line, name, setter.shown, setter.is_set, setter.set_by or None, fields)
        for setter, _, fields in named
    ]
    if ROWS.show(rows, arguments.output):
        for setter, listing, fields in named:
            place = listing.heading if listing.is_option else address.of(listing.directory)
            output.line(f"{place}: " * (len(named) > 1) + f"{name}: {' '.join(setter.description.split())}")
            directory.tell_replaced(tree.at(listing.directory), [name])
            _show(setter, fields, delivery.values(listing.directory).get(name) or setter.default or "")


def _show(setter: Setter, fields: list[Field], default: ShippedValue) -> None:
    origin = f"set by {setter.set_by or 'you'}" if setter.is_set else "the default"
    lines = (
        ("value", f"{setter.shown or '(empty)'} ({origin})"),
        ("default", (default if isinstance(default, str) else ", ".join(default or ())) if setter.is_set else ""),
        ("allowed", refusal.describe(setter)),
    )
    output.detail(f"  defined  {setter.file}:{setter.line}")
    if pattern := setter.schema.get("pattern"):
        output.detail(f"  pattern  {pattern}")
    output.line(*(f"  {label:<8} {text}" for label, text in lines if text))
    for field in fields:
        way = f" (by way of {', '.join(field.through[1:])})" if field.through[1:] else ""
        output.line(f"  {field.file}:{field.line}:{field.column}")
        output.line(f"    {field.path}: {field.value or '(empty)'}{way}")
