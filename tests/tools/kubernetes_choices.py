"""The words that fields of Kubernetes' objects take, where these are few: types of k8s.io/api that are marked +enum.

The API server publishes them in OpenAPI v3 alone; a test compares what is read here with what a real one says.
"""

import re
from collections.abc import Iterator, Mapping

from tools.custom_resources import Module, module_dir

_API = Module("kubernetes", "1.37", "k8s.io/api", "v0.37.2", "h1:PnxqnUFy93jr2GcpWDkKOm8wfy25kT9wa572MuQS8oc=", "", ())
_PREFIX = "io.k8s.api."

_CLOSED = re.compile(r"^// \+enum\n(?://.*\n)*type (\w+) string$", re.MULTILINE)
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^\t\w+\s+(?:\[\]|\*)*([\w.]+)\s+`json:"(\w+)', re.MULTILINE)
_EMBEDDED = re.compile(r'^\t(\w+)\s+`json:"(?:,inline)?"', re.MULTILINE)
_IMPORT = re.compile(r'^\s*(?:import )?(\w*)\s*"k8s\.io/api/([\w/]+)"', re.MULTILINE)


def read() -> dict[str, dict[str, list[str]]]:
    """Return the words by definitions, as in ``io.k8s.api.core.v1.PodSpec``, and fields."""
    folder = module_dir(_API)
    texts = {
        ".".join(file.parent.relative_to(folder).parts): file.read_text("utf-8")
        for file in sorted(folder.glob("*/*/types.go"))
    }
    words = {f"{place}.{name}": found for place, text in texts.items() for name, found in _closed(text)}
    return {
        f"{_PREFIX}{place}.{name}": found
        for place, text in texts.items()
        for name, body in _STRUCT.findall(text)
        if (found := _of_struct(place, text, body, words))
    }


def _closed(text: str) -> Iterator[tuple[str, list[str]]]:
    for name in _CLOSED.findall(text):
        if re.search(rf"=\s*{name}\([^\"]", text):  # a constant of another package
            continue
        constants = rf'^\s+\w+\s+(?:{name}\s*=\s*|=\s*{name}\()"([^"]*)"'
        yield name, sorted(set(re.findall(constants, text, re.MULTILINE)))


def _of_struct(place: str, text: str, body: str, words: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the words of the fields of a struct, and of those that it embeds."""
    imported = {alias or path.rpartition("/")[2]: path.replace("/", ".") for alias, path in _IMPORT.findall(text)}
    structs, found = dict(_STRUCT.findall(text)), {}
    for embedded in _EMBEDDED.findall(body):
        found |= _of_struct(place, text, structs.get(embedded, ""), words)
    for kind, field in _FIELD.findall(body):
        package, _, name = kind.rpartition(".")
        choices = words.get(f"{imported.get(package, package) if package else place}.{name}")
        if choices:
            found[field] = choices
    return found
