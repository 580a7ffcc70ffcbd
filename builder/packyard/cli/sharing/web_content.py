"""What the page of a channel says of its packages: what `packyard list` and `packyard show` print, and a form's checks.

The latest version is read and verified as `show` does it. One that cannot be is a page that says why, and is told.
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packyard.cli import bundles, output
from packyard.cli.preferences import Setting
from packyard.cli.using import show
from packyard.core.bundle.address import shortened
from packyard.core.bundle.bundle import Bundle
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, IntegrityError, on_one_line
from packyard.sharing.entry import IndexEntry
from packyard.sharing.fetching.fetch import Fetched
from packyard.sharing.index.index import Index
from packyard.sharing.index.package import title_of, words_of
from packyard.sharing.stores.store import NotFoundError, Store
from packyard.sharing.web import picture
from packyard.sharing.web.page import Fields
from packyard.using.options import contents
from packyard.using.options.contents import BundledUseCase
from packyard.using.setters import patterns, refusal
from packyard.using.setters.check import is_number, items_of
from packyard.using.setters.definition import Setter


def packages(index: Index, address: str, store: Store) -> Iterator[Fields]:
    """Yield the packages that a channel lists, each in its latest version, if it offers one; no libraries."""
    for listed in sorted(index.packages(), key=lambda package: package.name):
        if not listed.leading.kind:
            latest = _latest(listed.latest, address, store) if listed.latest else {"latest": ""}
            yield {"name": listed.name, "versions": listed.every[::-1], "row": None, "problem": "", **latest}


def _latest(entry: IndexEntry, address: str, store: Store) -> Fields:
    """Return what the list says of a package, and its page: what ``show -o json`` prints as ``row``, or a problem."""
    listed = {
        "latest": entry.version,
        "title": title_of(entry),
        "facts": list(dict.fromkeys(entry.model.values())),
        "use_cases": list(shortened(entry.use_cases).values()),
    }
    words = [entry.name, entry.description, *entry.model.values(), *entry.use_cases]
    try:
        reference = Reference(name=entry.name, version=entry.version)
        source = Setting(address, "--from")
        shown = _shown(bundles.offer(reference, source, store), source)
        words += [name for name, _ in shown["row"]["options"]]
        for row in shown["cases"]:
            case = row["case"]
            words += [case.shipped.description, row["needs"], *(setter.name for setter in case.setters)]
    except (InputError, IntegrityError, NotFoundError) as error:
        output.warning(f"{entry}: its page says that it cannot be shown: {error}")
        shown = {"problem": on_one_line(str(error))}
    return {**listed, "words": words_of(words), **shown}


def _shown(fetched: Fetched, source: Setting) -> Fields:
    bundle, described, proof = fetched.bundle, fetched.bundle.manifest, fetched.proof
    cases = [contents.use_case(bundle, path) for path in described.deployed()]
    row = show.described(fetched, source, cases)
    return {
        "row": row,
        "needs": show.needs(cases, described, row["kubernetes"]),
        "signed": list(map(proof.trusted.name, proof.vouching)) if proof else [],
        "readme": bundle.files.get("README.md", b"").decode("utf-8", "replace"),
        "cases": list(_use_cases(bundle, cases)),
    }


def _use_cases(bundle: Bundle, cases: list[BundledUseCase]) -> Iterator[Fields]:
    """Yield the use cases with their objects, as packyard's own build makes them of the values that are shipped."""
    names = shortened(bundle.manifest.deployed())
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        package_dir = bundle.unpack(Path(folder))
        for case in cases:
            things, arrows = picture.find(show.built(package_dir / case.path))
            yield {
                "case": case,
                "is_typed": re.fullmatch(r"[\w./-]+", case.path, re.ASCII) is not None,  # as a shell reads it
                "name": names[case.path],
                "after": [names[path] for path in case.shipped.after if path in names],
                "needs": show.needs([case], bundle.manifest),
                "parameters": list(map(_parameter, sorted(case.setters, key=lambda setter: not setter.must_be_set))),
                "things": things,
                "arrows": arrows,
            }


def _parameter(setter: Setter) -> Fields:
    """Return what a form says of a parameter: what it ``takes`` in words, and what a browser checks of that."""
    schema = items_of(setter.schema) if setter.is_list else setter.schema
    least, most = (schema[key] if is_number(schema.get(key)) else "" for key in ("minimum", "maximum"))
    return {
        "setter": setter,
        "is_typed": re.fullmatch(r"[A-Za-z_][\w.-]*", setter.name, re.ASCII) is not None,
        "takes": refusal.describe(setter),
        "choices": patterns.choices(setter),
        "pattern": str(schema.get("pattern", "")),
        "least": least,
        "most": most,
    }
