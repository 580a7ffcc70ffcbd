"""The page of a channel: an ``index.html`` beside its folders, and a page for each version of each package.

    index.html              the packages, and a search over what `packyard show` prints of them
    404.html                so that hosts do not answer with another page for what is missing
    web/p/bert.html         a package in its latest version
    web/p/bert_1.2.0.html   a package in one version, also one that was removed
    web/page.css, page.js   the same for all

Packages, indexes and addresses are hostile. Templates escape all that they are given; only `picture` and `readme` make
HTML of their own. No page has a script or a style in it, and its Content-Security-Policy says so.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from packyard.core.digest import Digest
from packyard.core.errors import InputError, Problem
from packyard.sharing.stores.store import Store, UnmadeStoreError, get_or_none
from packyard.sharing.web import picture, readme
from packyard.sharing.web.picture import Arrow, Thing

if TYPE_CHECKING:
    from jinja2 import Environment

INDEX, MISSING = "index.html", "404.html"
FOLDER = "web/p/"
_LIMIT = 16 * 1024 * 1024  # bytes of an index.html
_OURS = re.compile('<meta name="generator" content="packyard">\n<title>(.*)</title>')


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """What can be set: what it ``takes`` in words, and what the form of a page checks of that."""

    name: str
    description: str
    takes: str
    value: str
    example: str
    must_be_set: bool
    is_list: bool
    choices: Sequence[str]
    pattern: str
    least: float | None
    most: float | None

    @property
    def is_typed(self) -> bool:
        """Whether a shell and `packyard set` read the name as one."""
        return re.fullmatch(r"[A-Za-z_][\w.-]*", self.name, re.ASCII) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCase:
    """What can be deployed: by its ``path`` in the package and a shorter ``name``."""

    path: str
    name: str
    description: str
    after: Sequence[str]
    needs: str
    parameters: Sequence[Parameter]
    rules: Sequence[str]
    things: Sequence[Thing]
    arrows: Sequence[Arrow]

    @property
    def is_typed(self) -> bool:
        """Whether a shell and `packyard run` read the path as one."""
        return re.fullmatch(r"[\w./-]+", self.path, re.ASCII) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version of a package: what `packyard show -o json` prints of it, or the ``problem`` for which it cannot."""

    version: str
    yanked: str = ""
    removed: str = ""
    problem: str = ""
    row: Mapping[str, Any] | None = None
    needs: str = ""
    signed: str = ""
    readme: str = ""
    cases: Sequence[UseCase] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package, its versions, the newest first, and what the list says of it, with the ``words`` that find it."""

    name: str
    latest: str
    title: str
    facts: Sequence[str]
    use_cases: Sequence[str]
    words: Sequence[str]
    versions: Sequence[Version]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What all pages say: a title, the address in commands (empty: where the page is read), and where bundles lie."""

    title: str
    address: str = ""
    bundles: str = ""


def key(name: str, version: str = "") -> str:
    """Return the key of the page of a package, in its latest version or in one; no name has a ``_``."""
    return f"{FOLDER}{name}_{version}.html" if version else f"{FOLDER}{name}.html"


def files(page: Page, packages: Sequence[Package]) -> dict[str, bytes]:
    """Return the files of a page by their keys; what refers to others comes last."""
    made = {f"web/{name}": (_folder() / name).read_bytes() for name in ("page.css", "page.js")}
    package_page = _templates().get_template("package.html")
    for package in packages:
        for each in package.versions:
            text = package_page.render(page=page, package=package, each=each, root="../../").encode()
            made[key(package.name, each.version)] = text
            if each.version == (package.latest or package.versions[0].version):
                made[key(package.name)] = text
    listed = [each for each in packages if each.latest]
    made[INDEX] = _templates().get_template("list.html").render(page=page, packages=listed, root="").encode()
    made[MISSING] = (_folder() / MISSING).read_bytes()
    return made


def write(store: Store, made: Mapping[str, bytes]) -> dict[str, str]:
    """Write the files of a page into a channel; return what was done with each file."""
    states = {}
    for name, data in made.items():
        before = get_or_none(store, name, limit=_LIMIT)
        if before != data:
            store.swap(name, data, None if before is None else Digest.of(before))
        states[name] = "unchanged" if before == data else "written"
    return states


def title(store: Store) -> str | None:
    """Return the title of a channel's page, or None where it has none; somebody else's page is an `InputError`."""
    found = None
    with suppress(UnmadeStoreError):
        for name in (MISSING, INDEX):
            data = get_or_none(store, name, limit=_LIMIT)
            found = _OURS.search(data.decode("utf-8", "replace")) if data is not None else None
            if data is not None and found is None:
                hint = "move it away, or write the page elsewhere: --to DIR"
                file = f"{store.address}: {name}"
                raise InputError(Problem("is there already, and is not packyard's", file=file, hint=hint))
    return html.unescape(found[1]) if found else None


def _folder() -> Path:
    return Path(__file__).parent / "templates"


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_folder()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"shell": quote, "markdown": readme.to_html}
    made.globals |= {"draw": picture.draw, "key": key}
    return made
