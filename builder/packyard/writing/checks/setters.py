"""Faults between definitions, setter comments and the fields that they bind."""

import re
from collections.abc import Iterator

from packyard.core.errors import InputError, suggest
from packyard.core.yaml.document import all_comments, entries, items, mappings, scalars, walk
from packyard.core.yaml.node import Comment, Entry, MappingNode, Scalar, Source
from packyard.core.yaml.span import header_comment
from packyard.core.yaml.values import double_quoted, implicit_type
from packyard.using.setters import patterns
from packyard.using.setters.comment import (
    SETTER_PREFIX,
    SUBSTITUTION_PREFIX,
    DefinitionRef,
    parse,
    parse_key,
    parse_ref,
)
from packyard.using.setters.definition import Definitions, Setter, Substitution
from packyard.using.setters.fields import Binding, expected, sets
from packyard.using.setters.refusal import refusal, review
from packyard.using.setters.rules.rule import Rule, read
from packyard.writing.checks.finding import REMOVE, Finding, breach, finding
from packyard.writing.checks.subject import Subject

#: What was to be a setter comment.
_BROKEN = re.compile(
    r"""#+\s*\{?\s*["']?\$?(?:open-?api|openap|opneapi|kpt-set)["']?\s*:\s*["']?(\w+)""", re.IGNORECASE
)
_NAMED = re.compile(r"\$\{([^${}]+)\}")


def check(subject: Subject, *, shipped: bool | None) -> Iterator[Finding]:
    """Find what is wrong with a package's setters."""
    unbound = list(_unbound(subject))
    yield from unbound
    if subject.krmfile is None:
        return
    definitions = subject.definitions
    rules, unreadable = rules_of(subject)
    yield from unreadable
    for rule in rules:
        for name, problem in rule.review(definitions.setters, shipped=bool(shipped)):
            yield finding(name, problem)
    used: set[str] = set()
    fields = [finding for _, bound in subject.bound for finding in _field(bound, definitions, used)]
    yield from fields
    # What a broken comment stood for, or a file that is empty or cannot be read uses, must not be taken for dead.
    is_certain = not unbound and all(field.rule != "unresolved-comment" for field in fields)
    is_whole = (
        not subject.unreadable
        and all(document.root is None or isinstance(document.root, MappingNode) for document in subject.documents)
        and all(any(document.root for document in documents) for documents in subject.files.values())
    )
    for entry in subject.krmfile.entries:
        key = parse_key(entry.name)
        body = entry.value.mapping("x-k8s-cli", key.kind) if key else None
        if key is None or body is None:
            continue
        if entry.name not in used and is_whole:
            hint = "bind a field to it, or remove it" if key.kind == "setter" else "remove it"
            message = f"no field uses {key.kind} {key.name}"
            yield breach("unused-definition", entry, message, hint, REMOVE * is_certain)
        if key.kind == "setter":
            yield from _setter(entry, body, definitions.setters[key.name], shipped=shipped)
        else:
            yield from _substitution(entry, body, definitions.substitutions[key.name], definitions)


def rules_of(subject: Subject) -> tuple[list[Rule], list[Finding]]:
    """Return the rules between the setters of a package, or what is wrong where one cannot be read."""
    try:
        return read(subject.krmfile.root) if subject.krmfile else [], []
    except InputError as error:
        return [], [finding("invalid-rule", problem) for problem in error.problems]


# Fields and their comments.


def _field(bound: Binding, definitions: Definitions, used: set[str]) -> Iterator[Finding]:
    source, reference = bound.node.source, bound.reference
    definition = definitions.resolve(reference)
    if definition is None:
        kind = reference.kind or "setter or substitution"
        hint = suggest(reference.name, _known(definitions)) or "define it in the Krmfile, or remove the comment"
        message = f"the comment refers to {kind} {reference.name}, which is not defined: the field never changes"
        same = [name for name in _known(definitions) if name.casefold() == reference.name.casefold()]
        fix = same[0] if len(same) == 1 else ""
        yield breach("unresolved-comment", (source, bound.comment.start), message, hint, fix)
        return
    if not sets(definition, bound.node):
        is_, on = ("a list", "a single value") if isinstance(bound.node, Scalar) else ("a single value", "a list")
        message = f"{definition.name} is {is_}, but its comment is on {on}: it has no effect here"
        yield breach("comment-does-not-fit", (source, bound.comment.start), message, "remove the comment", REMOVE)
        return
    _reach(definition, definitions, used)
    node = bound.node
    value = node.value if isinstance(node, Scalar) else [scalar.value for scalar in scalars(node)]
    wanted = expected(definition, definitions)
    if wanted is not None and value != wanted:
        message = f"the field is {_quoted(value)}, but {definition.name} makes it {_quoted(wanted)} at the next set"
        yield breach("value-disagrees", bound.node, message, "fix the definition or the field")


def _reach(definition: Setter | Substitution, definitions: Definitions, used: set[str]) -> None:
    """Add the keys of a definition to ``used``, and of all that it is made of, or that its pattern names.

    A part lists no markers, build does that.
    """
    todo = [definition]
    while todo:
        current = todo.pop()
        key = (SETTER_PREFIX if isinstance(current, Setter) else SUBSTITUTION_PREFIX) + current.name
        if key not in used and isinstance(current, Substitution):
            named = (DefinitionRef("", name) for name in _NAMED.findall(current.pattern))
            references = [*(reference for _, reference in current.markers if reference), *named]
            todo += filter(None, map(definitions.resolve, references))
        used.add(key)


def _unbound(subject: Subject) -> Iterator[Finding]:
    used = {id(binding.comment) for _, binding in subject.bound}
    commented = [document for document in subject.documents if "#" in document.source.text]
    # Of what an alias repeats, a comment once.
    comments = {id(comment): (document.source, comment) for document in commented for comment in all_comments(document)}
    for key, (source, comment) in comments.items():
        reference = parse(comment.text)
        yield from broken(source, comment)
        if reference is not None and key not in used:
            message = f"the comment for {reference.name} is not behind a value, so it binds no field"
            yield breach("unbound-comment", (source, comment.start), message, "put it behind the value")
    fields = {id(binding.node) for _, binding in subject.bound}
    nodes = {id(node): node for document in commented for node in walk(document.root) if id(node) not in fields}
    for node in (node for node in nodes.values() if isinstance(node, Scalar) and node.style in "|>"):
        if (header := header_comment(node)) and (reference := parse(header.text)):
            message = f"the comment for {reference.name} binds no field behind the header of a block scalar"
            hint = "put it on a line of its own above the field"
            yield breach("unbound-comment", (node.source, header.start), message, hint)


def broken(source: Source, comment: Comment) -> Iterator[Finding]:
    """Find what was to be a setter comment, behind another one too, and is not read as one."""
    find = _BROKEN.match if comment.own_line else _BROKEN.search
    name = find(comment.text) if parse(comment.text) is None else None
    if name:
        message = f"{comment.text.strip()} binds no field: it is not JSON with one key of kustomize's"
        yield breach("unbound-comment", (source, comment.start), message, f'# {{"$openapi":"{name[1]}"}}')


# Definitions.


def _setter(entry: Entry, body: MappingNode, setter: Setter, *, shipped: bool | None) -> Iterator[Finding]:
    for value in _values(body):
        if value.style == "plain" and implicit_type(value.value) in ("integer", "number", "boolean"):
            message = f"{value.value} of setter {setter.name} is not a string, and kustomize then refuses every set"
            fix = double_quoted(value.value)
            yield breach("unquoted-value", value, message, "put it in quotes", fix)
    if crossed := _crossed(entry, setter):
        yield crossed
        return
    wrong = list(review(entry, setter, shipped=bool(shipped)))
    yield from (finding(rule, problem) for rule, problem in wrong)
    if shipped and not patterns.has_words(setter.schema):
        message = f"the pattern of setter {setter.name} has no words for those whose value it refuses"
        yield breach("unexplained-pattern", entry, message, "say what it takes: title: lower-case letters, such as ab")
    if all(rule != "invalid-keyword" for rule, _ in wrong):
        yield from _refused(entry, body, setter)
    if setter.required and setter.is_set and shipped is not False:
        place = body.entry("isSet") or entry
        message = f"setter {setter.name} is required, but set to {setter.value!r}: shipped so, nobody is asked for it"
        hint = 'ship value: "" without isSet'
        yield breach("required-but-set", place, message, hint, severity="error" if shipped else "warning")
    elif shipped and setter.required and (setter.value or setter.values):
        place = body.entry("value") or body.entry("listValues") or entry
        message = f"setter {setter.name} is required, but ships the value {setter.value!r}: users are not asked for one"
        yield breach("required-with-value", place, message, 'ship value: "", or remove required')


def _crossed(entry: Entry, setter: Setter) -> Finding | None:
    """Find a minimum above the maximum, told where the value says that it is wrong."""
    least, most = setter.schema.get("minimum"), setter.schema.get("maximum")
    if not isinstance(least, int | float) or not isinstance(most, int | float) or least <= most:
        return None
    is_low = setter.text.isdecimal() and int(setter.text) > most and int(setter.text) >= least
    place = entry.value.get("maximum" if is_low else "minimum") or entry
    message = f"setter {setter.name} takes no value: its minimum {least} is above its maximum {most}"
    return breach("invalid-keyword", place, message, "swap them, or correct one")


def _refused(entry: Entry, body: MappingNode, setter: Setter) -> Iterator[Finding]:
    """Find a value, a default or an example that the definition itself rejects."""
    values = {"value": body, "default": entry.value, "example": entry.value} if not setter.is_list else {}
    for what, node in ((name, member.scalar(name)) for name, member in values.items()):
        if node and (node.value or what == "example") and (fault := refusal(setter, [node.value])):
            message = f"the {what} of {setter.name} is rejected by its own definition: {fault}"
            yield breach("refused-value", node, message, "fix one of them")


def _values(body: MappingNode) -> Iterator[Scalar]:
    named = (entry.value for entry in entries(body.get("enumValues")))
    nodes = (body.get("value"), *items(body.get("listValues")), *named)
    return (node for node in nodes if isinstance(node, Scalar))


def _substitution(
    entry: Entry, body: MappingNode, substitution: Substitution, definitions: Definitions
) -> Iterator[Finding]:
    for item in mappings(body.get("values")):
        yield from _marker(item, substitution, definitions)
    listed = [marker for marker, _ in substitution.markers if marker]
    for named in _NAMED.finditer(substitution.pattern):
        if not any(marker in named.group() for marker in listed):
            message = f"{named.group()} in the pattern of {substitution.name} has no entry in values and stays as it is"
            yield breach("unlisted-marker", body.get("pattern") or body, message, "add it to values")
    yield from _unexpanded(entry, substitution, definitions)


def _unexpanded(entry: Entry, substitution: Substitution, definitions: Definitions) -> Iterator[Finding]:
    """Find why a substitution yields no text, but for markers, of which `_marker` tells."""
    try:
        definitions.expand(substitution)
    except InputError as error:
        problem = error.problems[0]
        are_known = all(reference and definitions.resolve(reference) for _, reference in substitution.markers)
        if problem.line == substitution.line and are_known:
            yield breach("broken-substitution", entry, problem.message, problem.hint)


def _marker(item: MappingNode, substitution: Substitution, definitions: Definitions) -> Iterator[Finding]:
    marker, ref = item.text("marker"), item.get("ref")
    reference = parse_ref(item.text("ref"))
    if reference is None or definitions.resolve(reference) is None:
        what = f"{reference.kind} {reference.name}" if reference else repr(item.text("ref"))
        hint = suggest(reference.name, _known(definitions)) if reference else ""
        message = f"marker {marker!r} of substitution {substitution.name} refers to {what}, which is not defined"
        yield breach("unresolved-marker", ref or item, message, hint)
        return
    if marker not in substitution.pattern:
        message = f"the pattern of {substitution.name} has no {marker}: {reference.name} has no effect on it"
        yield breach("missing-marker", item, message, "add it to the pattern, or remove the entry")
    named = _NAMED.fullmatch(marker)
    if named and named.group(1) != reference.name:
        message = f"marker {marker} of substitution {substitution.name} stands for {reference.name}"
        is_defined = definitions.resolve(DefinitionRef("", named.group(1))) is not None
        hint = f"{named.group(1)} is defined too" if is_defined else f"rename it to ${{{reference.name}}}"
        yield breach("marker-disagrees", ref or item, message, hint, severity="error" if is_defined else "warning")


def _known(definitions: Definitions) -> list[str]:
    return list(dict.fromkeys((*definitions.setters, *definitions.substitutions)))


def _quoted(value: str | list[str]) -> str:
    return repr(value) if isinstance(value, str) else f"[{', '.join(value)}]"
