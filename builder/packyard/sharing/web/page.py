"""The page of a channel: an ``index.html`` beside its folders, and a page for each package.

    index.html              the packages, and a search over what `packyard show` prints of them
    404.html                so that hosts do not answer with another page for what is missing
    web/p/bert.html         a package in its latest version, and which versions there are
    web/page.css, page.js   the same for all

Packages, indexes and addresses are hostile. Templates escape all that they are given; only `picture` and `readme` make
HTML of their own. No page has a script or a style in it, and its Content-Security-Policy says so.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from shlex import quote
from typing import Any, TypeAlias

from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem
from packyard.sharing.stores.store import Store, UnmadeStoreError, get_or_none
from packyard.sharing.web import picture, readme

INDEX, MISSING = "index.html", "404.html"
FOLDER = "web/p/"
_LIMIT = 16 * 1024 * 1024  # bytes of an index.html
_TEMPLATES = Path(__file__).parent / "templates"
_OURS = b'<meta name="generator" content="packyard">'

#: What a template says of a package: `cli.sharing.web_content` makes them.
Fields: TypeAlias = Mapping[str, Any]


def key(name: str) -> str:
    """Return the key of the page of a package."""
    return f"{FOLDER}{name}.html"


def files(packages: Sequence[Fields], *, address: str = "", bundles: str = "") -> dict[str, bytes]:
    """Return the files of a page by their keys; what refers to others comes last.

    ``address`` is that of the channel in commands (empty: where the page is read), ``bundles`` where bundles lie.
    """
    page = {"address": address, "bundles": bundles}
    pages = {f"web/{name}": (_TEMPLATES / name).read_bytes() for name in ("page.css", "page.js")}
    package_page = _templates().get_template("package.html")
    for package in packages:
        pages[key(package["name"])] = package_page.render(page=page, package=package, root="../../").encode()
    listed = [package for package in packages if package["latest"]]
    pages[INDEX] = _templates().get_template("list.html").render(page=page, packages=listed, root="").encode()
    pages[MISSING] = (_TEMPLATES / MISSING).read_bytes()
    return pages


def write(store: Store, pages: Mapping[str, bytes]) -> dict[str, str]:
    """Write the files of a page into a channel; return what was done with each file."""
    states = {}
    for name, data in pages.items():
        before = get_or_none(store, name, limit=_LIMIT)
        if before != data:
            store.swap(name, data, None if before is None else Digest.of(before))
        states[name] = "unchanged" if before == data else "written"
    return states


def check(store: Store) -> None:
    """Refuse a channel that has somebody else's page."""
    with suppress(UnmadeStoreError):
        for name in (MISSING, INDEX):
            data = get_or_none(store, name, limit=_LIMIT)
            if data is not None and _OURS not in data:
                hint = "move it away, or write the page elsewhere: --to DIR"
                file = f"{store.address}: {name}"
                raise InputError(Problem("is there already, and is not packyard's", file=file, hint=hint))


@cache
def _templates() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"shell": quote, "markdown": readme.to_html}
    templates.globals |= {"draw": picture.draw, "key": key}
    return templates
