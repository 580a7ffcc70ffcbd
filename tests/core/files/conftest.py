"""What the tests of this room share."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def open_dir() -> Iterator[Path]:
    """A folder that every user may enter."""
    made = Path(tempfile.mkdtemp(prefix="packyard-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)
