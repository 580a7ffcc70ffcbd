"""What the page of a channel says of its packages: what `packyard list` and `packyard show` print, and a form's checks.

Each version is read and verified as `show` does it. One that cannot be is a page that says why, and is told.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packyard.cli import bundles, output, use_cases
from packyard.cli.bundles import Offer
from packyard.cli.preferences import Setting
from packyard.cli.using import show
from packyard.core.bundle import address
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, IntegrityError, on_one_line
from packyard.core.kubernetes.lenient import Object, mapping
from packyard.core.yaml.document import parse_file, source_of
from packyard.core.yaml.values import to_value
from packyard.sharing.entry import IndexEntry
from packyard.sharing.index import summary
from packyard.sharing.index.index import Index
from packyard.sharing.stores.store import NotFoundError, Store
from packyard.sharing.web import picture
from packyard.sharing.web.page import Fields
from packyard.using.kustomize import builtin
from packyard.using.options import bundled
from packyard.using.options.bundled import BundledUseCase
from packyard.using.setters import listing, patterns, refusal
from packyard.using.setters.check import items_of
from packyard.using.setters.definition import Setter
from packyard.using.setters.krmfile import NAME, parse_krmfile
from packyard.using.setters.numbers import is_number
from packyard.using.setters.rules import rule

_README = "README.md"


def packages(index: Index, address: str, store: Store) -> Iterator[Fields]:
    """Yield the packages that a channel lists, and those all of whose versions were removed; no libraries."""
    for listed in sorted(index.packages(), key=lambda package: package.name):
        if not listed.leading.kind:
            versions = [_version(entry, address, store) for entry in reversed(listed.every)]
            yield {"name": listed.name, "latest": "", "versions": versions, **_card(listed.latest, versions)}


def _card(entry: IndexEntry | None, versions: list[Fields]) -> Fields:
    """Return what the list says of a package, and the words that find it there."""
    if entry is None:
        return {}
    latest = next(version for version in versions if version["version"] == entry.version)
    cases, row = latest.get("cases", ()), latest["row"] or {}
    said = [each for one in cases for each in (one["case"].description, one["needs"])]
    said += [
        each.name for each in (*row.get("options", ()), *(setter for one in cases for setter in one["case"].setters))
    ]
    return {
        "latest": entry.version,
        "title": summary.title_of(entry),
        "facts": list(dict.fromkeys(value for value in entry.model.values() if value != "none")),
        "use_cases": address.shortened(entry.use_cases),
        "words": summary.split([entry.name, entry.description, *entry.model.values(), *entry.use_cases, *said]),
    }


def _version(entry: IndexEntry, address: str, store: Store) -> Fields:
    """Read a version of a package: what ``show -o json`` prints of it as its ``row``, or why there is none."""
    fields = {"version": entry.version, "yanked": entry.yanked, "removed": entry.removed, "problem": "", "row": None}
    if entry.removed:
        return fields
    try:
        asked = Reference(name=entry.name, version=entry.version)
        return {**fields, **_shown(bundles.offer(asked, Setting(address, "--from"), store))}
    except (InputError, IntegrityError, NotFoundError) as error:
        output.warning(f"{entry}: its page says that it cannot be shown: {error}")
        return {**fields, "problem": on_one_line(str(error))}


def _shown(offer: Offer) -> Fields:
    described, proof = offer.bundle.manifest, offer.proof
    cases = [bundled.use_case(offer.bundle, path) for path in use_cases.names(described)]
    row, requires = show.described(offer, cases), {require for case in cases for require in case.requires}
    readme = next((member.data for member in offer.bundle.members if member.path == _README), b"")
    return {
        "row": row,
        "needs": show.needs(requires, described, row["kubernetes"]),
        "signed": list(map(proof.trusted.name, proof.vouching)) if proof else [],
        "readme": readme.decode("utf-8", "replace"),
        "cases": _use_cases(offer, cases),
    }


def _use_cases(offer: Offer, cases: list[BundledUseCase]) -> list[Fields]:
    """Return the use cases with their objects, as packyard's own build makes them of the values that are shipped."""
    names = use_cases.names(offer.bundle.manifest)
    made = list[Fields]()
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        package_dir = offer.bundle.unpack(Path(folder))
        for case in cases:
            things, arrows = picture.find(_objects(package_dir / case.path))
            made.append(
                {
                    "case": case,
                    "is_typed": re.fullmatch(r"[\w./-]+", case.path, re.ASCII) is not None,  # as a shell reads it
                    "name": names[case.path],
                    "after": [names[path] for path in case.after if path in names],
                    "needs": show.needs(set(case.requires), offer.bundle.manifest),
                    "parameters": list(map(_parameter, sorted(case.setters, key=lambda one: not one.must_be_set))),
                    "rules": _rules(package_dir / case.path / NAME) if case.setters else (),
                    "things": things,
                    "arrows": arrows,
                }
            )
    return made


def _objects(directory: Path) -> list[Object]:
    """Build a use case; one that packyard's own build does not follow has no picture."""
    try:
        documents = parse_file(builtin.build(directory), str(directory))
    except InputError as error:
        output.detail(f"no picture: {error}")
        return []
    return [mapping(to_value(document.root)) for document in documents]


def _rules(krmfile: Path) -> list[str]:
    root = parse_krmfile(source_of(krmfile.read_bytes(), NAME)).root
    return [each.message or each.text for each in rule.read(root)]


def _parameter(setter: Setter) -> Fields:
    """Return what a form says of a parameter: what it ``takes`` in words, and what a browser checks of that."""
    schema = items_of(setter.schema) if setter.is_list else setter.schema
    least, most = (schema[key] if is_number(schema.get(key)) else "" for key in ("minimum", "maximum"))
    return {
        "setter": setter,
        "is_typed": re.fullmatch(r"[A-Za-z_][\w.-]*", setter.name, re.ASCII) is not None,
        "takes": refusal.describe(setter),
        "choices": listing.choices(setter) or patterns.choices(schema),
        "pattern": str(schema.get("pattern", "")),
        "least": least,
        "most": most,
    }
