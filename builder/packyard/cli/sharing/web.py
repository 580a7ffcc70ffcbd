"""Write a page for a channel, on which people search its packages, look at them and compose commands in a browser.

packyard web CHANNEL
    write it beside the channel: index.html, 404.html and the folder web/
packyard web CHANNEL --open
    show it on this machine alone, and write nothing
packyard web CHANNEL --to DIR
    write it elsewhere: of a channel that is only read, or a registry

It is as old as the last `packyard web` or `publish --web`.
"""

from __future__ import annotations

import argparse
import tempfile
import webbrowser
from pathlib import Path
from shlex import quote

from packyard.cli import declare, output, progress
from packyard.cli.channels import listed, open_channel
from packyard.cli.rows import Rows
from packyard.cli.sharing import web_content
from packyard.core.errors import InputError, Problem, UnavailableError, UsageError
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import ReadOnly, Store
from packyard.sharing.web import page
from packyard.sharing.web.serve import HOST, server

ROWS = Rows("file", "file, status", line="{status:<10} {file}")
EXAMPLE = "packyard web CHANNEL --open"
_PORTS = 65_536


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("channel", metavar="CHANNEL", help="the channel that the page shows")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--open", action="store_true", help="serve it on 127.0.0.1, and open it in a browser")
    where.add_argument("--to", metavar="DIR", help="write the page there")
    declare.value(parser, "--port PORT", "with --open (default: one that is free)", type=int, default=0)


def run(arguments: argparse.Namespace) -> int:
    """Write the page, or serve it until it is interrupted."""
    if not 0 <= arguments.port < _PORTS:
        raise UsageError(f"packyard web: --port must be a number from 0 to {_PORTS - 1}, found {arguments.port}")
    if arguments.open:
        return _open(arguments)
    target = _target(arguments)
    page.check(target)
    made = _made(arguments.channel, is_beside=not arguments.to)
    if arguments.to:
        Path(arguments.to).mkdir(parents=True, exist_ok=True)
    ROWS.show(list(page.write(target, made).items()), arguments.output)
    again = f"packyard web {quote(arguments.channel)} --open"
    output.note(f"the page is {target.address.rstrip('/')}/{page.INDEX}; to look at it: {again}")
    return 0


def write(channel: str, store: Store) -> None:
    """Write the page of a channel into it."""
    page.check(store)
    page.write(store, _made(channel, is_beside=True))
    output.note(f"the page is {store.address.rstrip('/')}/{page.INDEX}")


def check(channel: str) -> None:
    """Refuse a channel beside which no page can be written."""
    scheme, is_address, _ = channel.partition("://")
    if is_address and scheme.lower().startswith("oci"):
        hint = f"write it elsewhere: packyard web {quote(channel)} --to DIR"
        raise InputError(Problem("a registry serves no pages", file=channel, hint=hint))


def _target(arguments: argparse.Namespace) -> Store:
    """Return where the page is to be, or refuse what cannot be written to."""
    if arguments.to:
        return DirectoryStore(Path(arguments.to))
    check(arguments.channel)
    store = open_channel(arguments.channel)
    if isinstance(store, ReadOnly):
        hint = f"write the page elsewhere: packyard web {quote(arguments.channel)} --to DIR"
        raise InputError(Problem("is only read over HTTP", file=store.address, hint=hint))
    return store


def _made(channel: str, *, is_beside: bool) -> dict[str, bytes]:
    """Return the files of the page of a channel; beside that, it reads from its own place where the channel is."""
    store = open_channel(channel)
    address = store.address if "://" in store.address else str(Path(store.address).resolve())
    is_web = address.startswith(("https://", "http://"))
    at = f"{address.rstrip('/')}/" if is_web else "../../" if is_beside else ""
    with progress.busy("reading packages"), output.without("messages"):
        packages = list(web_content.packages(listed(channel, store), channel, store))
    return page.files(packages, address="" if is_beside else address, bundles=at)


def _open(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        page.write(DirectoryStore(Path(folder)), _made(arguments.channel, is_beside=False))
        try:
            serving = server(Path(folder), arguments.port)
        except OSError as error:
            problem = f"port {arguments.port} of {HOST} cannot be used: {error.strerror}"
            raise UnavailableError(Problem(problem, hint="choose another: --port PORT")) from error
        address = f"http://{HOST}:{serving.server_port}/"
        ROWS.show([(address, "serving")], arguments.output)
        output.flush()
        output.note("Ctrl-C ends it")
        with serving:
            if output.on_terminal():
                webbrowser.open(address)
            serving.serve_forever()
    return 0
