"""What is wrong with a definition before anybody has set a value: for those who write packages."""

from __future__ import annotations

from collections.abc import Iterator

from packyard.errors import Problem, shown
from packyard.setters import regexp
from packyard.setters.definition import Setter
from packyard.setters.exact import is_number
from packyard.setters.keywords import items_of, unfit
from packyard.yaml.node import Entry, MappingNode, Node

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from collections.abc import Mapping


def faults_of_keywords(schema: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is wrong with the keywords of a definition, by their paths in it; no value can be judged by them."""
    yield from ((path, message) for path, message, _ in unfit(schema))
    for below, keywords in (((), schema), (("items",), items_of(schema))):
        step, pattern = keywords.get("multipleOf"), keywords.get("pattern")
        if is_number(step) and step <= 0:
            yield (*below, "multipleOf"), f"multipleOf must be more than 0, found {step}"
        if isinstance(pattern, str) and (fault := regexp.fault(pattern)):
            yield (*below, "pattern"), f"the pattern {shown(pattern, quoted=True)} is invalid: {fault}"


def review(entry: Entry, setter: Setter, *, shipped: bool) -> Iterator[tuple[str, Problem]]:
    """Yield what is wrong with the definition of a setter by the name of the fault's kind, each at its place.

    In a package as ``shipped`` what is required has to be explained.
    """
    definition = entry.value
    for path, message in faults_of_keywords(setter.schema):
        node: Node | None = definition
        for key in path:
            node = node.get(key) if isinstance(node, MappingNode) else None
        yield "invalid-keyword", (node or entry.key).problem(f"{message} (setter {setter.name})", "no value can be set")
    if shipped and setter.required and not setter.example and not setter.description:
        message = f"setter {setter.name} is required, and has neither an example nor a description"
        yield "required-unexplained", entry.key.problem(message, "say what it is: example: …, description: …")
