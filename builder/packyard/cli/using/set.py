"""Set values of setters; only the bytes of the fields that they reach change.

packyard set [DIR] NAME VALUE       one setter (a list takes several values)
packyard set [DIR] NAME=VALUE ...   several, checked and written together

  -f, --values FILE     those of a YAML file, a line NAME: VALUE each, and
                        options: [NAME] to enable; - is standard input, and
                        presets/NAME.yaml may be one of the package
  --keep                what is set stays, and names that are not here are
                        passed over: for a file that many packages share
  --unset NAME          back to the value that the package shipped
  -R, --recurse-subpackages
                        every package below DIR that has the setter
  --set-by WHO          who sets it; it is kept in the Krmfile
  --dry-run             print the changes as a diff; write nothing
  -o, --output {text,json}
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from packyard.cli import directory as directories
from packyard.cli import output, state
from packyard.cli.flags import Declared, Flags
from packyard.core.errors import InputError, UsageError, refuse, shown
from packyard.core.files.tree import Tree
from packyard.using.options import folder
from packyard.using.setters.change import Beside, PackageChange, change_setters

if TYPE_CHECKING:
    from packyard.using.options.switch import Switched
    from packyard.using.setters.definition import Setter

FLAGS = Declared(
    {"recurse-subpackages": False, "keep": False, "dry-run": False, "quiet": False, "verbose": False, "help": False},
    {
        "values": (),
        "unset": (),
        "set-by": (),
        "output": ("text", "json"),
    },
    {"f": "values", "o": "output", "q": "quiet", "v": "verbose", "h": "help"},
    numbers=True,
)
ROWS = "packyard.cli.using.edits"


def main(words: Sequence[str]) -> int:
    """Set, and say what was changed where."""
    try:
        parsed = FLAGS.parse(words)
    except UsageError as error:
        raise UsageError(f"packyard set: {error}; packyard set --help lists the flags") from error
    if parsed.switches["help"]:
        output.page(f"usage: packyard set [DIR] NAME=VALUE ... [flags]\n\n{__doc__}\n{directories.HELP}")
        return 0
    if parsed.switches["quiet"] or parsed.switches["verbose"]:
        from packyard.cli import verbosity

        verbosity.choose(quiet=parsed.switches["quiet"], verbose=parsed.switches["verbose"])
    directory, rest = directories.split(parsed.arguments)
    return _run(directory, rest, parsed)


def _run(directory: Path, words: list[str], parsed: Flags) -> int:
    form = parsed.text("output") or "text"
    is_asked = bool(words) or any(parsed.values.get(name) for name in ("values", "unset"))
    if is_asked and not parsed.switches["recurse-subpackages"]:
        directory = _checked(directory, words, parsed)
    changes, beside, enabled = _change(directory, words, parsed)
    if form != "text":
        from packyard.cli.using import edits

        edits.show(changes, beside, enabled, form)
    elif parsed.switches["dry-run"]:
        from packyard.cli import unified  # most sets are made

        unified.diffs(beside.root_dir if beside else directory, _files(changes))
    else:
        for change in changes:
            if switched := enabled.get(os.path.realpath(change.before.where or ".")):
                file = os.path.normpath(change.before.where + switched.file)
                output.line(f"{file}: enabled {', '.join(switched.changed)}")
            _tell(change, f"{os.path.normpath(change.before.where or '.')}: " if len(changes) > 1 else "")
            for name, options in beside.packages.get(change.package, {}).items() if beside else ():
                output.note(f"{name} is shared by every use case that has {' or '.join(options)} enabled")
    return 0


def _change(
    directory: Path, words: list[str], parsed: Flags
) -> tuple[list[PackageChange], Beside | None, Mapping[str, Switched]]:
    """Set and unset what the command line says, and enable the options of values files."""
    given, options = directories.values_files(directory, parsed.values.get("values", ()))
    values = directories.merged(given, _values(directory, words))
    unset = parsed.values.get("unset", [])
    if not values and not unset and not options:
        raise _usage(directory, f"nothing to set, and packyard setters {_typed(directory)} lists the names")
    if both := [name for name in unset if name in values]:
        raise _usage(directory, f"{both[0]} is set and taken back")
    dry_run = parsed.switches["dry-run"]
    if dry_run:
        state.tell_pending(Tree(directory))
    recursive, names = parsed.switches["recurse-subpackages"], [*values, *unset]
    yields = parsed.switches["keep"]
    enabled = _enable(directory, options, recursive=recursive, yields=yields) if options else {}
    try:
        beside = _beside(directory, names, options, recursive=recursive)
        changes = change_setters(
            directory,
            values,
            unset=unset,
            recursive=recursive,
            set_by=parsed.text("set-by"),
            dry_run=dry_run,
            log=state.log(_title(values, unset, options)),
            beside=beside,
            shipped=_shipped,
            replaced=lambda package: _replaced(enabled, package),
            yields=yields,
        )
    except InputError as error:
        if not any(problem.missing for problem in error.problems):
            raise
        from packyard.using.options.option_setters import elsewhere

        raise InputError(*(elsewhere(directory, problem) for problem in error.problems)) from error
    if yields and (left := {*names}.difference(*(change.plan.counts for change in changes))):
        output.note(f"set already, or not here: {', '.join(sorted(left))}")
    return changes, beside, enabled


def _enable(directory: Path, options: Sequence[str], *, recursive: bool, yields: bool) -> dict[str, Switched]:
    """Plan to enable options, by the real paths of use cases; what fits nowhere is refused, or ``yields``."""
    from packyard.using.kustomize.builtin import Trial
    from packyard.using.options import switch, usecases

    use_cases = [Path(path) for path in usecases.below(directory)] if recursive else [directory]
    planned, misfits = switch.plan(use_cases, options, Trial)
    refuse([] if yields else misfits)
    for problem in misfits:
        output.note(str(problem))
    for unsure in filter(None, (each.unsure for each in planned.values())):
        output.warning(f"{unsure}; run kustomize build to see whether it fits here")
    return {path: each for path, each in planned.items() if each.changed}


def _replaced(enabled: Mapping[str, Switched], package: Path) -> dict[str, tuple[bytes, bytes]]:
    """Return the kustomization of a package in which options are enabled, with its bytes before and after."""
    switched = enabled.get(os.path.realpath(package)) if enabled else None
    return {switched.file: (switched.before, switched.after)} if switched else {}


def _checked(directory: Path, words: Sequence[str], parsed: Flags) -> Path:
    """Return a directory with setters of its own, or the only use case below it; refuse another one."""
    if any(os.path.exists(directory / name) for name in directories.KRMFILES) or not directory.is_dir():  # noqa: PTH110
        return directory
    from packyard.using.options import usecases  # most directories are use cases

    if not usecases.is_one(directory) and len(below := usecases.below(directory)) == 1:
        return Path(below[0])
    flags = (f"--{name}={value}" for name in ("unset", "values") for value in parsed.values.get(name, ()))
    raise usecases.refusal(directory, "set", (*words, *flags), all_by="-R")


def _beside(directory: Path, names: Sequence[str], options: Sequence[str], *, recursive: bool) -> Beside | None:
    """Find the options that setting these names reaches; some are going to be enabled."""
    if not (recursive or options) and not folder.has_components(directory):
        return None
    from packyard.using.options.option_setters import reach  # most use cases have no option enabled

    return reach(directory, names, recursive=recursive, options=options)


def _shipped(directory: Path) -> Mapping[str, str | Sequence[str] | None]:
    """Return the values that the package of a directory was shipped with."""
    from packyard.core.bundle import shipped

    return shipped.values(directory)


def _title(values: Mapping[str, Sequence[str]], unset: Sequence[str], options: Sequence[str]) -> str:
    words = [f"{name}={','.join(texts)}" for name, texts in values.items()]
    return ", ".join([*words, *(f"--unset {name}" for name in unset), *(f"options: {name}" for name in options)])


def _values(directory: Path, words: list[str]) -> Mapping[str, Sequence[str]]:
    if not words:
        return {}
    if "=" not in words[0]:
        if len(words) < 2:
            name, _, text = words[0].partition(":")
            pair = f"{name}={quote(text.strip() or 'VALUE')}"  # who writes YAML may write NAME:VALUE
            raise _usage(directory, f"a value for {name} is missing", pair)
        return {words[0]: words[1:]}
    return directories.values(words, "set")


def _usage(directory: Path, message: str, words: str = "NAME=VALUE") -> UsageError:
    return UsageError(f"packyard set: {message}; type packyard set {_typed(directory)} {words}")


def _typed(directory: Path) -> str:
    from packyard.core.bundle import address  # for who has to type something else

    return address.typed(directory)


def _files(changes: Sequence[PackageChange]) -> dict[str, tuple[bytes | None, bytes | None]]:
    """Return every file with its bytes before and after; two packages may reach one, and the first saw it as it was."""
    files: dict[str, tuple[bytes | None, bytes | None]] = {}
    for change in changes:
        for path, data in change.plan.files.items():
            whole = f"{change.package}/{path}" if change.package else path
            before = files[whole][0] if whole in files else change.before.files[path]
            files[whole] = (before, data)
    return files


def _tell(change: PackageChange, where: str) -> None:
    from packyard.using.setters import handedits

    for edit in handedits.overwritten(change.plan.changes, change.plan.former):
        output.note(f"{os.path.normpath(edit.file)}:{edit.line}: {edit.path} was {edit.text!r}, edited by hand")
    for name, count in change.plan.counts.items():
        former, new = change.plan.former.setters.get(name), _shown(change.plan.definitions.setters[name])
        old = _shown(former) if former else ""
        became = f"is {new}" if old in (shown(""), "", new) else f"{old} → {new}"
        output.line(f"{where}{name} {became} ({output.counted(count, 'field')})")
    for item in change.plan.changes if output.verbose else ():
        if item.old != item.new:
            place = f"{os.path.normpath(item.file)}:{item.line}"
            output.detail(f"{place}: {item.path}: {shown(item.old)} → {shown(item.new)}")


def _shown(setter: Setter) -> str:
    """Return a setter's value for people."""
    return shown(", ".join(setter.values or ()) or setter.value or ("[]" if setter.is_list else ""))
