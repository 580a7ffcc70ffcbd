"""What is wrong with the sources of a workspace as they are written, whether or not a package composes of them.

# {"$openapi":"CPU}                      a setter comment that nobody can read
setters.CPU: minimum: 8, maximum: 1      a definition that a package's value hides
setters.OLD                              a definition that nothing has any more
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from packyard.core.errors import InputError
from packyard.core.kubernetes import kustomization
from packyard.core.yaml.document import find_comments, parse_file
from packyard.core.yaml.node import Scalar
from packyard.using.setters import fields
from packyard.using.setters.comment import SETTER_PREFIX, SUBSTITUTION_PREFIX
from packyard.using.setters.krmfile import KRMFILE
from packyard.using.setters.packages import PackageFiles
from packyard.writing.checks import definitions, setters
from packyard.writing.checks.finding import Finding, breach, finding
from packyard.writing.checks.subject import Subject, parse

#: What a Krmfile alone can tell; what names reach, only a package can.
_OF_DEFINITIONS = ("refused-value", "invalid-keyword", "unquoted-value", "required-unexplained", "two-names")
#: Files whose fields no setter sets, and the fields of these that lend objects values with their comments.
_LISTS = (*kustomization.NAMES, "package.yaml")
_KEEPING = ("labels", "configMapGenerator")


def check(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """Find what is wrong with YAML files and Krmfiles; any other file may name a definition."""
    krmfiles = {
        name: parse(PackageFiles(data, {}, name.removesuffix(KRMFILE)))
        for name, data in files.items()
        if posixpath.basename(name) == KRMFILE
    }
    values = _values(krmfiles.values())
    for name, data in files.items():
        if name in krmfiles:
            yield from _definitions(name, krmfiles[name])
        elif name.endswith((".yaml", ".yml")) and b"#" in data:
            yield from _comments(name, data, values)
    yield from _unused(files, krmfiles)


def _comments(name: str, data: bytes, values: Mapping[str, str]) -> Iterator[Finding]:
    with suppress(InputError):  # which composing reports
        for document in parse_file(data, name):
            for comment in find_comments(document.root):
                yield from setters.broken(document.source, comment)
            for bound in fields.find(document.root):
                if posixpath.basename(name) in _LISTS and bound.path[0] not in _KEEPING:
                    message = f"the comment for {bound.reference.name} binds nothing in {posixpath.basename(name)}"
                    hint = "write the value with its comment in the file of the object, and not here"
                    yield breach("unbound-comment", (document.source, bound.comment.start), message, hint)
                value, node = values.get(bound.reference.name, ""), bound.node
                if isinstance(node, Scalar) and node.value and value and _sort(node.value) != _sort(value):
                    message = f"{bound.reference.name} is {value!r} by default, which is no value for {node.value!r}"
                    yield breach("comment-does-not-fit", node, message, "name the setter that this field has")


def _sort(text: str) -> str:
    """Return what a value is like: a number, an amount of bytes, or another text."""
    if re.fullmatch(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?m?", text):
        return "number"
    return "bytes" if re.fullmatch(r"\d+(\.\d+)?[KMGTP]i?", text) else "text"


def _values(krmfiles: Iterable[Subject]) -> dict[str, str]:
    """Return the default of each setter that all Krmfiles give the same one."""
    values = {(setter.name, setter.text) for krmfile in krmfiles for setter in krmfile.definitions.setters.values()}
    counted = Counter(name for name, _ in values)
    return {name: value for name, value in values if counted[name] == 1}


def _definitions(name: str, subject: Subject) -> Iterator[Finding]:
    findings = [*setters.check(subject, shipped=True), *definitions.check(subject)]
    yield from (replace(item, fix="") for item in findings if item.rule in _OF_DEFINITIONS)
    for setter in subject.definitions.setters.values():
        if setter.required and setter.example is None and setter.description:
            message = f"setter {setter.name} is required and has no example, for commands of pages and for checks"
            yield finding("required-unexplained", setter.problem(message, "example: what users would write"), "warning")
    root = subject.krmfile.root if subject.krmfile and name == KRMFILE else None
    if root and (rules := root.entry("rules")):
        message = "rules in the Krmfile of the whole workspace reach no package"
        yield breach("invalid-rule", rules, message, "put them into that of a base, an overlay or a package")


def _unused(files: Mapping[str, bytes], krmfiles: Mapping[str, Subject]) -> Iterator[Finding]:
    """Find definitions whose names stand nowhere else: neither in other files, nor in a pattern or a rule."""
    counted = Counter(word for data in files.values() for word in words(data))
    for name, subject in krmfiles.items():
        text = files[name].decode("utf-8", "replace")
        for entry in subject.krmfile.entries if subject.krmfile else ():
            word = entry.name.removeprefix(SETTER_PREFIX).removeprefix(SUBSTITUTION_PREFIX)
            own = rf"{re.escape(entry.name)}:|\bname:\s*[\"']?{re.escape(word)}(?![\w-])"
            if 0 < counted[word] <= len(re.findall(own, text)):
                message = f"nothing in the workspace names {word}"
                yield breach("unused-definition", entry, message, "remove it", severity="warning")


def words(data: bytes) -> list[str]:
    """Return the words of a file, of which names of definitions are some."""
    return re.findall(r"[\w-]+", data.decode("utf-8", "replace"))
