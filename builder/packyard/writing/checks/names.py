"""Names that Kubernetes refuses, and names that get too long when a controller makes others of them.

Names are checked as they are shipped and at their longest, by the limits of the setters that they are made of. What a
name has to be is in `core.kubernetes.name_forms`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from packyard.core.errors import InputError
from packyard.core.kubernetes.name_forms import SUBDOMAIN, Name, find
from packyard.core.yaml.node import Node, Scalar
from packyard.using.setters.check import is_number
from packyard.using.setters.definition import Definitions, Setter, Substitution, full_type
from packyard.using.setters.rules.rule import Rule
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.setters import rules_of
from packyard.writing.checks.subject import Subject

_OPEN = re.compile(r"\$\{|^\$\w")
#: The highest index that is counted on: that of a number without a maximum.
_ANY_INDEX = 9999
#: What a format limits, in characters.
_FORMATS = {"hostname": 253, "ipv4": 15}
_SIZE = re.compile(r"(?:size\()?(\w+)(?:\)|\.size\(\)) <= ([0-9]+)")
_MOST = 1000  # characters of one value, which is too much for any name


def check(subject: Subject) -> Iterator[Finding]:
    """Find names that Kubernetes refuses, now or once their setters are set."""
    definitions = _limited(subject.definitions, rules_of(subject)[0])
    bound = {id(binding.node): definitions.resolve(binding.reference) for _, binding in subject.bound}
    findings: dict[tuple[str, str], Finding] = {}
    names = [(name, _after(name, bound)) for name in find(subject.objects, subject.pods_of)]
    for name, after in sorted(names, key=lambda item: item[0].form.most - len(item[1])):
        text = name.node.value
        is_open = _OPEN.search(text) is not None and not subject.is_own  # which envsubst replaces
        if is_open or "{{" in text or (not subject.complete and "$(" in text):  # others put a text there
            continue
        definition = bound.get(id(name.node))
        called = definition.name if definition else text
        try:
            for finding in _faults(name, after, definition, definitions):
                findings.setdefault((finding.rule, called), finding)  # the strictest form alone
        except InputError:  # a broken definition, which the checks of setters report
            continue
    yield from findings.values()


def _faults(
    name: Name, after: str, definition: Setter | Substitution | None, definitions: Definitions
) -> Iterator[Finding]:
    """Find faults of a name followed by ``after``: a wrong character, too long, or without a limit."""
    node, form, what = name.node, name.form, f"{name.what} {f'NAME{after} ' if after else ''}"
    for text in _texts(node, definition, definitions):
        if not form.pattern.match(text + after):
            message = f"{text + after!r} is not a valid name for {name.what}"
            yield breach("no-name", node, message, form.description)
            break
    most, unlimited = _longest(definition, definitions) if definition else (len(node.value), [])
    left = form.most - len(after)
    if most > left:
        message = f"{what}may have {form.most} characters, and this may make it {most + len(after)}"
        setters = sorted(definitions.setters_of(definition)) if definition else []
        hint = f"lower a maxLength: {', '.join(setters)}" if setters else "shorten it"
        yield breach("name-too-long", node, message, hint)
    elif unlimited and form.most < SUBDOMAIN.most:
        message = f"{what}may have {form.most} characters, and nothing limits {', '.join(unlimited)}"
        hint = f"give it a maxLength: {left - most} characters are left"
        yield breach("name-without-limit", node, message, hint)


def _texts(node: Scalar, definition: Setter | Substitution | None, definitions: Definitions) -> Iterator[str]:
    """Yield a name as it is shipped, unless it still has to be set, and with the examples of its setters."""
    if definition is None:
        yield node.value
        return
    setters = [definitions.setters[name] for name in definitions.setters_of(definition)]
    if not any(setter.must_be_set for setter in setters):
        yield node.value
    examples = {setter.name: setter._replace(value=setter.example) for setter in setters if setter.example is not None}
    if len(examples) < sum(setter.must_be_set for setter in setters) or not examples:
        return
    yield definitions.with_setters(examples).expand(definition)


def _after(name: Name, bound: Mapping[int, Setter | Substitution | None]) -> str:
    """Return the text that follows a name; an index is written as nines, as many as the highest one has digits."""
    return "".join(part if isinstance(part, str) else "9" * len(str(_last(part, bound))) for part in name.after)


def _last(counts: Iterable[Node | None], bound: Mapping[int, Setter | Substitution | None]) -> int:
    """Return the highest index by the first count that is not None; without a count it is 0."""
    count = next((node for node in counts if isinstance(node, Scalar)), None)
    setter = bound.get(id(count))
    most = setter.schema.get("maximum") if isinstance(setter, Setter) else None
    if count is None:
        return 0
    if setter is None and count.value.isdecimal():
        return max(int(count.value) - 1, 0)
    return min(max(int(most) - 1, 0), _ANY_INDEX) if isinstance(most, int | float) else _ANY_INDEX


def _limited(definitions: Definitions, rules: Iterable[Rule]) -> Definitions:
    """Return definitions in which a rule on the size of one setter, ``size(NAME) <= 24``, is its maxLength."""
    setters = dict(definitions.setters)
    for rule in rules:
        if (size := _SIZE.fullmatch(rule.text)) and (setter := setters.get(size[1])):
            most = int(size[2])
            limit = setter.schema.get("maxLength")
            length = min(most, limit) if isinstance(limit, int) else most
            setters[setter.name] = setter._replace(schema={**setter.schema, "maxLength": length})
    return definitions.with_setters(setters)


def _longest(definition: Setter | Substitution, definitions: Definitions) -> tuple[int, list[str]]:
    """Return the length of the longest text, without the setters that have no limit, and these.

    Raises as `Definitions.expand` does.
    """
    limits = {name: _limit(definitions.setters[name]) for name in sorted(definitions.setters_of(definition))}
    texts = {name: "x" * min(limit or 0, _MOST) for name, limit in limits.items()}
    filled = {name: definitions.setters[name]._replace(value=text, enum_values={}) for name, text in texts.items()}
    unlimited = [name for name, limit in limits.items() if limit is None]
    return len(definitions.with_setters(filled).expand(definition)), unlimited


def _limit(setter: Setter) -> int | None:
    """Return the length of the longest value of a setter; None where nothing limits it."""
    if setter.enum_values:
        return max(map(len, setter.enum_values.values()))
    schema = setter.schema
    limits = [_FORMATS.get(str(schema.get("format"))), schema.get("maxLength")]
    choices = schema.get("enum")
    if isinstance(choices, Sequence) and choices:
        limits.append(max(len(str(choice)) for choice in choices))
    if full_type(setter.type) == "integer" and is_number(schema.get("maximum")):
        limits.append(max(len(str(int(item))) for item in map(schema.get, ("maximum", "minimum")) if is_number(item)))
    return min((limit for limit in limits if isinstance(limit, int)), default=None)
