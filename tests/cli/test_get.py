"""`get` from a channel reads a bundle, and loads nothing of what makes one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from channel.examples import bundle
from packyard.channel.publish import publish
from packyard.channel.stores.directory import DirectoryStore

#: What makes bundles, and the libraries that it needs.
MAKERS = (
    "packyard.build",
    "packyard.source",
    "packyard.setters",
    "packyard.kubernetes",
    "packyard.yaml",
    "jinja2",
    "yaml",
)

GET = """
import sys
from packyard.cli.main import main
code = main(sys.argv[1:])
print(*sorted(sys.modules), sep="\\n")
sys.exit(code)
"""


def test_get_from_a_channel_loads_nothing_that_makes_bundles(tmp_path: Path) -> None:
    channel = tmp_path / "channel"
    publish(DirectoryStore(channel), [bundle()])
    words = ["get", "bert", "--from", str(channel), "--into", str(tmp_path / "here")]
    done = subprocess.run([sys.executable, "-c", GET, *words], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.splitlines() for maker in MAKERS if f"{name}.".startswith(f"{maker}.")}
    assert not loaded
    assert (tmp_path / "here" / "bert" / "packyard.json").is_file()
