"""List packages with version and title: all, or those that have all the words you give.

packyard list                  those that packyard carries, or your channel has,
                               if you set one
packyard list resnet train     those that have words which begin so
packyard list --from CHANNEL   those of a folder, an http(s) address or a bucket

packyard show NAME lists the use cases of one.
"""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from packyard import __version__
from packyard.cli import bundles, declare, output, preferences
from packyard.cli.rows import Rows
from packyard.core.bundle.manifest import BUNDLE
from packyard.sharing.index.package import Summary, short, words_of
from packyard.writing.source import package, workspace

ROWS = Rows("package", "name, version, kind, title, model, useCases, indexSeen", columns="NAME, VERSION, TITLE")


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("words", metavar="WORD", nargs="*", help="only packages that have all of these words")
    parser.value("--from CHANNEL", "where to look", dest="channel")


def run(arguments: declare.Arguments) -> int:
    """List packages, a row for each; 1 if none has the words."""
    words = words_of(arguments.words)
    source = preferences.source(arguments.channel)
    index = None if source.is_carried else bundles.listed(source.value)
    packages = _carried(arguments.words) if index is None else [*index.summaries()]
    chosen, number = [item for item in packages if item.has(words)], None if index is None else index.number
    rows = [
        (item.name, item.version, item.kind or BUNDLE, item.title, item.model, item.use_cases, number)
        for item in chosen
    ]
    ROWS.show(rows, arguments.output)
    signed = () if index is None else bundles.signed(source.value, index)
    output.note(f"from {source}" if chosen else f"{_lacking(words, packages)}, from {source}", *signed)
    return int(bool(words) and not chosen)


def _lacking(words: Sequence[str], packages: Sequence[Summary]) -> str:
    """Say which word no package has, or that none has all, and which have words that are nearly these."""
    if not words:
        return "no package is offered"
    absent = [word for word in words if not any(item.has([word]) for item in packages)]
    lacking = f"no package has the word {absent[0]!r}" if absent else f"no package has all of {', '.join(words)}"
    known = {word: package.name for package in packages for word in words_of((package.name, package.title))}
    near = [known[match] for word in words for match in get_close_matches(word, known, n=2)]
    return f"{lacking} ({'nearest: ' * bool(near)}{', '.join(dict.fromkeys(near)) or 'packyard list shows all'})"


def _carried(words: Sequence[str]) -> list[Summary]:
    """Return the packages that packyard carries, in its own version."""
    here = workspace.built_in()
    items = [package.read(here, name) for name in here.package_names()]
    return [
        Summary(
            name=item.name,
            version=__version__,
            title=short(package.title(here, item.folder)),
            model=item.model,
            use_cases=[use_case.path for use_case in item.use_cases],
            needs=[*_texts(here, item)] if words else (),
        )
        for item in items
    ]


def _texts(here: workspace.Workspace, item: package.Package) -> Iterator[str]:
    """Yield what the sources of a package say, without comments."""
    parts = {path for use_case in item.use_cases for path in use_case.parts}
    for folder in (item.folder, *map(here.part_dir, sorted(parts))):
        for path in here.sources.list(folder, "*.yaml") + here.sources.list(folder, "*.md"):
            yield from (line.partition("#")[0] for line in here.sources.read(path).decode().splitlines())
