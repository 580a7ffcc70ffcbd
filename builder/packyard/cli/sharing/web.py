"""Write a page for a channel, on which people search its packages, look at them and compose commands in a browser.

packyard web CHANNEL
    write it beside the channel: index.html, 404.html and the folder web/
packyard web CHANNEL --open
    show it on this machine alone, and write nothing
packyard web CHANNEL --to DIR
    write it elsewhere: of a channel that is only read, or a registry

It is as old as the last `packyard web`: write it again after publish, yank and gc.
"""

import tempfile
import webbrowser
from pathlib import Path
from shlex import quote

from packyard.cli import declare, output, streams
from packyard.cli.bundles import listed, open_channel
from packyard.cli.rows import Rows
from packyard.cli.sharing import web_content
from packyard.core.errors import InputError, Problem, UnavailableError
from packyard.sharing.stores import as_registry
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import ReadOnly
from packyard.sharing.web import page
from packyard.sharing.web.serve import HOST, server

ROWS = Rows("file", "file, status", line="{status:<10} {file}")
EXAMPLE = "packyard web CHANNEL --open"


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("channel", metavar="CHANNEL", help="the channel that the page shows")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--open", action="store_true", help="serve it on 127.0.0.1, and open it in a browser")
    where.add_argument("--to", metavar="DIR", help="write the page there")
    parser.value("--port PORT", "with --open (default: one that is free)", type=int, default=0)


def run(arguments: declare.Arguments) -> None:
    """Write the page, or serve it until it is interrupted."""
    if arguments.open:
        _open(arguments)
        return
    store = DirectoryStore(Path(arguments.to)) if arguments.to else open_channel(arguments.channel)
    if isinstance(store, ReadOnly):
        reason = "a registry serves no pages" if as_registry(store) else "is only read over HTTP"
        hint = f"write it elsewhere: packyard web {quote(store.address.rstrip('/'))} --to DIR"
        raise InputError(Problem(reason, file=store.address, hint=hint))
    page.check(store)
    files = _made(arguments.channel, is_beside=not arguments.to)
    if arguments.to:
        Path(store.address).mkdir(parents=True, exist_ok=True)
    ROWS.show(list(page.write(store, files).items()), arguments.output)
    output.note(f"the page is {store.address.rstrip('/')}/{page.INDEX}")
    output.note(f"to look at it: packyard web {quote(arguments.channel)} --open")


def _made(channel: str, *, is_beside: bool) -> dict[str, bytes]:
    """Return the files of the page of a channel; beside that, it reads from its own place where the channel is."""
    store = open_channel(channel)
    address = store.address if "://" in store.address else str(Path(store.address).resolve())
    is_web = address.startswith(("https://", "http://"))
    at = f"{address.rstrip('/')}/" if is_web else "../../" if is_beside else ""
    packages = list(web_content.packages(listed(channel, store), channel, store))
    return page.files(packages, address="" if is_beside else address, bundles=at)


def _open(arguments: declare.Arguments) -> None:
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        page.write(DirectoryStore(Path(folder)), _made(arguments.channel, is_beside=False))
        try:
            serving = server(Path(folder), arguments.port)
        except (OSError, OverflowError) as error:
            problem = f"port {arguments.port} of {HOST} cannot be used: {error}"
            raise UnavailableError(Problem(problem, hint="choose another: --port PORT")) from error
        address = f"http://{HOST}:{serving.server_port}/"
        ROWS.show([(address, "serving")], arguments.output)
        streams.flush()
        output.note("Ctrl-C ends it")
        with serving:
            if output.on_terminal():
                webbrowser.open(address)
            serving.serve_forever()
