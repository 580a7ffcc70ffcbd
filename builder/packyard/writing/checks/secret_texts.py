"""Secrets in plain text, by what they are called or what they look like: keys, tokens, hashes, passwords."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from packyard.core.kubernetes.kinds import CORE, is_kind
from packyard.core.yaml.document import walk
from packyard.core.yaml.node import MappingNode, Scalar, Source
from packyard.writing.checks import variables
from packyard.writing.checks.finding import Finding, breach
from packyard.writing.checks.parsed import Parsed

_HINT = "refer to a Secret that the user creates"
_SHORTEST = 8
#: What variables with a secret are called.
_NAMED = re.compile(
    r"(^|_)(PASSWORD|PASSWD|SECRET|TOKEN|CREDENTIALS?|PRIVATE_KEY|API_KEY|ACCESS_KEY(_ID)?|SECRET_KEY)$"
)
#: An absolute path or the address of a file: where a secret is, not the secret.
_FILE = re.compile(r"(file:|/)\S*\Z")
#: What envsubst, or the postBuild of Flux, puts a secret in the place of.
_PLACEHOLDER = re.compile(r"\$\{\w+(:?[-=])?\}\Z")
_DEFAULT = re.compile(r"\$\{\w+:?[-=](.+)\}\Z")
#: Keys of Secrets that are files of settings, or public: secret is only what looks so.
_SETTINGS = re.compile(r"\.(ya?ml|ini|json|conf|cfg|toml|properties|crt|pub)\Z", re.IGNORECASE)
_SHAPES = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"), "a private key"),
    (re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"), "an access key of AWS"),
    (
        re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|glpat-[\w-]{20}|xox[bap]-[A-Za-z0-9-]{20,}|hf_[A-Za-z0-9]{30,})"),
        "a token",
    ),
    (re.compile(r"\b(?:sha1|sha256|argon2):[^\s'\"]*[:$][0-9a-fA-F]{16,}"), "the hash of a password"),
)
#: A password that is given to a program, or stands in a file.
_GIVEN = re.compile(
    r"(?i)(?:^|[\s;'\"])[-\w.]*(?:password|passwd|secret[-_]?(?:access[-_]?)?key)['\"]?\s*[=:]\s*u?['\"]?"
    r"(?P<value>[^\s'\"$<{(*/,;&|]{4,})"
    r"(?=['\"]?\s*(?:\Z|[\r\n,;&|)}]|-))"  # not a word of a sentence
)
#: A password in an address: redis://:PASSWORD@host.
_IN_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s:/@\"'$<{]*:(?P<value>[^\s:/@\"'$<{*]{3,})@[^\s/]")
#: What is quicker to look for.
_SPOKEN_OF = re.compile(r"(?i)passw|secret")
_NO_SECRET = re.compile(
    r"(?i)(none|null|true|false|empty|optional|required|x{3,}|\.\.\.|\[|%|str\b|self\b|args\b|os\b|changeme|env)"
)
#: Files with variables, one in each line.
_ENVIRONMENT = re.compile(r"(^|/)(\.env|env\.list|[^/]*\.env)$")
_KEY = re.compile(r"(\.(pem|key)|(^|/)id_(rsa|ecdsa|ed25519))$")
_VARIABLE = re.compile(
    r"(?im)^(?:export[ \t]+)?(?P<name>\w*(?:PASSWORD|PASSWD|SECRET|TOKEN|ACCESS_KEY|API_KEY|PRIVATE_KEY)\w*)="
    r"['\"]?(?P<value>[^\s'\"#]+)"
)
_PLACE = re.compile(r"(?i)(file:|/|\$|<|\{|true\b|false\b|changeme)")


def check(parsed: Parsed) -> Iterator[Finding]:
    """Find secrets in the texts of objects."""
    for root in parsed.objects:
        if is_kind(root, CORE, "Secret"):
            yield from _secret(root)
            continue
        told: set[int] = set()
        for name, value in variables.stated(root, parsed):
            if _NAMED.search(name) and isinstance(value, Scalar) and _is_secret(value.value):
                told.add(id(value))
                yield breach("plain-secret", value, f"{name} is a secret in plain text", _HINT)
        for node in walk(root):
            what = _find(node.value) if isinstance(node, Scalar) and id(node) not in told else ""
            if what:
                yield breach("plain-secret", node, f"{what} stands here in plain text", _HINT)


def _secret(root: MappingNode) -> Iterator[Finding]:
    """Find values of a Secret that are more than the place of one."""
    for held in (root.mapping(field) for field in ("data", "stringData")):
        for entry in held.entries if held else ():
            text = entry.value.value if isinstance(entry.value, Scalar) else ""
            if text and not _is_place(text) and (not _SETTINGS.search(entry.name) or _find(text)):
                message = f"{entry.name} is a secret in plain text (base64 does not hide it)"
                yield breach("plain-secret", entry, message, _HINT)


def _is_secret(text: str) -> bool:
    """Say whether a text may be a secret: not a switch, another variable, or the path of a file with the secret."""
    if given := _DEFAULT.match(text):
        return _is_secret(given[1])
    is_switch = text.casefold() in ("", "true", "false", "yes", "no")
    return not is_switch and not variables.is_filled_in(text) and not _is_place(text)


def _is_place(text: str) -> bool:
    """Say whether a text is where a secret comes from, or goes to."""
    return bool(_FILE.match(text) or _PLACEHOLDER.match(text))


def is_looked_into(path: str) -> bool:
    """Say whether a file may hold variables, or be a key."""
    return _ENVIRONMENT.search(path) is not None or _KEY.search(path) is not None


def check_files(files: Mapping[str, bytes]) -> Iterator[Finding]:
    """Find secrets in files of variables, such as ``env.list``, and files that are keys."""
    for path, data in files.items():
        source = Source(path, data.decode("utf-8", "replace"))
        for match in (*_VARIABLE.finditer(source.text), *_SHAPES[0][0].finditer(source.text)):
            given = match.groupdict()
            if not given or not _PLACE.match(given["value"]):
                what = f"{given['name']} is a secret" if given else "this is a private key"
                hint = "ship an example without it, and let users make a Secret"
                yield breach("plain-secret", (source, match.start()), f"{what} in plain text", hint)


def _find(text: str) -> str:
    """Return what a text holds that is a secret, or nothing."""
    if len(text) < _SHORTEST:
        return ""
    for shape, what in _SHAPES:
        if shape.search(text):
            return what
    given = _IN_ADDRESS.search(text) if "@" in text else None
    given = given or (_GIVEN.search(text) if _SPOKEN_OF.search(text) else None)
    return "a password" if given and not _NO_SECRET.match(given["value"]) else ""
