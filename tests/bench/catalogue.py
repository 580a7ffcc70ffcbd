"""The catalogue, renamed many times over: built, built again, packed by others.  catalogue.py COPIES RUNS

The copies are packages of other models: no file of theirs but scripts and license has the bytes of another's.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import real
from bench.measuring import compare, peak, process, void
from catalogue import workspaces
from packyard.writing.source import package, workspace

PACKYARD = Path(sys.executable).with_name("packyard")
HELM = real.TOOLS / "helm"
OVERLAY = "overlays/storage/user-mounted-nfs/pods.yaml"
RARE = "overlays/storage/efs/kustomization.yaml"  # which few packages have


def measure(folder: Path, copies: int, runs: int) -> None:
    """Print the lines of the table that are about many packages."""
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    root = workspaces.multiply(folder / "sources", copies)
    out, kept, tars, charts = (folder / name for name in ("out", "kept", "tars", "charts"))
    build = (PACKYARD, "build", "--workspace", root, "--version", "1.0.0", "--out")
    anew = process(*build, out, "--no-cache")
    process(*build, kept)()
    names = sorted(path.name for path in kept.iterdir() if path.is_dir())
    count = f"{len(names):,} packages"
    print(f"the catalogue {copies} times: {count}")

    def clear() -> None:
        for path in (out, tars):
            shutil.rmtree(path, ignore_errors=True)
        tars.mkdir()

    pack = 'for name in *; do [ ! -d "$name" ] || tar -cf - "$name" | gzip -9n > "$0/$name.tar.gz"; done'
    tar_and_gzip = in_folder(kept, "sh", "-c", pack, tars)
    compare(f"packyard build, {count}; tar | gzip -9 of the same", anew, tar_and_gzip, goal="3 x the time", runs=runs,
            ahead=clear)  # fmt: skip
    if HELM.exists():
        for name in names:
            make_chart(charts / name, kept / name)
        package = in_folder(charts, HELM, "package", *names, "--destination", tars)
        compare(f"packyard build, {count}; helm package of the same", anew, package, goal="-", runs=runs, ahead=clear)
    rebuild = process(*build, kept)
    compare(f"packyard build, {count}; nothing changed", rebuild, anew, goal="20 x faster", runs=runs, ahead=clear)

    turn = iter(range(10**6))

    def change() -> None:
        clear()
        file = root / OVERLAY
        file.write_text(f"{file.read_text()}# {next(turn)}\n")

    compare(f"packyard build, {count}; one overlay changed", rebuild, anew, goal="-", runs=runs, ahead=change)
    print(f"  of which depend on that overlay {len(dependents(root, OVERLAY))}")
    versions = iter(range(10**6))
    named = (PACKYARD, "build", "--workspace", root, "--out", kept, "--version")

    def again() -> None:
        process(*named, f"2.{next(versions)}.0")()

    compare(f"packyard build, {count}; another version", again, anew, goal="-", runs=runs, ahead=clear)
    lint = (PACKYARD, "lint", "--workspace", root, *names[:: max(1, copies)])
    linted = process(*lint)
    compare(
        "packyard lint, each package once; use cases kept", linted, process(*lint, "--no-cache"), goal="-", runs=runs
    )
    few = names[: len(names) // 4]
    channels = (folder / "few", folder / "all")
    publish = (PACKYARD, "publish", "--workspace", root, "--version", "1.0.0", "--no-cache", "--jobs", "1", "--to")
    peaks = [peak(*publish, channel, *chosen) for channel, chosen in zip(channels, (few, names), strict=True)]
    print(f"peak memory of a publish: {peaks[0]:.0f} MB for {len(few):,} packages, {peaks[1]:.0f} MB for {count}")
    peaks = [peak(*build, out, "--no-cache", "--jobs", "1", *chosen) for chosen in (few, names)]
    print(f"peak memory of one process: {peaks[0]:.0f} MB for {len(few):,} packages, {peaks[1]:.0f} MB for {count}")
    for number in (number for number in (1, 2, 3, 4, 8) if number <= len(names)):
        chosen = names[:: len(names) // number][:number]
        workers = process(*build, out, "--no-cache", "--jobs", "2", *chosen)
        alone = process(*build, out, "--no-cache", "--jobs", "1", *chosen)
        compare(f"packyard build in workers, without; packages: {number}", workers, alone, goal="-", runs=runs,
                ahead=clear)  # fmt: skip
    measure_impact(root, process(*build, out, "--no-cache", *dependents(root, RARE)), runs, clear)


def measure_impact(root: Path, build: Callable[[], None], runs: int, ahead: Callable[[], None]) -> None:
    """Compare `impact`, which composes twice what a change touches, with a build of that."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for words in (("init", "--quiet"), ("add", "."), (*who, "commit", "--quiet", "--message", "x")):
        process("git", "-C", root, *words)()
    with (root / RARE).open("a") as file:
        file.write("# changed\n")
    touched = dependents(root, RARE)
    what = f"packyard diff --git, {len(touched)} touched of all; build of these"
    impact = process(PACKYARD, "diff", "--git", "--no-cache", "--workspace", root)
    compare(what, impact, build, goal="4 x the time", runs=runs, ahead=ahead)


def in_folder(folder: Path, *command: object) -> Callable[[], None]:
    words = [str(word) for word in command]
    return lambda: void(subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL))


def make_chart(chart: Path, package: Path) -> None:
    """Make a chart of a package's files."""
    shutil.copytree(package, chart / "files")
    about = {"apiVersion": "v2", "name": package.name, "version": "1.0.0", "description": "The same files."}
    (chart / "Chart.yaml").write_text(json.dumps(about))


def dependents(root: Path, file: str) -> list[str]:
    """Return the names of the packages that have an overlay."""
    overlay, sources = Path(file).parent.parts[1:], workspace.read(root)
    found = (package.read(sources, name) for name in sources.package_names())
    return [item.name for item in found if any(overlay in use_case.overlays for use_case in item.use_cases)]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="packyard-bench-") as work:
        measure(Path(work), *map(int, sys.argv[1:]))
