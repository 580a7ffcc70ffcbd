"""What in plain text looks like a secret, by its name or by itself: keys, tokens, hashes, passwords."""

import re

_SHORTEST = 8
#: What variables with a secret are called.
_NAMED = re.compile(
    r"(^|_)(PASSWORD|PASSWD|SECRET|TOKEN|CREDENTIALS?|PRIVATE_KEY|API_KEY|ACCESS_KEY(_ID)?|SECRET_KEY)$"
)
#: What setters are called whose values no record and no message shows.
_WITHHELD = re.compile(r"(?i)(^|_)(PASSWORD|PASSWD|SECRET|TOKEN|CREDENTIALS?|(PRIVATE|API|ACCESS|SECRET)_KEY)(_|$)")
#: What is no secret by itself, though people keep it with one.
_BESIDE = re.compile(
    r"(?i)(^|[-_.])(user(name)?|user[-_]id|host(name)?|port|db|database([-_]name)?|bucket|region|endpoint)\Z"
)
#: An absolute path or the address of a file: where a secret is, not the secret.
_FILE = re.compile(r"(file:|/)\S*\Z")
#: What envsubst, or the postBuild of Flux, puts a secret in the place of.
_PLACEHOLDER = re.compile(
    r"(?i)(\$\w+|\$\{\w+(:?[-=])?\}|<[^<>]+>|x{3,}|\*{3,}|\.{3}|(replace|your|insert)[-_ ]\w[-\w ]*)\Z"
)
_DEFAULT = re.compile(r"\$\{\w+:?[-=](.+)\}\Z")
PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_SHAPES = (
    (PRIVATE_KEY, "a private key"),
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


def is_name(name: str) -> bool:
    """Say whether a variable of this name holds a secret: ``WANDB_API_KEY``."""
    return _NAMED.search(name) is not None


def is_withheld(setter: str) -> bool:
    """Say whether no record and no message shows the value of a setter: ``TOKEN_A``, which `is_name` takes for none."""
    return _WITHHELD.search(setter) is not None


def is_public(name: str) -> bool:
    """Say whether what stands beside a secret under this name is none: ``POSTGRES_USER``."""
    return _BESIDE.search(name) is not None


def is_value(text: str) -> bool:
    """Say whether a text may be a secret: not a switch, the path of a file with it, or what is put there."""
    stated = otherwise(text)
    is_switch = stated.casefold() in ("", "true", "false", "yes", "no", "on", "off", "0", "1")
    return not is_switch and not is_place(stated)


def otherwise(text: str) -> str:
    """Return what stands for a placeholder that nothing fills in, ``${TOKEN:-this}``, or the text itself."""
    while match := _DEFAULT.match(text):
        text = match[1]
    return text


def is_place(text: str) -> bool:
    """Say whether a text is where a secret comes from, or goes to."""
    return bool(_FILE.match(text) or _PLACEHOLDER.match(text))


def find(text: str) -> str:
    """Return what a text holds that is a secret, or nothing."""
    if len(text) < _SHORTEST:
        return ""
    for shape, what in _SHAPES:
        if shape.search(text):
            return what
    match = _IN_ADDRESS.search(text) if "@" in text else None
    match = match or (_GIVEN.search(text) if _SPOKEN_OF.search(text) else None)
    return "a password" if match and not _NO_SECRET.match(match["value"]) else ""
