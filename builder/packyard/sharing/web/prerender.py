"""Pages that are readable without scripts, one for each package, with what previews of links show."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt

from packyard.core.bundle.archive import Member
from packyard.sharing.index.package import Package

FOLDER = "web/p/"
_README = "README.md"
_MOST = 1000  # packages that the page without scripts names
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; base-uri 'none'; \
form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="{description}">
<meta property="og:type" content="website">
<meta property="og:title" content="{name}">
<meta property="og:description" content="{description}">
<title>{name} {version}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="../{style}">
</head>
<body>
<main id="main">
<article class="package">
<p class="crumbs"><a href="../../#/">All packages</a></p>
<header><h1>{name}</h1>
<p class="lead">{description}</p></header>
<p><a href="../../#/{name}">Use cases, parameters and files of {name}</a> (needs scripts)</p>
<h2>Versions</h2>
<ul>
{versions}
</ul>
<section class="readme">
{readme}
</section>
</article>
</main>
</body>
</html>
"""


def key(name: str) -> str:
    """Return the key of a package's page."""
    return f"{FOLDER}{name}.html"


def prerender(package: Package, members: Sequence[Member], style: str) -> bytes:
    """Return the page of a package, of whose latest version these are the files."""
    readme = next((member.data.decode("utf-8", "replace") for member in members if member.path == _README), "")
    latest = package.latest.version if package.latest else ""
    text = _PAGE.format(
        name=html.escape(package.name),
        version=html.escape(latest),
        description=html.escape(package.description),
        style=html.escape(style.removeprefix("web/")),
        versions="\n".join(f"<li>{html.escape(each)}</li>" for each in _versions(package)),
        readme=_markdown().render(readme),
    )
    return text.encode()


def listed(packages: Sequence[Package]) -> str:
    """Return the HTML of a page's list for readers without scripts."""
    rows = (
        f'<li><a href="{key(each.name)}">{each.name}</a>: {html.escape(each.description)}</li>'
        for each in packages[:_MOST]
    )
    return f"<noscript><h1>Packages</h1>\n<ul>\n{chr(10).join(rows)}\n</ul></noscript>"


def _versions(package: Package) -> Iterator[str]:
    for each in reversed(package.entries):
        yield f"{each.version}: yanked: {each.yanked}" if each.yanked else each.version
    for gone in reversed(package.removed):
        yield f"{gone.version}: removed: {gone.reason}"


def _markdown() -> MarkdownIt:
    """Return a renderer that shows HTML as text, and links that could run a script as none; images are left out."""
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
