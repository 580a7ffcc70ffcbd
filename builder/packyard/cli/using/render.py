"""Print a use case's manifests, for `kubectl apply -f -`; refused while a required value is not set."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from packyard.cli import declare, output, state
from packyard.cli import directory as directories
from packyard.cli.rows import Rows
from packyard.cli.using import edits
from packyard.core.errors import InputError, Problem
from packyard.core.files.tree import Tree
from packyard.core.yaml.node import Source
from packyard.using.options import usecases
from packyard.using.render import every
from packyard.using.render.render import render

FORMS = ("yaml", "json")
ROWS = Rows("Kubernetes object", "", forms=FORMS)
ALL = Rows("use case", "file", "--out", line="{file}", forms=FORMS)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    directories.add_arguments(parser, "[NAME=VALUE...]")
    declare.switch(parser, "--built-in", "use packyard's own builder even if kustomize or kubectl is on PATH")
    declare.value(parser, "-f --values FILE", "also as if the values of this file were set")
    declare.value(parser, "--out NEW", "a new folder, for a file for each use case below DIR")


def run(arguments: argparse.Namespace) -> int:
    """Render with kustomize or kubectl from PATH, otherwise with packyard's own builder."""
    directory, values, words = directories.with_values(arguments.words, "render")
    if arguments.values:
        of_file, options = directories.values_file(arguments.values)
        if options:
            message = "has options, and render enables none"
            raise InputError(Problem(message, file=arguments.values, hint="packyard set DIR -f does"))
        values = {**of_file, **values}
    if not arguments.out:
        directory = usecases.chosen(directory, "render", words, all_by="--out NEW")
    state.tell_pending(Tree(directory))
    path = "" if arguments.built_in else os.environ.get("PATH", "")
    flags = ["--built-in"] * arguments.built_in + (["--values", arguments.values] if arguments.values else [])
    flags += ["--out", arguments.out] if arguments.out else []
    typed = shlex.join(["packyard", "render", str(directory), *flags])
    with every.with_values(directory, values, typed) as source:
        if arguments.out:
            written = every.write(every.render_all(source, path=path), Path(arguments.out))
        else:
            rendered = render(source, path=path)
    edits.tell_by_hand(directory)
    if arguments.out:
        ALL.show(written, arguments.output)
    elif ROWS.show(_objects(rendered), arguments.output):
        output.data(rendered)
    return 0


def _objects(rendered: bytes) -> Iterator[object]:
    from packyard.using.kustomize import objects

    for item in objects.parse(Source("", rendered.decode())):
        yield item.root
