"""Write the JSON Schemas of what authors write, made from the code that reads these files.

    python tests/json_schemas.py        builder/packyard/writing/source/schemas/*.json

The reader of package.yaml and packyard.yaml reads a workspace with every field; what it asks for, as text, list or
mapping, and whether that may be missing, becomes the schema, with the descriptions of docs/authoring.md. The patterns
and choices are the reader's own. The schema of Krmfiles is made from the tables by which setters and rules are read.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from functools import wraps
from pathlib import Path
from typing import Any
from unittest import mock

import real
import tiny
from documents import pages
from packyard.core.bundle import reference
from packyard.core.files import paths
from packyard.core.yaml.fields import Fields
from packyard.core.yaml.node import Scalar
from packyard.using.kustomize import selector
from packyard.using.options.folder import NAME as OPTIONS
from packyard.using.setters import check, definition, formats
from packyard.using.setters.comment import REF_PREFIX, SETTER_PREFIX, SUBSTITUTION_PREFIX
from packyard.using.setters.rules import rule
from packyard.writing.authoring import schemafile
from packyard.writing.source import (
    library,
    package,
    pod_operations,
    pod_patch,
    required,
    tests,
    workspace,
)
from writing.source import everyfield

FOLDER = real.REPOSITORY / "builder/packyard/writing/source/schemas"
Schema = dict[str, Any]

TEXT: Schema = {"type": ["string", "number", "boolean"]}
#: Where nothing is written, the text is empty.
ANY_TEXT: Schema = {"type": ["string", "number", "boolean", "null"]}
#: What the reader asks for, by the method that it asks.
ASKED = ("text", "texts", "items", "anything", "mapping", "sentences", "children", "child")


class Recorder:
    """What a reader asked of a file: for each mapping, by its path, its keys with how each was asked for."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.asked: dict[str, dict[str, tuple[str, bool]]] = {}
        self.items: dict[str, set[bool]] = {}  # whether items of a list are scalars

    def record(self, fields: Fields, method: str, key: str, required: bool) -> None:
        if everyfield.as_file(fields.file) == self.file and "/libraries/" not in fields.file:
            path = everyfield.as_documented(fields.path)
            self.asked.setdefault(path, {}).setdefault(key, (method, required))

    def schema(self, path: str = "") -> Schema:
        asked, others = self.asked[path], f"{path}.NAME"
        return {
            "type": "object",
            "additionalProperties": self.schema(others) if others in self.asked else False,
            "required": [key for key, (_, required) in asked.items() if required],
            "properties": {key: self._field(f"{path}.{key}".strip("."), method) for key, (method, _) in asked.items()},
        }

    def _field(self, path: str, method: str) -> Schema:
        described = {"description": DESCRIPTIONS[self.file, path]} if (self.file, path) in DESCRIPTIONS else {}
        constraints = CONSTRAINTS.get((self.file, path), {})
        return {
            **described,
            **({} if constraints.keys() & {"const", "enum"} else self._shape(path, method)),
            **constraints,
        }

    def _shape(self, path: str, method: str) -> Schema:
        if method == "anything":
            return {}
        if method == "text":
            above, _, key = path.rpartition(".")
            return {**TEXT, "minLength": 1} if self.asked[above][key][1] else ANY_TEXT
        if method == "child":
            return self.schema(path)
        if method == "children":
            return {"type": "object", "additionalProperties": self.schema(f"{path}.NAME")}
        if method == "mapping":
            return {"type": "object", "additionalProperties": ANY_TEXT}
        if method == "sentences":
            return {"type": "object", "additionalProperties": {**TEXT, "pattern": r"\S"}}
        forms = [ITEMS.get((self.file, path), TEXT)] if True in self.items.get(path, {method == "texts"}) else []
        forms += [{**self.schema(path), **MAPPINGS.get((self.file, path), {})}] if path in self.asked else []
        return {"type": "array", "items": forms[0] if len(forms) == 1 else {"anyOf": forms}}


def recorded(file: str, kind: str = "Workspace") -> Recorder:
    """Read a workspace with every field, or a library, and record what is asked of a file."""
    found = Recorder(file)

    def noted(method: str) -> Any:
        asked = getattr(Fields, method)

        @wraps(asked)
        def ask(fields: Fields, key: str, *default: str | None) -> Any:
            found.record(
                fields, method, key, required=(file, key) in REQUIRED or (method == "text" and default in ((), (None,)))
            )
            answer = asked(fields, key, *default)
            if method == "items" and answer:
                path = f"{fields.path}.{key}".strip(".").replace("useCases.name", "useCases.NAME")
                found.items.setdefault(path, set()).update(isinstance(item, Scalar) for item in answer)
            return answer

        return mock.patch.object(Fields, method, ask)

    with tempfile.TemporaryDirectory() as folder:
        root = everyfield.workspace(Path(folder))
        tiny.replace(root / WORKSPACE, "kind: Workspace", f"kind: {kind}")
        patches = [noted(method) for method in ASKED]
        for patch in patches:
            patch.start()
        try:
            everyfield.read(root)
        finally:
            mock.patch.stopall()
    return found


def _descriptions() -> Iterator[tuple[tuple[str, str], str]]:
    page = (pages.DOCS / "generated/fields.md").read_text("utf-8")
    for file, fields, _, meaning in pages.rows(page, "| file | field"):
        first = ""
        for name in re.findall(r"`([^`]+)`", fields):
            first = name if not name.startswith("…") else f"{first.rpartition('.')[0]}{name[1:]}"
            yield (file, first), re.sub(r"\[([^]]*)\]\([^)]*\)|`", lambda found: found[1] or "", meaning)


DESCRIPTIONS = dict(_descriptions())
PACKAGE, WORKSPACE, TESTS = package.FILE, paths.WORKSPACE, f"{tests.DIRECTORY}/*.yaml"
#: What the reader asks for as a mapping, and refuses to do without.
REQUIRED = {(PACKAGE, "model"), (PACKAGE, "useCases"), (TESTS, "tests")}
_WORD = package.NAME.pattern
_PART = {"type": ["string", "number"], "pattern": f"^{_WORD}$"}
_PREFIX = workspace._PREFIX_PART.pattern
#: What the reader checks of a text, a list, the names in a mapping.
CONSTRAINTS: dict[tuple[str, str], Schema] = {
    **{(file, "apiVersion"): {"const": "packyard/v1"} for file in (PACKAGE, WORKSPACE)},
    (PACKAGE, "kind"): {"const": "Package"},
    (PACKAGE, "useCases"): {
        "minProperties": 1,
        "maxProperties": package.MAX_USE_CASES,
        "propertyNames": {"pattern": f"^(?!{OPTIONS}(/|$)){_WORD}(/{_WORD})*$"},
    },
    (PACKAGE, "useCases.NAME.base"): _PART,
    (PACKAGE, "useCases.NAME.storage"): {"items": _PART, "uniqueItems": True},
    (PACKAGE, "useCases.NAME.programs"): {"items": _PART, "uniqueItems": True},
    (PACKAGE, "useCases.NAME.patches.target"): {"minProperties": 1},
    (PACKAGE, "requires.definitions"): {"items": {"type": "string", "pattern": f"^{required._DEFINITION.pattern}$"}},
    (PACKAGE, "requires.offers"): {"items": {"type": "string", "pattern": f"^{required._OFFER.pattern}$"}},
    (PACKAGE, "requires.link"): {"type": "string", "pattern": f"^{required._LINK.pattern}$"},
    (PACKAGE, "requires.secret"): {"type": "string", "pattern": f"^{required._NAME.pattern}$"},
    (PACKAGE, "requires.kubernetes"): {"type": "string", "pattern": f"^{required._KUBERNETES.pattern}$"},
    (TESTS, "tests"): {"minItems": 1},
    (TESTS, "tests.set"): {
        "type": "object",
        "additionalProperties": {"anyOf": [TEXT, {"type": "array", "items": TEXT}]},
    },
    (TESTS, "tests.expect.exists"): {"type": "boolean"},
    (TESTS, "tests.expect.matches"): {"type": "string"},
    (WORKSPACE, "kind"): {"enum": [*reversed(library.KINDS)]},
    (WORKSPACE, "prefix"): {"type": "string", "pattern": f"^/*{_PREFIX}(/{_PREFIX})*/*$"},
    (WORKSPACE, "channel"): {"type": "string", "pattern": f"^{workspace._CHANNEL.pattern}/*$"},
    (WORKSPACE, "libraries.name"): {"type": "string", "pattern": f"^{library.NAME.pattern}$"},
    (WORKSPACE, "libraries.version"): {"type": "string", "pattern": f"^{reference._VERSION.pattern}$"},
    (WORKSPACE, "libraries.digest"): {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
    (WORKSPACE, "lint.NAME.severity"): {"enum": [False, *workspace.SEVERITIES]},  # YAML 1.1 reads off as false
    (WORKSPACE, "libraries.path"): {"type": "string", "pattern": "^[^/]"},
}
#: What an item of a list may be as a text.
ITEMS = {(WORKSPACE, "libraries"): {"const": library.BUILTIN}}
#: Which keys a mapping in a list has together.
MAPPINGS = {
    (PACKAGE, "useCases.NAME.patches"): {"oneOf": [{"required": [key]} for key in ("path", "patch")]},
    (TESTS, "tests"): {"oneOf": [{"required": [key]} for key in ("expect", "refused")]},
    (TESTS, "tests.expect"): {"oneOf": [{"required": [key]} for key in tests._CHECKS]},
    (PACKAGE, "requires"): {
        "oneOf": [
            {"required": [kind, *needed], "propertyNames": {"enum": [kind, "description", *keys]}}
            for kind, keys in required.FIELDS.items()
            for needed in ((["definitions"], ["offers"]) if kind == "operator" else (keys,))
        ]
    },
    (WORKSPACE, "libraries"): {
        "oneOf": [
            {"required": ["path"], "propertyNames": {"enum": ["name", "path"]}},
            {"required": ["name", "version"], "propertyNames": {"enum": ["digest", "from", "name", "version"]}},
        ]
    },
}


def of_package() -> Schema:
    return {"title": "packyard: package.yaml", **recorded(PACKAGE).schema()}


def of_tests() -> Schema:
    return {"title": "packyard: tests of a package", **recorded(TESTS).schema()}


def of_workspace() -> Schema:
    """Return the schema of packyard.yaml; a library has the same fields as a workspace, and needs fewer."""
    schemas = {kind: recorded(WORKSPACE, kind).schema() for kind in library.KINDS}
    needed = {kind: set(schema["required"]) for kind, schema in schemas.items()}
    always = set.intersection(*needed.values())
    return {
        "title": "packyard: packyard.yaml",
        **schemas["Workspace"],
        "required": [key for key in schemas["Workspace"]["required"] if key in always],
        "if": {"properties": {"kind": {"const": "Workspace"}}},
        "then": {"required": sorted(needed["Workspace"] - always)},
    }


def of_pods() -> Schema:
    """Return the schema of a document of pods.yaml; what a pod may have, schemas of Kubernetes say."""
    texts = {"type": "array", "items": TEXT}
    container = {"type": "object", "required": ["name"], "properties": {"name": {**TEXT, "minLength": 1}}}
    target = dict.fromkeys((*selector.WORDS, *selector._METADATA), TEXT)
    labels = {"type": "object", "additionalProperties": ANY_TEXT}
    described: dict[str, Schema] = {
        "targets": {
            "description": "which objects, as a target says it; all that have pods, if it is left out",
            "type": "array",
            "items": {"type": "object", "additionalProperties": False, "minProperties": 1, "properties": target},
        },
        "roles": {"description": "which of their pods, such as worker; all, if it is left out", **texts},
        "absent": {"description": "fields of this patch that a pod must not have already", **texts},
        "append": {"description": "lists that are added to, where Kubernetes would replace them", **texts},
        "metadata": {
            "type": "object",
            "additionalProperties": False,
            "properties": dict.fromkeys(pod_patch._METADATA, labels),
        },
        "spec": {
            "description": "a fragment of a pod, with setter comments",
            "type": "object",
            "properties": {key: {"type": "array", "items": container} for key in pod_operations.CONTAINERS},
        },
    }
    return {
        "title": "packyard: pods.yaml",
        "type": "object",
        "additionalProperties": False,
        "required": ["apiVersion", "kind"],
        "properties": {"apiVersion": {"const": pod_patch.VERSION}, "kind": {"const": pod_patch.KIND}, **described},
        "anyOf": [{"required": [key]} for key in ("metadata", "spec")],
    }


#: The types of OpenAPI keywords, by what Go calls them.
_TYPES = {
    "a number": {"type": "number"},
    "a whole number": {"type": "integer"},
    "true or false": {"type": "boolean"},
    "a text": {"type": "string"},
    "a list": {"type": "array"},
}


def _escaped(text: str) -> str:
    """Write a text as a regular expression that JavaScript reads, too."""
    return text.replace(".", r"\.")


def of_krmfile() -> Schema:
    """Return the schema of a Krmfile; what it does not know is left alone, as kustomize and packyard do."""
    keywords = {name: _TYPES[kind] for name, (kind, _) in check.KEYWORDS.items()}
    keywords["format"] = {**keywords["format"], "examples": sorted(formats.FORMATS)}
    types = [*schemafile.TYPES, *definition._ALIASES]
    described = {
        "type": {"enum": types},
        "description": TEXT,
        "example": ANY_TEXT,
        **keywords,
        "items": {"type": "object", "properties": keywords},
    }
    flag = {"type": ["boolean", "string"], "enum": [True, False, "true", "false"]}
    setter = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "value": ANY_TEXT,
            "listValues": {"type": "array", "items": ANY_TEXT},
            "enumValues": {"type": "object", "additionalProperties": ANY_TEXT},
            "required": flag,
            "isSet": flag,
            "setBy": TEXT,
        },
    }
    prefix = "|".join(_escaped(each) for each in (SETTER_PREFIX, SUBSTITUTION_PREFIX))
    marker = {
        "type": "object",
        "required": ["marker", "ref"],
        "properties": {
            "marker": {"type": "string", "minLength": 1},
            "ref": {"type": "string", "pattern": f"^{REF_PREFIX}({prefix})"},
        },
    }
    substitution = {
        "type": "object",
        "required": ["name", "pattern"],
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "pattern": TEXT,
            "values": {"type": "array", "items": marker},
        },
    }
    kinds = ((SETTER_PREFIX, "setter", setter, described), (SUBSTITUTION_PREFIX, "substitution", substitution, {}))
    definitions = {
        f"^{_escaped(prefix)}": {
            "type": "object",
            "required": ["x-k8s-cli"],
            "properties": {
                **more,
                "x-k8s-cli": {"type": "object", "required": [kind], "properties": {kind: body}},
            },
        }
        for prefix, kind, body, more in kinds
    }
    text = {**TEXT, "pattern": r"\S"}
    rules = {
        "description": "Rules between setters, which packyard checks.",
        "type": "array",
        "maxItems": rule._MOST,
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": [*rule._KEYS],
            "properties": dict.fromkeys(rule._KEYS, text),
        },
    }
    of_parts = recorded(PACKAGE).schema()["properties"][required.KEY]
    section = {"type": ["object", "null"], "patternProperties": definitions}
    return {
        "title": "packyard: Krmfile",
        "type": "object",
        "properties": {
            "openAPI": {"type": ["object", "null"], "properties": {"definitions": section}},
            rule.KEY: rules,
            required.KEY: of_parts,
        },
    }


def all_of_them() -> dict[str, bytes]:
    """Return each file."""
    made = {
        "package": of_package(),
        "workspace": of_workspace(),
        "pods": of_pods(),
        "krmfile": of_krmfile(),
        "test": of_tests(),
    }
    draft = {"$schema": "http://json-schema.org/draft-07/schema#"}
    return {
        f"{name}.json": (json.dumps({**draft, **schema}, indent=2, ensure_ascii=False) + "\n").encode()
        for name, schema in made.items()
    }


if __name__ == "__main__":
    for name, data in all_of_them().items():
        (FOLDER / name).write_bytes(data)
        sys.stdout.write(f"{FOLDER / name}\n")
