"""What ``format`` in a definition admits: what kustomize checks, and what Kubernetes users need beside it.

A format checks text that is not empty; one that is not known admits everything, as in kustomize.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_NUMBER = re.compile(r"[0-9]{1,10}")
# RFC 1123, as the API server checks names: a subdomain is limited as a whole, its labels are not
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*"
_HOST = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda value: re.fullmatch(pattern, value) is not None


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
    from packyard.core.kubernetes import quantity  # these two rooms' modules are loaded for values that need them alone

    return quantity.parse(value) is not None


def _is_image(value: str) -> bool:
    from packyard.core.kubernetes import images

    return images.is_valid(value)


#: What each format admits, and the clause that says so after "that".
FORMATS: dict[str, tuple[Callable[[str], bool], str]] = {
    "dns-label": (_matches(rf"(?=.{{1,63}}\Z){_LABEL}"), "is a DNS label: at most 63 of a-z, 0-9 and -"),
    "dns-subdomain": (_matches(_SUBDOMAIN), "is a DNS name: labels of a-z, 0-9 and -, with dots between them"),
    "hostname": (_matches(rf"(?i:(?=.{{1,253}}\Z){_HOST}(\.{_HOST})*)"), "is the name of a host"),
    "quantity": (_is_quantity, "is a quantity, such as 500m or 2Gi"),
    "absolute-path": (_matches(r"/[^\0]*"), "is a path from /"),
    "image": (_is_image, "names an image, such as registry/name:tag"),
    "ip": (lambda value: _is_ip(4)(value) or _is_ip(6)(value), "is an IP address"),
    "ipv4": (_is_ip(4), "is an IPv4 address"),
    "ipv6": (_is_ip(6), "is an IPv6 address"),
    "port": (_within(1, 65535), "is a port, 1 to 65535"),
    "uid": (_within(0, 2**31 - 1), "is the number of a user or a group"),
}


def admits(name: str, value: str) -> bool:
    """Say whether a format admits a text."""
    return name not in FORMATS or FORMATS[name][0](value)
