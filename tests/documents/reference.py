"""What `make docs` writes into docs/generated/reference.md: every verb, and the fields of what it prints for programs.

Both are made from what the verbs declare: `tests/documents/test_json.py` holds the page to it, and runs the verbs.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module

from documents import pages
from packyard.cli import rows
from packyard.cli.rows import Field, Rows
from packyard.cli.verbs import GROUPS, VERBS

PAGE = pages.DOCS / "generated/reference.md"
END = "a test holds it. -->\n"
JSON = (
    "With `-o json` (`--output json`) each result is one JSON list of objects. If the command is refused, it prints",
    "nothing to stdout. `-o yaml` of `setters` is a values file, and of `render` the manifests, as without `-o`.",
)
NOTES = (
    "An object that is about the bundle of a library has `kind: Library` as well. `get` without a channel prints no",
    "field behind `tar`.",
    "",
    "`indexSeen` is the number of the index that was read, and null where no channel was asked.",
)


def declared() -> dict[str, Rows]:
    """Return what verbs declare of their rows, by the verb and what tells its declarations apart."""
    modules = {verb: module for verb, (module, _) in VERBS.items()} | {"set": "using.edits"}  # `set` starts fast
    return {
        f"{verb} {each.when}".strip(): each
        for verb, module in modules.items()
        for each in vars(import_module(f"packyard.cli.{module}")).values()
        if isinstance(each, Rows)
    }


def made() -> str:
    """Return what the page has below its first lines."""
    return "".join(f"{line}\n" for line in [*commands(), "", "## JSON", "", *JSON, "", *table(), "", *NOTES])


def commands() -> Iterator[str]:
    """Yield the verbs with what they do, in the groups of the help."""
    for group, verbs in GROUPS.items():
        yield from ("", f"## {group}", "", "| command | what it does |", "| --- | --- |")
        for verb, (_, text) in verbs.items():
            yield f"| `packyard {verb}` | {text.replace('|', chr(92) + '|')} |"


def table() -> list[str]:
    """Return a row for each verb; verbs that declare the same are in one."""
    verbs: dict[tuple[str, str], list[str]] = {}
    for name, each in declared().items():
        verbs.setdefault((each.each, written(rows.fields(each.fields))), []).append(f"`{name}`")
    lines = [f"| {', '.join(names)} | {each} | {fields} |" for (each, fields), names in verbs.items()]
    return ["| command | an object for each | fields |", "| --- | --- | --- |", *lines]


def written(fields: Sequence[Field]) -> str:
    texts = (f"`{field.name}` ({written(field.items)})" if field.items else f"`{field.name}`" for field in fields)
    return ", ".join(texts) or "the Kubernetes object"


def rest() -> str:
    """Return what the page has below its first lines now."""
    return PAGE.read_text("utf-8").partition(END)[2]


if __name__ == "__main__":
    text = PAGE.read_text("utf-8")
    PAGE.write_text(text.removesuffix(rest()) + made(), "utf-8")
