"""Set parameters; only the bytes of their values change.

packyard set [DIR] NAME VALUE       one parameter (a list takes several values)
packyard set [DIR] NAME=VALUE ...   several, checked and written together

  -f, --values FILE     those of a YAML file, a line NAME: VALUE each, and
                        options: [NAME] to enable; - is standard input, and
                        presets/NAME.yaml is looked for in the package, too
  --keep                what is set stays, and names that are not here are
                        passed over: for a file that many packages share
  --unset NAME          back to the value that the package came with
  -R, --recurse-subpackages
                        every use case below DIR that has the parameter
  --set-by WHO          who sets it, which is kept with the value
  --dry-run             print the changes as a diff; write nothing
  -o, --output {text,json}
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from packyard.cli import directory as directories
from packyard.cli import output, state
from packyard.cli.flags import Declared, Flags, page
from packyard.core.errors import UsageError, shown
from packyard.core.files.tree import Tree
from packyard.using.setting import Change, Outcome, set_values

if TYPE_CHECKING:
    from packyard.core.bundle.delivery import Packages
    from packyard.using.setters.definition import Setter

_PAGE = page(sys.modules[__name__])
FLAGS = Declared(_PAGE, numbers=True)


def main(words: Sequence[str]) -> None:
    """Set, and say what was changed where."""
    try:
        parsed = FLAGS.parse(words)
    except UsageError as error:
        raise UsageError(f"packyard set: {error}; packyard set --help lists the flags") from error
    if parsed.switches["help"]:
        output.page(f"usage: packyard set [DIR] NAME=VALUE ... [flags]\n\n{_PAGE}\n{directories.HELP}")
        return
    output.choose(is_quiet=parsed.switches["quiet"], is_verbose=parsed.switches["verbose"])
    here = Tree(Path())
    directory, words = directories.split(parsed.arguments, names=partial(directories.setters, opened=here))
    outcome = _set(here, directory, words, parsed)
    if parsed.text("output") == "json":
        from packyard.cli.using import edits

        edits.ROWS.show(outcome.changes, "json")
    elif parsed.switches["dry-run"]:
        from packyard.cli import unified_diff  # most sets are made

        unified_diff.diffs(outcome.root_dir, outcome.files)
    else:
        packages: Packages = {}
        for change in outcome.changes:
            _tell(change, _where(change, packages) if parsed.switches["recurse-subpackages"] else "")
    if parsed.switches["recurse-subpackages"]:
        _tell_unset(here, directory, outcome.changes)
    else:
        for change in outcome.changes:
            directories.tell_replaced(here.at(Path(change.place)), change.plan.counts)


def _set(here: Tree, directory: Path, words: list[str], parsed: Flags) -> Outcome:
    """Set and unset what the command line says, and enable the options of values files."""
    unset, files = parsed.values.get("unset", []), parsed.values.get("values", ())
    is_name = unset and words and "=" not in words[0]
    if is_name and (len(words) == 1 or {*words} <= directories.setters(directory).keys()):
        raise _usage(directory, "--unset takes one name", " ".join(f"--unset {name}" for name in (*unset, *words)))
    typed = _values(directory, words)
    if not parsed.switches["recurse-subpackages"] and not _has_setters(directory):
        from packyard.using.options import usecases  # most directories are use cases

        flags = (f"--{name}={value}" for name in ("unset", "values") for value in parsed.values.get(name, ()))
        directory = usecases.chosen(directory, "set", (*words, *flags) or ("NAME=VALUE",), all_by="-R")
    values, options = directories.with_files(typed, files, here.at(directory))
    if not values and not unset and not options:
        raise _usage(directory, f"nothing to set, and packyard setters {_typed(directory)} lists the names")
    if both := [name for name in unset if name in values]:
        ways = f"{both[0]}=VALUE, or --unset {both[0]}"
        raise _usage(directory, f"{both[0]} cannot be set and taken back at once", ways)
    if parsed.switches["dry-run"]:
        output.note(*here.at(directory).warnings())
    outcome = set_values(
        directory,
        values,
        unset=unset,
        options=options,
        recursive=parsed.switches["recurse-subpackages"],
        keep=parsed.switches["keep"],
        set_by=parsed.text("set-by"),
        dry_run=parsed.switches["dry-run"],
        log=state.log(),
        opened=here.at(directory),
    )
    output.note(*outcome.misfits)
    output.warning(*(f"{unsure}; run kustomize build to see whether it fits here" for unsure in outcome.unsure))
    listed = {"set already": outcome.kept, "no use case here has": outcome.absent}
    output.note(*(f"{text}: {', '.join(names)}" for text, names in listed.items() if names))
    return outcome


def _tell_unset(here: Tree, directory: Path, changes: Sequence[Change]) -> None:
    """Say which use cases below lost their Krmfile, and of what is set in an option that none has it enabled."""
    from packyard.core.bundle import delivery  # for who looks below
    from packyard.using.options import folder, option_setters

    for lost in delivery.lost(map(Path, folder.use_cases(directory)), "Krmfile"):
        output.warning(str(lost._replace(message=f"{lost.message} and is passed over")))
    use_cases = [*map(here.at, folder.use_cases(directory))]
    names = (name for change in changes if Path(change.place).name == folder.OPTIONS for name in change.plan.counts)
    for name in dict.fromkeys(names):
        off = [option_setters.disabled(use_case, name) for use_case in use_cases]
        if off and all(off):
            reached = sum(name in change.plan.counts for change in changes) - 1
            where = f"in {output.counted(reached, 'package')}, and " if reached else ""
            enable = f" (packyard enable USECASE {off[0][0].name})" * (not reached)
            which = f"{option_setters.listed(off[0])}, which no use case here has enabled"
            output.note(f"{name} is set {where}for {which}{enable}")


def _has_setters(directory: Path) -> bool:
    return any(os.path.exists(directory / name) for name in directories.KRMFILES)  # noqa: PTH110  # pathlib takes longer, and every set asks


def _values(directory: Path, words: list[str]) -> Mapping[str, Sequence[str]]:
    if not words:
        return {}
    if "=" not in words[0]:
        if len(words) < 2 and not os.path.isfile(words[0]):  # noqa: PTH113  # a text
            from shlex import quote  # for who has to type something else

            name, _, text = words[0].partition(":")
            pair = f"{name}={quote(text.strip() or 'VALUE')}"  # who writes YAML may write NAME:VALUE
            raise _usage(directory, f"a value for {name} is missing", pair)
        if words[1:] and not words[1].startswith("="):
            return {words[0]: words[1:]}
    return directories.values(words, "set")


def _usage(directory: Path, message: str, words: str = "NAME=VALUE") -> UsageError:
    return UsageError(f"packyard set: {message}; type packyard set {_typed(directory)} {words}")


def _typed(directory: Path) -> str:
    from packyard.core.bundle import address  # for who has to type something else

    return address.typed(directory)


def _where(change: Change, packages: Packages) -> str:
    from packyard.core.bundle import address  # most sets are of one use case

    return f"{address.shown(Path(change.place), packages)}: "


def _tell(change: Change, where: str) -> None:
    from packyard.using.setters.fields import overwritten

    if change.enabled:
        output.line(f"{where}enabled {', '.join(change.enabled)}")
        output.detail(change.kustomization)
    for edit in overwritten(change.plan.changes, change.plan.former):
        output.note(f"{os.path.normpath(edit.file)}:{edit.line}: {edit.path} was {edit.old!r}, edited by hand")
    moved = {item.name for item in change.plan.changes if item.old != item.new}
    for name, count in change.plan.counts.items():
        former, new = change.plan.former.setters.get(name), _shown(change.plan.definitions.setters[name])
        old, fields = _shown(former) if former else "", f"({output.counted(count, 'field')})"
        if former and former.is_set and old == new and name not in moved <= change.plan.counts.keys():
            fields = "already"
        became = f"is {new}" if old in (shown(""), "", new) else f"{old} → {new}"
        output.line(f"{where}{name} {became} {fields}")
    for item in change.plan.changes if output.verbose else ():
        if item.old != item.new:
            place = f"{os.path.normpath(item.file)}:{item.line}"
            output.detail(f"{place}: {item.path}: {shown(item.old)} → {shown(item.new)}")
    for name, options in change.shared.items():
        output.note(f"{name} is shared by every use case that has {' or '.join(options)} enabled")


def _shown(setter: Setter) -> str:
    """Return a setter's value for people."""
    return shown(", ".join(setter.values or ()) or setter.value or ("[]" if setter.is_list else ""))
