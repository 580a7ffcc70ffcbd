"""The rules of one Krmfile: reading them, and saying which of them some values break.

kustomize 3.8.7 keeps the key ``rules`` of a Krmfile and knows nothing of it.
"""

from collections.abc import Collection, Iterator, Mapping

from packyard.core.errors import InputError, Problem, every, shown, suggest
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Item, MappingNode, Scalar, SequenceNode
from packyard.core.yaml.values import scalar_value
from packyard.using.setters.definition import Setter, full_type
from packyard.using.setters.rules import expression
from packyard.using.setters.rules.expression import AnswerError, ExpressionError, UndecidedError

KEY = "rules"
_MOST = 100  # rules of one Krmfile
_TYPES = {"integer": "int", "number": "double", "boolean": "bool", "array": "list<string>"}


class Rule:
    """A condition, and the message for those who break it; ``names`` are the setters in it, ``item`` its place."""

    __slots__ = ("item", "message", "names", "node", "text")

    def __init__(self, item: Item, node: Scalar, message: str) -> None:
        self.item = item
        self.node = node
        self.text = " ".join(node.value.split())
        self.message = message
        self.names = tuple(dict.fromkeys(name for name, _ in expression.names(node.value)))
        if not self.names:
            raise InputError(node.problem(f"the rule {self.text} names no setter"))

    def misfit(self, setters: Mapping[str, Setter]) -> Problem | None:
        """Say what is wrong with the rule for setters of these types: a name unknown, a text for a number."""
        for name, position in expression.names(self.node.value):
            if name not in setters:
                return self._at(ExpressionError(f"there is no setter {name}", position, suggest(name, setters)))
        try:
            type_name = expression.check(self.node.value, self._types(setters))
        except ExpressionError as error:
            return self._at(error)
        if type_name != "BOOL":
            return self.node.problem(f"the rule {self.text} must be true or false: it compares nothing")
        return None

    def holds(self, setters: Mapping[str, Setter]) -> bool | None:
        """Say whether the rule, which fits them, holds for setters; None while a value that it needs is missing.

        It needs each required setter that it names, and each number or boolean that the answer depends on.
        """
        return self._answer(setters)[0]

    def broken(self, setters: Mapping[str, Setter]) -> Problem | None:
        """Return the rule's message with the values that break it, or None where it holds or is not yet decided."""
        holds, reason = self._answer(setters)
        if holds is not False:
            return None
        shown = ", ".join(f"{name} is {_shown(setters[name])}" for name in self.names)
        return self.node.problem(self.message.removesuffix(".") + reason, f"the rule is {self.text}; {shown}")

    def review(self, setters: Mapping[str, Setter], *, shipped: bool = True) -> Iterator[tuple[str, Problem]]:
        """Yield what is wrong before anybody has set a value, by the name of the fault's kind.

        In a package as ``shipped`` the defaults have to keep the rule, with and without the examples of what is
        required, and the examples all together.
        """
        if misfit := self.misfit(setters):
            yield "invalid-rule", misfit
            return
        examples = {name: _by_example(setters[name]) for name in self.names}
        filled = {name: examples[name] if setters[name].must_be_set else setters[name] for name in self.names}
        more = {"defaults": setters, "defaults and the examples of what is required": filled, "examples": examples}
        for whose, values in more.items() if shipped else (("values", setters),):
            if problem := self.broken(values):
                yield "broken-rule", self.node.problem(f"the {whose} break the rule: {problem.message}", problem.hint)
                return

    def _answer(self, setters: Mapping[str, Setter]) -> tuple[bool | None, str]:
        """Return what `holds` does, and behind a colon why it is no answer of the expression."""
        if any(setters[name].must_be_set for name in self.names):
            return None, ""
        try:
            values = {name: _value(setters[name]) for name in self.names}
            return bool(expression.evaluate(self.node.value, self._types(setters), values)), ""
        except UndecidedError:
            return None, ""
        except AnswerError as error:
            return False, f": {error}"

    def _types(self, setters: Mapping[str, Setter]) -> dict[str, str]:
        return {name: _TYPES.get(full_type(setters[name].type), "string") for name in self.names}

    def _at(self, error: ExpressionError) -> Problem:
        """Place an error at its character, where the text of the rule stands in one piece."""
        begin = self.node.lexeme.find(self.node.value)
        position = self.node.start + (begin + error.position if begin >= 0 else 0)
        return self.node.source.problem(position, f"rule: {error.message}", error.hint)


def read(root: MappingNode) -> list[Rule]:
    """Read the rules of a Krmfile; raises `InputError` with every fault of every rule."""
    section = root.get(KEY)
    if section is None:
        return []
    if not isinstance(section, SequenceNode):
        raise InputError(section.problem("rules must be a list of {rule: …, message: …}"))
    if len(section.items) > _MOST:
        raise InputError(section.problem(f"a Krmfile has at most {_MOST} rules, found {len(section.items)}"))
    return every(_read, section.items)


def _read(item: Item) -> Rule:
    fields = Fields(item.value, item.value.source.name, KEY)
    fields.text("rule")
    message = fields.text("message")
    fields.done()
    node = fields.node and fields.node.get("rule")
    assert isinstance(node, Scalar)
    return Rule(item, node, " ".join(message.split()))


def find_broken(
    root: MappingNode, setters: Mapping[str, Setter], changed: Collection[str] | None = None
) -> Iterator[Problem]:
    """Yield what is wrong under a Krmfile's rules; with ``changed`` only under those that name one of these setters."""
    for rule in read(root):
        if changed is None or not set(changed).isdisjoint(rule.names):
            problem = rule.misfit(setters) or rule.broken(setters)
            if problem:
                yield problem


def _value(setter: Setter) -> object:
    """Return a setter's value as an expression takes it, a text where it is not of its type; see `evaluate`.

    None for a number or boolean that has none.
    """
    if setter.is_list:
        return list(setter.values or ())
    kind, text = _TYPES.get(full_type(setter.type), "string"), setter.value
    if kind == "string":
        return text
    value = scalar_value(text)
    if kind == "bool":
        return value if isinstance(value, bool) else text or None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return text or None
    if kind == "double":
        return float(value)
    return int(value) if isinstance(value, int) or (value.is_integer() and abs(value) < 1 << 63) else text


def _by_example(setter: Setter) -> Setter:
    return setter if setter.example is None or setter.is_list else setter._replace(value=setter.example, is_set=True)


def _shown(setter: Setter) -> str:
    return ", ".join(map(shown, setter.texts))
