"""What `make docs` draws into docs/generated/terminal.svg: commands as a terminal of 80 columns shows them."""

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from documents import pages

PICTURE = pages.DOCS / "generated/terminal.svg"
COMMANDS = (
    "packyard get llm-serving",
    "packyard set llm-serving/one-node PVC_NAME=models GPUS=2",
    "packyard set llm-serving/one-node GPUS=many",
    "packyard render llm-serving/one-node >manifests.yaml",
    "packyard undo",
)
#: rich's own names a font on another host.
_FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "Fira Code", "ui-monospace"
)


def drawn() -> str:
    """Return the picture of a run of the commands, in an empty folder."""
    console = Console(record=True, width=80, file=io.StringIO(), highlight=False)
    with tempfile.TemporaryDirectory() as folder:
        shell = f'packyard() {{ {shlex.quote(sys.executable)} -P -m packyard "$@"; }}; exec 2>&1; ' + "; ".join(
            f"printf '\\033[1m$ %s\\033[0m\\n' {shlex.quote(command)}; {command}" for command in COMMANDS
        )
        homes = dict.fromkeys(("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), folder)
        environment = {**os.environ, **homes, "COLUMNS": "80", "PYTHONUNBUFFERED": "1"}
        words = ["sh", "-c", f"mkdir work; cd work; {shell}"]
        done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    console.print(Text.from_ansi(done.stdout), end="")
    return console.export_svg(title="packyard", theme=MONOKAI, code_format=_FORMAT, unique_id="terminal")


if __name__ == "__main__":
    PICTURE.write_text(drawn(), "utf-8")
