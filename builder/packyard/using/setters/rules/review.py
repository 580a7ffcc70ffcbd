"""What is wrong with a rule before anybody has set a value: for those who write packages."""

from collections.abc import Iterator, Mapping

from packyard.core.errors import Problem
from packyard.using.setters.definition import Setter
from packyard.using.setters.rules.rule import Rule


def review(rule: Rule, setters: Mapping[str, Setter], *, shipped: bool = True) -> Iterator[tuple[str, Problem]]:
    """Yield faults by the name of their kind: a rule that does not fit, or is broken by what is there.

    In a package as ``shipped`` the defaults have to keep it, with and without the examples of what is required, and the
    examples all together.
    """
    misfit = rule.misfit(setters)
    if misfit:
        yield "invalid-rule", misfit
        return
    for whose, values in _given(rule, setters) if shipped else (("values", setters),):
        problem = rule.broken(values)
        if problem:
            yield "broken-rule", rule.node.problem(f"the {whose} break the rule: {problem.message}", problem.hint)
            return


def _given(rule: Rule, setters: Mapping[str, Setter]) -> Iterator[tuple[str, Mapping[str, Setter]]]:
    yield "defaults", setters
    involved = {name: setters[name] for name in rule.names}
    required = {name: _by_example(setter) if setter.must_be_set else setter for name, setter in involved.items()}
    yield "defaults and the examples of what is required", required
    yield "examples", {name: _by_example(setter) for name, setter in involved.items()}


def _by_example(setter: Setter) -> Setter:
    return setter if setter.example is None or setter.is_list else setter._replace(value=setter.example, is_set=True)
