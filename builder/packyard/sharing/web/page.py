"""The page of a channel: an ``index.html`` beside its folders, and the scripts and styles that it loads from ``web/``.

    index.html            the page; what its channel is, and the keys that its host names, stand in it
    web/app-1A2B3C4D.js   immutable: the name changes with the content
    web/p/bert.html       a page for readers without scripts, and for previews (`prerender`)

The browser reads the channel itself. The page loads nothing from another host, and its Content-Security-Policy says so.
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from shlex import quote
from urllib.parse import urlsplit

from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem
from packyard.sharing.stores.store import Store, get_or_none

INDEX = "index.html"
LIMIT = 1024 * 1024  # bytes of an index.html
_SETTINGS = '<script type="application/json" id="packyard">'
_FOUND = re.compile(re.escape(_SETTINGS) + "(.*?)</script>", re.DOTALL)
_POLICY = re.compile(r'(http-equiv="Content-Security-Policy" content=")[^"]*')
_STYLE = re.compile(r'<link rel="stylesheet" href="[^"]*">')
_PRELOAD = re.compile(r'<link rel="(module)?preload"[^>]*>\n')
_EARLY = re.compile(r"<(script|style)>.*?</\1>\n", re.DOTALL)
_SCRIPT = re.compile(r'<script type="module" src="[^"]*"></script>')


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What a page says of itself; ``keys`` are PEM texts of public keys that its host names.

    ``channel`` is the https address that it reads, empty for the folder in which it lies. ``address`` is the one that
    it shows in commands, empty for where it is read.
    """

    title: str = ""
    channel: str = ""
    address: str = ""
    keys: Sequence[str] = ()

    @classmethod
    def parse(cls, data: bytes, *, file: str) -> Page:
        """Read what an index.html of `written` says, or raise `InputError` if it is somebody else's file."""
        match = _FOUND.search(data.decode("utf-8", "replace"))
        if match is None:
            hint = "move it away, or put the page elsewhere: --to DIR"
            raise InputError(Problem("is there already, and is not a page of packyard's", file=file, hint=hint))
        settings = json.loads(match[1])
        return cls(
            title=settings.get("title", ""), channel=settings.get("channel", ""), keys=tuple(settings.get("keys", ()))
        )

    def settings(self) -> dict[str, object]:
        """Return what the scripts read."""
        settings = {"title": self.title, "channel": self.channel, "from": self.address, "keys": list(self.keys)}
        return {key: value for key, value in settings.items() if value}


def check_address(address: str) -> None:
    """Refuse a channel that no browser reads."""
    if address.lower().startswith("oci"):
        hint = f"copy it to a folder or a bucket: packyard copy {quote(address)} DIR; then packyard web DIR"
        raise InputError(
            Problem("a registry serves no pages, and no browser reads its packages", file=address, hint=hint)
        )


def written(page: Page, listed: str = "") -> dict[str, bytes]:
    """Return the files of a page by their keys; ``listed`` is HTML for readers without scripts."""
    text = _with_settings(_site()[INDEX].decode(), page.settings(), page.title)
    if page.channel:
        parts = urlsplit(page.channel)
        text = text.replace("connect-src 'self'", f"connect-src {parts.scheme}://{parts.netloc}")
    if listed:
        text = re.sub("<noscript>.*?</noscript>", lambda _: listed, text, flags=re.DOTALL)
    return {**assets(), INDEX: text.encode()}


def single(page: Page, content: Mapping[str, bytes], names: Sequence[str]) -> bytes:
    """Return a page that is one file, with what it shows inside: it needs no server.

    ``content`` are files of the channel by their keys, ``names`` the packages that it lists.
    """
    site = _site()
    script, style = site["single.js"].decode(), _styles(site)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "worker-src blob:; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types dompurify packyard"
    )
    held = {key: b64encode(data).decode() for key, data in content.items()}
    text = _with_settings(site[INDEX].decode(), {**page.settings(), "files": held, "names": list(names)}, page.title)
    text = _POLICY.sub(lambda match: match[1] + policy, text)
    text = _EARLY.sub("", _PRELOAD.sub("", text))
    text = _STYLE.sub(lambda _: f"<style>{style}</style>", text)
    return _SCRIPT.sub(lambda _: f"<script>{script}</script>", text).encode()


def write(store: Store, page: Page, more: Mapping[str, bytes], listed: str = "") -> dict[str, str]:
    """Write a page into a channel; return what was done with each file. ``more`` are further pages."""
    states = {}
    for key, data in {**more, **written(page, listed)}.items():  # the page that refers to the others comes last
        before = get_or_none(store, key, limit=LIMIT)
        if before != data:
            store.swap(key, data, None if before is None else Digest.of(before))
        states[key] = "unchanged" if before == data else "written"
    return states


def present(store: Store) -> Page | None:
    """Return what the page of a channel says, or None if it has none."""
    data = get_or_none(store, INDEX, limit=LIMIT)
    return None if data is None else Page.parse(data, file=f"{store.address}: {INDEX}")


def assets() -> Mapping[str, bytes]:
    """Return the scripts and styles by their keys."""
    return {key: data for key, data in _site().items() if key.startswith("web/")}


def _with_settings(text: str, settings: Mapping[str, object], title: str) -> str:
    data = json.dumps(settings, ensure_ascii=False).replace("<", "\\u003c")
    text = _FOUND.sub(lambda _: f"{_SETTINGS}{data}</script>", text)
    return re.sub('(<title>|href="#/">)Packages<', lambda match: f"{match[1]}{html.escape(title or 'Packages')}<", text)


def _styles(site: Mapping[str, bytes]) -> str:
    return next(data.decode() for key, data in site.items() if key.endswith(".css"))


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def _site() -> Mapping[str, bytes]:
    folder = Path(__file__).parent / "site"
    return {each.relative_to(folder).as_posix(): each.read_bytes() for each in folder.rglob("*") if each.is_file()}
