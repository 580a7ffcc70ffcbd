"""What the page of a channel says of its packages: what `packyard list` and `packyard show` print, and a form's checks.

Each version is read and verified as `show` does it. One that cannot be is a page that says why, and is told.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from packyard.cli import bundles, output, use_cases
from packyard.cli.bundles import Offer
from packyard.cli.preferences import Setting
from packyard.cli.using import show
from packyard.core.bundle import address, reference
from packyard.core.bundle.reference import Reference
from packyard.core.errors import InputError, IntegrityError, on_one_line
from packyard.core.kubernetes.lenient import Object, mapping
from packyard.core.yaml.document import parse_file, source_of
from packyard.core.yaml.values import to_value
from packyard.sharing.entry import IndexEntry
from packyard.sharing.fetching.verify import Proof
from packyard.sharing.index import summary
from packyard.sharing.index.index import Index
from packyard.sharing.index.package import Package as Listed
from packyard.sharing.stores.store import NotFoundError, Store
from packyard.sharing.web import picture
from packyard.sharing.web.page import Package, Parameter, UseCase, Version
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


def packages(index: Index, address: str, store: Store) -> Iterator[Package]:
    """Yield the packages that a channel lists, and those all of whose versions were removed; no libraries."""
    for listed in sorted(index.packages(), key=lambda package: package.name):
        if listed.leading.kind:
            continue
        versions = [_version(entry, address, store) for entry in listed.entries]
        versions += [Version(version=each.version, removed=each.removed) for each in listed.removed]
        versions.sort(key=lambda each: reference.order(each.version), reverse=True)
        yield _package(listed, versions)


def _package(listed: Listed, versions: list[Version]) -> Package:
    if not (entry := listed.latest):
        return Package(name=listed.name, latest="", title="", facts=(), use_cases=(), words=(), versions=versions)
    latest = next(each for each in versions if each.version == entry.version)
    row = latest.row or {}
    said = [each for case in latest.cases for each in (case.description, case.needs)]
    said += [each.name for each in row.get("options", ())]
    said += [each.name for case in latest.cases for each in case.parameters]
    return Package(
        name=listed.name,
        latest=entry.version,
        title=summary.title_of(entry),
        facts=list(dict.fromkeys(value for value in entry.model.values() if value != "none")),
        use_cases=address.shortened(entry.use_cases),
        words=summary.split([entry.name, entry.description, *entry.model.values(), *entry.use_cases, *said]),
        versions=versions,
    )


def _version(entry: IndexEntry, address: str, store: Store) -> Version:
    """Read a version of a package, or say why it cannot be shown."""
    try:
        offer, _ = bundles.chosen(Reference(name=entry.name, version=entry.version), address, store)
        return _shown(entry, offer, Setting(address, "--from"))
    except (InputError, IntegrityError, NotFoundError) as error:
        output.warning(f"{entry}: its page says that it cannot be shown: {error}")
        return Version(version=entry.version, yanked=entry.yanked, problem=on_one_line(str(error)))


def _shown(entry: IndexEntry, offer: Offer, source: Setting) -> Version:
    cases = [bundled.use_case(offer.bundle, path) for path in use_cases.names(offer.bundle.manifest)]
    row, requires = show.described(offer, source, cases), {each for case in cases for each in case.requires}
    readme = next((each.data for each in offer.bundle.members if each.path == _README), b"")
    return Version(
        version=entry.version,
        yanked=entry.yanked,
        row=row,
        needs=show.needs(requires, offer.bundle.manifest, row["kubernetes"]),
        signed=_signed(offer.proof),
        readme=readme.decode("utf-8", "replace"),
        cases=_use_cases(offer, cases),
    )


def _signed(proof: Proof | None) -> str:
    return proof.publisher if proof and proof.is_proved else "by no key that whoever wrote this page trusts"


def _use_cases(offer: Offer, cases: list[BundledUseCase]) -> list[UseCase]:
    """Return the use cases with their objects, as packyard's own build makes them of the values that are shipped."""
    names = use_cases.names(offer.bundle.manifest)
    made = []
    with tempfile.TemporaryDirectory(prefix="packyard-") as folder:
        package_dir = offer.bundle.unpack(Path(folder))
        for case in cases:
            things, arrows = picture.find(_objects(package_dir / case.path))
            made.append(
                UseCase(
                    path=case.path,
                    name=names[case.path],
                    description=case.description,
                    after=[names[path] for path in case.after if path in names],
                    needs=show.needs(set(case.requires), offer.bundle.manifest),
                    parameters=[_parameter(each) for each in sorted(case.setters, key=lambda one: not one.must_be_set)],
                    rules=_rules(package_dir / case.path / NAME) if case.setters else (),
                    things=things,
                    arrows=arrows,
                )
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


def _parameter(setter: Setter) -> Parameter:
    schema = items_of(setter.schema) if setter.is_list else setter.schema
    bounds = (schema.get(name) for name in ("minimum", "maximum"))
    least, most = (bound if is_number(bound) else None for bound in bounds)
    return Parameter(
        name=setter.name,
        description=setter.description,
        takes=refusal.describe(setter),
        value=setter.shown,
        example=setter.example or "",
        must_be_set=setter.must_be_set,
        is_list=setter.is_list,
        choices=listing.choices(setter) or patterns.choices(schema),
        pattern=str(schema.get("pattern", "")),
        least=least,
        most=most,
    )
