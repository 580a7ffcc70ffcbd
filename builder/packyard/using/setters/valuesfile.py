"""A values file: names of setters with what they are set to, and, in the comment that begins it, what it is for.

# Workers with 16 CPUs.
options: [queue]                   these are enabled; no parameter can be called so
CPU_REQUEST: "14"
ARGUMENTS: [--verbose, --seed=1]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packyard.core.errors import InputError, Problem, refuse
from packyard.core.yaml.content import flow
from packyard.core.yaml.document import items, parse_one
from packyard.core.yaml.node import MappingNode, Scalar, SequenceNode
from packyard.core.yaml.span import expanded
from packyard.core.yaml.values import is_null, quoted
from packyard.using.setters.plan import Given

#: The most bytes of one.
LIMIT = 1 << 20
#: The key of the options that it enables.
OPTIONS = "options"


@dataclass(frozen=True, slots=True)
class ValuesFile:
    """What a values file says."""

    description: str
    by_name: dict[str, Given]
    options: tuple[str, ...] = ()


def parse(data: bytes, file: str) -> ValuesFile:
    """Read a values file; all names without a text or a list of texts are reported at once."""
    if len(data) > LIMIT:
        raise InputError(Problem(f"is larger than {LIMIT} bytes", file=file, hint="split it, and name both with -f"))
    root = parse_one(data, file).root
    if not isinstance(root, MappingNode):
        raise InputError(Problem("a values file must be a mapping of names to values", file=file))
    if root.get("apiVersion") and root.get("kind"):
        hint = "packyard fn is for manifests; a values file has a line NAME: VALUE for each parameter"
        raise InputError(Problem("is a manifest, and no values file", file=file, hint=hint))
    values = read(root, file)
    options = values.pop(OPTIONS, None)
    if options is not None and not options.is_list:
        raise InputError(options.problem("options must be a list of names", "no parameter can be called so"))
    head = root.entries[0].head if root.entries else []
    description = " ".join(comment.text.removeprefix("#").strip() for comment in head)
    return ValuesFile(description, values, tuple(options or ()))


def read(mapping: MappingNode, file: str) -> dict[str, Given]:
    """Read a mapping of names to values, as `parse` does."""
    problems: list[Problem] = []
    values: dict[str, Given] = {}
    for entry in mapping.entries:
        value = expanded(entry.value)
        nodes = items(value) if isinstance(value, SequenceNode) else [value]
        texts = [node.value for node in nodes if isinstance(node, Scalar)]
        is_list = isinstance(value, SequenceNode)
        is_empty = texts == [""] and not is_list
        line = entry.key.source.locate(entry.start)[0]
        item = values[entry.name] = Given.at(file, line, () if is_empty else texts, is_list=is_list)
        if len(texts) < len(nodes):
            problems.append(item.problem(f"{entry.name} needs a value, or a list of values", _flat(entry.name, value)))
        elif any(map(is_null, nodes)):
            hint = f"write a value behind it, or remove the line; --unset {entry.name} takes back what was set"
            problems.append(item.problem(f"{entry.name} has no value", hint))
    refuse(problems)
    return values


def _flat(name: str, value: object) -> str:
    """Say how a name stands in a values file that somebody wrote below another name."""
    for entry in value.entries if isinstance(value, MappingNode) else ():
        if isinstance(entry.value, Scalar):
            meant = name if entry.name == "value" else entry.name
            return f"each name begins a line: {meant}: {entry.value.lexeme}"
    return ""


def write(values: Mapping[str, str | Sequence[str]]) -> str:
    """Return the text of a values file from which `parse` reads these values, a list where a setter sets lists."""
    texts = {name: _lexeme(of) if isinstance(of, str) else flow([*map(_lexeme, of)]) for name, of in values.items()}
    return "".join(f"{_lexeme(name)}: {text}\n" for name, text in texts.items()) or "{}\n"


def _lexeme(text: str) -> str:
    return quoted(text, flow=True)
