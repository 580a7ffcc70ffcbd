"""Lint of many packages, and what it takes to parse them.  lint.py PACKAGES FILES RUNS"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import real
from bench.measuring import compare, process
from catalogue import workspaces
from packyard.core.yaml.document import parse_file
from packyard.using.options.folder import PROGRAMS

PACKYARD = Path(sys.executable).with_name("packyard")


def measure(folder: Path, packages: int, files: int, runs: int) -> None:
    """Print the line of the table."""
    built, root = folder / "built", folder / "packages"
    process(PACKYARD, "build", "--workspace", real.REPOSITORY, "--version", "1.0.0", "--out", built, "--no-cache")()
    names = [name for name in workspaces.names() if "fp32" in name]
    for number in range(packages):
        _few(built / names[number % len(names)], root / f"p-{number:03}", files // packages)
    found = [file for file in workspaces.files(root) if file.suffix == ".yaml" or file.name == "Krmfile"]

    def parse() -> None:
        for file in found:
            parse_file(file.read_bytes(), file.name)

    what = f"packyard lint, {len(found):,} files of {packages} packages; our parse"
    compare(what, process(PACKYARD, "lint", root, "-q"), parse, goal="5 x the time", runs=runs)


def _few(package: Path, copy: Path, most: int) -> None:
    """Copy some use cases of a package, up to so many files, with names of their own."""
    count = 0
    copy.mkdir(parents=True)
    shutil.copy(package / "packyard.json", copy)
    for programs in filter(Path.is_dir, package.rglob(PROGRAMS)):
        shutil.copytree(programs, copy / programs.relative_to(package))
    for krmfile in sorted(package.rglob("Krmfile")):
        here = [file for file in krmfile.parent.rglob("*") if file.is_file()]
        if count + len(here) > most and count:
            continue
        target = copy / krmfile.parent.relative_to(package)
        shutil.copytree(krmfile.parent, target)
        for file in workspaces.files(target):
            file.write_text(file.read_text().replace("fp32", f"f{copy.name[2:]}"))
        count += len(here)


if __name__ == "__main__":
    arguments = [int(word) for word in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as temporary:
        measure(Path(temporary), *(arguments or [200, 4000, 3]))
