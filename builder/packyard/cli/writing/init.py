"""Begin a workspace for packages of your own, which builds on the bases and overlays that packyard carries.

In a workspace that is there, --github, --gitlab and --editor add their files alone.
"""

from pathlib import Path

from packyard.cli import declare, output
from packyard.cli.rows import Rows
from packyard.core.errors import UsageError
from packyard.core.files.paths import WORKSPACE
from packyard.writing.authoring import init
from packyard.writing.source import workspace

ROWS = Rows("file", "file", line="{file}")
EXAMPLE = "packyard init my-models"


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("directory", metavar="DIR", help="a new folder, or one without a workspace")
    parser.value("--name NAME", "the name of the catalogue (default: that of the folder)")
    text = "the SPDX identifier of a licence for all packages, unless there is a LICENSE"
    parser.value("--license ID", text, default="Apache-2.0")
    parser.switch("--github", "write the release job of GitHub Actions, too")
    parser.switch("--gitlab", "write the release job of GitLab, too")
    parser.switch("--editor", "write the JSON Schemas of all files, and settings for editors, too")


def run(arguments: declare.Arguments) -> None:
    """Write the workspace, and read it as every other verb will do."""
    if not arguments.directory:
        raise UsageError("packyard init: DIR is empty; packyard init . begins a workspace here")
    directory = Path(arguments.directory)
    name = arguments.name or directory.resolve().name
    more = init.more(kind for kind in init.MORE if getattr(arguments, kind))
    is_new = not (more and (directory / WORKSPACE).is_file())
    written = init.write(directory, {**(init.files(name, "use-cases", arguments.license) if is_new else {}), **more})
    workspace.read(directory)
    if ROWS.show([(path,) for path in written], arguments.output) and is_new:
        output.note(f"go on in {directory}: packyard new --list, then packyard new NAME --base job")
