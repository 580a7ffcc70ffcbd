"""Files that a package ships as they are. Scripts must have their run bit, which a checkout may have lost."""

from collections.abc import Iterator
from posixpath import basename

from packyard.core.errors import Problem
from packyard.core.files.filenames import reserved
from packyard.core.yaml.sources import Sources
from packyard.writing.source.library import LEFT
from packyard.writing.source.workspace import authored

DIRECTORY = "files"


def find(sources: Sources, package_dir: str) -> list[str]:
    """Return the files that a package ships as they are, sorted; not what editors and file managers leave there."""
    return authored(sources, f"{package_dir}/{DIRECTORY}", "**/*")


def check(sources: Sources, package_dir: str) -> Iterator[Problem]:
    """Find what cannot be shipped, and scripts that cannot be run."""
    for path in sources.list(f"{package_dir}/{DIRECTORY}", "**/*"):
        file = sources.shown(path)
        if reason := reserved(name := basename(path)):
            yield Problem(f"the name {name!r} {reason}", file=file, hint="rename it, or remove it")
        is_sound = sources.is_file(path) or (sources.is_folder(path) and not sources.is_link(path))
        if not is_sound and not LEFT.search(path):
            yield Problem("is neither a file nor a folder, or a link to a folder", file=file)
    for path in find(sources, package_dir):
        if sources.read(path).startswith(b"#!") and not sources.is_executable(path):
            hint = f"chmod +x {basename(path)}"
            yield Problem("a script without its run bit", file=sources.shown(path), line=1, hint=hint)
