"""Put a page beside a channel, by which people find, look at, compare, set and verify its packages in a browser.

packyard web CHANNEL
    write the page into the channel
packyard web CHANNEL --open
    show it on this machine alone, and write nothing
packyard web CHANNEL --to DIR
    write it elsewhere; it reads the channel at its https address
packyard web CHANNEL --single-file FILE NAME …
    write one file that holds these packages and needs no server
"""

from __future__ import annotations

import argparse
import webbrowser
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote

from packyard.cli import declare, output, preferences
from packyard.cli.channels import listed, open_channel, trust
from packyard.cli.rows import Rows
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.reference import Reference
from packyard.core.errors import Problem, UnavailableError, UsageError
from packyard.core.files import regular
from packyard.sharing.stores.directory import DirectoryStore
from packyard.sharing.stores.store import Store
from packyard.sharing.trust.keys import LIMIT, PublicKey
from packyard.sharing.web import page, prerender
from packyard.sharing.web.export import export
from packyard.sharing.web.page import Page
from packyard.sharing.web.serve import HOST, server

ROWS = Rows("file", "file, status", line="{status:<10} {file}")
EXAMPLE = "packyard web CHANNEL --open"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("channel", metavar="CHANNEL", help="the channel that the page shows")
    parser.add_argument("references", metavar="NAME[@VERSION]", nargs="*", help="with --single-file, what it holds")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--open", action="store_true", help="serve it on 127.0.0.1, and open it in a browser")
    kind.add_argument("--to", metavar="DIR", help="write the page there; CHANNEL is an https address")
    kind.add_argument("--single-file", metavar="FILE", help="write a page that is one file, with packages inside")
    declare.switch(parser, "--prerender", "also write a page per package, readable without scripts")
    declare.value(parser, "--title TEXT", "what the page is called (default: Packages)")
    declare.value(parser, "--public-key FILE", "a public key that the page names and verifies with", action="append")
    declare.value(parser, "--port PORT", "with --open (default: one that is free)", type=int, default=0)


def run(arguments: argparse.Namespace) -> int:
    """Write the page, or serve it until it is interrupted."""
    _check(arguments)
    store = open_channel(arguments.channel)
    if arguments.single_file:
        return _single(arguments, store)
    if arguments.open:
        return _open(arguments, store)
    target: Store = DirectoryStore(Path(arguments.to)) if arguments.to else store
    if arguments.to:
        Path(arguments.to).mkdir(parents=True, exist_ok=True)
    about = _page(arguments, page.present(target) or Page())
    more, without_scripts = _prerendered(arguments.channel) if arguments.prerender else ({}, "")
    ROWS.show(list(page.write(target, about, more, without_scripts).items()), arguments.output)
    again = f"packyard web {quote(arguments.channel)} --open"
    output.note(f"the page is {target.address.rstrip('/')}/{page.INDEX}; to look at it: {again}")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Refuse flags that do not go together."""
    page.check_address(arguments.channel)
    if arguments.references and not arguments.single_file:
        raise UsageError("packyard web: packages are named together with --single-file FILE")
    if arguments.single_file and not arguments.references:
        raise UsageError("packyard web --single-file: name the packages that the file holds")
    if arguments.prerender and (arguments.single_file or arguments.open or arguments.to):
        raise UsageError("packyard web: --prerender writes pages beside the channel, and goes with none of the others")
    if arguments.to and not arguments.channel.startswith(("https://", "http://")):
        raise UsageError("packyard web --to: name the channel by the https address at which browsers read it")


def _page(arguments: argparse.Namespace, present: Page) -> Page:
    """Return what the page says: what is asked for, and otherwise what it said before."""
    keys = present.keys if arguments.public_key is None else tuple(map(_key, arguments.public_key))
    title = present.title if arguments.title is None else arguments.title
    return replace(present, title=title, keys=keys, channel=arguments.channel if arguments.to else "")


def _key(file: str) -> str:
    return PublicKey.parse(regular.read(Path(file), limit=LIMIT), file=file).to_pem().decode()


def _single(arguments: argparse.Namespace, store: Store) -> int:
    references = [Reference.parse(each) for each in arguments.references]
    about = replace(_page(arguments, Page()), address=store.address)
    trusted, memory = trust(arguments.channel), preferences.memory(arguments.channel)
    data = export(store, references, about, trusted, memory)
    try:
        Path(arguments.single_file).write_bytes(data)
    except OSError as error:
        raise UnavailableError(Problem(f"cannot be written: {error.strerror}", file=arguments.single_file)) from error
    ROWS.show([(arguments.single_file, "written")], arguments.output)
    return 0


def _open(arguments: argparse.Namespace, store: Store) -> int:
    listed(arguments.channel, store)  # refuses what is no channel
    present = page.present(store) if isinstance(store, DirectoryStore) else None
    about = replace(_page(arguments, present or Page()), address=store.address)
    try:
        serving = server(store, page.written(about), arguments.port)
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


def _prerendered(address: str) -> tuple[Mapping[str, bytes], str]:
    """Return a page for each package by its key, and the list of them in HTML."""
    store = open_channel(address)
    style = next(key for key in page.assets() if key.endswith(".css"))
    packages = [each for each in listed(address, store).packages() if each.latest and not each.kind]
    pages = {}
    for package in packages:
        if entry := package.latest:
            data = store.get(entry.key)
            entry.verify(data)
            pages[prerender.key(package.name)] = prerender.prerender(package, Bundle.open(data).members, style)
    return pages, prerender.listed(packages)
