"""Compare two packages or libraries: use cases, options, parameters, fields, files.

packyard diff OLD.tar.gz NEW.tar.gz  two tarballs
packyard diff NAME@1.0 1.1           two versions that a channel has
packyard diff OLD NEW                two folders: of a package, or of all that
                                     `packyard build --to OLD` wrote
packyard diff DIR                    an unpacked package and what it came from
packyard diff NAME@1.0/USECASE NAME@1.1/USECASE
                                     one use case; with -f values.yaml, what
                                     these values render to

Of several use cases it says how much of what kind differs; -v prints each difference.
"""

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote

from packyard.cli import copies, declare, output, packages, unified_diff
from packyard.cli.rows import Rows
from packyard.cli.using.setters import tell_edited
from packyard.core.bundle import address, reference
from packyard.core.errors import UsageError
from packyard.core.files.tree import Tree
from packyard.using.render import every
from packyard.using.render.render import render
from packyard.using.setters.krmfile import KRMFILE
from packyard.using.setters.packages import read_package
from packyard.using.upgrade.change import Change, sentences_of, summary_of
from packyard.using.upgrade.difference import compare, compare_all

ROWS = Rows("difference", "package, where, what, name, path, change, before, after, setter, note, breaking")
#: A package's name, and what differs there.
_Listed = tuple[str, Change]


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    what = "a folder, a .tar.gz, or NAME@VERSION"
    parser.add_argument("old", metavar="A", nargs="?", help=f"{what} (default: here)")
    parser.add_argument("new", metavar="B", nargs="?", help="as A; without it A is an unpacked package")
    parser.value("--from CHANNEL", "the channel that has NAME@VERSION", dest="channel")
    packages.add_values(parser, "compare what two use cases render to with the values of this file")


def run(arguments: declare.Arguments) -> int:
    """Print what differs."""
    if arguments.values:
        return _rendered(arguments)
    listed, top = _with_origin(arguments) if arguments.new is None else (_between(arguments), None)
    rows = [{"package": name, **asdict(change), "breaking": change.is_breaking} for name, change in listed]
    if ROWS.show(rows, arguments.output):
        _show(listed, top)
    breaking = sum(change.is_breaking for _, change in listed)
    summary = output.counted(len(listed), "difference") + (f", {breaking} BREAKING" * bool(breaking))
    output.note(summary if listed else "no difference")
    return 0


def _between(arguments: declare.Arguments) -> list[_Listed]:
    """Return what differs between two packages, or all of two builds, or a use case of two versions."""
    before, old = copies.packages(arguments.old, arguments.channel, arguments.new)
    is_choice = arguments.new == reference.LATEST or reference.is_version(arguments.new.lstrip("^~"))
    is_version = is_choice and not os.path.lexists(arguments.new)
    word = f"{next(iter(before))}@{arguments.new}" if is_version else arguments.new
    after, new = copies.packages(word, arguments.channel, arguments.old)
    use_cases = {old, new} - {""}
    if len(before) == len(after) == 1:  # whatever they are called
        before = dict(zip(after, before.values(), strict=True))
    listed = compare_all(before, after)
    return [(name, change) for name, change in listed if not use_cases or change.where in use_cases]


def _with_origin(arguments: declare.Arguments) -> tuple[list[_Listed], Path]:
    """Return what differs in an untarred package, or a folder of it, from the bundle that it came from; its folder."""
    word = arguments.old or "."
    if Path(word).is_file() or ("@" in word.partition("/")[0] and not os.path.lexists(word)):
        typed = f"packyard diff {quote(word)} B, or packyard diff . {quote(word)}"
        raise UsageError(f"packyard diff: B is missing, what to compare it with; type {typed}")
    package, below = copies.within(word, "name what to compare it with: packyard diff A B")
    changes = compare(package.base(arguments.channel).files, package.files())
    name = package.described.name
    return [(name, change) for change in changes if f"{change.where}/".startswith(below)], package.folder


def _show(listed: Sequence[_Listed], top: Path | None) -> None:
    """Print what differs below each place; of several places only how much of each kind, each once."""
    by_place: dict[str, list[Change]] = {}
    for name, change in listed:
        by_place.setdefault(os.path.normpath(f"{top or name}/{change.where}"), []).append(change)
    is_short = len(by_place) > 1 and not output.verbose
    places: dict[tuple[str, ...], list[str]] = {}
    for place, changes in by_place.items():
        places.setdefault((*(summary_of if is_short else _sentences)(changes),), []).append(place)
    for sentences, alike in places.items():
        names = {place: address.shown(Path(place)) if is_short else place for place in alike}
        output.line(*(place if name in by_place else name for place, name in names.items()))
        for sentence in sentences:
            output.line(*output.filled(sentence, "  ", "    "))
    if top:
        tell_edited(read_package(Tree(Path(place)), "") for place in by_place if Path(place, KRMFILE).is_file())
    if is_short:
        output.note("add -v for each difference, or name a use case")


def _sentences(changes: Sequence[Change]) -> list[str]:
    """Return a sentence for each change; of fields that setters have, beside their values, without -v only how many."""
    is_value = any(change.what == "setter" and change.path in ("value", "default") for change in changes)
    follow = [change for change in changes if change.what == "field" and change.setter and change.change != "bound"]
    if output.verbose or not (is_value and follow):
        return sentences_of(changes)
    rest = [change for change in changes if change not in follow]
    return [*sentences_of(rest), f"{output.counted(len(follow), 'field')} changed with that (-v lists them)"]


def _rendered(arguments: declare.Arguments) -> int:
    """Print how the manifests of two use cases differ; both are rendered as if the same values were set."""
    if arguments.new is None:
        raise UsageError("packyard diff: name two use cases to render with --values: packyard diff A/USECASE B/USECASE")
    both = []
    for word in (arguments.old, arguments.new):
        with packages.opened(declare.Arguments(**vars(arguments), words=[word], locked=False), "diff") as use_case:
            typed = use_case.command("render")
            with every.with_values(use_case.tree, use_case.values, typed, enabling=use_case.options) as source:
                both.append(render(source, path=os.environ.get("PATH", ""), command=typed))
    unified_diff.texts({"manifests.yaml": (both[0], both[1])})
    output.note("what the values render to differs" if both[0] != both[1] else "no difference")
    return 0
