"""READMEs of packages as HTML. A README is hostile: HTML in it is text, images are left out, links lead to the web."""

from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

_LONGEST = 100_000  # characters: some texts take Markdown a second for each
_WEB = ("https://", "http://")


def to_html(text: str) -> Markup:
    """Return the HTML of a README, with its headings below those of the page; a very long one as it is written."""
    if len(text) > _LONGEST:
        return Markup("<pre>{}</pre>").format(text)
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = markdown.parse(text)
    for place, token in enumerate(tokens):
        if token.children:
            token.children = list(_without_ways(token.children))
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
        if token.type == "th_open" and not tokens[place + 1].content:  # else it is a header that says nothing
            token.tag = tokens[place + 2].tag = "td"
    return Markup(markdown.renderer.render(tokens, markdown.options, {}))


def _without_ways(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield tokens without the links that lead into the package or to what is no page: their texts stay."""
    is_kept = True
    for token in tokens:
        if token.type == "link_open":
            is_kept = str(token.attrs.get("href", "")).lower().startswith(_WEB)
            token.attrSet("rel", "nofollow noopener noreferrer")
        if is_kept or token.type not in ("link_open", "link_close"):
            yield token
