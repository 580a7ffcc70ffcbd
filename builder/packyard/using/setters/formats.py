"""What ``format`` in a definition admits, as kustomize checks it, of text that is not empty.

One that is not known admits everything, as in kustomize.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_HOST = rf"(?i:(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*)"


def _is_host(value: str) -> bool:
    return re.fullmatch(_HOST, value) is not None


def _is_ip(version: int, value: str) -> bool:
    import ipaddress  # slow to import, and seldom asked for

    try:
        return ipaddress.ip_address(value).version == version
    except ValueError:
        return False


#: What each format admits, and the clause that says so after "that".
FORMATS: dict[str, tuple[Callable[[str], bool], str]] = {
    "hostname": (_is_host, "is the name of a host"),
    "ipv4": (partial(_is_ip, 4), "is an IPv4 address"),
    "ipv6": (partial(_is_ip, 6), "is an IPv6 address"),
}


def admits(name: str, value: str) -> bool:
    """Say whether a format admits a text."""
    return name not in FORMATS or FORMATS[name][0](value)
