"""Print a use case's manifests, for `kubectl apply -f -`; refused while a required value is not set.

packyard render DIR                      of a folder, as it is set
packyard render NAME/USECASE -f FILE     of a package that is not here, as if
                                         the values of a file were set
packyard render NAME@VERSION/USECASE NAME=VALUE --from CHANNEL
packyard render NAME/USECASE --locked    of the version in packyard.lock

Nothing in the working directory is changed.
"""

import os
from pathlib import Path

from packyard.cli import declare, output, packages
from packyard.cli.rows import Rows
from packyard.core.yaml.node import Source
from packyard.using.kustomize import objects
from packyard.using.render import every
from packyard.using.render.render import render

FORMS = ("yaml", "json")
ROWS = Rows("Kubernetes object", "", forms=FORMS)
ALL = Rows("use case", "file", "--to", line="{file}", forms=FORMS)


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    packages.add_arguments(parser)
    parser.switch("--built-in", "use packyard's own builder even if kustomize or kubectl is on PATH")
    parser.value("--to NEW", "a new folder: a file for each use case below DIR, all.yaml for DIR itself")
    parser.former("--out", "--to")


def run(arguments: declare.Arguments) -> None:
    """Render with kustomize or kubectl from PATH, otherwise with packyard's own builder."""
    path = "" if arguments.built_in else os.environ.get("PATH", "")
    all_by = "--to NEW" if arguments.to else ""
    with packages.opened(arguments, "render", all_by=all_by) as use_case:
        flags = ["--built-in"] * arguments.built_in + ([f"--to={arguments.to}"] if arguments.to else [])
        typed = use_case.command("render", *flags)
        with every.with_values(use_case.tree, use_case.values, typed, enabling=use_case.options) as source:
            command = typed if use_case.is_fetched else ""
            if arguments.to:
                written = every.write(every.render_all(source, path=path, command=command), Path(arguments.to))
            else:
                rendered = render(source, path=path, command=command)
    if arguments.to:
        ALL.show([(file,) for file in written], arguments.output)
    elif arguments.output == "yaml":
        output.data(rendered)
    else:
        ROWS.show(objects.parse(Source("", rendered.decode())), arguments.output)
