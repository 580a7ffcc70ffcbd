"""kubectl's diff for people: objects in place of temporary files, and nothing that the cluster counts itself.

--- /tmp/LIVE-123/v1.ConfigMap.ml.x  2026-…      --- cluster/v1.ConfigMap.ml.x
+++ /tmp/MERGED-45/v1.ConfigMap.ml.x  2026-…     +++ package/v1.ConfigMap.ml.x
-  generation: 1
+  generation: 2

What looks like a secret is masked, as kubectl masks the data of Secrets.
"""

from __future__ import annotations

import re

from packyard.core.kubernetes import plain_secrets
from packyard.running.runs import concealed

_FILE, _HUNK = re.compile(rb"^(?=diff )", re.MULTILINE), re.compile(rb"^(?=@@ )", re.MULTILINE)
_NAMES = re.compile(rb"diff .*\n--- \S*/(\S+).*\n\+\+\+ \S*/(\S+).*\n")
_PLACES = re.compile(rb"@@ -(\d+)\S* \+(\d+).*\n")
_COUNTED = re.compile(rb"[-+ ]  (creationTimestamp|generation|resourceVersion|uid): ")
#: A text of a mapping or a list: what is before it, its name, and itself.
_TEXT = re.compile(r"(?P<before>(?P<sign>[-+ ]) *(?:- )?(?:(?P<name>[\w.-]+): |- ))(?P<text>\S.*)")
_WHEN = {"-": "*** (before)", "+": "*** (after)", " ": "***"}


def readable(difference: bytes) -> bytes:
    """Return a diff that kubectl made; one in a form of the user's own (KUBECTL_EXTERNAL_DIFF) stays as it is."""
    return b"".join(map(_of_file, _FILE.split(difference)))


def _of_file(text: bytes) -> bytes:
    head, *hunks = _HUNK.split(text)
    names = _NAMES.fullmatch(head)
    if not names or not all(map(_PLACES.match, hunks)):
        return text
    kept = b"".join(map(_of_hunk, hunks))
    return b"--- cluster/%s\n+++ package/%s\n%s" % (names[1], names[2], kept) if kept else b""


def _of_hunk(hunk: bytes) -> bytes:
    lines = [line for line in _masked(hunk).splitlines(keepends=True)[1:] if not _COUNTED.match(line)]
    if all(line.startswith(b" ") for line in lines):
        return b""
    old, new = (sum(line[:1] in signs for line in lines) for signs in (b" -", b" +"))
    places = _PLACES.match(hunk)
    assert places
    return b"@@ -%s,%d +%s,%d @@\n%s" % (places[1], old, places[2], new, b"".join(lines))


def _masked(hunk: bytes) -> bytes:
    lines, called = [], ""
    for line in hunk.decode("utf-8", "surrogateescape").split("\n"):
        match = _TEXT.fullmatch(line)
        name, text = (match["name"] or "", match["text"].strip("'\"")) if match else ("", line)
        if match and concealed.is_secret(called if name == "value" else name, text):
            line = match["before"] + _WHEN[match["sign"]]
        elif plain_secrets.find(text):
            line = f"{line[:1]} ***"
        called = text if name == "name" else "" if name != "value" else called
        lines.append(line)
    return "\n".join(lines).encode("utf-8", "surrogateescape")
