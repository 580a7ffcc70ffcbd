"""Files that ``kustomize cfg set`` would reformat, or cannot read: see `yaml.fixedpoint`."""

from __future__ import annotations

from collections.abc import Iterator

from packyard.checks.finding import Finding, error, finding
from packyard.checks.parsed import Parsed
from packyard.errors import InputError, Problem
from packyard.setters.packages import PackageFiles
from packyard.yaml import fixedpoint
from packyard.yaml.document import source_of
from packyard.yaml.node import MappingNode


def check(package: PackageFiles, parsed: Parsed, *, shipped: bool) -> Iterator[Finding]:
    """Find lines that a set by kustomize 3.8.7 or 4.5.4 would reformat, and roots at which 3.8.7 fails.

    Both write the Krmfile and the files with a field that is set. In a user's copy, which many people may have edited,
    only the first line of each file is reported.
    """
    for document in parsed.documents:
        if document.root is not None and not isinstance(document.root, MappingNode):
            message = "the root of this file is not a mapping, and kustomize cfg set then fails for the whole directory"
            hint = "name a file of RFC 6902 operations *.json6902, or put them into the kustomization"
            yield error("root-no-mapping", document.source, document.root.start, message, hint)
    written = {each.node.source.name for each in parsed.bound} | {package.where + package.name}
    for path, data in {package.name: package.krmfile, **package.resources}.items():
        if package.where + path not in written:
            continue
        found = _rewritten(package.where + path, data)
        if found and not shipped and len(found) > 1:
            message = f"{found[0].message}; likewise {len(found) - 1} more in this file"
            found = [Problem(message, file=found[0].file, line=found[0].line, hint=found[0].hint)]
        yield from (finding("rewritten", "warning", problem) for problem in found)


def _rewritten(name: str, data: bytes) -> list[Problem]:
    try:
        return fixedpoint.find(source_of(data, name))
    except InputError:  # which is reported already
        return []
