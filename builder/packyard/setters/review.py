"""What is wrong with a definition before anybody has set a value: for those who write packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from packyard.errors import Problem, shown
from packyard.setters import regexp
from packyard.setters.definition import Setter
from packyard.setters.exact import is_number
from packyard.setters.value import items_of
from packyard.text.node import Entry, Mapping, Node

TYPE_CHECKING = False  # `typing` costs a tenth of the time that `set` has
if TYPE_CHECKING:
    from collections.abc import Mapping as MappingOf


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_NUMBER = ("a number", is_number)
_COUNT = ("a whole number that is not negative", _is_count)
_FLAG = ("true or false", lambda value: isinstance(value, bool))
_TEXT = ("a text", lambda value: isinstance(value, str))
#: What the values of keywords have to be.
_KEYWORDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    **dict.fromkeys(("maximum", "minimum", "multipleOf"), _NUMBER),
    **dict.fromkeys(("maxLength", "minLength", "maxItems", "minItems"), _COUNT),
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "nullable"), _FLAG),
    **dict.fromkeys(("pattern", "format"), _TEXT),
    "enum": ("a list", lambda value: isinstance(value, list)),
}


def faults_of_keywords(schema: MappingOf[str, object]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is wrong with the keywords of a definition by their paths in it; no value could be checked by them."""
    for below, keywords in (((), schema), (("items",), items_of(schema))):
        for key, (wanted, fits) in _KEYWORDS.items():
            if key not in keywords:
                continue
            found = keywords[key]
            path = (*below, key)
            if not fits(found):
                yield path, f"{'.'.join(path)} must be {wanted}, found {_shown(found)}"
            elif key == "multipleOf" and is_number(found) and found <= 0:
                yield path, f"{'.'.join(path)} must be more than 0, found {found}"
            elif key == "pattern" and (fault := regexp.fault(str(found))):
                yield path, f"the pattern {shown(str(found), quoted=True)} is invalid: {fault}"


def review(entry: Entry, setter: Setter, *, shipped: bool) -> Iterator[tuple[str, Problem]]:
    """Yield what is wrong with the definition of a setter by the name of the fault's kind, each at its place.

    In a package as ``shipped`` what is required has to be explained.
    """
    definition = entry.value
    for path, message in faults_of_keywords(setter.schema):
        node: Node | None = definition
        for key in path:
            node = node.get(key) if isinstance(node, Mapping) else None
        yield "invalid-keyword", (node or entry.key).problem(f"{message} (setter {setter.name})", "no value can be set")
    if shipped and setter.required and not setter.example and not setter.description:
        message = f"setter {setter.name} is required, and has neither an example nor a description"
        yield "required-unexplained", entry.key.problem(message, "say what it is: example: …, description: …")


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a mapping"
    return shown(str(value), quoted=isinstance(value, str))
