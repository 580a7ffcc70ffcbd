"""What ``format`` in a definition admits: what kustomize checks, and what Kubernetes users need beside it.

A format checks text that is not empty; one that is not known admits everything, as in kustomize.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_NUMBER = re.compile(r"[0-9]{1,10}")

_PATTERNS = {
    # RFC 1123, as the API server checks names
    "dns-label": _LABEL,
    "dns-subdomain": rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*",
    "hostname": rf"(?i:(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*)",
    "absolute-path": r"/[^\0]*",
}


def _within(low: int, high: int) -> Callable[[str], bool]:
    return lambda value: _NUMBER.fullmatch(value) is not None and low <= int(value) <= high


def _is_ip(version: int) -> Callable[[str], bool]:
    def check(value: str) -> bool:
        import ipaddress  # slow to import, and seldom asked for

        try:
            return ipaddress.ip_address(value).version == version
        except ValueError:
            return False

    return check


def _is_quantity(value: str) -> bool:
    from packyard.kubernetes import quantity  # these two rooms' modules are loaded for values that need them alone

    return quantity.parse(value) is not None


def _is_image(value: str) -> bool:
    from packyard.kubernetes import images

    return images.is_valid(value)


_CHECKS: dict[str, Callable[[str], bool]] = {
    "ipv4": _is_ip(4),
    "ipv6": _is_ip(6),
    "ip": lambda value: _is_ip(4)(value) or _is_ip(6)(value),
    "port": _within(1, 65535),
    "uid": _within(0, 2**31 - 1),
    "quantity": _is_quantity,
    "image": _is_image,
}

#: Every format that is checked.
KNOWN = frozenset((*_PATTERNS, *_CHECKS))


def admits(name: str, value: str) -> bool:
    """Say whether a format admits a text."""
    if name in _PATTERNS:
        return re.fullmatch(_PATTERNS[name], value) is not None
    check = _CHECKS.get(name)
    return check is None or check(value)
