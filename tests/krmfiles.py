"""The Krmfile that most tests of setters need: one setter, and nothing else."""

from __future__ import annotations


def one_setter(name: str = "V", value: str = "old", *, is_set: bool = False) -> str:
    """Return a Krmfile that defines a setter; ``value`` is as it stands there."""
    mark = "          isSet: true\n" if is_set else ""
    return f"""\
openAPI:
  definitions:
    io.k8s.cli.setters.{name}:
      x-k8s-cli:
        setter:
          name: {name}
          value: {value}
{mark}"""
