"""`cfg delete-setter` and `cfg delete-subst`, which kpt had and kustomize forgot to offer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from packyard.cli.cfg import blocks
from packyard.cli.flags import Declared
from packyard.core.errors import UsageError
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Plan
from packyard.writing.authoring import delete

FLAGS = Declared({"recurse-subpackages": False})


def delete_setter(words: Sequence[str]) -> int:
    """Delete a setter and the comments that refer to it."""
    return _delete(words, "delete-setter", "setter", delete.delete_setter)


def delete_subst(words: Sequence[str]) -> int:
    """Delete a substitution and the comments that refer to it."""
    return _delete(words, "delete-subst", "substitution", delete.delete_substitution)


def _delete(words: Sequence[str], command: str, kind: str, plan_deletion: Callable[[PackageFiles, str], Plan]) -> int:
    parsed = FLAGS.parse(words)
    if len(parsed.arguments) != 2:
        raise UsageError(f"accepts 2 arg(s), received {len(parsed.arguments)}")
    folder, name = parsed.arguments

    def plan_package(package: PackageFiles) -> tuple[Plan, str]:
        return plan_deletion(package, name), f"deleted {kind} {blocks.quoted(name)}"

    title = f"cfg {command} {name}"
    return blocks.change(folder, plan_package, title=title, recursive=parsed.switches["recurse-subpackages"])
