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

from packyard.cli import libraries, output
from packyard.cli.rows import Rows
from packyard.core.bundle import bundle as bundles
from packyard.core.files import git, regular
from packyard.sharing.fetching.verify import Proof
from packyard.writing.build.packing import Packing, Settings


def compare(file: Path, proof: Proof, root_dir: Path, rows: Rows, form: str) -> int:
    """Build the package of a file again from a workspace; 1 if the tars differ."""
    bundle = proof.bundle
    source = proof.provenance.source if proof.provenance else None
    with ExitStack() as stack:
        if source and not source.dirty and git.has(root_dir, source.commit):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="packyard-")))
            root_dir = git.check_out(root_dir, source.commit, folder)
            output.note(f"the sources are those of commit {source.commit}")
        else:
            recorded = f"commit {source.commit}{' with changes' * source.dirty}" if source else "no commit"
            output.note(f"the sources are the files in {root_dir}; {recorded} is recorded")
        how = Settings(root_dir=root_dir, version=bundle.version, libraries=libraries.read(root_dir).libraries)
        built = Packing(how)(bundle.name).bundle()
    with regular.opened(file) as opened:
        before = bundles.contents(opened, what=str(file))
    after = bundles.contents(io.BytesIO(built.data), what=built.name)
    different = [
        (path, "missing" if path not in after else "changed" if path in before else "extra")
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    ]
    if rows.show([(built.name, built.version, bundle.tar, built.tar, different)], form):
        for path, state in different:
            output.line(f"{state:<8} {path}")
        says = "the same, tar" if built.tar == bundle.tar else f"differs: the tar is {bundle.tar}, built again it is"
        output.line(f"{built.name} {built.version}: {says} {built.tar}")
    return int(built.tar != bundle.tar)
