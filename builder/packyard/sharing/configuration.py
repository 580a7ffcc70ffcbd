"""What a user configures for all commands: ``config.yaml``, which people write.

    channel: https://models.example.com                  the channel of `get`, unless it is given

A file that is missing configures nothing. Flags and environment, which come first, are for the command line.
"""

import os
import re
from pathlib import Path

FILE = "config.yaml"
_PORTS = {"https": ":443", "http": ":80"}


def read(folder: Path) -> str:
    """Return the channel that the file in a folder names, if any; raise `InputError` for all that is wrong with it."""
    if not os.path.lexists(folder / FILE):
        return ""
    from packyard.core.yaml.fields import Fields  # slow to import, for a file that few users have
    from packyard.core.yaml.sources import Sources

    fields = Fields.of_file(Sources(folder), FILE)
    channel = fields.text("channel", "")
    if channel and (wrong := misfit(channel)):
        fields.fault(fields.node.get("channel") if fields.node else None, "channel", wrong)
    fields.done()
    return channel


def misfit(channel: str) -> str:
    """Say what is wrong with the address of a channel that is to be found from anywhere, or nothing."""
    is_whole = "://" in channel or Path(channel).is_absolute()
    return "" if is_whole else f"{channel!r} must be an address, or the whole path of a folder"


def normal(address: str) -> str:
    """Return one spelling for the addresses of one place: without credentials, usual port and a slash at the end.

    >>> normal("HTTPS://me:secret@Models.example.com:443/v/")
    'https://models.example.com/v'
    """
    scheme, separator, rest = address.partition("://")
    scheme = scheme.lower()
    if not separator or scheme == "file":
        from urllib.parse import unquote

        return os.path.realpath(unquote(rest.removeprefix("localhost")) if separator else address)
    host, slash, path = rest.partition("/")
    host = host.rpartition("@")[2].lower()
    kind, _, protocol = scheme.partition("+")
    if kind == "oci":
        from packyard.sharing.stores.network import is_loopback

        usual = "http" if is_loopback(re.sub(r":[0-9]+$", "", host).strip("[]")) else "https"
        protocol = protocol or usual
        scheme = kind if protocol == usual else scheme
    host = host.removesuffix(_PORTS.get(protocol or scheme, ""))
    return f"{'az' if scheme == 'azure' else scheme}://{host}{slash}{path}".rstrip("/")
