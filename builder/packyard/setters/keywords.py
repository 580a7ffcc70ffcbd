"""The OpenAPI keywords of a definition that limit its values: what each must be, and what is wrong with those given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from packyard.errors import Problem, shown
from packyard.setters.exact import is_number
from packyard.yaml.node import Entry, MappingNode, Node

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from packyard.setters.definition import Setter


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_NUMBER = ("a number", "float64", is_number)
_COUNT = ("a whole number", "int64", _is_count)
_FLAG = ("true or false", "bool", lambda value: isinstance(value, bool))
_TEXT = ("a text", "string", lambda value: isinstance(value, str))
#: The type of each keyword: in words, by its name in Go, and its test.
_KEYWORDS: dict[str, tuple[str, str, Callable[[object], bool]]] = {
    **dict.fromkeys(("maximum", "minimum", "multipleOf"), _NUMBER),
    **dict.fromkeys(("maxLength", "minLength", "maxItems", "minItems"), _COUNT),
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "nullable"), _FLAG),
    **dict.fromkeys(("pattern", "format"), _TEXT),
    "enum": ("a list", "[]interface {}", lambda value: isinstance(value, list)),
}


def items_of(schema: Mapping[str, object]) -> Mapping[str, object]:
    """Return the schema of a list's items."""
    items = schema.get("items")
    return items if isinstance(items, Mapping) else {}


def unfit(schema: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield each keyword whose value is of another type: its path, and what is wrong in words and as kustomize says it.

    No value can be judged by them; kustomize refuses every set.
    """
    for below, keywords in (((), schema), (("items",), items_of(schema))):
        for key, (wanted, kind, fits) in _KEYWORDS.items():
            found = keywords.get(key)
            if key in keywords and not fits(found):
                path = (*below, key)
                field = f"Go struct field SwaggerProps.definitions.SchemaProps.{'.'.join(path)} of type {kind}"
                yield (
                    path,
                    f"{'.'.join(path)} must be {wanted}, found {_shown(found)}",
                    f"json: cannot unmarshal {_in_json(found)} into {field}",
                )


def faults_of_keywords(schema: Mapping[str, object]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is wrong with the keywords of a definition, by their paths in it; no value can be judged by them."""
    from packyard.setters import regexp  # only for authors, and for what is refused

    yield from ((path, message) for path, message, _ in unfit(schema))
    for below, keywords in (((), schema), (("items",), items_of(schema))):
        step, pattern = keywords.get("multipleOf"), keywords.get("pattern")
        if is_number(step) and step <= 0:
            yield (*below, "multipleOf"), f"multipleOf must be more than 0, found {step}"
        if isinstance(pattern, str) and (fault := regexp.fault(pattern)):
            yield (*below, "pattern"), f"the pattern {shown(pattern, quoted=True)} is invalid: {fault}"


def review(entry: Entry, setter: Setter, *, shipped: bool) -> Iterator[tuple[str, Problem]]:
    """Yield what is wrong with the definition of a setter by the name of the fault's kind, each at its place.

    In a package as ``shipped`` what is required must be explained.
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


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a mapping"
    return shown(str(value), quoted=isinstance(value, str))


def _in_json(value: object) -> str:
    """Name the type of a value as Go's reader of JSON does; and of a fraction its text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"number {value}" if isinstance(value, float) else "number"
    return {str: "string", bool: "bool", list: "array", dict: "object"}.get(type(value), "null")
