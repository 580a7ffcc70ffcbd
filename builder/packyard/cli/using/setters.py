"""Show the parameters of a use case with their values, or what each use case of a package has to have set."""

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packyard.cli import declare, directory, output
from packyard.cli.rows import FORMS, Rows
from packyard.core.bundle import address, delivery
from packyard.core.errors import refuse
from packyard.core.files.tree import Tree
from packyard.using.options import earlier, option_setters, usecases
from packyard.using.options.folder import OPTIONS
from packyard.using.setters import valuesfile
from packyard.using.setters.definition import Setter
from packyard.using.setters.listing import ListedRule, ListedSetter, in_order, list_edited, list_rules, list_setters
from packyard.using.setters.packages import PackageFiles, all_below, read_package

ROWS = Rows(
    "package",
    "package=heading, description, setters (name=setter.name, value=setter.shown, default=setter.default, "
    "set=setter.is_set, setBy=setter.set_by?, required=setter.required, mustBeSet=setter.must_be_set, "
    "type=setter.type?, schema=setter.schema, fields=field_count, description=setter.description, "
    "example=setter.example, file=setter.file, line=setter.line), "
    "rules (rule=rule.text, message=rule.message, setters=rule.names, holds, file=rule.node.source.name, line)",
    forms=(*FORMS, "yaml"),  # a values file
)


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    directory.add_arguments(parser)
    parser.switch("--unset", "only required ones without a value")
    parser.switch("--set", "only those that were set")


@dataclass(frozen=True, slots=True)
class Listing:
    """The setters and rules of a use case, or of an option, which are for all use cases that have it enabled."""

    heading: str
    directory: Path
    files: PackageFiles
    setters: Sequence[ListedSetter]
    rules: Sequence[ListedRule]
    description: str = ""
    is_option: bool = False


def run(arguments: declare.Arguments) -> None:
    """List the setters of the package, or of every package below a folder that is not a package."""
    tree = Tree(directory.only(arguments.words, "setters"))
    listings = [replace(item, setters=_chosen(arguments, item.setters)) for item in list_all(tree, "setters")]
    if arguments.output == "yaml":
        output.data(valuesfile.write(_values(listings)).encode())
        return
    if ROWS.show(listings, arguments.output):
        cases = [listing for listing in listings if not listing.is_option]
        if len(cases) > 1:
            _show_all(tree, arguments, cases)
        else:
            _show_one(tree, arguments, listings)


def list_all(tree: Tree, command: str, rest: Sequence[str] = ()) -> list[Listing]:
    """List the package in a folder, or those below, and the options that they have enabled; refuse a folder of none."""
    output.note(*tree.warnings())
    packages = address.in_order([at for at in all_below(tree) if posixpath.basename(at) != OPTIONS], tree.root_dir)
    if not packages:
        raise usecases.refusal(tree.root_dir, command, rest)
    return [*(_package(tree, package) for package in packages), *_options(tree, packages)]


def _package(tree: Tree, package: str) -> Listing:
    files = read_package(tree, package)
    package_dir = tree.root_dir / package
    setters = in_order(list_setters(files))
    return Listing(package or ".", package_dir, files, setters, list_rules(files), delivery.description(package_dir))


def _options(tree: Tree, packages: Sequence[str]) -> list[Listing]:
    """Return the setters of the options that the packages have enabled; each option once."""
    by_heading: dict[str, Listing] = {}
    for package in packages:
        for option in option_setters.read_enabled(tree.at(tree.root_dir / package)):
            heading = option.files.where + option.name
            names = option.setters.keys()
            rules = [row for row in list_rules(option.files) if not names.isdisjoint(row.rule.names)] if names else []
            setters = in_order(option.listed)
            by_heading[heading] = Listing(heading, tree.root_dir, option.files, setters, rules, is_option=True)
    return list(by_heading.values())


def _chosen(arguments: declare.Arguments, setters: Sequence[ListedSetter]) -> Sequence[ListedSetter]:
    setters = [row for row in setters if not arguments.unset or row.setter.must_be_set]
    return [row for row in setters if not arguments.set or row.setter.is_set]


def _values(listings: Sequence[Listing]) -> dict[str, str | Sequence[str]]:
    """Return one value for each name that sets a field; a values file has no place for two."""
    by_name: dict[str, Setter] = {}
    problems = []
    for setter in (row.setter for listing in listings for row in listing.setters if row.field_count):
        first = by_name.setdefault(setter.name, setter)
        if (first.shown, first.is_list) != (setter.shown, setter.is_list):
            message = f"{setter.name} is {setter.shown!r}, and {first.shown!r} at {first.file}:{first.line}"
            problems.append(setter.problem(message, "a values file has one value for a name: name one package"))
    refuse(problems)
    return {name: (setter.is_list and setter.texts) or setter.shown for name, setter in sorted(by_name.items())}


def _show_all(tree: Tree, arguments: declare.Arguments, cases: Sequence[Listing]) -> None:
    """Print a line for each use case."""
    names = address.shortened([listing.heading for listing in cases]).values()
    chosen = [[row.setter.name for row in case.setters if arguments.set or row.setter.must_be_set] for case in cases]
    column = "SET" if arguments.set else "TO BE SET"
    output.table(("USE CASE", column), [(name, ", ".join(these)) for name, these in zip(names, chosen, strict=True)])
    first = next((case for case, these in zip(cases, chosen, strict=True) if these), cases[0])
    output.note(f"packyard setters {usecases.typed(first.directory, tree.root_dir)} lists those of one")


def _show_one(tree: Tree, arguments: declare.Arguments, listings: Sequence[Listing]) -> None:
    """Print the setters and rules of a use case, and of the options that it has enabled."""
    is_part = arguments.unset or arguments.set
    for listing in listings:
        rows = listing.setters
        if listing.is_option and rows:
            output.line(f"option {posixpath.basename(listing.heading)}, for all use cases that have it enabled:")
        output.line(*(output.filled(listing.description) if rows and not is_part else ()))
        output.table(("NAME", "VALUE", "DESCRIPTION"), [_cells(row.setter) for row in rows])
        output.warning(*(str(rule.broken) for rule in listing.rules if rule.broken))
        rules = [(row.rule.text, row.rule.message) for row in listing.rules if not (row.broken or is_part)]
        output.table(("RULE", "MEANING"), rules)
        if missing := [row.setter.name for row in rows if row.setter.must_be_set]:
            words = " ".join([address.typed(listing.directory), *(f"{name}=…" for name in missing)])
            output.note(f"{len(missing)} to be set: packyard set {words}")
    tell_edited(listing.files for listing in listings)
    if not is_part:
        output.note(*earlier.differing(tree.at(listings[0].directory), {}))
    directory.tell_replaced(tree.at(listings[0].directory), [row.setter.name for row in listings[0].setters])
    if not any(listing.setters for listing in listings):
        output.note("every required value is set" if arguments.unset else "no parameter to list")


def tell_edited(packages: Iterable[PackageFiles]) -> None:
    """Name the fields that were edited by hand, which no set did, and the folder to compare, which holds them all."""
    if edited := [(files.where, field) for files in packages for field in list_edited(files)]:
        places = [f"{field.file}:{field.line} {field.path}" for _, field in edited]
        directory = address.typed(posixpath.commonpath([folder for folder, _ in edited]))
        shows = "" if output.verbose else f"; packyard diff {directory} -v shows what differs"
        output.note(f"edited by hand, not by set: {usecases.listed(places)}{shows}")


def _cells(setter: Setter) -> Sequence[str]:
    value = "REQUIRED" if setter.must_be_set else setter.shown
    return setter.name, value, " ".join(setter.description.split())
