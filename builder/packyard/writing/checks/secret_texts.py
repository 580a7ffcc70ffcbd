"""Secrets in plain text, by what they are called or what they look like: keys, tokens, hashes, passwords."""

import re
from collections.abc import Iterator, Mapping

from packyard.core.kubernetes import plain_secrets
from packyard.core.kubernetes.kinds import CORE, is_kind
from packyard.core.yaml.document import entries, walk
from packyard.core.yaml.node import MappingNode, Node, Scalar, Source
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.subject import Subject

_HINT = "refer to a Secret that the user creates"
#: Keys of Secrets that are files of settings, or public: secret is only what looks so.
_SETTINGS = re.compile(r"\.(ya?ml|ini|json|conf|cfg|toml|properties|crt|pub)\Z", re.IGNORECASE)
#: Files with variables, one in each line, and keys.
_FILES = re.compile(r"(\.(env|pem|key)|(^|/)(env\.list|id_(rsa|ecdsa|ed25519)))$")
_VARIABLE = re.compile(r"(?m)^(?:export[ \t]+)?(?P<name>\w+?)(?:_?\d+)?=['\"]?(?P<value>[^\s'\"#]+)")
_PLACE = re.compile(r"(?i)(file:|/|\$|<|\{|changeme)")


def check(subject: Subject) -> Iterator[Finding]:
    """Find secrets in the texts of objects."""
    for root in subject.objects:
        if is_kind(root, CORE, "Secret"):
            yield from _secret(root, subject)
            continue
        reported: set[int] = set()
        for name, value in variables.stated(root, subject):
            if plain_secrets.is_name(name) and isinstance(value, Scalar) and _is_secret(value.value):
                reported.add(id(value))
                yield breach("plain-secret", value, f"{name} is a secret in plain text", _HINT)
        for node in walk(root):
            what = plain_secrets.find(node.value) if isinstance(node, Scalar) and id(node) not in reported else ""
            if what:
                yield breach("plain-secret", node, f"{what} stands here in plain text", _HINT)


def _secret(root: MappingNode, subject: Subject) -> Iterator[Finding]:
    """Find values of a Secret that are more than the place of one, but for those that users have to set."""
    for entry in (*entries(root.get("data")), *entries(root.get("stringData"))):
        text = entry.text
        if (
            text
            and not plain_secrets.is_place(text)
            and not plain_secrets.is_public(entry.name)
            and not _is_asked_for(entry.value, subject)
            and (not _SETTINGS.search(entry.name) or plain_secrets.find(text))
        ):
            message = f"{entry.name} is a secret in plain text (base64 does not hide it)"
            yield breach("plain-secret", entry, message, _HINT)


def _is_asked_for(value: Node, subject: Subject) -> bool:
    """Say whether a value is that of a setter which is shipped empty, for users to set in their copy."""
    names, setters = subject.changed_by(value), subject.definitions.setters
    return any(setters[name].required for name in names) if subject.krmfile else bool(names)


def _is_secret(text: str) -> bool:
    """Say whether a text may be a secret, and not another variable."""
    return plain_secrets.is_value(text) and not variables.is_filled_in(plain_secrets.otherwise(text))


def is_looked_into(path: str) -> bool:
    """Say whether a file may hold variables, or be a key."""
    return _FILES.search(path) is not None


def check_files(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """Find secrets in files of variables, such as ``env.list``, and files that are keys."""
    for path, data in files.items():
        source = Source(path, data.decode("utf-8", "replace"))
        for match in (*_VARIABLE.finditer(source.text), *plain_secrets.PRIVATE_KEY.finditer(source.text)):
            groups = match.groupdict()
            is_secret = groups and plain_secrets.is_name(groups["name"].upper()) and not _PLACE.match(groups["value"])
            if not groups or (is_secret and plain_secrets.is_value(groups["value"])):
                what = f"{groups['name']} is a secret" if groups else "this is a private key"
                hint = "ship an example without it, and let users make a Secret"
                yield breach("plain-secret", (source, match.start()), f"{what} in plain text", hint)
