"""The images of packages, for registries that reach no other: a list for skopeo, and a script for crane or skopeo.

docker.io/intel/a:1  ->  HOST/docker.io/intel/a:1        the users of HOST set REGISTRY=HOST/docker.io
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from shlex import quote

from packyard.core.kubernetes import images

#: How the name of the script ends.
SCRIPT = ".sh"
_HEAD = """\
#!/bin/sh
# Copies images to a registry:  sh FILE HOST[/PATH]  with crane, or with skopeo where there is no crane.
# COPY_FLAGS are further flags of it, such as --insecure of crane. Afterwards set REGISTRY=HOST[/PATH]/docker.io.
set -eu
to=${1:?name the registry that gets the images: HOST or HOST/PATH}
copy() {
  echo "$to/$2"
  # shellcheck disable=SC2086
  if command -v crane >/dev/null; then
    crane copy ${COPY_FLAGS:-} "$1" "$to/$2"
  else
    skopeo copy --all ${COPY_FLAGS:-} "docker://$1" "docker://$to/$2"
  fi
}
"""


def image_list(references: Iterable[str]) -> bytes:
    """Return the list of images that `skopeo sync --src yaml` copies, as YAML: by registry and name, the tags.

    >>> print(image_list(["docker.io/intel/a:1", "python"]).decode(), end="")
    "docker.io":
      images:
        "intel/a": ["1"]
        "library/python": ["latest"]
    """
    by_registry: dict[str, dict[str, set[str]]] = {}
    for registry, name, tag in _parts(references):
        by_registry.setdefault(registry, {}).setdefault(name, set()).add(tag)
    return "".join(_lines(by_registry)).encode()


def image_script(references: Iterable[str]) -> bytes:
    """Return a script that copies images below the names of their registries; one that has a digest gets it as its tag.

    >>> print(image_script(["python"]).decode().splitlines()[-1])
    copy docker.io/library/python:latest docker.io/library/python:latest
    """
    return (_HEAD + "".join(f"copy {_from(*each)} {_to(*each)}\n" for each in sorted({*_parts(references)}))).encode()


def _from(registry: str, name: str, tag: str) -> str:
    return quote(f"{registry}/{name}{'@' if ':' in tag else ':'}{tag}")


def _to(registry: str, name: str, tag: str) -> str:
    return quote(f"{registry.partition(':')[0]}/{name}:{tag.replace(':', '-')}")


def _lines(by_registry: dict[str, dict[str, set[str]]]) -> Iterator[str]:
    for registry, names in sorted(by_registry.items()):
        yield f"{json.dumps(registry)}:\n  images:\n"
        for name, tags in sorted(names.items()):
            yield f"    {json.dumps(name)}: {json.dumps(sorted(tags))}\n"


def _parts(references: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield registry, name, and digest or tag of images, as container engines complete them."""
    return map(images.whole, filter(images.is_valid, references))
