"""`cfg delete-setter` and `cfg delete-subst`, which kpt had and kustomize forgot to offer."""

from __future__ import annotations

from collections.abc import Sequence

from packyard.cli.cfg import blocks
from packyard.cli.flags import Declared
from packyard.using.setters.packages import PackageFiles
from packyard.using.setters.plan import Plan
from packyard.writing.authoring import delete

FLAGS = Declared({"recurse-subpackages": False})


def delete_setter(words: Sequence[str]) -> int:
    """usage: packyard cfg delete-setter DIR NAME [flags]

    Delete a setter, and the comments that mark its fields.

      -R, --recurse-subpackages  in packages below DIR, too
    """
    return _delete(words, "setter")


def delete_subst(words: Sequence[str]) -> int:
    """usage: packyard cfg delete-subst DIR NAME [flags]

    Delete a substitution, and the comments that mark its fields.

      -R, --recurse-subpackages  in packages below DIR, too
    """
    return _delete(words, "substitution")


def _delete(words: Sequence[str], kind: str) -> int:
    parsed = FLAGS.parse(words)
    folder, name = blocks.arguments(parsed, 2, 2)

    def plan_package(package: PackageFiles) -> tuple[Plan, str]:
        return delete.delete(package, kind, name), f'deleted {kind} "{name}"'

    title = f"cfg delete {kind} {name}"
    return blocks.change(folder, plan_package, title=title, recursive=parsed.switches["recurse-subpackages"])
