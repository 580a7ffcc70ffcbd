"""The values of setters that a use case gives, where kustomize builds other texts in their fields.

base:    image: hub.example/web:1.25 # {"$openapi":"IMAGE"}     IMAGE: hub.example/web:${TAG}
overlay: images: [{name: hub.example/web, newTag: "1.26"}]      ->    setters: {TAG: "1.26"}
"""

from collections.abc import Sequence

from packyard.core.kubernetes.fieldtypes import Step
from packyard.core.kubernetes.lenient import mapping
from packyard.core.yaml.document import parse_text, source_of
from packyard.core.yaml.node import Scalar
from packyard.core.yaml.values import to_value
from packyard.using.setters import fields
from packyard.using.setters.definition import Setter
from packyard.using.setters.kpt.tags import Pattern
from packyard.using.setters.refusal import refusal
from packyard.writing.authoring.import_ import difference, meaning
from packyard.writing.source.compose import Composed


def find(composed: Composed, built: Sequence[object]) -> dict[str, Setter]:
    """Return setters with other values than theirs, which all their fields have in what is built."""
    known, objects = composed.definitions, dict(enumerate(map(mapping, built)))
    texts: dict[str, set[str | None]] = {}
    sources = (source_of(composed.files[file], file) for _, file in composed.objects)
    for document in (read for source in sources for read in parse_text(source)):
        bindings = [binding for binding in fields.find(document.root) if isinstance(binding.node, Scalar)]
        match = difference.match_of(mapping(to_value(document.root)), objects) if bindings else None
        for binding in bindings:
            definition = known.resolve(binding.reference)
            assert definition
            pattern = Pattern(meaning.flat(definition, known))
            text = "" if match is None else _text(objects[match], binding.path)
            derived = pattern.derive(text, empty=True)
            is_whole = bool(derived) and pattern.expand(derived, "") == text
            for name in known.setters_of(definition):
                texts.setdefault(name, set()).add(derived[name] if is_whole else None)
    only = {name: text for name, values in texts.items() if len(values) == 1 for text in values if text is not None}
    changed = [setter for name, setter in known.setters.items() if only.get(name, setter.value) != setter.value]
    setters = (setter for setter in changed if not setter.enum_values and not refusal(setter, [only[setter.name]]))
    return {setter.name: setter._replace(value=only[setter.name]) for setter in setters}


def _text(value: object, path: Sequence[Step]) -> str:
    """Return what a field says as a file would write it."""
    for step in path:
        if isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            value = mapping(value).get(str(step))
    return str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, (str, int, float)) else ""
