"""What the rules of a CustomResourceDefinition refuse, which its authors wrote in CEL: ``x-kubernetes-validations``.

As in an API server they judge an object with its defaults, without nulls, and only where its schema admits it.
"""

from collections.abc import Iterator, Mapping

from packyard.core.kubernetes.lenient import mapping
from packyard.core.kubernetes.pods import Path
from packyard.core.kubernetes.schemas import Fault, Judge, Schema, last
from packyard.core.kubernetes.structural import RULES
from packyard.writing.checks.cel import NoAnswer, evaluator

_RESERVED = frozenset((
    *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import"),
    *("let", "loop", "package", "namespace", "return", "var", "void", "while"),
))  # fmt: skip


def faults(judge: Judge, definition: str, value: object) -> Iterator[Fault]:
    """Yield what the rules of a definition refuse, and the rules that have no answer."""
    reader = _Reader(judge.definitions.whole["$defs"])
    reader.read(mapping(judge.definitions.whole["$defs"][definition]), value, ())
    rules = [(path, part, rule) for path, part, rules in reader.judged for rule in rules]
    answers = evaluator().ask([(rule["rule"], {"self": part}) for _, part, rule in rules]) if rules else []
    for (path, _, rule), answer in zip(rules, answers, strict=True):
        what = last(path) or "the object"
        if isinstance(answer, NoAnswer):
            reason = f"the rule {rule['rule']!r} of {what} has no answer: {answer.reason}"
            yield Fault("rule-without-answer", path, reason, "let the definition's authors know")
        elif answer is not True:
            yield Fault("server-refuses", path, f"{what}: {rule.get('message') or rule['rule']}")


class _Reader:
    """Reads a value by its schema; ``judged`` are the paths of its parts that have rules, the parts, and the rules."""

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = definitions
        self.judged: list[tuple[Path, object, list[dict[str, str]]]] = []

    def read(self, schema: Schema, value: object, path: Path) -> object:
        """Return a value as rules see it."""
        schema = self._resolved(schema)
        if isinstance(value, dict):
            value = dict(self._fields(schema, value, path))
        elif isinstance(value, list):
            items = mapping(schema.get("items"))
            value = [self.read(items, item, (*path, number)) for number, item in enumerate(value)]
        if rules := schema.get(RULES):
            self.judged.append((path, value, rules))
        return value

    def _fields(self, schema: Schema, value: dict[str, object], path: Path) -> Iterator[tuple[str, object]]:
        fields, additional = mapping(schema.get("properties")), mapping(schema.get("additionalProperties"))
        defaults = {name: inner["default"] for name in fields if "default" in (inner := self._resolved(fields[name]))}
        members = {name: member for name, member in value.items() if member is not None}
        for name, member in {**defaults, **members}.items():
            reading = self.read(mapping(fields.get(name, additional)), member, (*path, name))
            yield name, reading
            if name in fields and name in _RESERVED:
                yield f"__{name}__", reading

    def _resolved(self, schema: Schema) -> Schema:
        reference = schema.get("$ref")
        return self._definitions[reference.rpartition("/")[2]] if reference else schema
