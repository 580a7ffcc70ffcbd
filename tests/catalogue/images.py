"""Write the digests of images into the sources that name them: ``python tests/catalogue/images.py [FOLDER…]``.

    image: docker.io/library/busybox:1.36    becomes    docker.io/library/busybox:1.36@sha256:…

A tag may name another image tomorrow. Only a digest that the image's registry answers is written; an image that none
answered for stays as it is, and is told. A tag that moves on purpose, latest say, is left alone.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from packyard.core.errors import PackyardError
from packyard.core.kubernetes import images
from packyard.sharing.stores.oci.address import Address
from packyard.sharing.stores.oci.registry import Registry

_REPOSITORY = Path(__file__).resolve().parents[2]
_SOURCES = [_REPOSITORY / name for name in ("bases", "overlays", "packages")]
_REFERENCE = re.compile(
    r"(?<![\w./@-])(?P<host>[\w-]+(?:\.[\w-]+)+(?::\d+)?)/(?P<name>[\w./-]+):(?P<tag>\w[\w.-]*)(@sha256:[0-9a-f]{64})?"
)


def main(folders: list[Path]) -> int:
    """Ask for each image once, and write what was answered; 1 if something was not."""
    files = [file for folder in folders for file in sorted(folder.rglob("*.yaml"))]
    found = {match[0] for file in files for match in _REFERENCE.finditer(file.read_text())}
    pinned = {each: digest for each in sorted(found) if (digest := _ask(each))}
    for file in files:
        old = file.read_text()
        new = _REFERENCE.sub(lambda match: _with_digest(match, pinned), old)
        if new != old:
            file.write_text(new)
    print(f"{len(pinned)} of {len(found)} images have the digest that their registry answered; others are as they were")
    return int(len(pinned) < len(found))


def _with_digest(match: re.Match[str], pinned: Mapping[str, str]) -> str:
    named = f"{match['host']}/{match['name']}:{match['tag']}"
    return f"{named}@{pinned[match[0]]}" if match[0] in pinned else match[0]


def _ask(reference: str) -> str:
    """Return the digest of a tag, nothing where its registry does not say."""
    image = images.parse(reference.partition("@")[0])
    host, _, name = image.name.partition("/")
    if image.is_moving:
        print(f"{reference}: its tag moves on purpose")
        return ""
    try:
        manifest = Registry(Address.parse(f"oci://{host}")).manifest(name, image.tag)
    except PackyardError as error:
        print(f"{reference}: {error}")
        return ""
    print(reference if manifest else f"{reference}: the registry has no such tag")
    return manifest.own.digest if manifest else ""


if __name__ == "__main__":
    sys.exit(main([Path(each) for each in sys.argv[1:]] or _SOURCES))
