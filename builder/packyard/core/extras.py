"""How to install the libraries of an extra that was left out. packyard is on no package index, so a source is named."""

import sys
from shlex import quote


def install(extra: str) -> str:
    """Return the command that installs an extra beside this packyard; in a shell it says what its variable is for."""
    source = "${PACKYARD_SOURCE:?the address that packyard was installed from}"
    return f'{quote(sys.executable)} -m pip install "packyard[{extra}] @ {source}"'
