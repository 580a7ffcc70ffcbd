"""How to install the libraries of an extra that was left out: the command to type, from where packyard itself is from.

    /venv/bin/python -m pip install "packyard[cloud] @ ${PACKYARD_SOURCE:-file:///home/me/packyard}"

packyard is on no package index. Where an installer recorded no source (PEP 610), the variable has to name one.
"""

from __future__ import annotations

import json
import re
import sys
from shlex import quote

_SAFE = re.compile(r"[A-Za-z0-9:/@%._~+=#?&,-]+")  # within double quotes of a shell


def install(extra: str) -> str:
    """Return the command that installs an extra beside this packyard."""
    source = _source()
    default = f"-{source}" if source else "?"
    return f'{quote(sys.executable)} -m pip install "packyard[{extra}] @ ${{PACKYARD_SOURCE:{default}}}"'


def _source() -> str:
    """Return the address that packyard was installed from, as pip takes it; an empty text where that is not known."""
    from importlib import metadata  # slow to import, and only hints need it

    try:
        recorded = json.loads(metadata.distribution("packyard").read_text("direct_url.json") or "")
        vcs, hashes = recorded.get("vcs_info"), recorded.get("archive_info", {}).get("hashes", {})
        source = f"{vcs['vcs']}+{recorded['url']}@{vcs['commit_id']}" if vcs else str(recorded["url"])
        source += f"#sha256={hashes['sha256']}" if "sha256" in hashes else ""
    except (metadata.PackageNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return ""
    return source if _SAFE.fullmatch(source) else ""
