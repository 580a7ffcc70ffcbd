"""What an option brings, against the values that are here: its definitions have to admit them, its rules to hold.

A required value that is not set yet is no fault: `render` and `lint` name it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packyard.errors import Problem, refuse
from packyard.setters.definition import Setter
from packyard.setters.refusal import refusal
from packyard.source.enabling.component import Component


def check(option: Component, setters: Mapping[str, Setter]) -> None:
    """Refuse an option by the lines of its Krmfile.option; ``setters`` are all that are here with it."""
    refuse(_faults(option, setters))


def _faults(option: Component, setters: Mapping[str, Setter]) -> Iterator[Problem]:
    for name, defined in option.setters.items():
        present = setters[name]
        if not present.must_be_set:
            texts = (present.values or ()) if defined.is_list else (present.value,)
            shown = ", ".join(map(repr, texts))
            hint = f"{name} is {shown}: packyard set DIR {name}=VALUE"
            if fault := refusal(defined, texts):
                yield defined.problem(fault, hint)
    for rule in option.rules:
        problem = rule.misfit(setters) or rule.broken(setters)
        if problem:
            yield problem
