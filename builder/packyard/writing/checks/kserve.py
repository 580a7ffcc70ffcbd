"""InferenceServices of KServe, whose definition is too large to carry: the model of a predictor.

model:
  modelFormat: {name: huggingface}
  storageUri: pvc://models/llm          a claim of the package, or another store, by its scheme
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from packyard.core.errors import suggest
from packyard.core.kubernetes.kinds import CORE, is_kind
from packyard.core.yaml.node import MappingNode, Scalar
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

_FIELDS = ("modelFormat", "storageUri", "protocolVersion", "runtimeVersion", "runtime", "storage", "args", "resources")
_CLAIM = re.compile(r"pvc://([^/]+)")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find fields of a model that KServe does not have, and where it can load none from."""
    for root in parsed.fresh:
        is_service = is_kind(root, "serving.kserve.io", "InferenceService")
        if is_service and (model := root.mapping("spec", "predictor", "model")):
            yield from _model(model, parsed)


def _model(model: MappingNode, parsed: Parsed) -> Iterator[Finding]:
    for entry in model.entries:
        right = next((each for each in _FIELDS if each.casefold() == entry.name.casefold()), entry.name)
        if right != entry.name:
            message = f"model has no field {entry.name!r}"
            yield breach("unknown-field", entry, message, f"did you mean {right!r}?")
    form, uri = model.get("modelFormat"), model.scalar("storageUri")
    if isinstance(form, Scalar) and form.value:
        message = f"modelFormat is {form.value!r} where a mapping is expected"
        yield breach("wrong-type", form, message, f"modelFormat: {{name: {form.value}}}")
    if uri is None or not uri.value or variables.is_filled_in(uri.value) or parsed.waits(uri):
        return
    claims, claim = parsed.named(CORE, "PersistentVolumeClaim"), _CLAIM.match(uri.value)
    if "://" not in uri.value:
        message = f"storageUri is {uri.value!r}, which has no scheme"
        yield breach("wrong-value", uri, message, "pvc://CLAIM/PATH, s3://BUCKET or hf://MODEL, for example")
    elif claim and claim[1] not in claims and (near := suggest(claim[1], claims)):
        message = f"PersistentVolumeClaim {claim[1]!r} is not in the package"
        yield breach("dangling-reference", uri, message, near)
