"""How a definition is written into a Krmfile: the keywords of a setter as they are, and what kustomize 3.8.7 reads.

io.k8s.cli.setters.N:
  type: integer
  x-k8s-cli: {setter: {name: N, value: "3"}}
"""

import json
from collections.abc import Callable

from packyard.core.yaml.content import Text, Tree, tree
from packyard.using.setters.comment import REF_PREFIX, SETTER_PREFIX, SUBSTITUTION_PREFIX
from packyard.using.setters.definition import Setter, Substitution

_PREFIXES = {"setter": SETTER_PREFIX, "substitution": SUBSTITUTION_PREFIX}


def entries(definition: Setter | Substitution, text: Callable[[str], Tree] = Text) -> dict[str, dict[str, Tree]]:
    """Return the entry of a definition, by its key; ``text`` writes values."""
    body: dict[str, Tree] = {"name": Text(definition.name)}
    if isinstance(definition, Substitution):
        refs = ((marker, f"{REF_PREFIX}{_PREFIXES[ref.kind]}{ref.name}") for marker, ref in definition.markers if ref)
        values: list[Tree] = [{"marker": Text(marker), "ref": Text(ref)} for marker, ref in refs]
        body |= {"pattern": text(definition.pattern), **({"values": values} if values else {})}
        return {SUBSTITUTION_PREFIX + definition.name: {"x-k8s-cli": {"substitution": body}}}
    body["value"] = text(definition.value)
    if definition.values:
        body["listValues"] = [*map(text, definition.values)]
    if definition.enum_values:
        body["enumValues"] = {key: text(value) for key, value in definition.enum_values.items()}
    if definition.set_by:
        body["setBy"] = Text(definition.set_by)
    if definition.required:
        body["required"] = "true"
    keywords = {key: tree(value, leaf) for key, value in definition.schema.items()}
    return {SETTER_PREFIX + definition.name: {**keywords, "x-k8s-cli": {"setter": body}}}


def leaf(value: object) -> Tree:
    """Return a scalar of JSON as it is written into a file."""
    return Text(value) if isinstance(value, str) else json.dumps(value)
