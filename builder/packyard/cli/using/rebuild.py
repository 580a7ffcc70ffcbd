"""`verify --rebuild`: builds a published package again from its sources, and compares.

The provenance says from which commit it was built: if the repository around the workspace has that commit, the sources
are those of the commit, and nothing in the workspace is changed. Otherwise they are the files as they are there. Tars
are compared by their digests, and file by file where those differ.
"""

from __future__ import annotations

import io
import tempfile
from contextlib import ExitStack
from pathlib import Path

from packyard import __version__
from packyard.cli import libraries, output
from packyard.cli.rows import Rows
from packyard.core.bundle import bundle as bundles
from packyard.core.files import git, regular
from packyard.sharing.fetching.verify import Proof
from packyard.sharing.trust.provenance import Provenance, installed_libraries
from packyard.writing.build.packing import Packing, Settings
from packyard.writing.build.product import Built


def compare(file: Path, proof: Proof, root_dir: Path, rows: Rows, form: str) -> int:
    """Build the package of a file again from a workspace; 1 if the tars differ."""
    bundle, provenance = proof.bundle, proof.provenance
    source = provenance.source if provenance else None
    with ExitStack() as stack:
        if source and not source.dirty and git.has(root_dir, source.commit):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="packyard-")))
            root_dir = git.check_out(root_dir, source.commit, folder)
            output.note(f"the sources are those of commit {source.commit}")
        else:
            output.note(f"the sources are the files in {root_dir}{_why(provenance)}")
        how = Settings(root_dir=root_dir, version=bundle.version, libraries=libraries.read(root_dir).libraries)
        built = Packing(how)(bundle.name)
    _tell_others(provenance)
    different = [] if built.tar == bundle.tar else _differences(file, built)
    is_same, inputs = built.tar == bundle.tar, _inputs(provenance, built)
    is_text = rows.show([(built.name, built.version, bundle.tar, built.tar, inputs, different)], form)
    if is_text and is_same:
        output.line(f"{built.name} {built.version}: the same, tar {built.tar}")
    elif is_text:
        for path, state in different:
            output.line(f"{state:<8} {path}")
        for path in inputs:
            output.note(f"the source {path} is not the one that was built from")
        output.note(f"{built.name} {built.version}: differs: the tar is {bundle.tar}, built again it is {built.tar}")
    return int(not is_same)


def _why(provenance: Provenance | None) -> str:
    """Say why the sources are not those of a commit."""
    if provenance is None or provenance.source is None:
        return ": no commit is recorded"
    source = provenance.source
    if source.dirty:
        return f": commit {source.commit} is recorded, with changes that were not committed"
    where = f" (it is in {source.url})" if source.url else ""
    return f", which has not the commit {source.commit}{where}"


def _tell_others(provenance: Provenance | None) -> None:
    """Say which packyard and libraries are others than the recorded ones."""
    if provenance is None:
        return
    here = {"packyard": __version__, **installed_libraries()}
    for name, version in {"packyard": provenance.packyard, **provenance.libraries}.items():
        if here.get(name) != version:
            output.note(f"it was built by {name} {version}, and again by {name} {here.get(name, 'none')}")


def _differences(file: Path, built: Built) -> list[tuple[str, str]]:
    """Return the files that differ, and how: from the file to what was built again."""
    with regular.opened(file) as opened:
        before = bundles.contents(opened, what=str(file))
    after = bundles.contents(io.BytesIO(built.data), what=built.name)
    differences = []
    for path in sorted({*before, *after}):
        if path not in after or path not in before:
            differences.append((path, "missing" if path not in after else "extra"))
        elif before[path] != after[path]:
            differences.append((path, "changed" if before[path][0] != after[path][0] else "mode"))
    return differences


def _inputs(provenance: Provenance | None, built: Built) -> list[str]:
    """Return the sources that differ from the recorded ones."""
    if provenance is None or not provenance.inputs:
        return []
    return sorted({path for path, _ in {*provenance.inputs.items()} ^ {*built.inputs.items()}})
