"""Show what a package is: its use cases, what has to be set, what it needs, who signed it.

packyard show NAME                 the package, with its use cases
packyard show NAME/USECASE         one use case, or those whose folders are
                                   named
packyard show NAME@VERSION         a version, or a range such as ^1.2
packyard show NAME --from CHANNEL  from a folder, an address or a registry
packyard show NAME --images        the names of its images, a line each, for
                                   crane or skopeo; without NAME those of all

Nothing is written into the folder here.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from packyard.cli import bundles, declare, output, preferences
from packyard.cli.preferences import Setting
from packyard.cli.rows import Rows
from packyard.core.bundle import address
from packyard.core.bundle.manifest import Manifest
from packyard.core.bundle.reference import Reference, split
from packyard.core.errors import InputError, UsageError
from packyard.core.files.tree import Tree
from packyard.core.kubernetes import images, operators
from packyard.core.kubernetes.lenient import Object
from packyard.core.yaml.node import Source
from packyard.sharing.fetching.fetch import Fetched
from packyard.using.kustomize import builtin, objects
from packyard.using.options import contents
from packyard.using.options.contents import BundledUseCase
from packyard.using.options.switch import states

ROWS = Rows(
    "package",
    "name, version, description, digest, tar, size, yanked, source, "
    "useCases (path, description=shipped.description, after=shipped.after, requires=shipped.requires, "
    "setters (name, value=shown, required=must_be_set, description)), "
    "options (name, description), images, kubernetes, unpacked, files, signers, listedBy, "
    "versions (version, yanked), indexSeen",
)
IMAGES = Rows("image", "image", "--images", line="{image}")
#: What channels list of a package.
_LISTED = ("name", "version", "description", "digest", "tar", "size", "yanked")
_KUBERNETES = "Kubernetes "  # what a use case requires of its version
_LABEL = 10  # characters before what a line says
_INDENT = "    "  # before the lines on a use case

Row = dict[str, Any]


def add_arguments(parser: declare.Parser) -> None:
    """Declare the verb's arguments."""
    parser.add_argument("words", metavar="[NAME[@VERSION][/USECASE]]", nargs="*")
    parser.value("--from CHANNEL", "where to look", dest="channel")
    parser.switch("--images", "only the names of its images, a line each")


def run(arguments: declare.Arguments) -> None:
    """Print a package, or its use cases that are named."""
    reference, wanted = split("/".join(arguments.words)) if arguments.words else (None, "")
    source = preferences.source(arguments.channel)
    if arguments.images:
        if wanted:
            raise UsageError(f"packyard show: --images is of a whole package: packyard show {reference} --images")
        names = _images([reference] if reference else map(Reference.parse, _names(source)), source)
        IMAGES.show([(name,) for name in names], arguments.output)
        return
    if not reference:
        raise UsageError("packyard show: name a package; packyard list shows their names")
    fetched = bundles.offer(reference, source)
    bundle, paths = fetched.bundle, fetched.bundle.manifest.deployed()
    cases = [contents.use_case(bundle, path) for path in address.meant(paths, wanted, str(reference))]
    row = described(fetched, source, cases)
    if wanted:
        row |= _own(fetched, cases)
    if ROWS.show([row], arguments.output):
        lines = _told(row, fetched, cases, is_whole=not wanted)
        typed, flag = quote(str(reference)), preferences.as_flag(source)
        then = _then(bundle.manifest, cases[0]) if wanted else f"packyard show {typed}/USECASE{flag}"
        output.page("\n".join([*lines, f"{'next':<{_LABEL}}packyard get {typed}{flag}", " " * _LABEL + then]))


def _names(source: Setting) -> Sequence[str]:
    if source.is_carried:
        return bundles.carried_names()
    return [summary.name for summary in bundles.listed(source.value).summaries()]


def _images(references: Iterable[Reference], source: Setting) -> Sequence[str]:
    """Return the whole names of the images of packages, with their registries, each once."""
    manifests = (bundles.offer(reference, source).bundle.manifest for reference in references)
    wholes = (images.whole(image) for manifest in manifests for image in manifest.images if images.is_valid(image))
    return list(dict.fromkeys(f"{host}/{name}{'@' if ':' in tag else ':'}{tag}" for host, name, tag in wholes))


def described(fetched: Fetched, source: Setting, cases: Sequence[BundledUseCase]) -> Row:
    """Return the row of a package."""
    bundle, entry, proof = fetched.bundle, fetched.entry, fetched.proof
    return {
        **{name: getattr(entry, name) for name in _LISTED},
        "source": str(source),
        "useCases": cases,
        "options": contents.options(bundle),
        "images": list(bundle.manifest.images),
        "kubernetes": list(bundle.manifest.kubernetes),
        "unpacked": sum(len(member.data) for member in bundle.members),
        "files": len(bundle.members),
        "signers": list(proof.signers) if proof else [],
        "listedBy": list(proof.listed_by) if proof else [],
        "versions": fetched.package.entries[::-1],
        "indexSeen": proof.index if proof else None,
    }


def _own(fetched: Fetched, cases: Sequence[BundledUseCase]) -> Row:
    """Return the options and images of some use cases alone, read from the bundle where nobody else sees it."""
    bundle, fitting, pulled = fetched.bundle, set[str](), set[str]()
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        top = bundle.unpack(Path(os.path.realpath(folder)))
        for place in [top / case.path for case in cases]:
            fitting |= {state.name for state in states(Tree(place)) if state.fits}
            pulled |= {*images.find(built(place))} or {*bundle.manifest.images}
    return {
        "options": [(name, text) for name, text in contents.options(bundle) if name in fitting],
        "images": sorted(pulled),
    }


def built(directory: Path) -> Sequence[Object]:
    """Return the objects of a use case; none of one that packyard's own build does not follow."""
    try:
        return objects.parse(Source(str(directory), builtin.build(Tree(directory)).decode()))
    except InputError:
        return ()


def _told(row: Row, fetched: Fetched, cases: Sequence[BundledUseCase], *, is_whole: bool) -> Iterator[str]:
    """Yield what people read of a package; unless it ``is_whole``, what is to be set in its use cases is described."""
    manifest, proof = fetched.bundle.manifest, fetched.proof
    called = address.shortened(manifest.deployed())
    yield f"{row['name']} {row['version']}" + (f" (yanked: {row['yanked']})" if row["yanked"] else "")
    if is_whole:
        yield from output.filled(row["description"])
    yield ""
    for case in cases:
        yield called[case.path]
        yield from output.filled(case.shipped.description, _INDENT, _INDENT)
        yield from _labelled("after:", ", ".join(called[path] for path in case.shipped.after), _INDENT)
        if is_whole:
            yield from _labelled("needs:", ", ".join(_kubernetes(case, manifest)), _INDENT)
            yield from _labelled("set:", ", ".join(setter.name for setter in case.required), _INDENT)
            continue
        for setter in case.required:
            example = f" Example: {setter.example}." if setter.example else ""
            yield from _labelled(f"set {setter.name}:", setter.description + example, _INDENT)
        values = ", ".join(setter.name for setter in case.setters if not setter.must_be_set)
        yield from _labelled("may set:", values, _INDENT)
    yield ""
    yield from _labelled("options", ", ".join(name for name, _ in row["options"]))
    yield from _labelled("cluster", needs(cases, manifest, row["kubernetes"]))
    for number, image in enumerate(row["images"]):
        yield f"{'' if number else 'images':<{_LABEL}}{image}"
    yield from _labelled("size", f"{row['size']:,} bytes, unpacked {row['unpacked']:,} in {row['files']} files")
    yield from _labelled("trust", "; ".join(proof.signed) if proof else "")
    versions = (entry.version + (" (yanked)" if entry.yanked else "") for entry in row["versions"])
    yield from _labelled("versions", ", ".join(versions))
    yield from _labelled("from", row["source"])


def _then(manifest: Manifest, case: BundledUseCase) -> str:
    """Return the command for a use case of a package that was fetched."""
    directory = quote(f"{manifest.name}/{address.shortened(manifest.deployed())[case.path]}")
    missing = [f"{setter.name}={quote(setter.example or '…')}" for setter in case.required]
    return f"packyard set {directory} {' '.join(missing)}" if missing else f"packyard render {directory}"


def needs(cases: Sequence[BundledUseCase], manifest: Manifest, versions: Sequence[str] = ()) -> str:
    """Return what a cluster has to have: operators by their names, what is left as packyard.json says it.

    Of several use cases ``versions`` are those of Kubernetes that have all of one of them.
    """
    requires = {require for case in cases for require in case.shipped.requires if not require.startswith(_KUBERNETES)}
    needed = operators.needed(requires, [*operators.declared(manifest.requires)])
    words = [f"{operator.operator} {operator.needs}".rstrip() for operator in needed]
    words += sorted(requires - {need for operator in needed for need in operator.words})
    kubernetes = [f"{_KUBERNETES}{versions[0]} to {versions[-1]}"] if len(versions) > 1 else []
    return ", ".join([*((_kubernetes(cases[0], manifest) if len(cases) == 1 else []) or kubernetes), *words])


def _kubernetes(case: BundledUseCase, manifest: Manifest) -> list[str]:
    """Return the oldest version of Kubernetes that a use case says to need, and on what condition."""
    texts = {word: item.description.rstrip(".") for item in manifest.requires for word in item.words}
    needed = [require for require in case.shipped.requires if require.startswith(_KUBERNETES)]
    return [f"{require} or later" + (f" ({texts[require]})" if texts.get(require) else "") for require in needed]


def _labelled(label: str, text: str, indent: str = "") -> Iterator[str]:
    """Yield a line with a label, or nothing where there is nothing to say."""
    if text:
        first = f"{indent}{label} " if indent else f"{label:<{_LABEL}}"
        yield from output.filled(text, first, " " * len(first))
